"""What docs/migrate.md shows works: SnapDP's blocks always, those of another library where an environment has it."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from conftest import root

page = (root / "docs/migrate.md").read_text()
blocks = re.findall(r"^```python ?([^\n]*)\n(.*?)^```", page, re.M | re.S)
modules = {"opendp": "opendp", "diffprivlib": "diffprivlib", "pydp": "pydp", "tumult": "tmlt.analytics"}


def code(library: str) -> str:
    """The rows and the blocks of one library, in order, each at its line of the page."""
    wanted = [block for name, block in blocks if name in ("rows", library)]
    assert len(wanted) >= 2, f"no block of {library} on the page"
    return "\n".join(wanted)


def environments(library: str) -> list[pathlib.Path]:
    """Where to look for a library: here, and what tools/bench-peers installs."""
    names = ("peers-tumult",) if library == "tumult" else ("peers",)
    return [pathlib.Path(sys.executable), *(root / f".venv/{name}/bin/python" for name in names)]


def has(python: pathlib.Path, module: str) -> bool:
    find = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({module.split('.')[0]!r}) is None or not __import__({module!r}))"
    return python.exists() and subprocess.run([python, "-c", find], capture_output=True).returncode == 0


def interpreter(library: str) -> pathlib.Path:
    """One that has the library, or the test is skipped and says why."""
    if library == "tumult" and shutil.which("java") is None:
        pytest.skip("Tumult Analytics needs Spark, and Spark needs Java, which is not on this machine")
    for python in environments(library):
        if has(python, modules[library]):
            return python
    wanted = "tmlt.analytics, with Spark, in .venv/peers-tumult" if library == "tumult" else f"{library}: tools/bench-peers --install"
    pytest.skip(f"{library} is in none of {[str(python) for python in environments(library)]}; install {wanted}")


def test_snapdp(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(code("snapdp"), "docs/migrate.md", "exec"), names)  # noqa: S102
    assert names["ledger"].remaining == 0
    assert abs(names["report"]["count"].value - 10_000) < 1_000  # else e^-100
    assert "has 0 left of 1; nothing was debited" in capsys.readouterr().out


@pytest.mark.parametrize("library", modules)
def test_another_library(library, tmp_path):
    python = interpreter(library)
    environment = {**os.environ, "PYSPARK_PYTHON": str(python), "PYTHONWARNINGS": "ignore"}
    script = tmp_path / f"{library}_blocks.py"
    script.write_text(code(library))
    done = subprocess.run([python, script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    assert len(done.stdout.splitlines()) >= 7


def test_every_block_is_somebodys():
    assert {name for name, _ in blocks} == {"rows", "snapdp", *modules}


@pytest.mark.parametrize(("library", "package"), [("opendp", "OpenDP"), ("diffprivlib", "diffprivlib"), ("python-dp", "python-dp")])
def test_the_versions_are_those_of_the_benchmarks(library, package):
    pinned = re.search(rf"^{library}==(\S+)", (root / "bench/peers/requirements.txt").read_text(), re.M)
    assert pinned and re.search(rf"{package}`?\)? {re.escape(pinned[1])}", page)
