"""Chains: what they compute, what they claim, what they refuse, and that nothing is drawn before it is paid for."""

from __future__ import annotations

import array
import functools
import gc
import inspect
import itertools
import math
import pickle
import random
import subprocess
import sys
import threading
import warnings
import weakref
from fractions import Fraction

import pytest

import snapdp as dp

numpy = pytest.importorskip("numpy")
pytest.importorskip("hypothesis")
from hypothesis import given, settings
from hypothesis import strategies as st
from snapdp import testing

huge = 2**60  # an epsilon that leaves the noise far below any grid


def reals(**options):
    return dp.rows(dp.real(), **{"neighbors": "add-remove", "missing": False, **options})


def between(lower, upper, **options):
    return reals(**options) >> dp.clamp(lower, upper)


def public(size, **options):
    return between(0, 1, **{"neighbors": "change-one", "size": size, **options})


def on_grid(value, sensitivity):
    """The grid of the library: the largest power of two at most sensitivity * 2^-40; ties go up."""
    grid = Fraction(2) ** (math.floor(math.log2(sensitivity)) - 40)
    return grid * math.floor(Fraction(value) / grid + Fraction(1, 2))


# What is computed.

cells = st.lists(
    st.one_of(st.floats(-8, 8), st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 7.999999999999999, 2**-41])), max_size=40
)


@settings(deadline=None)
@given(cells)
def test_sums_are_those_of_fractions(values):
    clamped = [Fraction(min(max(value, -3), 5)) for value in values]
    assert (between(-3, 5) >> dp.sum()).exact(values) == (on_grid(sum(clamped), 5),)
    assert (between(-3, 5) >> dp.count()).exact(values) == (len(values),)


@settings(deadline=None)
@given(cells.filter(lambda values: len(values) > 1))
def test_means_and_variances_are_those_of_fractions(values):
    n = len(values)
    clamped = [Fraction(min(max(value, -3), 5)) for value in values]
    mean = sum(clamped) / n
    rows = between(-3, 5, neighbors="change-one", size=n)
    assert (rows >> dp.mean()).exact(values) == (on_grid(mean, Fraction(8, n)),)
    variance = sum((value - mean) ** 2 for value in clamped) / (n - 1)
    assert (rows >> dp.variance()).exact(values) == (on_grid(variance, Fraction(64, n)),)
    assert (rows >> dp.moment(order=2)).exact(values) == (on_grid(sum(value**2 for value in clamped) / n, Fraction(25, n)),)


def test_other_statistics():
    integers = dp.rows(dp.integer(), neighbors="add-remove")
    whole = integers >> dp.drop() >> dp.clamp(0, 10)
    assert (whole >> dp.sum()).exact([1, None, 20, -5, 3]) == (14,)
    assert (integers >> dp.histogram(edges=[0, 5, 10])).exact([0, 4, 5, 10, 11, None]) == (2, 2)
    assert (integers >> dp.histogram(categories=[4, 5], other="bin")).exact([4, 5, 5, None, 7]) == (1, 2, 2)
    assert (integers >> dp.distinct(categories=[4, 5, 6])).exact([4, 5, 5, None, 7]) == (2,)
    assert (between(0, 10) >> dp.centered_sum()).exact([1.0, 4.0]) == (-5,)
    words = dp.rows(dp.text(), neighbors="add-remove")
    assert (words >> dp.histogram(categories=["a", "Köln"])).exact(["a", "a", "Köln", None, "b"]) == (2, 1)
    assert (words >> dp.parse("integer") >> dp.drop() >> dp.clamp(0, 9) >> dp.sum()).exact(["7", " 1 ", "x", None]) == (8,)
    assert (integers >> dp.bins(edges=[0, 5, 10], other=True) >> dp.sum()).exact([1, 6, 70]) == (3,)
    assert (dp.rows(dp.real(), neighbors="add-remove") >> dp.cast("integer") >> dp.impute(1)).exact([2.0, 2.5]) == [2, 1]
    assert (dp.rows(dp.real(), neighbors="add-remove") >> dp.cast("integer", nearest=True) >> dp.drop()).exact([2.5]) == [3]


def test_columns_together():
    n = 4
    x, y = [0.0, 1.0, 2.5, 3.0], [1.0, 9.0, 2.0, 4.0]
    table = dp.rows({"x": dp.real(), "y": dp.real()}, neighbors="change-one", size=n, missing=False)
    chain = table >> dp.clamp(bounds=[(0, 3), (0, 5)])
    mean_x, mean_y = Fraction(13, 8), Fraction(12, 4)
    exact = sum((Fraction(a) - mean_x) * (min(Fraction(b), 5) - mean_y) for a, b in zip(x, y)) / (n - 1)
    assert (chain >> dp.covariance()).exact({"y": y, "x": numpy.array(x)}) == (on_grid(exact, Fraction(15, n)),)
    assert (chain >> dp.project(1) >> dp.mean()).exact({"x": x, "y": y}) == (mean_x,)
    assert table["x"].names == ("x",) and table["x"] != table["y"] and table["x", "y"] == table


# What is claimed, against every pair of neighbors on a tiny domain.

domain = (-1.0, 0.0, 0.5, 2.0)
built_in = {
    "count": lambda: dp.count(),
    "sum": lambda: dp.sum(),
    "mean": lambda: dp.mean(),
    "variance": lambda: dp.variance(),
    "moment": lambda: dp.moment(order=2),
    "histogram": lambda: dp.histogram(edges=[-1, 0, 1, 2]),
    "distinct": lambda: dp.distinct(categories=[-1, 0, 2]),
    "centered_sum": lambda: dp.centered_sum(),
    "hierarchy": lambda: dp.hierarchy([-1, 0, 1, 2], branching=2),
}
sizeless = {"count", "sum", "histogram", "distinct", "centered_sum", "hierarchy"}


def farthest(chain, pairs):
    exact = functools.lru_cache(None)(lambda rows: chain.exact(list(rows)))
    return max(sum(abs(a - b) for a, b in zip(exact(first), exact(second))) for first, second in pairs)


@pytest.mark.parametrize("name", sorted(sizeless))
def test_stability_under_add_remove_by_brute_force(name):
    chain = between(-1, 2) >> built_in[name]()
    datasets = [rows for size in range(3) for rows in itertools.combinations_with_replacement(domain, size)]
    found = farthest(chain, [(rows, (*rows, more)) for rows in datasets for more in domain])
    assert found <= chain.stability() and chain.check(1, found) and not chain.check(1, found / 2)
    assert found == chain.stability()


@pytest.mark.parametrize("name", sorted(set(built_in) - {"count", "centered_sum"}))
@pytest.mark.parametrize("neighbors", ["change-one", "hamming"])
def test_stability_under_change_one_by_brute_force(name, neighbors):
    chain = between(-1, 2, neighbors=neighbors, size=3) >> built_in[name]()
    pairs = [
        ((*rest, one), (*rest, other))
        for rest in itertools.product(domain, repeat=2)
        for one, other in itertools.product(domain, repeat=2)
    ]
    found = farthest(chain, pairs)
    assert found <= chain.stability()
    if name != "variance":  # whose farthest neighbors are not among these; rounding moves the others by steps of the grid
        assert chain.stability() - found <= chain.stability() / 2**30


