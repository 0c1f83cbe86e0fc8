"""Whatever is wrong costs nothing, is an Error that names it, and tells no cell and no number of rows."""

import datetime
import importlib.util
import pathlib
from fractions import Fraction

import pytest

import snapdp as dp

numpy = pytest.importorskip("numpy")
from conftest import make_rows

arrow = pytest.importorskip("pyarrow")


@pytest.fixture
def plan(people):
    return people.plan(dp.count(), dp.mean("age"), dp.histogram("city"), epsilon=1)


@pytest.fixture
def free(ledger):
    """The ledger, of which nothing may be spent."""
    yield ledger
    assert ledger.spent == 0
    assert ledger.entries() == ()


def table(rows, **changes):
    kept = {name: values for name, values in {**rows, **changes}.items() if values is not None}
    return arrow.table(kept)


class Stream:
    """A producer that fails, now or when it is read, with a cell in its message."""

    def __init__(self, batches, at_once=False):
        self.batches, self.at_once = batches, at_once

    def __arrow_c_stream__(self, requested_schema=None):
        if self.at_once:
            raise RuntimeError("cell 'secret'")

        def give():
            yield from self.batches
            raise RuntimeError("cell 'secret'")

        return arrow.RecordBatchReader.from_batches(self.batches[0].schema, give()).__arrow_c_stream__()


def test_a_missing_column(plan, free, rows):
    with pytest.raises(dp.BadData) as refused:
        plan.release(table(rows, age=None), free)
    assert refused.value.parameter == "column"
    assert "age" in str(refused.value) and "income" not in str(refused.value)


@pytest.mark.parametrize("name", ["Age", "AGE", "age ", "_age"])
def test_another_spelling_is_suggested(plan, free, rows, name):
    with pytest.raises(dp.BadData, match=f'has no column "age", but "{name}"'):
        plan.release(table(rows, age=None, **{name: rows["age"]}), free)


def test_other_names_may_be_cells_and_are_not_told(plan, free, rows):
    with pytest.raises(dp.BadData) as refused:
        plan.release(table(rows, age=None, agent_x=rows["age"]), free)
    assert "agent" not in str(refused.value)


def test_two_columns_of_one_name(plan, free, rows):
    names = ["user_id", "age", "age", "city"]
    doubled = arrow.Table.from_arrays([arrow.array(rows[name]) for name in names], names=names)
    with pytest.raises(dp.BadData, match="same name"):
        plan.release(doubled, free)


@pytest.mark.parametrize(
    "cells",
    [
        [datetime.date(2026, 1, 1)],
        [datetime.datetime(2026, 1, 1)],
        [datetime.timedelta(1)],
        [[1]],
        [{"a": 1}],
        [b"1"],
    ],
    ids=lambda cells: type(cells[0]).__name__,
)
def test_types_that_are_no_numbers(plan, free, rows, cells):
    with pytest.raises(dp.BadData, match="age") as refused:
        plan.release(table(rows, age=cells * len(rows["age"])), free)
    assert "cannot be used" in str(refused.value)


@pytest.mark.parametrize(
    "data",
    [42, 4.2, [1, 2], [{"age": 1}], object(), (row for row in [{"age": 1}]), iter([1]), {"age": iter([1])}, b"bytes", set()],
    ids=lambda data: type(data).__name__,
)
def test_what_is_no_table(plan, free, data):
    with pytest.raises(dp.InvalidArgument) as refused:
        plan.release(data, free)
    assert refused.value.parameter == "data"


@pytest.mark.parametrize("cells", [[1, 2], [1, "x"], ["a\ud800"]], ids=["numbers", "mixed", "half a character"])
def test_a_series_is_no_table_whatever_it_holds(people, free, cells):
    series = pytest.importorskip("pandas").Series(cells, dtype=object)
    with pytest.raises(dp.InvalidArgument, match="data: is a Series"):
        people.plan(dp.count(), epsilon=1).release(series, free)


def test_a_file_without_the_column(plan, free, tmp_path):
    pytest.importorskip("snapdp._duckdb")
    (tmp_path / "people.csv").write_text("user_id,Age,city\n1,2,Ulm\n")
    with pytest.raises(dp.BadData) as refused:
        plan.release(tmp_path / "people.csv", free)
    assert refused.value.parameter == "column" and "age" in str(refused.value)


@pytest.mark.parametrize("path", ["no such file.csv", "no such file.parquet", "https://example.org/a.csv", "*.csv", ".", ""])
def test_paths(plan, free, path):
    pytest.importorskip("snapdp._duckdb")
    with pytest.raises(dp.Error) as refused:
        plan.release(path, free)
    assert refused.value.code in ("io", "invalid_argument")
    with pytest.raises(dp.Error):
        plan.release(pathlib.Path(path), free)


