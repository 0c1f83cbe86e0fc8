"""Budgets of epsilon and delta, and of rho; Gaussian noise."""

from fractions import Fraction

import pytest

import snapdp as dp


@pytest.fixture
def people():
    return dp.dataset("people", neighbors="add-remove", columns={"age": dp.real(0, 100), "city": dp.text(keys=["a", "b"])})


@pytest.fixture
def rows():
    return {"age": [30.0, 40.0, 50.0, 60.0], "city": ["a", "b", "a", "a"]}


def test_a_ledger_of_rho(people, rows, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "p.ledger", people, rho="1/8", delta="1e-6")
    assert (ledger.measure, ledger.budget, ledger.delta) == ("zcdp", Fraction(1, 8), Fraction(1, 10**6))
    plan = people.plan(
        dp.count(noise="gaussian", rho="1/32"),
        dp.histogram("city", noise="gaussian"),
        dp.sum("age", epsilon="1/10"),
        rho="1/8",
        delta="1e-6",
    )
    assert plan.affordable
    assert plan["count"].epsilon == Fraction(1, 32)  # its price, a rho
    report = plan.release(rows, ledger)
    assert len(report.values()) == 3
    entry = ledger.entries()[0]
    assert entry.cost == ledger.spent <= Fraction(1, 8)
    assert entry.charges[0] == ("count", 0, 0, Fraction(1, 32))
    assert entry.charges[2][:2] == ("sum age", Fraction(1, 10))
    with pytest.raises(dp.BudgetRefused, match="rho"):
        plan.release(rows, ledger)


def test_a_ledger_of_epsilon_and_delta(people, rows, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "p.ledger", people, epsilon=2, delta="1e-6")
    assert ledger.measure == "approximate"
    plan = people.plan(dp.mean("age", noise="gaussian", epsilon=1, delta="1e-7"), epsilon=1, delta="1e-6")
    plan.release(rows, ledger)
    assert (ledger.spent, ledger.spent_delta) == (1, Fraction(1, 10**7))
    # A pure plan fits too; one of rho does not.
    people.plan(dp.count(), epsilon=1).release(rows, ledger)
    assert ledger.remaining == 0
    with pytest.raises(dp.BudgetRefused, match="epsilon and delta"):
        people.plan(dp.count(noise="gaussian"), rho=1, delta="1e-6").release(rows, ledger)


def test_chains_of_gaussian_noise(rows):
    ages = dp.rows(dp.real(), neighbors="add-remove")
    noisy = ages >> dp.count() >> dp.snapping(rho="1/32", noise="gaussian")
    assert noisy.loss() == Fraction(1, 32)
    assert noisy.loss(2) == Fraction(1, 8)
    budget = dp.Budget(rho="1/16", delta="1e-6")
    noisy.release(rows["age"], budget)
    assert budget.spent == Fraction(1, 32)
    priced = ages >> dp.count() >> dp.snapping(epsilon=1, delta="1e-6", noise="gaussian")
    both = dp.Budget(epsilon=1, delta="1e-6")
    priced.release(rows["age"], both)
    assert both.spent == 1
    with pytest.raises(dp.Mismatch, match="noise"):
        noisy.release(rows["age"], dp.Budget(100))


@pytest.mark.parametrize(
    "given",
    [{}, {"epsilon": 1, "rho": 1, "delta": "1e-6"}, {"rho": 1}, {"rho": 1, "delta": 1}, {"epsilon": 1, "delta": 0}],
)
def test_budgets_that_are_none(people, given, tmp_path):
    with pytest.raises(dp.InvalidArgument):
        dp.Budget(**given)
    with pytest.raises(dp.InvalidArgument):
        dp.Ledger.create(tmp_path / "p.ledger", people, **given)
    with pytest.raises(dp.InvalidArgument):
        people.plan(dp.count(), **given)
    assert not (tmp_path / "p.ledger").exists()


def test_gaussian_noise_needs_a_delta(people):
    with pytest.raises(dp.InvalidArgument, match="no pure epsilon"):
        people.plan(dp.count(noise="gaussian", epsilon=1, delta="1e-6"), epsilon=1)
    with pytest.raises(dp.InvalidArgument, match="epsilon"):
        dp.snapping(noise="gaussian")
