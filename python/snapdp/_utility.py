"""What a release will be worth, and what releases cost together: known beforehand, from public numbers alone."""

from __future__ import annotations

import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Union

from . import _core, _files
from ._arguments import another_kind, flag, listed, optional_whole, pair, text_of, whole
from ._errors import Error, InvalidArgument, named
from ._numbers import Number, exact, exact_fraction, fraction, optional_exact, optional_text, text


@dataclass(frozen=True)
class Accuracy(_files.Shown):
    """How near the exact statistic a release is, except with probability alpha.

    tight: the least half width that holds whatever the statistic is. conservative: scale ln(1/alpha) + grid/2.
    laplace: of noise without rounding, for comparison. simultaneous: of all bins and groups together.
    for_value: of the value that was asked for. miss: the probability of an error larger than `at`.
    epsilon: the privacy loss; with target_accuracy the least that reaches it.
    """

    epsilon: Fraction
    tight: float
    conservative: float
    laplace: float
    simultaneous: float | None = None
    for_value: float | None = None
    miss: float | None = None


@dataclass(frozen=True)
class Law(_files.Shown):
    """The law of an output for one exact value.

    outputs: (output, probability), in order, the nearest to the value when there are more (`cut` says how many were left
    out); below, above: the probability of what lies beyond them.
    """

    value: float
    mean: float
    variance: float
    outputs: tuple[tuple[float, float], ...]
    below: float
    above: float
    cut: float
    _asked: tuple[Any, ...] = field(default=(), repr=False, compare=False)

    def svg(self) -> str:
        """The law as a picture, that of `snapdp plot law`: SVG, which needs no matplotlib.

        Raises:
            InvalidArgument: doubles cannot tell the numbers to draw apart.
        """
        if not self._asked:
            raise InvalidArgument("law: does not know its mechanism; make it with law(epsilon=..., sensitivity=...)", "law")
        *question, value = self._asked
        return _core.law_chart(_question(*question), optional_exact(value, "value"))

    def _repr_svg_(self) -> str | None:
        try:
            return self.svg()
        except Error:
            return None

    def _repr_html_(self) -> str:
        picture = self._repr_svg_()
        return super()._repr_html_() if picture is None else f"<figure>{picture}</figure>"


@dataclass(frozen=True)
class Bias(_files.Shown):
    """E[output] - value: at the value that was asked for, on average over `values`, and at its worst."""

    at_value: float | None
    expected: float | None
    worst: float
    worst_value: float


@dataclass(frozen=True)
class Bound(_files.Shown):
    """Bounds around a statistic's range: an output is clamped to one with at most this probability."""

    lower: float
    upper: float
    binding_probability: float


@dataclass(frozen=True)
class Certificate(_files.Shown):
    """The largest privacy loss of the mechanism that runs, enclosed: witness <= loss <= bound."""

    witness: Fraction
    bound: Fraction
    notes_claim: Fraction
    notes_claim_holds: bool
    within_epsilon: bool
    scale: Fraction
    grid: Fraction


@dataclass(frozen=True)
class Composition(_files.Shown):
    """What several releases cost together at a delta. basic: the sum, which alone holds for epsilons chosen after seeing
    outputs. optimal: the least epsilon that holds for epsilons fixed in advance, in [optimal_at_least, optimal].
    zcdp: by zero-concentrated differential privacy, None at delta 0; rho: its parameter.
    """

    delta: Fraction
    basic: Fraction
    optimal: Fraction
    optimal_at_least: Fraction
    rho: Fraction
    zcdp: Fraction | None


@dataclass(frozen=True)
class Audit(_files.Shown):
    """A lower bound on a sampler's privacy loss, wrong with probability at most alpha; `event` is what tells."""

    loss_lower_bound: float
    event: str
    likelier_is_first: bool
    likelier: tuple[int, int]
    rarer: tuple[int, int]

    def refutes(self, epsilon: Number) -> bool:
        """Whether a loss of at most `epsilon` is false, with the confidence of the audit."""
        return Fraction(self.loss_lower_bound) > exact_fraction(epsilon, "epsilon")


def _question(
    epsilon: Number | None,
    sensitivity: Number,
    lower: Number | None,
    upper: Number | None,
    grid: str | Number,
    mode: str,
    precision: int | None,
    noise: str,
    integer: bool,
) -> _core.NoiseQuestion:
    return _core.NoiseQuestion(
        optional_text(epsilon, "epsilon"),
        exact(sensitivity, "sensitivity"),
        optional_exact(lower, "lower"),
        optional_exact(upper, "upper"),
        exact(grid, "grid"),
        text_of(mode, "mode"),
        optional_whole(precision, "precision", 1),
        text_of(noise, "noise"),
        flag(integer, "integer"),
    )


