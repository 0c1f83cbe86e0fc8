"""How far a release is: by a bar of tqdm, a plain line or a function. None of them tells a number of rows."""

import sys
import types

import pytest

import snapdp as dp

pyarrow = pytest.importorskip("pyarrow")


@pytest.fixture
def plan(people):
    return people.plan(dp.count(), dp.mean("age"), epsilon="1/2")


@pytest.fixture
def table(rows):
    whole = pyarrow.table(rows)
    return lambda: pyarrow.Table.from_batches(whole.to_batches(max_chunksize=500))


class FakeBar:
    """What tqdm's bars have, and keeps what was drawn."""

    made: list["FakeBar"] = []
    at_close: Exception | None = None

    def __init__(self, **options):
        self.options, self.n, self.drawn, self.closed = options, 0, [], False
        FakeBar.made.append(self)

    def refresh(self):
        self.drawn.append(self.n)

    def close(self):
        self.closed = True
        if FakeBar.at_close:
            raise FakeBar.at_close


@pytest.fixture
def fake(monkeypatch):
    module = types.ModuleType("tqdm.auto")
    module.tqdm = FakeBar
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", module)
    monkeypatch.setattr(FakeBar, "made", [])
    monkeypatch.setattr(FakeBar, "at_close", None)
    return FakeBar


def test_a_bar_goes_to_its_end_once(plan, ledger, table, fake):
    plan.release(table(), ledger, label="first", progress=True)
    (bar,) = fake.made
    assert bar.closed and bar.options["total"] == 100
    assert bar.drawn == sorted(bar.drawn) and bar.drawn[0] < 100 and bar.drawn[-1] == 100
    assert plan.release(table(), ledger, label="first", progress=True).reprinted
    assert len(fake.made) == 1, "what reads no row draws nothing"


def test_check_and_dry_run_have_one_too(plan, ledger, table, fake):
    plan.check(table(), progress=True)
    plan.dry_run(table(), ledger, progress=True)
    assert [bar.closed for bar in fake.made] == [True, True] and ledger.spent == 0


def test_the_bar_of_a_release_that_fails_is_closed_where_it_stood(people, ledger, rows, fake):
    other = people.plan(dp.count(), epsilon="1/2")
    seen = pyarrow.table({name: rows[name] for name in rows if name != "user_id"})
    with pytest.raises(dp.BadData):
        other.release(seen, ledger, progress=True)
    assert all(bar.closed and bar.n < 100 for bar in fake.made)


def test_a_screen_that_fails_after_the_debit_costs_no_report(plan, ledger, table, fake):
    fake.at_close = OSError("no screen")
    report = plan.release(table(), ledger, progress=True)
    assert report["count"].value and ledger.spent == plan.epsilon


def test_tqdm_itself(plan, ledger, table, capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    plan.release(table(), ledger, progress=True)
    shown = capsys.readouterr().err
    assert "reading rows: 100 %|" in shown
    assert "5000" not in shown and "/100" not in shown


def test_without_tqdm_a_line_tells(plan, ledger, table, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    plan.release(table(), ledger, progress=True)
    shown = capsys.readouterr().err
    lines = shown.rstrip("\n").split("\r")
    assert shown.endswith("\rreading rows: 100 %\n") and len(set(lines)) == len(lines)


def test_none_and_false_are_silent(plan, ledger, table, capsys, fake):
    plan.release(table(), ledger, progress=False)
    plan.release(table(), ledger, progress=None)
    assert capsys.readouterr().err == "" and fake.made == []


@pytest.mark.parametrize("progress", [1, "bar", [print]])
def test_what_is_no_progress_is_refused_before_the_debit(plan, ledger, table, progress):
    for call in (plan.release, plan.dry_run):
        with pytest.raises(dp.InvalidArgument, match="progress: is a .*True for a bar") as refused:
            call(table(), ledger, progress=progress)
        assert refused.value.parameter == "progress"
    assert ledger.spent == 0