def test_no_data(plan, free):
    with pytest.raises(dp.InvalidArgument, match="data"):
        plan.release(None, free)


@pytest.mark.parametrize("ledger", [None, "people.ledger", 3, object()])
def test_what_is_no_ledger(plan, rows, ledger):
    with pytest.raises(dp.InvalidArgument) as refused:
        plan.release(table(rows), ledger)
    assert refused.value.parameter == "ledger"


def test_a_stream_is_read_once(plan, people, rows, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "streams.ledger", people, epsilon=9)
    reader = table(rows).to_reader()
    plan.release(reader, ledger)
    with pytest.raises(dp.InvalidArgument, match="read before"):
        plan.release(reader, ledger)
    capsule = table(rows).__arrow_c_stream__()
    plan.release(capsule, ledger)
    with pytest.raises(dp.InvalidArgument, match="read before"):
        plan.release(capsule, ledger)
    assert len(ledger.entries()) == 2


def test_a_refusal_leaves_a_stream_as_it_was(plan, people, ledger, rows):
    reader = table(rows).to_reader()
    with pytest.raises(dp.BudgetRefused):
        people.plan(dp.count(), epsilon=3).release(reader, ledger)
    assert plan.release(reader, ledger)["count"].value > 0


@pytest.mark.parametrize("at_once", [True, False])
def test_a_producer_that_fails(plan, free, rows, at_once):
    with pytest.raises(dp.Error) as refused:
        plan.release(Stream(table(rows).to_batches(max_chunksize=1000), at_once), free)
    assert refused.value.code in ("io", "bad_data")
    assert "secret" not in str(refused.value)
    assert refused.value.__cause__ is None and (refused.value.__suppress_context__ or refused.value.__context__ is None)


def test_what_a_progress_function_raises_ends_the_release(plan, free, rows):
    def progress(percent):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        plan.release(table(rows), free, progress=progress)


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_it_raises_while_a_file_is_read(plan, ledger, rows, kind, tmp_path):
    """A small file may have been read before there is any progress to tell of; then it is released."""
    pytest.importorskip("snapdp._duckdb")
    from pyarrow import csv, parquet

    write = csv.write_csv if kind == "csv" else parquet.write_table
    write(arrow.concat_tables([table(rows)] * 40), str(tmp_path / f"people.{kind}"))
    told = []

    def progress(percent):
        told.append(percent)
        raise ZeroDivisionError("mine")

    try:
        plan.release(tmp_path / f"people.{kind}", ledger, progress=progress)
    except ZeroDivisionError:
        assert len(told) == 1 and ledger.spent == 0 and ledger.entries() == ()
    else:
        assert told == [] and len(ledger.entries()) == 1


def test_a_progress_function_may_look_at_the_ledger(plan, ledger, rows):
    seen = []
    plan.release(table(rows), ledger, progress=lambda percent: seen.append((percent, ledger.spent)))
    assert seen and all(0 <= percent <= 100 and spent == 0 for percent, spent in seen)


def test_another_dataset(free, rows):
    other = dp.dataset("others", neighbors="add-remove", columns={"age": dp.integer(0, 100)})
    with pytest.raises(dp.BudgetRefused):
        other.plan(dp.count(), epsilon=1).release(table(rows), free)


def test_other_neighbors(free, rows):
    other = dp.dataset("people-2026", neighbors="change-one", size=len(rows["age"]), columns={"age": dp.integer(0, 100)})
    with pytest.raises(dp.BudgetRefused) as refused:
        other.plan(dp.mean("age"), epsilon=1).release(table(rows), free)
    assert refused.value.parameter == "neighbors"


def test_other_bounds_than_declared(free, rows):
    other = dp.dataset(
        "people-2026", neighbors="add-remove", unit="user_id", max_rows_per_unit=3, expected_size=5000,
        columns={"age": dp.integer(0, 50)},
    )  # fmt: skip
    with pytest.raises(dp.BudgetRefused) as refused:
        other.plan(dp.sum("age"), epsilon=1).release(table(rows), free)
    assert refused.value.parameter == "bounds"


def test_too_little_is_left(people, free, rows):
    with pytest.raises(dp.BudgetRefused):
        people.plan(dp.count(), epsilon="2.0000001").release(table(rows), free)


def test_more_than_the_run_may_cost(people, free, rows):
    plan = people.plan(dp.count(epsilon=1), epsilon="1/2")
    assert not plan.affordable
    with pytest.raises(dp.BudgetRefused):
        plan.release(table(rows), free)