def accuracy(
    *,
    sensitivity: Number,
    epsilon: Number | None = None,
    target_accuracy: Number | None = None,
    alpha: Number = "0.05",
    value: Number | None = None,
    at: Number | None = None,
    lower: Number | None = None,
    upper: Number | None = None,
    grid: str | Number = "auto",
    mode: str = "exact",
    precision: int | None = None,
    noise: str = "laplace",
    integer: bool = False,
) -> Accuracy:
    """How near the exact statistic a release will be, known before any row is read.

    Args:
        sensitivity: the most that neighboring datasets differ, in the unit of the statistic.
        epsilon: the privacy loss; exact.
        target_accuracy: instead of epsilon: find the least one that is this accurate.
        alpha: the probability with which the accuracy may be exceeded.
        value: a guess at the exact statistic, for `for_value`.
        at: `miss` is then the probability of an error larger than this, for the value or else the worst one.
        lower: the lower end of the range that values and outputs are clamped to; either end may be absent.
        upper: the upper end.
        grid: the spacing of the outputs: "auto", "notes" or a power of two such as "2^-10".
        mode: "exact", or "precision", which needs the range.
        precision: bits of precision mode.
        noise: "laplace", or "geometric" for integer statistics.
        integer: the statistic is an integer, as counts are: accuracies are those of integers.
    """
    question = _question(epsilon, sensitivity, lower, upper, grid, mode, precision, noise, integer)
    facts: Mapping[str, Any] = _core.accuracy(
        question,
        optional_text(target_accuracy, "target_accuracy"),
        text(alpha, "alpha"),
        optional_exact(value, "value"),
        optional_text(at, "at"),
    )
    least = facts["least_epsilon"]
    return Accuracy(
        epsilon=fraction(facts["epsilon"] if least is None else least),
        tight=facts["tight"],
        conservative=facts["conservative"],
        laplace=facts["laplace"],
        for_value=facts["for_value"],
        miss=facts["miss"],
    )


def law(
    *,
    epsilon: Number,
    sensitivity: Number,
    value: Number | None = None,
    most: int = 100_000,
    lower: Number | None = None,
    upper: Number | None = None,
    grid: str | Number = "auto",
    mode: str = "exact",
    precision: int | None = None,
    noise: str = "laplace",
    integer: bool = False,
) -> Law:
    """The probability of everything that a release may print, for one exact statistic.

    Args:
        epsilon: the privacy loss; exact.
        sensitivity: the most that neighboring datasets differ, in the unit of the statistic.
        value: the exact statistic; the middle of the range, or the value nearest to 0 that is not clamped, unless given.
        most: how many outputs are listed, the nearest to the value.
        lower: the lower end of the range that values and outputs are clamped to; either end may be absent.
        upper: the upper end.
        grid: the spacing of the outputs: "auto", "notes" or a power of two such as "2^-10".
        mode: "exact", or "precision", which needs the range.
        precision: bits of precision mode.
        noise: "laplace", or "geometric" for integer statistics.
        integer: the statistic is an integer, as counts are: accuracies are those of integers.
    """
    outputs = whole(most, "most", 1)
    asked = (epsilon, sensitivity, lower, upper, grid, mode, precision, noise, integer)
    facts: Mapping[str, Any] = _core.law(_question(*asked), optional_exact(value, "value"), outputs)
    return Law(**{**facts, "outputs": tuple(facts["outputs"])}, _asked=(*asked, value))


def bias(
    *,
    epsilon: Number,
    sensitivity: Number,
    value: Number | None = None,
    values: Iterable[Union[Number, tuple[Number, Number]]] = (),
    lower: Number | None = None,
    upper: Number | None = None,
    grid: str | Number = "auto",
    mode: str = "exact",
    precision: int | None = None,
    noise: str = "laplace",
    integer: bool = False,
) -> Bias:
    """E[output] - value of a release: for a guess at the statistic, on average over many, and at its worst.

    Args:
        epsilon: the privacy loss; exact.
        sensitivity: the most that neighboring datasets differ, in the unit of the statistic.
        value: a guess at the exact statistic, for `at_value`.
        values: guesses at the statistic, or pairs of a guess and its weight.
        lower: the lower end of the range that values and outputs are clamped to; either end may be absent.
        upper: the upper end.
        grid: the spacing of the outputs: "auto", "notes" or a power of two such as "2^-10".
        mode: "exact", or "precision", which needs the range.
        precision: bits of precision mode.
        noise: "laplace", or "geometric" for integer statistics.
        integer: the statistic is an integer, as counts are: accuracies are those of integers.
    """
    guesses = []
    for guess in listed(values, "values", "a list of guesses, or of pairs of a guess and its weight"):
        number, weight = pair(guess, "values", "pairs of a guess and its weight") if isinstance(guess, tuple) else (guess, 1)
        guesses.append((exact(number, "values"), text(weight, "values")))
    question = _question(epsilon, sensitivity, lower, upper, grid, mode, precision, noise, integer)
    with named(guess="value"):
        return Bias(**_core.bias(question, optional_exact(value, "value"), guesses))


