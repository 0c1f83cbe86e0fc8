"""Epsilons are exact, whatever type of number they come in."""

from decimal import Decimal
from fractions import Fraction

import pytest

import snapdp as dp

numpy = pytest.importorskip("numpy")
pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st
from snapdp import _numbers, _toml


@pytest.mark.parametrize(
    ("number", "meant"),
    [
        ("1/4", Fraction(1, 4)),
        ("1e-3", Fraction(1, 1000)),
        ("0x1p-2", Fraction(1, 4)),
        (0.1, Fraction(1, 10)),
        (1e-7, Fraction(1, 10**7)),
        (3, Fraction(3)),
        (Decimal("0.30"), Fraction(3, 10)),
        (Decimal("1E-5"), Fraction(1, 10**5)),
        (Fraction(1, 3), Fraction(1, 3)),
        (numpy.float64(0.1), Fraction(1, 10)),
        (numpy.int32(2), Fraction(2)),
        (numpy.uint64(2), Fraction(2)),
    ],
)
def test_epsilons_are_what_they_say(number, meant):
    assert dp.Snapping(epsilon=number, sensitivity=1).epsilon == meant
    assert dp.compose([number], delta=0).basic == meant
    dataset = dp.dataset("d", neighbors="add-remove")
    plan = dataset.plan(dp.count(epsilon=number), epsilon=number)
    assert plan.budget == plan.epsilon == meant


@pytest.mark.parametrize("number", [True, None, [1], numpy.float32(0.1), numpy.float16(1), numpy.bool_(True), 1j, b"1", object()])
def test_what_is_no_exact_number_is_refused(number):
    with pytest.raises(dp.InvalidArgument) as refused:
        dp.Snapping(epsilon=number, sensitivity=1)
    assert refused.value.parameter == "epsilon"
    assert str(refused.value).startswith("epsilon")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), "nan", "1/0", "", "one", 0, -1, "-0.5", Decimal("NaN"), numpy.float64("nan")])
def test_what_is_no_epsilon_is_refused(number):
    with pytest.raises(dp.InvalidArgument, match="epsilon"):
        dp.Snapping(epsilon=number, sensitivity=1)
    with pytest.raises(dp.InvalidArgument, match="epsilon"):
        dp.dataset("d", neighbors="add-remove").plan(dp.count(epsilon=number), epsilon=1)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_is_its_shortest_decimal(number):
    assert Fraction(_numbers.text(number, "x")) == Fraction(repr(number))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_exact_float_is_itself(number):
    assert float.fromhex(_numbers.exact(number, "x")) == number


@given(st.one_of(st.integers(), st.decimals(allow_nan=False, allow_infinity=False, places=5), st.floats(-1e300, 1e300)))
def test_toml_keeps_every_digit(number):
    written = _toml.value(number, "x").strip('"')
    assert Fraction(written) == (Fraction(repr(number)) if isinstance(number, float) else Fraction(number))


@given(st.text())
def test_toml_reads_back_every_text(text):
    tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")

    assert tomllib.loads(f"x = {_toml.value(text, 'x')}") == {"x": text}


def test_bounds_and_sensitivities_are_the_doubles_they_are():
    mechanism = dp.Snapping(epsilon=1, sensitivity=0.1, lower=0.1, upper=0.7)
    assert mechanism.sensitivity == Fraction(0.1)
    assert (mechanism.lower, mechanism.upper) == (0.1, 0.7)
    decimal = dp.Snapping(epsilon=1, sensitivity="0.1", lower="0.1", upper="0.7")
    assert decimal.sensitivity >= Fraction(1, 10)
    assert Fraction(decimal.lower) <= Fraction(1, 10)
    assert Fraction(decimal.upper) >= Fraction(7, 10)