@pytest.mark.parametrize("name", sorted(built_in))
def test_the_search_finds_nothing_wrong_with_the_library_s_own(name):
    options = {} if name in sizeless else {"neighbors": "change-one", "size": 5}
    chain = between(-1, 2, **options) >> built_in[name]()
    assert testing.find_counterexample(chain, trials=300) is None
    assert testing.find_counterexample(chain >> dp.snapping(epsilon="1/3"), trials=300) is None


def test_relations():
    chain = between(0, 10) >> dp.sum()
    assert chain.stability(3) == 30 and chain.stability("1/2") == 5
    assert chain.check(2, 20) and not chain.check(2, 19)
    assert chain.backward(30) == 3
    loss = chain >> dp.snapping(epsilon="1/4")
    assert loss.loss() == loss.price == Fraction(1, 4) and loss.loss(2) == Fraction(1, 2)
    assert loss.check(1, "1/4") and not loss.check(1, "0.2499") and loss.stability(2) == 20
    (noise,) = loss.parts
    assert (noise.sensitivity, noise.scale, noise.epsilon) == (10, 40, Fraction(1, 4))
    assert loss.accuracy(0.05).tight == dp.accuracy(epsilon="1/4", sensitivity=10).tight + 2**-38
    bounded = between(0, 10, neighbors="change-one", size=20) >> dp.mean() >> dp.snapping(epsilon="1/4")
    assert bounded.bias(10) == dp.bias(epsilon="1/4", sensitivity="1/2", lower=0, upper=10, value=10)
    farther = chain >> dp.snapping(epsilon="1/4", distance=5)
    assert farther.loss(5) == Fraction(1, 4) and farther.loss() == Fraction(1, 20)
    assert farther.parts[0].scale == 200


def test_steps_are_told():
    chain = dp.rows(dp.real(), neighbors="add-remove") >> dp.impute(1) >> dp.clamp(0, 10) >> dp.sum()
    steps = chain.steps(2)
    assert [step.function for step in steps] == ["impute 1", "clamp to [0, 10]", "sum of real in [0, 10]"]
    assert [step.distance for step in steps] == [2, 2, 20]
    assert steps[0].metric == "symmetric distance" and "real in [0, 10]" in steps[1].output
    measurement = chain >> dp.snapping(epsilon="1/4")
    for shown in (repr(measurement), measurement._repr_html_()):
        for words in ("impute 1", "clamp to [0, 10]", "symmetric distance", "scale 40", "at most 0.25"):
            assert words in shown
    assert repr(dp.clamp(0, 10) >> dp.sum()) == "clamp(0, 10) >> sum()"
    assert "<script" not in (reals() >> dp.transformation(list, stability=1, name="<script>"))._repr_html_()


def test_steps_may_be_joined_in_any_order():
    rows = reals()
    step = dp.clamp(0, 10) >> (dp.sum() >> dp.snapping(epsilon=1))
    apart = (rows >> dp.clamp(0, 10)) >> dp.sum() >> dp.snapping(epsilon=1)
    assert repr(rows >> step) == repr(apart)
    clamped = rows >> dp.clamp(0, 10)
    again = clamped.output >> dp.clamp(0, 5)
    assert (clamped >> again).exact([-1.0, 7.0]) == [0, 5]
    assert (clamped >> (again >> dp.sum())).exact([-1.0, 7.0, 3.0]) == (8,)


# Releases.


@pytest.fixture
def ledger(tmp_path):
    people = dp.dataset("people", neighbors="add-remove", columns={"age": dp.real(0, 100)})
    return dp.Ledger.create(tmp_path / "people.ledger", people, epsilon=1)


def test_a_ledger_pays(ledger):
    chain = between(0, 100) >> dp.sum() >> dp.snapping(epsilon="1/4")
    release = chain.release([1.0, 2.0], ledger, name="total of ages")
    assert release.loss == Fraction(1, 4) and release.entry == 1 and type(release.value) is float
    assert Fraction(release.value) % chain.parts[0].grid == 0 and float(release) == release.value
    (entry,) = ledger.entries()
    assert tuple(charge[:2] for charge in entry.charges) == (("total of ages", Fraction(1, 4)),) and ledger.remaining == Fraction(3, 4)
    assert "sum of real in [0, 100]" in ledger.specification(1)
    with pytest.raises(dp.BudgetRefused):
        (between(0, 100) >> dp.sum() >> dp.snapping(epsilon=1)).release([1.0], ledger)
    with pytest.raises(dp.Mismatch):
        (between(0, 100, neighbors="change-one", size=1) >> dp.mean() >> dp.snapping(epsilon="1/4")).release([1.0], ledger)
    assert len(ledger.entries()) == 1 and ledger.remaining == Fraction(3, 4)


def test_a_budget_in_memory_pays():
    budget = dp.Budget(1)
    chain = between(0, 100) >> dp.count() >> dp.snapping(epsilon=0.1, noise="geometric")
    for _ in range(10):
        assert type(chain.release([1.0] * 50, budget).value) is int
    with pytest.raises(dp.BudgetRefused, match="nothing was debited"):
        chain.release([1.0] * 50, budget)
    assert (budget.budget, budget.spent, budget.remaining) == (1, 1, 0)
    with pytest.raises(dp.InvalidArgument):
        dp.Budget(0)


def test_the_debit_comes_before_the_noise_and_after_the_rows():
    order = []

    class Asked:
        def debit(self, debit):
            order.append(debit)

    def seen(rows):
        order.append("rows")
        return rows

    chain = reals() >> dp.transformation(seen, stability=1) >> dp.clamp(0, 1) >> dp.sum() >> dp.snapping(epsilon="1/8")
    chain.release([0.5], Asked())
    assert order[0] == "rows" and order[-1].loss == Fraction(1, 8)
    assert (order[-1].metric, order[-1].distance, order[-1].unit) == ("symmetric distance", 1, "")
    assert "clamp to [0, 1]" in order[-1].what

    class Broke(Exception):
        pass

    class Refusing:
        def debit(self, debit):
            raise Broke

    with pytest.raises(Broke):
        chain.release([0.5], Refusing())
    for nobody in (None, 1, "people.ledger", Asked):
        with pytest.raises((dp.InvalidArgument, TypeError)):
            chain.release([0.5], nobody)


def test_what_is_released_is_the_statistic_and_noise():
    exact = between(0, 10) >> dp.sum() >> dp.snapping(epsilon=huge, grid="2^-10")
    assert exact.release([1.5, 2.25, 20.0], dp.Budget(huge)).value == 13.75
    several = dp.rows(dp.integer(), neighbors="add-remove") >> dp.histogram(categories=[1, 2]) >> dp.snapping(epsilon=huge)
    release = several.release([1, 2, 2, 3], dp.Budget(huge))
    assert release.values == (1, 2) and all(type(value) is int for value in release.values)
    with pytest.raises(dp.InvalidArgument, match="2 numbers"):
        print(release.value)
    noisy = between(0, 10) >> dp.sum() >> dp.snapping(epsilon=1)
    assert len({noisy.release([1.0], dp.Budget(1)).value for _ in range(50)}) > 25
    clamped = between(0, 10) >> dp.sum() >> dp.snapping(epsilon="1/1000", range=(0, 1))
    assert all(0 <= clamped.release([1.0], dp.Budget(1)).value <= 1 for _ in range(200))