def bound(
    *,
    epsilon: Number,
    sensitivity: Number,
    lower: Number,
    upper: Number,
    gamma: Number = "0.05",
    grid: str | Number = "auto",
    mode: str = "exact",
    precision: int | None = None,
    noise: str = "laplace",
    integer: bool = False,
) -> Bound:
    """Bounds wide enough that clamping rarely binds: the least whole steps of the grid around the statistic's
    range, in precision mode about its middle.

    Args:
        epsilon: the privacy loss; exact.
        sensitivity: the most that neighboring datasets differ, in the unit of the statistic.
        lower: the lower end of the statistic's own public range.
        upper: its upper end.
        gamma: the probability with which a bound may bind, for the worst value.
        grid: the spacing of the outputs: "auto", "notes" or a power of two such as "2^-10".
        mode: "exact" or "precision".
        precision: bits of precision mode.
        noise: "laplace", or "geometric" for integer statistics.
        integer: the statistic is an integer, as counts are: accuracies are those of integers.
    """
    question = _question(epsilon, sensitivity, lower, upper, grid, mode, precision, noise, integer)
    return Bound(*_core.bound(question, text(gamma, "gamma")))


def certify(
    *,
    epsilon: Number,
    sensitivity: Number,
    lower: Number | None = None,
    upper: Number | None = None,
    grid: str | Number = "auto",
    mode: str = "exact",
    precision: int | None = None,
    noise: str = "laplace",
    integer: bool = False,
) -> Certificate:
    """The privacy loss of the mechanism that runs, enclosed on both sides; docs/certificates.md says how.

    Args:
        epsilon: the privacy loss; exact.
        sensitivity: the most that neighboring datasets differ, in the unit of the statistic.
        lower: the lower end of the range that values and outputs are clamped to; either end may be absent.
        upper: the upper end.
        grid: the spacing of the outputs: "auto", "notes" or a power of two such as "2^-10".
        mode: "exact", or "precision", which needs the range.
        precision: bits of precision mode.
        noise: "laplace", or "geometric" for integer statistics.
        integer: the statistic is an integer, as counts are: accuracies are those of integers.
    """
    question = _question(epsilon, sensitivity, lower, upper, grid, mode, precision, noise, integer)
    facts = dict(_core.certify(question))
    for name in ("witness", "bound", "notes_claim", "scale", "grid"):
        facts[name] = fraction(facts[name])
    return Certificate(**facts)


def compose(epsilons: Iterable[Union[Number, tuple[Number, int]]], *, delta: Number) -> Composition:
    """What several pure-epsilon releases cost together, at a delta.

    Args:
        epsilons: the losses; (0.1, 100) stands for a hundred of 0.1.
        delta: the probability that the bound fails: 0 <= delta < 1.
    """
    losses = []
    for loss in listed(epsilons, "epsilons", "a list of losses, or of pairs of a loss and how often"):
        epsilon, count = pair(loss, "epsilons", "pairs of a loss and how often") if isinstance(loss, tuple) else (loss, 1)
        losses.append((text(epsilon, "epsilons"), whole(count, "epsilons", 1)))
    facts: Mapping[str, Any] = _core.compose(losses, text(delta, "delta"))
    return Composition(
        delta=exact_fraction(delta, "delta"),
        basic=fraction(facts["basic"]),
        optimal=fraction(facts["optimal"]),
        optimal_at_least=fraction(facts["optimal_at_least"]),
        rho=fraction(facts["rho"]),
        zcdp=None if facts["zcdp"] is None else fraction(facts["zcdp"]),
    )


def audit(first: Sequence[float], second: Sequence[float], *, alpha: Number = "0.001") -> Audit:
    """A lower bound on the privacy loss of any sampler, from its outputs for two neighboring values.

    Args:
        first, second: at least 100 independent outputs for each value, in the order in which they came.
        alpha: the probability with which the bound may be wrong.
    """
    return Audit(**_core.audit(_doubles(first, "first"), _doubles(second, "second"), text(alpha, "alpha")))


def _doubles(values: Any, parameter: str) -> Any:
    if not isinstance(values, (str, bytes, bytearray)):
        try:
            return array.array("d", values)
        except (TypeError, OverflowError):
            pass
    raise another_kind(values, parameter, "a sequence of floats")