def test_a_label_of_another_question(people, plan, ledger, rows):
    plan.release(table(rows), ledger, label="first")
    with pytest.raises(dp.BudgetRefused, match="label"):
        people.plan(dp.count(), epsilon="1/2").release(table(rows), ledger, label="first")
    with pytest.raises(dp.InvalidArgument, match="label"):
        plan.release(table(rows), ledger, label=7)
    assert len(ledger.entries()) == 1


def test_a_dry_run_says_all_this_too(plan, free, rows):
    plan.dry_run(table(rows), free)
    with pytest.raises(dp.BadData):
        plan.dry_run(table(rows, age=None), free)
    with pytest.raises(dp.InvalidArgument):
        plan.dry_run(42, free)


def test_frames_that_pyarrow_cannot_take(plan, free, rows):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)
    for odd in (pandas.array([pandas.Interval(0, 1)] * len(frame)), pandas.period_range("2026", periods=len(frame), freq="D")):
        with pytest.raises(dp.BadData):
            plan.release(frame.assign(age=odd), free)
    # Nobody asks for this one.
    plan.dry_run(frame.assign(income=pandas.period_range("2026", periods=len(frame), freq="D")), free)


def test_errors_are_the_same_for_neighbors(plan, free):
    """One row more, of whatever cells, changes neither whether there is an error nor which."""
    pandas = pytest.importorskip("pandas")
    rows = {name: values[:50] for name, values in make_rows(60).items()}
    for cell in ("x", 1, 2.5, None, b"b", [1], datetime.date(2026, 1, 1), 10**40, float("nan"), object()):
        for name in rows:
            more = {key: [*values, cell if key == name else None] for key, values in rows.items()}
            plan.dry_run(pandas.DataFrame(more, dtype=object), free)
            if isinstance(cell, (str, int, float)):  # what may be a category
                kinds = pandas.DataFrame(more, dtype=object).astype("category")
                plan.dry_run(kinds, free)
                plan.dry_run({key: kinds[key] for key in kinds}, free)
                plan.dry_run({key: kinds[key].array for key in kinds}, free)
            plan.dry_run(more, free)
            objects = {key: numpy.array([*values, None], dtype=object)[:-1] for key, values in more.items()}
            plan.dry_run(objects, free)
            plan.dry_run({key: pandas.Series(values, dtype=object) for key, values in more.items()}, free)


class Hostile:
    """A cell that fails whoever looks at it."""

    @property
    def dtype(self):
        raise RuntimeError("cell 'secret'")

    shape = ()


class HostileScalar:
    shape = ()

    class dtype:
        kind = "f"

    def item(self):
        raise RuntimeError("cell 'secret'")


@pytest.mark.parametrize("cell", ["a\ud800", Hostile(), HostileScalar()], ids=["half a character", "dtype", "item"])
def test_no_cell_fails_a_table(plan, free, cell):
    pandas = pytest.importorskip("pandas")
    for name in ("age", "city"):
        few = {key: [*values[:9], cell if key == name else None] for key, values in make_rows(20).items()}
        plan.dry_run(few, free)
        plan.dry_run(pandas.DataFrame(few, dtype=object), free)
        plan.dry_run({key: pandas.Series(values, dtype=object) for key, values in few.items()}, free)
    if isinstance(cell, str):
        city = ["Ulm"] * 9 + [cell]
        plan.dry_run({**few, "city": numpy.array(city)}, free)
        plan.dry_run({**few, "city": pandas.Series(city, dtype="string[python]")}, free)
        plan.dry_run(pandas.DataFrame(few, dtype=object).assign(city=pandas.Series(city, dtype="string[python]")), free)
        kinds = pandas.Categorical.from_codes([0] * 9 + [1], categories=pandas.Index(["Ulm", cell], dtype=object))
        plan.dry_run(pandas.DataFrame(few, dtype=object).assign(city=kinds), free)


class Producer:
    def __init__(self, stream):
        self.stream = stream

    def __arrow_c_stream__(self, requested_schema=None):
        return self.stream


def test_streams_that_are_none(plan, free):
    import ctypes

    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    for data in (new(1, b"another", None), Producer(None), Producer(7)):
        with pytest.raises(dp.Error) as refused:
            plan.release(data, free)
        assert refused.value.parameter == "data"