def test_several_as_one_release(ledger):
    rows = reals()
    total = rows >> dp.clamp(0, 10) >> dp.sum() >> dp.snapping(epsilon="1/4")
    number = rows >> dp.count() >> dp.snapping(epsilon="1/8")
    both = dp.sequential(total, number)
    assert both.loss() == both.price == Fraction(3, 8) and both.loss(2) == Fraction(3, 4)
    release = both.release([1.0, 2.0], ledger)
    assert len(release.parts) == 2 and len(ledger.entries()) == 1 and ledger.spent == Fraction(3, 8)
    assert type(release.parts[0][0]) is float and type(release.parts[1][0]) is int
    assert both.accuracy(0.05, part=1).tight == number.accuracy(0.05).tight
    assert dp.sequential(both, number).loss() == Fraction(1, 2)
    assert testing.find_counterexample(both, trials=200) is None
    for wrong in (
        [],
        [total, rows],
        [total, public(2) >> dp.mean() >> dp.snapping(epsilon=1)],
        [total, rows >> dp.count() >> dp.snapping(epsilon=1, distance=2)],
        [total, dp.rows(dp.integer(), neighbors="add-remove") >> dp.count() >> dp.snapping(epsilon="1/4")],
    ):
        with pytest.raises(dp.Error):
            dp.sequential(*wrong)
    with pytest.raises(dp.InvalidArgument, match="part"):
        both.accuracy(part=2)
    with pytest.raises(dp.InvalidArgument, match="several parts"):
        both.stability()


def test_quantiles():
    ages = [float(age) for age in range(100)]
    for options in ({}, {"neighbors": "change-one", "size": 100}):
        tree = between(0, 100, **options) >> dp.hierarchy(range(0, 101, 10)) >> dp.snapping(epsilon=huge)
        release = tree.release(ages, dp.Budget(huge))
        low, middle = tree.quantiles(release, [0.25, "1/2"])
        assert (low.value, middle.value) == (25, 50) and low.interval[0] <= 25 <= low.interval[1]
    with pytest.raises(dp.Mismatch, match="hierarchy"):
        (between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1)).quantiles(release, [0.5])
    with pytest.raises(dp.Error):
        tree.quantiles(dp.Release(((1.0,),), Fraction(1)), [0.5])


def test_means_under_add_remove():
    rows = between(0, 10)
    parts = [dp.count() >> dp.snapping(epsilon=1), dp.centered_sum() >> dp.snapping(epsilon=1)]
    both = dp.sequential(rows >> parts[0], rows >> parts[1])
    values = [float(value % 11) for value in range(2000)]
    exact = sum(values) / len(values)
    estimate = both.mean(both.release(values, dp.Budget(2)), (0, 10), alpha=1e-12)
    low, high = estimate.interval
    assert low <= exact <= high and low <= estimate.value <= high and high - low < 2
    given = dp.Release(((100,), (-50.0,)), Fraction(2))
    assert both.mean(given, (0, 10)).value == 5 - 0.5
    swapped = dp.sequential(rows >> parts[1], rows >> parts[0])
    assert swapped.mean(dp.Release(((-50.0,), (100,)), Fraction(2)), (0, 10), count=1, sum=0) == both.mean(given, (0, 10))
    for wrong in (dp.Release(((1,),), Fraction(1)), dp.Release(((1, 2), (3.0,)), Fraction(1))):
        with pytest.raises(dp.Mismatch, match="release"):
            both.mean(wrong, (0, 10))


def test_means_know_what_they_are_made_of():
    """Bounds, kinds and rows come from the parts: what is told otherwise is refused."""
    noise = dp.snapping(epsilon=1)
    rows = between(0, 10)
    given = dp.Release(((100,), (-50.0,)), Fraction(2))

    def mean(counted, summed, *arguments, **options):
        return dp.sequential(counted >> noise, summed >> noise).mean(given, *arguments, **options)

    good = mean(rows >> dp.count(), rows >> dp.centered_sum())
    assert good.value == 4.5 and good == mean(rows >> dp.count(), rows >> dp.centered_sum(), (0, 10))
    assert good == mean(reals() >> dp.count(), rows >> dp.centered_sum(), ("0", 10.0))  # no step leaves a row out
    for bounds in ((0, 11), (-1, 10), (0, 5), (10, 0)):
        with pytest.raises(dp.InvalidArgument, match="bounds") as refused:
            mean(rows >> dp.count(), rows >> dp.centered_sum(), bounds)
        assert refused.value.parameter == "bounds"
    with pytest.raises(dp.Mismatch, match="^count: that part is centered_sum"):
        mean(rows >> dp.centered_sum(), rows >> dp.centered_sum())
    for other in (dp.sum(), dp.count(), dp.aggregation(float, stability=10, name="centered_sum()")):
        with pytest.raises(dp.Mismatch, match="^sum: "):
            mean(rows >> dp.count(), rows >> other)
    with pytest.raises(dp.Mismatch, match="^count: "):
        mean(rows >> dp.count(), rows >> dp.centered_sum(), count=1)
    tenth = dp.rows(dp.real(), neighbors="add-remove", missing=False) >> dp.clamp("0.1", "0.3")
    assert mean(tenth >> dp.count(), tenth >> dp.centered_sum(), ("0.1", "0.3")).value == pytest.approx(0.1)
    whole = dp.rows(dp.integer(), neighbors="add-remove") >> dp.drop() >> dp.clamp("0.5", "9.5")
    assert mean(whole >> dp.count(), whole >> dp.centered_sum(), (0, 10)) == good
    missing = reals(missing=True)
    kept = missing >> dp.drop() >> dp.clamp(0, 10)
    assert mean(missing >> dp.drop() >> dp.count(), kept >> dp.centered_sum()) == good
    for count in (missing >> dp.count(), missing >> dp.impute(0) >> dp.count()):
        with pytest.raises(dp.Mismatch, match="count: counts other rows") as refused:
            mean(count, kept >> dp.centered_sum())
        assert refused.value.parameter == "count"
    table = dp.rows({"x": dp.real(), "y": dp.real()}, neighbors="add-remove")
    of_x = table["x"] >> dp.drop() >> dp.clamp(0, 10)
    assert mean(of_x >> dp.count(), of_x >> dp.centered_sum()) == good
    with pytest.raises(dp.Mismatch, match="other rows"):
        mean(table["y"] >> dp.drop() >> dp.count(), of_x >> dp.centered_sum())
    later = dp.sequential(kept >> dp.count() >> noise, kept >> (kept.output >> dp.centered_sum()) >> noise)
    assert later.mean(given) == good


# Data.

one_by_one = {
    "list": list,
    "tuple": tuple,
    "array": lambda values: array.array("d", values),
    "memoryview": lambda values: memoryview(array.array("d", values))[:],
    "numpy": numpy.array,
    "float32": lambda values: numpy.array(values, "f4"),
    "strided": lambda values: numpy.repeat(numpy.array(values), 2)[::2],
    "swapped": lambda values: numpy.array(values, ">f8"),
    "objects": lambda values: numpy.array(values, object),
    "scalars": lambda values: [numpy.float64(value) for value in values],
    "fourths": lambda values: [int(value) if value == int(value) else value for value in values],
}


