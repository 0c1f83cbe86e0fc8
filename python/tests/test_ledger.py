"""Ledgers: one file, whoever has it open."""

import importlib.util
import multiprocessing
import os
import stat
import threading
from fractions import Fraction

import pytest

import snapdp as dp


def test_a_new_ledger(ledger, people, tmp_path):
    assert stat.S_IMODE(os.stat(ledger.path).st_mode) == 0o600
    assert (ledger.dataset, ledger.neighbors, ledger.privacy_unit) == ("people-2026", "add-remove", "user_id")
    assert (ledger.budget, ledger.spent, ledger.remaining) == (2, 0, 2)
    assert type(ledger.remaining) is Fraction
    assert ledger.entries() == () and ledger.find("first") is None
    with pytest.raises(dp.InvalidArgument):
        dp.Ledger.create(ledger.path, people, epsilon=2)
    for epsilon in (0, -1, float("nan"), "x", True):
        with pytest.raises(dp.InvalidArgument, match="epsilon"):
            dp.Ledger.create(tmp_path / "other.ledger", people, epsilon=epsilon)
        assert not (tmp_path / "other.ledger").exists()


def test_what_is_no_ledger(tmp_path):
    (tmp_path / "text").write_text("no ledger")
    for path in (tmp_path / "none", tmp_path / "text", tmp_path):
        with pytest.raises(dp.BudgetRefused):
            dp.Ledger(path)


def test_a_release_and_its_records(ledger, people, rows, tool):
    plan = people.plan(dp.count(), dp.mean("age", epsilon="1/3"), epsilon="1/2")
    report = plan.release(rows, ledger, label="2026-Q4")
    assert (report.release, report.reprinted, report.not_stored) == (1, False, "")
    assert report.spent == plan.epsilon and report.remaining == ledger.remaining == 2 - plan.epsilon
    (entry,) = ledger.entries()
    assert entry == ledger.entry(1)
    assert (entry.release, entry.label, entry.reported) == (1, "2026-Q4", True)
    assert tuple(charge[:2] for charge in entry.charges) == (("count", plan["count"].epsilon), ("mean age", Fraction(1, 3)))
    assert entry.epsilon == entry.spent == plan.epsilon
    assert ledger.find("2026-Q4") == 1
    assert ledger.specification(1) == plan.to_toml()
    again = ledger.report(1)
    assert again.to_json() == report.to_json()
    assert again.to_html() == report.to_html() and again.time == report.time == entry.time
    assert tool("ledger", "show", ledger.path, "--release", 1, "--json") == report.to_json()
    assert tool("report", ledger.path, "--release", 1) == str(report) == report.to_table()
    assert tool("ledger", "anchor", ledger.path) == ledger.anchor + "\n"
    if importlib.util.find_spec("numpy"):
        import numpy

        assert ledger.entry(numpy.int64(1)) == entry
    for number in (0, 2, -1, 2**70):
        with pytest.raises(dp.InvalidArgument):
            ledger.report(number)


def test_a_label_pays_once(ledger, people, rows):
    plan = people.plan(dp.count(), epsilon=1)
    first = plan.release(rows, ledger, label="first")
    again = plan.release(rows, ledger, label="first")
    assert again.reprinted and not first.reprinted
    assert again.to_json() == first.to_json()
    assert ledger.spent == 1
    assert plan.release(rows, ledger, label="second").release == 2


def test_whoever_looks_while_a_release_runs_waits_for_nobody_who_waits_for_him(ledger, people, rows):
    """A progress function wants the interpreter while its thread has the ledger."""
    plan = people.plan(dp.count(), epsilon=1)
    started, finish = threading.Event(), threading.Event()

    def progress(percent):
        started.set()
        finish.wait(0.2)

    thread = threading.Thread(target=plan.release, args=(rows, ledger), kwargs={"progress": progress})
    thread.start()
    started.wait(60)
    assert plan.warnings(ledger) is not None and plan.to_table(ledger) and plan.to_html(ledger)
    assert ledger.remaining < 2 and str(ledger) and ledger.entries()
    finish.set()
    thread.join(60)
    assert not thread.is_alive()


def test_ten_tenths_are_one(people, rows, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "tenths.ledger", people, epsilon=1)
    plan = people.plan(dp.count(epsilon=0.1), epsilon=0.1)
    for _ in range(10):
        plan.release(rows, ledger)
    assert ledger.remaining == 0
    with pytest.raises(dp.BudgetRefused):
        plan.release(rows, ledger)


def test_anchors(ledger, people, rows, tmp_path):
    before = ledger.anchor
    people.plan(dp.count(), epsilon=1).release(rows, ledger)
    ledger.verify()
    ledger.verify(before, ledger.anchor)
    other = dp.Ledger.create(tmp_path / "other.ledger", people, epsilon=2)
    people.plan(dp.count(), epsilon=1).release(rows, other)
    with pytest.raises(dp.BudgetRefused):
        other.verify(ledger.anchor)
    with pytest.raises(dp.InvalidArgument, match="anchors"):
        ledger.verify("no anchor")


def test_a_file_is_a_declaration_too(people, tmp_path):
    (tmp_path / "people.toml").write_text(people.to_toml())
    ledger = dp.Ledger.create(tmp_path / "l.ledger", tmp_path / "people.toml", epsilon=1)
    assert ledger.dataset == "people-2026"


def test_what_people_see(ledger, tool):
    lines = str(ledger).splitlines()
    assert lines[0].split() == ["ledger", "people.ledger"]
    shown = tool("ledger", "show", ledger.path)
    for line in lines[1:7]:
        assert line.split() in [row.split() for row in shown.splitlines()]
    assert "people-2026" in ledger._repr_html_()


def child_tries(ledger, results):
    try:
        results.put(repr(ledger.remaining))
    except dp.Error as error:
        results.put(error.code)


def test_a_child_process_opens_its_own(ledger):
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=child_tries, args=(ledger, results))
    child.start()
    assert results.get(timeout=60) in ("budget_refused", "invalid_argument", "io")
    child.join()
    child = context.Process(target=lambda: results.put(repr(dp.Ledger(ledger_path).remaining)))
    ledger_path = ledger.path
    child.start()
    assert results.get(timeout=60) == "Fraction(2, 1)"
    child.join()
    assert ledger.remaining == 2


def release_in_child(path, people, rows, results):
    try:
        results.put(people.plan(dp.count(epsilon="0.1"), epsilon="0.1").release(rows, dp.Ledger(path)).release)
    except dp.BudgetRefused:
        results.put(None)


def test_processes_pay_from_one_file(people, rows, tmp_path):
    dp.Ledger.create(tmp_path / "shared.ledger", people, epsilon="0.3")
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    few = {name: values[:20] for name, values in rows.items()}
    children = [
        context.Process(target=release_in_child, args=(tmp_path / "shared.ledger", people, few, results)) for _ in range(4)
    ]
    for child in children:
        child.start()
    outcomes = [results.get(timeout=120) for _ in children]
    for child in children:
        child.join()
    assert sorted(outcome for outcome in outcomes if outcome) == [1, 2, 3] and outcomes.count(None) == 1
    assert dp.Ledger(tmp_path / "shared.ledger").remaining == 0
