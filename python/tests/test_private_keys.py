"""Groups whose keys nobody declared."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import snapdp as dp

keys = dp.private_keys("1", "1e-9")
people = dp.dataset("people", neighbors="add-remove", columns={"city": dp.text(), "income": dp.integer(0, 100)})
rows = {"city": ["ulm"] * 400 + ["bonn"] * 300 + ["a village"] + ["zürich"] * 500, "income": [50] * 1201}


def asked(choice: dp.PrivateKeys = keys) -> dp.Plan:
    return people.plan(
        dp.count(noise="geometric", epsilon=1000).by("city", keys=choice),
        dp.mean("income", epsilon=1000).by("city", keys=choice),
        epsilon=2100,
        delta="1e-6",
    )


@pytest.fixture
def ledger(tmp_path: Path) -> dp.Ledger:
    return dp.Ledger.create(tmp_path / "people.ledger", people, epsilon=100_000, delta="1e-3")


def test_a_plan_tells_what_the_choice_costs() -> None:
    plan = asked()
    assert plan.epsilon == 2001
    facts = plan.to_dict()["keys"][0]
    assert (facts["column"], facts["epsilon"], facts["delta"], facts["most"]) == ("city", "1", "0.000000001", 1_000)
    assert int(facts["likely_units"]) < int(facts["certain_units"])
    assert "which groups are shown" in plan.to_table()
    assert repr(keys) == "private_keys(epsilon='1', delta='1e-9')"
    assert keys == dp.private_keys(1, "1e-9") != dp.private_keys(1, "1e-9", min_units=2)
    assert hash(keys) == hash(dp.private_keys("1", "1e-9"))


def test_shows_the_groups_that_are_large_enough(ledger: dp.Ledger) -> None:
    report = asked().release(rows, ledger)
    counts = report["count by city"]
    assert list(counts.groups) == ["bonn", "ulm", "zürich"]
    assert [counts[city].value for city in counts.groups] == [300, 400, 500]
    assert report["mean income by city"]["ulm"].value == pytest.approx(50, abs=1)
    assert report.to_dict()["keys"][0]["shown"] == 3
    assert "village" not in report.to_json()
    assert ledger.spent == 2001


def test_of_any_rows(ledger: dp.Ledger, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    frames: list[object] = [pyarrow.table(rows)]
    polars = pytest.importorskip("polars")
    frames.append(polars.DataFrame(rows))
    file = tmp_path / "people.csv"
    lines = [f"{city},{income}" for city, income in zip(rows["city"], rows["income"])]
    file.write_text("city,income\n" + "\n".join(lines) + "\n", encoding="utf-8")
    frames.append(file)
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE people (city TEXT, income INTEGER)")
    database.executemany("INSERT INTO people VALUES (?, ?)", list(zip(rows["city"], rows["income"])))
    frames.append(dp.sql(database, "people"))
    for frame in frames:
        counts = asked().release(frame, ledger)["count by city"]
        assert {city: counts[city].value for city in counts.groups} == {"bonn": 300, "ulm": 400, "zürich": 500}


def test_rows_that_come_once_are_refused(ledger: dp.Ledger) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(rows)
    for once in (table.to_reader(), table.__arrow_c_stream__()):
        with pytest.raises(dp.InvalidArgument, match="gives its rows once, and private keys need them twice"):
            asked().release(once, ledger)
    assert ledger.spent == 0


def test_an_empty_result_says_why(ledger: dp.Ledger) -> None:
    report = asked().release({"city": ["a", "b"], "income": [1, 2]}, ledger)
    assert report.to_dict()["keys"][0]["shown"] == 0
    assert "no group is shown" in " ".join(report.to_table().split())
    with pytest.raises(KeyError):
        report["count by city"]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda: asked(dp.private_keys(1, 0)), "delta"),
        (lambda: asked(dp.private_keys(1, 1)), "less than 1"),
        (lambda: asked(dp.private_keys(1, "1e-9", max_groups_per_unit=3)), "applies only with privacy_unit"),
        (lambda: people.plan(dp.count().by("city", keys=keys), epsilon=2), "needs a budget with a delta"),
        (
            lambda: people.plan(
                dp.count().by("city", keys=keys),
                dp.mean("income").by("city", keys=dp.private_keys(2, "1e-9")),
                epsilon=9,
                delta="1e-6",
            ),
            "in two ways",
        ),
        (lambda: asked().sql("sqlite", "people"), "right before the release"),
    ],
)
def test_what_is_wrong_is_said(ask: Callable[[], object], words: str) -> None:
    with pytest.raises(dp.Error, match=words):
        ask()