@pytest.mark.parametrize("kind", sorted(one_by_one))
@pytest.mark.parametrize("missing", [False, True])
def test_one_column_of_reals(kind, missing):
    values = [1.0, 2.5, -7.0, 3.25] * 1500
    chain = reals(missing=missing) >> (dp.impute(0) if missing else dp.clamp(-9, 9)) >> dp.clamp(-1, 3) >> dp.sum()
    expected = sum(min(max(value, -1), 3) for value in values)
    data = one_by_one[kind](values)
    assert chain.exact(data) == (expected,)
    noisy = chain >> dp.snapping(epsilon=huge, grid="2^-10")
    assert noisy.release(data, dp.Budget(huge)).value == expected


@pytest.mark.parametrize("frame", ["pyarrow", "chunked", "pandas", "polars"])
def test_one_column_that_speaks_arrow(frame):
    package = pytest.importorskip(frame if frame != "chunked" else "pyarrow")
    values = [1.0, None, 2.5, -7.0] * 700
    data = {
        "pyarrow": lambda: package.array(values),
        "chunked": lambda: package.chunked_array([values[:5], values[5:]]),
        "pandas": lambda: package.Series(values, dtype="float64"),
        "polars": lambda: package.Series(values),
    }[frame]()
    chain = reals(missing=True) >> dp.drop() >> dp.clamp(-1, 2) >> dp.sum() >> dp.snapping(epsilon=huge, grid="2^-10")
    assert chain.release(data, dp.Budget(huge)).value == 700 * 2.0
    if frame == "polars":
        words = dp.rows(dp.text(), neighbors="add-remove") >> dp.histogram(categories=["a", "b"]) >> dp.snapping(epsilon=huge)
        assert words.release(package.Series(["a", None, "b", "a"]), dp.Budget(huge)).values == (2, 1)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2.0], [1.0], [True], ["1"], [2**63], numpy.array([1.0]), numpy.array([True]), numpy.array([1], "u8"), numpy.array([[1]]),
        array.array("d", [1.0]), array.array("b", [1]), numpy.ma.array([1], mask=[1]), iter([1]), {"a": [1]}, "12", b"12", 7, None, {1},
        numpy.array([1.5], object), [[1]], numpy.array(["2020-01-01"], "M8[D]"), object(),
    ],
)  # fmt: skip
def test_what_is_no_integer_is_refused_and_not_shown(values):
    chain = (
        dp.rows(dp.integer(), neighbors="add-remove") >> dp.impute(0) >> dp.clamp(0, 9) >> dp.sum() >> dp.snapping(epsilon=1)
    )
    budget = dp.Budget(1)
    with pytest.raises(dp.InvalidArgument) as refused:
        chain.release(values, budget)
    assert refused.value.parameter == "data" and str(refused.value).startswith("data: ")
    assert budget.spent == 0 and "9223372036854775808" not in str(refused.value)


def test_rows_that_break_a_promise_are_refused_before_the_debit():
    budget = dp.Budget(1)
    total = reals() >> dp.clamp(0, 1) >> dp.sum() >> dp.snapping(epsilon=1)
    bounded = dp.rows(dp.real(0, 1), neighbors="add-remove", missing=False) >> dp.sum() >> dp.snapping(epsilon=1)
    sized = between(0, 1, neighbors="change-one", size=2) >> dp.mean() >> dp.snapping(epsilon=1)
    for chain, rows in ((total, [math.nan]), (total, [None]), (bounded, [2.0]), (sized, [1.0])):
        with pytest.raises(dp.BadData):
            chain.release(rows, budget)
        with pytest.raises(dp.BadData):
            chain.aggregations[0].exact(rows)
    assert budget.spent == 0
    with pytest.raises(dp.BadData):
        between(0, 1).exact([math.nan])


def test_bounds_are_rounded_outward():
    low, high = (between("0.1", "0.7") >> dp.drop()).exact([0.0, 1.0])
    assert Fraction(low) <= Fraction(1, 10) < Fraction(math.nextafter(low, 1))
    assert Fraction(math.nextafter(high, 0)) < Fraction(7, 10) <= Fraction(high)
    whole = dp.rows(dp.integer(), neighbors="add-remove", missing=False) >> dp.clamp("0.5", "3.5")
    assert whole.exact([-9, 9]) == [0, 4]


def test_scalars_of_numpy_are_numbers():
    chain = between(0, 1) >> dp.aggregation(
        lambda x: numpy.float32(x), finish=lambda rows, totals: numpy.float64(totals[0]), grid="2^-9", stability=1
    )
    assert chain.exact([0.5, 0.25]) == (Fraction(3, 4),)


def test_infinities_and_zeros():
    assert (between(-1, 1) >> dp.sum()).exact([math.inf, -math.inf, -0.0, 1e308]) == (1,)
    (zero,) = (reals() >> dp.transformation(list, stability=1)).exact([-0.0])
    assert math.copysign(1, zero) == 1


# Tables.

people = {"age": [30.0, None, 200.0, 45.0], "city": ["Ulm", "Jena", "Ulm", None], "who": ["a", "a", "b", "c"]}


def table(**options):
    return dp.rows({"age": dp.real(), "city": dp.text()}, **{"neighbors": "add-remove", **options})


def test_tables(ledger, tmp_path):
    rows = table()
    total = rows["age"] >> dp.drop() >> dp.clamp(0, 100) >> dp.sum() >> dp.snapping(epsilon=huge, grid="2^-10")
    cities = rows["city"] >> dp.histogram(categories=["Ulm", "Jena"]) >> dp.snapping(epsilon=huge)
    both = dp.sequential(total, cities)
    assert both.release(people, dp.Budget(2 * huge)).values == (175.0, 2, 1)
    for package in ("pyarrow", "pandas", "polars"):
        frames = pytest.importorskip(package)
        frame = frames.table(people) if package == "pyarrow" else frames.DataFrame(people)
        assert both.release(frame, dp.Budget(2 * huge)).values == (175.0, 2, 1)
    (tmp_path / "people.csv").write_text("city,age\nUlm,30\nJena,\nUlm,200\n,45\n")
    assert both.release(tmp_path / "people.csv", dp.Budget(2 * huge)).values == (175.0, 2, 1)
    small = rows["age"] >> dp.drop() >> dp.clamp(0, 100) >> dp.sum() >> dp.snapping(epsilon="1/4")
    assert small.release(people, ledger).entry == 1 and ledger.spent == Fraction(1, 4)
    with pytest.raises(dp.BadData):
        small.release({"Age": [1.0]}, ledger)
    with pytest.raises(dp.InvalidArgument):
        small.release([1.0], ledger)
    assert ledger.spent == Fraction(1, 4)
    with pytest.raises(dp.InvalidArgument, match="there is no 'agee'"):
        print(rows["agee"])
    with pytest.raises(dp.Mismatch, match="different rows"):
        dp.sequential(total, table(where="age >= 18")["city"] >> dp.count() >> dp.snapping(epsilon=1))


def test_wide_tables():
    wide = dp.rows({f"c{i}": dp.real() for i in range(20)}, neighbors="add-remove")
    chain = wide["c7"] >> dp.drop() >> dp.clamp(0, 1) >> dp.sum() >> dp.snapping(epsilon=huge, grid="2^-10")
    assert chain.release({f"c{i}": [float(i), 0.5] for i in range(20)}, dp.Budget(huge)).value == 1.5
    assert "c19" in repr(wide) and wide != wide["c7"] and hash(wide) == hash(wide[wide.names])
    with pytest.raises(dp.InvalidArgument, match="8 at most"):
        print(wide >> dp.drop())


