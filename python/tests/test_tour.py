"""What docs/python.md shows works, block by block, as it stands there."""

import re

import pytest

import snapdp as dp
from conftest import cities, root

pytest.importorskip("pyarrow")
pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

page = (root / "docs/python.md").read_text()
blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)


def test_the_tour(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    assert len(blocks) >= 12
    for block in blocks:
        exec(compile(block, "docs/python.md", "exec"), names)  # noqa: S102
    shown = capsys.readouterr().out
    assert "mean income by city" in shown and "grid" in shown
    assert names["plan"]["mean age"].accuracy.tight <= 0.25
    assert names["ledger"].spent == names["plan"].epsilon + names["both"].price
    assert names["budget"].remaining == 1 - names["mean_age"].price and "claimed by its author, not proved" in shown
    assert (tmp_path / "report.html").exists() and (tmp_path / "report.svg").exists()


def test_every_error_is_on_the_page():
    for name in dp.__all__:
        item = getattr(dp, name)
        if isinstance(item, type) and issubclass(item, dp.Error) and item is not dp.Error:
            assert f"`{name}`" in page


@pytest.mark.parametrize("readme", ["README.md", "python/README.md"])
def test_the_readmes(readme, tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"^```python\n(.*?)^```", (root / readme).read_text(), re.M | re.S)
    names = {"cities": cities, "frame": rows}
    exec(compile(block, readme, "exec"), names)  # noqa: S102
    assert names["ledger"].spent == names["plan"].epsilon <= 1