def test_a_cursor_is_read_once(plan, ledger, rows):
    from test_frames import adbc_cursor

    cursor = adbc_cursor(rows)
    plan.release(cursor, ledger)
    with pytest.raises(dp.InvalidArgument, match="read before"):
        plan.release(cursor, ledger)
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("held", [True, False])
def test_no_output_replaces_a_ledger(plan, people, rows, tmp_path, ending, held):
    place = tmp_path / "people.ledger"
    ledger = dp.Ledger.create(place, people, epsilon=1)
    report = plan.release(table(rows), ledger)
    before = place.read_bytes()
    if not held:  # another process has it
        del ledger
    (tmp_path / "link").symlink_to(f"people.ledger{ending}")
    for target in (f"{place}{ending}", tmp_path / "link"):
        for write in (report.csv, report.html, plan.html):
            with pytest.raises(dp.InvalidArgument, match="ledger") as refused:
                write(target)
            assert refused.value.parameter == "path"
    assert place.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "people.ledger"]
    report.csv(tmp_path / f"report{ending}")


def test_an_open_ledger_is_known_without_opening_it_again(plan, ledger):
    """To close a file ends all locks that the process has on it, those of a release in another thread too."""
    import ctypes
    import os

    libc = ctypes.CDLL(None, use_errno=True)
    opened = 0x20  # IN_OPEN
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert watch >= 0 and libc.inotify_add_watch(watch, os.fsencode(ledger.path), opened) >= 0
    try:
        with pytest.raises(dp.InvalidArgument, match="ledger"):
            plan.html(ledger.path)
        if importlib.util.find_spec("snapdp._duckdb"):
            with pytest.raises(dp.InvalidArgument, match="is a ledger"):
                plan.check(ledger.path)
        with pytest.raises(BlockingIOError):
            os.read(watch, 4096)
        open(ledger.path, "rb").close()
        assert os.read(watch, 4096)
    finally:
        os.close(watch)


half = "a\ud800"
huge = 10**5000


@pytest.mark.parametrize(
    "wrong",
    [
        lambda people, ledger: dp.dataset(half, neighbors="add-remove"),
        lambda people, ledger: dp.dataset("d", neighbors=half),
        lambda people, ledger: dp.dataset("d", neighbors="add-remove", columns={half: dp.integer(0, 1)}),
        lambda people, ledger: dp.dataset("d", neighbors="add-remove", columns=[dp.integer(0, 1)]),
        lambda people, ledger: dp.dataset("d", neighbors="add-remove", columns={"a": dp.integer(0, huge)}),
        lambda people, ledger: dp.dataset("d", neighbors="add-remove", columns={"a": dp.text(keys={("a",), 1j})}),
        lambda people, ledger: dp.dataset("d", neighbors="add-remove", path=half),
        lambda people, ledger: dp.dataset("d", neighbors="add-remove", path=7),
        lambda people, ledger: people.plan(dp.count(), epsilon=huge),
        lambda people, ledger: people.plan(dp.count(), epsilon=Fraction(1, huge)),
        lambda people, ledger: people.plan(dp.count(), epsilon=half),
        lambda people, ledger: people.plan(dp.count(), epsilon=1, label=7),
        lambda people, ledger: people.plan(dp.count(), epsilon=1, headline=half),
        lambda people, ledger: people.plan(dp.mean(half), epsilon=1),
        lambda people, ledger: people.plan(dp.count(name=half), epsilon=1),
        lambda people, ledger: people.plan(dp.count(), epsilon=1).release({}, ledger, label=half),
        lambda people, ledger: people.plan(dp.count(), epsilon=1).release(half, ledger),
        lambda people, ledger: people.plan(dp.count(), epsilon=1).html(half),
        lambda people, ledger: people.plan(dp.count(), epsilon=1).html(7),
        lambda people, ledger: ledger.find(half),
        lambda people, ledger: ledger.entry(huge),
        lambda people, ledger: dp.Ledger(half),
        lambda people, ledger: dp.plan(half),
        lambda people, ledger: dp.read_dataset(7),
        lambda people, ledger: dp.Report.from_json(half),
        lambda people, ledger: dp.Snapping(epsilon=1, sensitivity=Fraction(huge, 3)),
        lambda people, ledger: dp.Snapping(epsilon=1, sensitivity=1).release(Fraction(huge, 3)),
    ],
)
def test_every_refusal_is_an_error(people, free, wrong):
    with pytest.raises(dp.InvalidArgument):
        wrong(people, free)


@pytest.mark.parametrize("found", ["2.1.0", "1.3.9", None])
def test_files_without_a_duckdb_that_was_tested(monkeypatch, found):
    import importlib.metadata

    from snapdp import _engine

    def version(name):
        if found is None:
            raise importlib.metadata.PackageNotFoundError(name)
        return found

    monkeypatch.setattr(importlib.metadata, "version", version)
    with pytest.raises(dp.IoError, match=r"pip install \"snapdp\[duckdb\]\"") as refused:
        _engine._library("/no/such/libduckdb.so")
    assert refused.value.parameter == "data"
    assert (found or "there is none") in str(refused.value)