def test_bounded_columns_are_read_as_cells():
    bounded = dp.rows(dp.real(0, 1), neighbors="add-remove") >> dp.drop() >> dp.sum() >> dp.snapping(epsilon=huge, grid="2^-10")
    package = pytest.importorskip("pyarrow")
    assert bounded.release(package.array([0.5, None, 1.0]), dp.Budget(huge)).value == 1.5
    with pytest.raises(dp.BadData, match="missing=True"):
        bounded.release([2.0], dp.Budget(huge))


def test_refusals_of_one_s_own_come_out_as_they_are():
    mine = dp.BadData("rows: mine", "rows")

    def refuse(rows):
        raise mine

    chain = between(0, 1) >> dp.transformation(refuse, stability=1) >> dp.sum() >> dp.snapping(epsilon=1)
    with pytest.raises(dp.BadData) as refused:
        chain.release([0.5], dp.Budget(1))
    assert refused.value is mine


def test_conditions_and_units(tmp_path):
    adults = table(where="age < 100 and city = 'Ulm'")
    number = adults["age"] >> dp.count() >> dp.snapping(epsilon=huge)
    assert number.release(people, dp.Budget(huge)).value == 1
    units = table(unit="who", max_rows_per_unit=1)
    chain = units["age"] >> dp.count() >> dp.snapping(epsilon="1/2")
    assert chain.loss(1) == Fraction(1, 2) and chain.loss(2) == 1
    more = table(unit="who", max_rows_per_unit=3)["age"] >> dp.count() >> dp.snapping(epsilon="1/2")
    assert more.loss(1) == Fraction(1, 2) and more.parts[0].scale == 6
    exact = units["age"] >> dp.count() >> dp.snapping(epsilon=huge)
    assert exact.release(people, dp.Budget(huge)).value == 3
    dataset = dp.dataset("visits", neighbors="add-remove", unit="who", max_rows_per_unit=1, columns={"age": dp.real(0, 1)})
    ledger = dp.Ledger.create(tmp_path / "visits.ledger", dataset, epsilon=1)
    assert chain.release(people, ledger).entry == 1
    with pytest.raises(dp.Mismatch):
        chain.release(people, ledger_of_rows(tmp_path))
    for wrong in (
        {"unit": "who"}, {"max_rows_per_unit": 1}, {"unit": "who", "max_rows_per_unit": 0}, {"where": "age >"}, {"where": "age = 'x'"},
        {"unit": "who", "max_rows_per_unit": 1, "neighbors": "change-one", "size": 4}, {"where": "age > 1", "missing": False},
    ):  # fmt: skip
        with pytest.raises(dp.InvalidArgument):
            print(table(**wrong)["age"] >> dp.count() >> dp.snapping(epsilon=1))


def ledger_of_rows(folder):
    dataset = dp.dataset("rows", neighbors="add-remove", columns={"age": dp.real(0, 1)})
    return dp.Ledger.create(folder / "rows.ledger", dataset, epsilon=1)


def test_groups():
    rows = table()["city", "age"]
    inner = dp.drop() >> dp.clamp(0, 100) >> dp.sum()
    chain = rows >> dp.grouped(inner, keys=["Jena", "Ulm", "Köln"])
    assert chain.stability() == 100
    noisy = chain >> dp.snapping(epsilon=huge, grid="2^-10")
    assert noisy.release(people, dp.Budget(huge)).values == (0, 130, 0)
    assert testing.find_counterexample(chain, trials=300, texts=["Jena", "Ulm"]) is None
    own = dp.aggregation(lambda age: 0 if age is None else min(int(age), 99), integer=True, stability=99, name="years")
    groups = rows >> dp.grouped(own, keys=["Ulm"], other=True) >> dp.snapping(epsilon=huge)
    assert groups.release(people, dp.Budget(huge)).values == (129, 45)
    assert (rows >> dp.grouped(dp.count(), keys=["Ulm"]) >> dp.snapping(epsilon=huge)).release(
        people, dp.Budget(huge)
    ).value == 2
    with pytest.raises(dp.InvalidArgument, match="inner"):
        print(rows >> dp.grouped(dp.drop(), keys=["Ulm"]))


# Functions of one's own.


def test_own_steps_on_both_sides_of_the_library_s():
    doubled = dp.transformation(lambda rows: [2 * row for row in rows], output=dp.real(0, 20), stability=1, name="double")
    halved = dp.transformation(lambda rows: (numpy.array(rows) / 2), output=dp.real(0, 5), stability=1, name="halve")
    chain = between(0, 10) >> doubled >> dp.clamp(0, 10) >> halved >> dp.sum()
    assert chain.exact([1.0, 7.0, 50.0]) == (11,)
    assert chain.stability() == 5
    assert [step.function for step in chain.steps()].count("double (claimed by its author, not proved)") == 1
    assert testing.find_counterexample(chain, trials=300) is None
    many = [float(value % 11) for value in range(10_000)]
    assert chain.exact(many) == (sum(min(2 * value, 10) / 2 for value in many),)


def test_own_steps_see_rows_as_python_has_them():
    seen = []
    look = dp.transformation(lambda rows: seen.extend(rows) or rows, stability=1, name="look")
    rows = dp.rows({"i": dp.integer(), "t": dp.text(), "r": dp.real()}, neighbors="add-remove", missing=True)
    chain = rows >> look >> dp.count() >> dp.snapping(epsilon=1)
    chain.release({"i": [1, None], "t": ["Köln", None], "r": [-0.0, None]}, dp.Budget(1))
    assert seen == [(1, "Köln", 0.0), (None, None, None)]
    assert [type(cell) for cell in seen[0]] == [int, str, float]
    lower = dp.transformation(
        lambda rows: [row and row.strip().lower() for row in rows], output=dp.text(), missing=True, stability=1
    )
    words = (
        dp.rows(dp.text(), neighbors="add-remove") >> lower >> dp.histogram(categories=["ulm", "a much longer word than most"])
    )
    assert words.exact([" Ulm", "ULM", None, "A much longer word than most"] * 3000) == (6000, 3000)


def test_own_statistics():
    squares = between(0, 3) >> dp.aggregation(lambda x: Fraction(x) ** 2, stability=9, name="squares")
    assert squares.exact([1.0, 2.5, 9.0]) == (1 + Fraction(25, 4) + 9,)
    assert squares.stability(2) == 18
    assert testing.find_counterexample(squares, trials=300) is None
    numbers = dp.rows(dp.integer(0, 5), neighbors="change-one", size=3, missing=False)
    largest = dp.aggregation(
        lambda x: [x == k for k in range(6)], totals=6, finish=lambda rows, totals: max(k for k in range(6) if totals[k]),
        integer=True, range=(0, 5), relation=lambda d_in, d_out: d_in == 0 or d_out >= 5, forward=lambda d_in: min(d_in, 1) * 5, name="largest",
    )  # fmt: skip
    chain = numbers >> largest
    assert chain.exact([1, 4, 2]) == (4,) and chain.stability(1) == 5
    assert testing.find_counterexample(chain, trials=300) is None
    release = (chain >> dp.snapping(epsilon=huge)).release([1, 4, 2], dp.Budget(huge))
    assert release.value == 4 and type(release.value) is int
    pair = between(0, 1) >> dp.aggregation(lambda x: [x, x * x], totals=2, stability=2, grid="2^-4", name="pair")
    assert pair.stability() == 2 + Fraction(1, 16)
    assert all(value % Fraction(1, 16) == 0 for value in pair.exact([0.3, 0.7]))
    assert testing.find_counterexample(pair, trials=500) is None
    mean = dp.aggregation(
        lambda x: x, finish=lambda rows, totals: totals[0] / rows, grid="2^-30", range=(0, 1), stability=lambda d: d * Fraction(1, 4) + Fraction(1, 2**30)
    )  # fmt: skip
    assert testing.find_counterexample(between(0, 1, neighbors="change-one", size=4) >> mean, trials=300) is None


