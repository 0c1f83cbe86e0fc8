"""What is known beforehand, against what the tool prints."""

import json
import math
from fractions import Fraction

import pytest

import snapdp as dp

mechanisms = [
    {"epsilon": "1/2", "sensitivity": 1},
    {"epsilon": 1, "sensitivity": 1, "grid": "notes", "lower": -8, "upper": 8},
    {"epsilon": "0.3", "sensitivity": "0.1", "lower": 0, "upper": 20, "grid": "2^-3"},
    {"epsilon": 1, "sensitivity": 1, "integer": True},
    {"epsilon": 1, "sensitivity": 2, "noise": "geometric", "lower": 0, "upper": 50},
    {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 100, "mode": "precision"},
    {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 100, "mode": "precision", "precision": 200},
]


def options(mechanism, **more):
    arguments = []
    for name, value in {**mechanism, **more}.items():
        arguments += [f"--{name.replace('_', '-')}"] if value is True else [f"--{name.replace('_', '-')}={value}"]
    return arguments


@pytest.fixture
def printed(tool):
    return lambda command, mechanism, **more: json.loads(tool(command, *options(mechanism, **more), "--json"))


@pytest.mark.parametrize("mechanism", mechanisms)
def test_accuracy(mechanism, printed):
    theirs = printed("accuracy", mechanism, value=3, at=2, alpha="0.01")
    ours = dp.accuracy(**mechanism, value=3, at=2, alpha="0.01")
    for name in ("tight", "conservative", "laplace", "for_value", "miss"):
        assert getattr(ours, name) == theirs[name], name
    assert ours.epsilon == Fraction(str(mechanism["epsilon"]))


@pytest.mark.parametrize("mechanism", mechanisms)
def test_the_least_epsilon(mechanism, printed):
    target = {name: value for name, value in mechanism.items() if name != "epsilon"}
    theirs = printed("accuracy", target, target_accuracy="6")
    ours = dp.accuracy(**target, target_accuracy=6)
    assert math.nextafter(float(ours.epsilon), 0) <= theirs["epsilon"] <= math.nextafter(float(ours.epsilon), math.inf)
    assert ours.tight == theirs["tight"] <= 6


@pytest.mark.parametrize("mechanism", mechanisms)
def test_law(mechanism, printed):
    theirs = printed("law", mechanism, value=3)
    ours = dp.law(**mechanism, value=3)
    assert [list(row) for row in ours.outputs] == [[row["output"], row["probability"]] for row in theirs["outputs"]]
    for name in ("value", "mean", "variance", "below", "above", "cut"):
        assert getattr(ours, name) == theirs[name], name
    assert dp.law(**mechanism).value == printed("law", mechanism)["value"]
    assert abs(sum(p for _, p in ours.outputs) + ours.below + ours.above - 1) < 1e-9


@pytest.mark.parametrize("mechanism", mechanisms)
def test_bias(mechanism, printed):
    theirs = printed("bias", mechanism, value=3, values="1:1,2:3")
    ours = dp.bias(**mechanism, value=3, values=[1, (2, 3)])
    assert (ours.at_value, ours.expected, ours.worst, ours.worst_value) == (
        theirs["bias"],
        theirs["expected"],
        theirs["worst"],
        theirs["worst_value"],
    )
    assert dp.bias(**mechanism).at_value is None


@pytest.mark.parametrize("mechanism", [m for m in mechanisms if "lower" in m])
def test_bound(mechanism, printed):
    theirs = printed("bound", mechanism, gamma="0.01")
    ours = dp.bound(**mechanism, gamma="0.01")
    assert [ours.lower, ours.upper] == theirs["minimal_bounds"]
    assert ours.binding_probability == theirs["binding_probability"]


@pytest.mark.parametrize("mechanism", [m for m in mechanisms if "precision" not in m])
def test_certify(mechanism, printed):
    theirs = printed("certify", mechanism)
    ours = dp.certify(**mechanism)
    for name in ("witness", "bound", "notes_claim", "scale", "grid"):
        assert getattr(ours, name) == Fraction(theirs[name]), name
    assert ours.within_epsilon == theirs["within_epsilon"] and ours.notes_claim_holds == theirs["notes_claim_holds"]
    assert ours.witness <= ours.bound


def test_compose(tool):
    theirs = json.loads(tool("compose", "--epsilons", "0.1x100,0.2x25", "--delta", "1e-6", "--json"))
    ours = dp.compose([(0.1, 100), ("0.2", 25)], delta=1e-6)
    assert ours.basic == 15 and ours.delta == Fraction(1, 10**6)
    for name in ("optimal", "optimal_at_least", "zcdp", "rho"):
        assert float(getattr(ours, name)) == pytest.approx(theirs[name], rel=1e-15), name
    assert dp.compose([1, 2], delta=0).zcdp is None
    for wrong in ({"epsilons": [0], "delta": 0}, {"epsilons": [(1, 0)], "delta": 0}, {"epsilons": [(1, 0.5)], "delta": 0}):
        with pytest.raises(dp.InvalidArgument):
            dp.compose(**wrong)
    with pytest.raises(dp.InvalidArgument, match="delta"):
        dp.compose([1], delta=1)


def test_audit():
    """Samples that lie apart refute any small loss; those of the mechanism do not refute its own, but once in 10^9."""
    mechanism = dp.Snapping(epsilon="1/2", sensitivity=1)
    first, second = (mechanism.release([float(value)] * 20_000) for value in (0, 1))
    assert not dp.audit(first, second, alpha=1e-9).refutes("1/2")
    apart = dp.audit(first, [value + 1e6 for value in second], alpha=1e-9)
    assert apart.refutes(3) and apart.loss_lower_bound > 3 and apart.event
    with pytest.raises(dp.InvalidArgument):
        dp.audit([1.0], [2.0])
    with pytest.raises(dp.InvalidArgument, match="first"):
        dp.audit(["a"], [2.0])


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: dp.accuracy(sensitivity=1), "epsilon"),
        (lambda: dp.accuracy(epsilon=1, sensitivity=1, alpha=1), "alpha"),
        (lambda: dp.accuracy(epsilon=1, sensitivity=1, at=-1), "at"),
        (lambda: dp.accuracy(epsilon=1, sensitivity=1, value=0.5, integer=True), "value"),
        (lambda: dp.accuracy(epsilon=1, sensitivity=1, mode="precise"), "mode"),
        (lambda: dp.accuracy(epsilon=1, sensitivity=1, mode="precision"), "lower"),
        (lambda: dp.accuracy(epsilon=1, sensitivity=1, noise="normal"), "noise"),
        (lambda: dp.law(epsilon=1, sensitivity=1, most=0), "most"),
        (lambda: dp.law(epsilon=1, sensitivity=1, lower=1, upper=1), "lower"),
        (lambda: dp.bias(epsilon=1, sensitivity=1, values=[(1, -1)]), "values"),
        (lambda: dp.bound(epsilon=1, sensitivity=1, lower=0, upper=None), "upper"),
        (lambda: dp.certify(epsilon=1, sensitivity=math.inf), "sensitivity"),
    ],
)
def test_what_breaks_a_rule_is_named(call, parameter):
    with pytest.raises(dp.InvalidArgument) as refused:
        call()
    assert refused.value.parameter == parameter
