"""What the tests share: rows, a dataset and its ledger, every kind of table, and the command-line tool."""

from __future__ import annotations

import os
import pathlib
import random
import subprocess
from collections.abc import Callable

import pytest

import snapdp as dp

root = pathlib.Path(__file__).resolve().parents[2]
cities = ["Jena", "Köln", "Ulm"]


@pytest.fixture(scope="session")
def tool() -> Callable[..., str]:
    """The command-line tool of the same library: prints what it printed, or raises."""
    program = pathlib.Path(os.environ.get("SNAPDP", root / "build/release/snapdp"))
    if not program.exists():
        pytest.skip(f"the tool is not built: {program}")

    def run(*arguments: object, code: int = 0) -> str:
        result = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
        assert result.returncode == code, result.stderr
        return result.stdout

    return run


def make_rows(count: int, seed: int = 20261129) -> dict[str, list]:
    """Rows with missing cells, values out of bounds, and units with too many rows."""
    source = random.Random(seed)

    def sometimes(value: object) -> object:
        return None if source.random() < 0.03 else value

    return {
        "user_id": [source.randrange(count // 2 + 1) for _ in range(count)],
        "age": [sometimes(source.randrange(-5, 120)) for _ in range(count)],
        "income": [sometimes(source.uniform(-1e4, 6e5)) for _ in range(count)],
        "city": [sometimes(source.choice([*cities, "elsewhere"])) for _ in range(count)],
    }


@pytest.fixture(scope="session")
def rows() -> dict[str, list]:
    return make_rows(5000)


@pytest.fixture(scope="session")
def people() -> dp.Dataset:
    return dp.dataset(
        "people-2026",
        neighbors="add-remove",
        unit="user_id",
        max_rows_per_unit=3,
        expected_size=5000,
        columns={"age": dp.integer(0, 100), "income": dp.real(0, 500_000), "city": dp.text(keys=cities)},
    )


@pytest.fixture
def ledger(tmp_path: pathlib.Path, people: dp.Dataset) -> dp.Ledger:
    return dp.Ledger.create(tmp_path / "people.ledger", people, epsilon=2)