planted = {
    "a sum that is not 1-stable": lambda: dp.rows(dp.real(0, 10), neighbors="add-remove", missing=False) >> dp.aggregation(lambda x: x, stability=1),
    "a sum by change-one": lambda: between(-5, 5, neighbors="change-one", size=3) >> dp.aggregation(lambda x: x, stability=5),
    "a sum in another order": lambda: between(0, 1) >> dp.aggregation(lambda x: x, stability=1, finish=lambda n, t: t[0] * n),
    "a count of pairs": lambda: reals() >> dp.aggregation(lambda x: 1, finish=lambda n, t: t[0] * (t[0] - 1) / 2, integer=True, stability=1),
    "the first row": lambda: between(0, 1) >> dp.transformation(lambda rows: rows[:1], stability=1),
    "sorted, and then by place": lambda: between(0, 1) >> dp.transformation(lambda rows: [r + i for i, r in enumerate(sorted(rows))], output=dp.real(), stability=1),
    "less than the mean": lambda: between(0, 1) >> dp.transformation(lambda rows: [r for r in rows if 2 * r * len(rows) >= sum(rows)], stability=1),
    "a relation that holds always": lambda: between(0, 9) >> dp.aggregation(lambda x: x, grid="2^-9", relation=lambda d_in, d_out: True),
    "a hint that is too small": lambda: reals() >> dp.transformation(list, relation=lambda a, b: b >= a, forward=lambda d: d / 2),
    "a backward hint": lambda: dp.rows(dp.real(0, 9), neighbors="add-remove", missing=False) >> dp.aggregation(lambda x: x, grid="2^-9", relation=lambda a, b: b >= 9 * a, forward=lambda d: 9 * d, backward=lambda d: d),
    "a map that forgets the rounding": lambda: between(0, "1/3") >> dp.aggregation(lambda x: x, grid=1, stability=lambda d: d / 3),
    "outside its range": lambda: between(0, 1) >> dp.aggregation(lambda x: x, range=(0, 2), stability=1),
    "outside its output": lambda: between(0, 9) >> dp.transformation(list, output=dp.real(0, 8), stability=1),
    "what raises at times": lambda: between(0, 9) >> dp.transformation(lambda rows: [1 / (9 - row) for row in rows], output=dp.real(), stability=1),
}  # fmt: skip


@pytest.mark.parametrize("name", planted)
def test_the_search_finds_planted_faults(name):
    found = testing.find_counterexample(planted[name]())
    assert found is not None, name
    assert found.d_in <= 5 and found.rule in str(found) and isinstance(found.first, tuple)


