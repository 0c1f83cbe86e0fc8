"""docs/tour.ipynb runs afresh, and shows what docs/python.md does.

    .venv/python/bin/python python/tests/test_notebook.py      writes it anew, with what its cells show now
"""

import pathlib
import re
import sys
import tempfile

import pytest

root = pathlib.Path(__file__).resolve().parents[2]
place = root / "docs/tour.ipynb"
bare = re.compile(r"^(\w+|\w+\.plot\(\))$")  # what a notebook shows and a script need not ask for


def executed(notebook, folder):
    """The notebook with what its cells show, run in a folder by the interpreter that runs this."""
    from nbclient import NotebookClient

    client = NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.km = client.create_kernel_manager()
    client.km.kernel_spec.argv[0] = sys.executable
    return client.execute()


def read():
    import nbformat

    return nbformat.read(place, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cell) -> dict:
    """What a cell shows, by its media type; printed text is "stdout"."""
    kept: dict = {}
    for output in cell.outputs:
        assert output.output_type != "error", output
        if output.output_type == "stream":
            kept[output.name] = kept.get(output.name, "") + output.text
        else:
            kept.update(output.data)
    return kept


@pytest.fixture(scope="module")
def notebook():
    pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    return read()


def test_its_code_is_that_of_the_page(notebook):
    page = (root / "docs/python.md").read_text()
    blocks = "".join(re.findall(r"^```python\n(.*?)^```", page, re.M | re.S))
    for cell in code_cells(notebook):
        for line in cell.source.splitlines():
            assert bare.match(line) or line in blocks, f"{line!r} is not on the page"


def test_it_runs(notebook, tmp_path):
    fresh = executed(read(), tmp_path)
    assert all("stderr" not in shown(cell) for cell in code_cells(fresh))
    for before, after in zip(code_cells(notebook), code_cells(fresh), strict=True):
        assert before.execution_count is not None, "the stored notebook has what its cells show: run this file"
        assert set(shown(before)) == set(shown(after)), before.source
    assert (tmp_path / "people.ledger").exists()


def test_what_is_stored_names_no_place_and_no_person(notebook):
    text = place.read_text()
    assert not re.search(r"/(home|root|tmp|work|Users)/", text)
    assert len(text) < 700_000


if __name__ == "__main__":
    import nbformat

    with tempfile.TemporaryDirectory() as folder:
        nbformat.write(executed(read(), folder), place)