def test_a_counterexample_is_small_and_told():
    found = testing.find_counterexample(planted["a sum that is not 1-stable"]())
    assert (found.rule, found.d_in, found.promised) == ("stability", 1, 1)
    assert found.d_out > 1 and len(found.first) + len(found.second) == 1
    assert testing.find_counterexample(planted["a sum that is not 1-stable"]()) == found
    with pytest.raises(dp.InvalidArgument):
        testing.find_counterexample(reals() >> dp.clamp(0, 1), trials=0)
    with pytest.raises(dp.InvalidArgument):
        testing.find_counterexample(dp.clamp(0, 1))

    def interrupted(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        testing.find_counterexample(reals() >> dp.transformation(interrupted, stability=1))
    wrong_loss = between(0, 10) >> dp.aggregation(lambda x: x, stability=1) >> dp.snapping(epsilon=1)
    assert testing.find_counterexample(wrong_loss).rule in ("stability", "loss")


class Mine(Exception):
    pass


def raising(rows):
    raise Mine("mine")


@pytest.mark.parametrize("data", [[1.0] * 5000, numpy.ones(5000), "stream"])
@pytest.mark.parametrize("step", ["transformation", "aggregation", "finish"])
def test_what_a_function_raises_comes_out_as_it_is_and_nothing_is_debited(data, step, ledger):
    if isinstance(data, str):
        data = pytest.importorskip("pyarrow").chunked_array([[1.0] * 3000, [2.0] * 3000])
    own = {
        "transformation": dp.transformation(raising, stability=1) >> dp.impute(0) >> dp.clamp(0, 1) >> dp.sum(),
        "aggregation": dp.impute(0) >> dp.aggregation(raising, stability=1),
        "finish": dp.impute(0) >> dp.aggregation(lambda x: 1, finish=lambda rows, totals: raising(rows), stability=1),
    }[step]
    chain = reals(missing=True) >> own >> dp.snapping(epsilon=1)
    with pytest.raises(Mine, match="^mine$"):
        chain.release(data, ledger)
    assert ledger.spent == 0 and ledger.entries() == ()


@pytest.mark.parametrize(
    "function, rows",
    [
        (lambda rows: [row + 1 for row in rows], [0.5]),
        (lambda rows: [math.nan for _ in rows], [0.5]),
        (lambda rows: [None for _ in rows], [0.5]),
        (lambda rows: ["0" for _ in rows], [0.5]),
        (lambda rows: [True for _ in rows], [0.5]),
        (lambda rows: [*rows, *rows], [0.5]),
    ],
)
def test_what_comes_out_is_checked(function, rows):
    chain = between(0, 1) >> dp.transformation(function, stability=1) >> dp.sum() >> dp.snapping(epsilon=1)
    budget = dp.Budget(1)
    with pytest.raises(dp.Error) as refused:
        chain.release(rows, budget)
    assert refused.value.parameter == "function" and budget.spent == 0 and "0.5" not in str(refused.value)


def test_what_a_statistic_gives_is_checked():
    budget = dp.Budget(1)
    for function, options in (
        (lambda x: 5, {"range": (0, 1)}),
        (lambda x: 0.5, {"integer": True, "finish": lambda n, t: t[0], "range": (2, 3)}),
        (lambda x: math.inf, {}),
        (lambda x: Fraction(1, 3), {}),
        (lambda x: "1", {}),
        (lambda x: [1, 2], {}),
        (lambda x: 1, {"finish": lambda n, t: [1, 2]}),
        (lambda x: 1, {"totals": 2}),
        (lambda x: 1, {"finish": lambda n, t: "one"}),
        (lambda x: 1, {"finish": lambda n, t: math.nan}),
    ):
        chain = between(0, 1) >> dp.aggregation(function, stability=1, **options) >> dp.snapping(epsilon=1)
        with pytest.raises(dp.Error) as refused:
            chain.release([0.25], budget)
        assert not any(shown in str(refused.value) for shown in ("1/3", "5:", "inf")), "a private number"
    with pytest.raises(dp.Mismatch, match="public here"):
        first = dp.transformation(lambda rows: rows[:1], stability=1)
        (public(2) >> first >> dp.mean() >> dp.snapping(epsilon=1)).release([0.1, 0.2], budget)
    assert budget.spent == 0


def test_relations_of_one_s_own():
    step = functools.partial(dp.transformation, list)
    rows = between(0, 1)
    assert (rows >> step(stability=3) >> dp.sum()).stability(2) == 6
    assert (rows >> step(stability=lambda d: min(2 * d, 5)) >> dp.sum()).stability(4) == 5
    assert (rows >> step(stability=lambda d: 0.1)).stability(7) == Fraction(1, 10)
    searched = rows >> step(relation=lambda d_in, d_out: d_out >= 2 * d_in)
    assert 6 <= searched.stability(3) <= 6 * (1 + Fraction(1, 2**30)) and searched.check(3, 6) and not searched.check(3, 5)
    hinted = rows >> step(relation=lambda a, b: b >= 2 * a, forward=lambda d: 2 * d, backward=lambda d: d / 2)
    assert hinted.stability(3) == 6 and hinted.backward(6) == 3
    lying = rows >> step(relation=lambda a, b: b >= 2 * a, forward=lambda d: d)
    assert lying.stability(3) >= 6  # the predicate decides
    assert (lying >> dp.sum() >> dp.snapping(epsilon=1)).parts[0].sensitivity >= 2
    nothing = rows >> step(relation=lambda a, b: False)
    with pytest.raises(dp.Mismatch, match="nothing is claimed"):
        nothing.stability()
    with pytest.raises(dp.Error):
        print(nothing >> dp.sum() >> dp.snapping(epsilon=1))
    with pytest.raises(Mine):
        (rows >> step(stability=raising)).stability()
    for wrong in (
        {},
        {"stability": 1, "relation": lambda a, b: True},
        {"stability": -1},
        {"stability": 1, "forward": lambda d: d},
        {"stability": "x"},
    ):
        with pytest.raises(dp.InvalidArgument):
            step(**wrong)
    with pytest.raises(dp.InvalidArgument, match="grid"):
        dp.aggregation(lambda x: x, stability=lambda d: d)
    with pytest.raises(dp.InvalidArgument, match="function"):
        dp.transformation(7, stability=1)
    for name in ("", "sum\nof all", 7):
        with pytest.raises(dp.InvalidArgument, match="name"):
            step(stability=1, name=name)


# What is refused.

refusals = {
    "no rows": (lambda: (dp.clamp(0, 1) >> dp.sum()).loss(), "no rows"),
    "no rows for a release": (lambda: (dp.clamp(0, 1) >> dp.sum() >> dp.snapping(epsilon=1)).release([1.0], dp.Budget(1)), "no rows"),
    "no step": (lambda: reals().release([1.0], dp.Budget(1)), "no step"),
    "no statistic": (lambda: between(0, 1).release([1.0], dp.Budget(1)), "no statistic"),
    "no noise": (lambda: (between(0, 1) >> dp.sum()).release([1.0], dp.Budget(1)), "no noise"),
    "no noise, no accuracy": (lambda: (between(0, 1) >> dp.sum()).accuracy(), "no noise"),
    "noise on rows": (lambda: between(0, 1) >> dp.snapping(epsilon=1), "no statistic"),
    "two statistics": (lambda: between(0, 1) >> dp.sum() >> dp.mean(), "statistic already"),
    "after the noise": (lambda: between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1) >> dp.sum(), "ends with its noise"),
    "no bounds": (lambda: reals() >> dp.sum(), "use clamp first"),
    "missing cells": (lambda: reals(missing=True) >> dp.clamp(0, 1), "use impute or drop first"),
    "no public size": (lambda: between(0, 1) >> dp.mean(), "metric"),
    "a public count": (lambda: public(9) >> dp.count() >> dp.snapping(epsilon=1), "public constant"),
    "drop by change-one": (lambda: reals(neighbors="change-one", size=3) >> dp.drop(), "use impute"),
    "another domain": (lambda: between(0, 1) >> (between(0, 2).output >> dp.sum()), "domain"),
    "another metric": (lambda: public(3) >> (public(3, neighbors="hamming").output >> dp.mean()), "use one metric"),
    "two chains": (lambda: between(0, 1) >> (between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1)), "has its rows already"),
    "no step at all": (lambda: between(0, 1) >> 7, "int"),
    "bounds the wrong way": (lambda: between(1, 0), "bounds"),
    "one bound": (lambda: dp.clamp(1), "upper"),
    "epsilon": (lambda: between(0, 1) >> dp.sum() >> dp.snapping(epsilon=-1), "epsilon"),
    "no epsilon": (lambda: between(0, 1) >> dp.sum() >> dp.snapping(epsilon="x"), "epsilon"),
    "range": (lambda: dp.snapping(epsilon=1, range="x"), "range"),
    "noise": (lambda: between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1, noise="x"), "noise"),
    "geometric reals": (lambda: between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1, noise="geometric"), "noise"),
    "distance": (lambda: between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1, distance=0), "distance"),
    "neighbors": (lambda: dp.rows(dp.real(), neighbors="x"), "neighbors"),
    "size": (lambda: reals(size=-1), "size"),
    "a size that is none": (lambda: reals(size="many"), "size"),
    "columns": (lambda: dp.rows("age", neighbors="add-remove"), "columns"),
    "a declaration's option": (lambda: dp.rows(dp.text(keys=["a"]), neighbors="add-remove"), "keys"),
    "a plan's column": (lambda: between(0, 1) >> dp.mean("age"), "column"),
    "a plan's option": (lambda: between(0, 1) >> dp.sum(epsilon=1), "epsilon"),
    "a plan's kind": (lambda: between(0, 1) >> dp.median("age"), "median"),
    "bins": (lambda: reals() >> dp.histogram(), "categories"),
    "moment": (lambda: public(4) >> dp.moment(order=9), "order"),
    "alpha": (lambda: (between(0, 1) >> dp.sum() >> dp.snapping(epsilon=1)).accuracy(0), "alpha"),
    "d_in": (lambda: between(0, 1).stability(-1), "d_in"),
    "cast": (lambda: reals() >> dp.cast("x"), "types"),
}  # fmt: skip


@pytest.mark.parametrize("name", refusals)
def test_refusals(name):
    action, words = refusals[name]
    with pytest.raises(dp.Error, match=words) as refused:
        action()
    assert refused.value.parameter and "make_" not in str(refused.value)


def test_a_plan_refuses_a_step():
    people = dp.dataset("people", neighbors="add-remove", columns={"age": dp.real(0, 100)})
    with pytest.raises(dp.InvalidArgument, match="column"):
        people.plan(dp.mean(), epsilon=1)
    with pytest.raises(dp.InvalidArgument, match="statistics"):
        people.plan(dp.clamp(0, 1), epsilon=1)


def test_chains_are_not_pickled():
    chain = between(0, 1) >> dp.sum()
    for one in (reals(), dp.clamp(0, 1), chain, chain >> dp.snapping(epsilon=1), dp.Budget(1)):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(one)
    release = (chain >> dp.snapping(epsilon=1)).release([1.0], dp.Budget(1))
    assert pickle.loads(pickle.dumps(release)) == release


# Threads and memory.


def test_threads_share_chains_and_budgets():
    budget = dp.Budget(1)
    own = dp.transformation(lambda rows: [row / 2 for row in rows], output=dp.real(0, 1), stability=1)
    chain = between(0, 1) >> own >> dp.sum() >> dp.snapping(epsilon="1/16")
    refused = []

    def release():
        for _ in range(4):
            try:
                chain.release([0.5] * 5000, budget)
            except dp.BudgetRefused:
                refused.append(1)

    looking = (
        reals()
        >> dp.transformation(lambda rows: budget.spent is not None and rows, stability=1)
        >> dp.count()
        >> dp.snapping(epsilon="1/16")
    )
    looking.release([0.5], budget)

    threads = [threading.Thread(target=release) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert budget.remaining == 0 and len(refused) == 24 - 15


def test_a_chain_and_a_function_that_knows_it_go_together():
    def make():
        held = []
        chain = reals() >> dp.transformation(lambda rows: held and rows, stability=1) >> dp.clamp(0, 1) >> dp.sum()
        held.append(chain)
        marker = Mine()
        held.append(marker)
        return weakref.ref(marker)

    marker = make()
    gc.collect()
    assert marker() is None


def test_nothing_is_left_when_the_interpreter_ends():
    code = """
import snapdp as dp
chain = dp.rows(dp.real(), neighbors="add-remove", missing=False) >> dp.transformation(lambda rows: chain and rows, stability=1)
total = chain >> dp.clamp(0, 1) >> dp.aggregation(lambda x: x, stability=lambda d: d, grid="2^-9") >> dp.snapping(epsilon=1)
total.release([1.0], dp.Budget(1))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")


def test_every_method_has_words_for_its_parameters():
    for kind in (dp.Measurement, dp.Aggregation, dp.Transformation):
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name.startswith("_"):
                continue
            words = inspect.getdoc(method)
            assert words, name


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_random_chains_keep_their_claim(source: random.Random):
    """A chain of random steps against a random pair of neighbors, in exact arithmetic."""
    low, high = sorted(source.sample(range(-6, 7), 2))
    shift = source.choice([1, 2, 0.5])
    step = dp.transformation(lambda rows: [row * shift for row in rows], output=dp.real(), stability=1)
    chain = (
        reals() >> dp.clamp(-4, 4) >> step >> dp.clamp(low, high) >> source.choice([dp.sum(), dp.count(), dp.centered_sum()])
    )
    rows = [source.choice([-8.0, -0.5, 0.0, 0.25, 3.0, 9.0]) for _ in range(source.randrange(8))]
    fewer = [row for row in rows if source.random() < 0.7]
    (first,), (second,) = chain.exact(rows), chain.exact(fewer)
    assert abs(first - second) <= chain.stability(len(rows) - len(fewer))


# --- what must not be rounded, taken at its word or believed ---


def reals_of_ten():
    return dp.rows(dp.real(0, 10), neighbors="add-remove", missing=False)


def test_integers_are_not_rounded():
    eighth = dp.aggregation(lambda x: x, finish=lambda n, t: [t[0] / 16] * 8, numbers=8, integer=True, stability=4)
    halves = dp.aggregation(lambda x: (0.5, 0.5), totals=2, integer=True, stability=1)
    for step in (eighth, halves):
        budget = dp.Budget(2)
        measurement = reals_of_ten() >> step >> dp.snapping(epsilon=1, noise="geometric")
        with pytest.raises(dp.Mismatch, match="integer=True"):
            measurement.release([7.0], budget)
        assert budget.spent == 0
    whole = dp.aggregation(lambda x: (0.5, 0.5), totals=2, integer=True, stability=1)
    assert (reals_of_ten() >> whole).exact([1.0, 2.0]) == (1, 1)


@pytest.mark.parametrize("choice", [{"where": "b > 5"}, {"unit": "u", "max_rows_per_unit": 5}])
def test_later_parts_choose_no_other_rows(choice):
    start = dp.rows({"a": dp.integer()}, neighbors="add-remove")["a"] >> dp.cast("real") >> dp.cast("integer")
    columns = {"b": dp.integer(), "u": dp.integer()}
    later = dp.rows(columns, neighbors="add-remove", **choice)["b"] >> dp.drop() >> dp.clamp(0, 10)
    for part in (later, later >> dp.sum()):
        with pytest.raises(dp.Mismatch, match="at its start|its start has not"):
            start >> part


def test_numbers_of_any_length_are_released():
    great = dp.aggregation(lambda x: 10**5000 if x == 7 else 0, stability=1)
    budget = dp.Budget(2)
    release = (reals_of_ten() >> great >> dp.snapping(epsilon=1)).release([7.0], budget)
    assert budget.spent == 1 and abs(release.value - 10**5000) < 10**4


def test_numbers_that_are_none_cost_nothing():
    class Odd:
        numerator, denominator = 1.5, 1

    budget = dp.Budget(2)
    with pytest.raises(dp.Mismatch, match="no whole number"):
        (reals_of_ten() >> dp.aggregation(lambda x: Odd(), stability=1) >> dp.snapping(epsilon=1)).release([7.0], budget)
    assert budget.spent == 0


def test_sequences_with_a_length_of_their_own():
    class Long(list):
        def __len__(self):
            return 1

    class Short(list):
        def __len__(self):
            return 2

    two = dp.transformation(lambda rows: [Short([row]) for row in rows], output=[dp.real(0, 9), dp.real(0, 9)], stability=1)
    for step in (dp.aggregation(lambda x: Long([1.0] * 200_000), stability=1) >> dp.snapping(epsilon=1), two):
        with pytest.raises(dp.Mismatch, match="another number of"):
            chain = reals_of_ten() >> step
            chain.release([1.0] * 50, dp.Budget(9)) if isinstance(chain, dp.Measurement) else chain.exact([1.0] * 50)


def test_whoever_does_not_pay_is_refused():
    class Later:
        async def debit(self, debit):
            raise AssertionError

    class No:
        def debit(self, debit):
            return False

    class Own(dp.BudgetRefused):
        def __init__(self, why):
            super().__init__(f"make_{why}", "budget")

    class Refuses:
        def debit(self, debit):
            raise Own("payment")

    measurement = reals_of_ten() >> dp.sum() >> dp.snapping(epsilon=1)
    for payer in (Later(), No()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the coroutine that nobody awaits
            with pytest.raises(dp.InvalidArgument, match="raise to refuse"):
                measurement.release([1.0], payer)
            gc.collect()
    with pytest.raises(Own, match="make_payment"):
        measurement.release([1.0], Refuses())


@pytest.mark.parametrize("alpha", [1.5, 0, float("nan"), "x"])
def test_alpha_of_quantiles_is_checked_before_it_is_divided(alpha):
    tree = reals_of_ten() >> dp.hierarchy(range(11)) >> dp.snapping(epsilon=1)
    with pytest.raises(dp.InvalidArgument, match="alpha"):
        tree.quantiles(tree.release([1.0], dp.Budget(1)), [0.5, 0.6], alpha=alpha)


@pytest.mark.parametrize("bounds", [5, (0, 100), "ab", [(1,)]])
def test_clamp_wants_pairs(bounds):
    with pytest.raises(dp.InvalidArgument, match="bounds"):
        dp.clamp(bounds=bounds)
