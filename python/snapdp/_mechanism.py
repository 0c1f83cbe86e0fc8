"""The mechanisms, for whoever has an exact statistic and accounts for it himself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from . import _core
from ._arguments import flag, text_of
from ._errors import BadData
from ._numbers import Number, exact, fraction, optional_exact, text

if TYPE_CHECKING:
    from fractions import Fraction


class _Told:
    """What every mechanism tells, in exact numbers."""

    if TYPE_CHECKING:
        _epsilon: Any
        _sensitivity: Any
        _grid: Any
        _loss_bound: Any

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss that was asked for."""
        return fraction(self._epsilon)

    @property
    def sensitivity(self) -> Fraction:
        """The most that neighboring values differ."""
        return fraction(self._sensitivity)

    @property
    def grid(self) -> Fraction:
        """The spacing of the outputs, a power of two."""
        return fraction(self._grid)

    def loss_bound(self, distance: Number | None = None) -> Fraction:
        """The proved bound on the privacy loss between values at most `distance` apart; the sensitivity unless given."""
        return fraction(self._loss_bound(optional_exact(distance, "distance")))

    if TYPE_CHECKING:

        @overload
        def release(self, value: float) -> float: ...
        @overload
        def release(self, value: Any) -> Any: ...
        def release(self, value: Any) -> Any:
            ...


class Snapping(_Told, _core.Snapping):
    """Laplace noise from real numbers on an exact statistic, rounded to a fixed grid; exact mode.

        out = clamp(grid * floor((clamp(value) + S * scale * ln U) / grid + 1/2))

    What must hold for the promise: two neighboring values differ by at most `sensitivity`, exactly, and the bounds are
    public. Nothing is debited here: a ledger pays only for `Plan.release`. There is no seed.

    Args:
        epsilon: the privacy loss; exact, 0.1 is one tenth.
        sensitivity: the most that neighboring values differ, in their unit. A float is the binary fraction that it is;
            other fractions are rounded up.
        lower, upper: public bounds on value and output; either may be absent. Rounded outward.
        grid: "auto", "notes" or a power of two such as "2^-10": the spacing of the outputs.
        integer: outputs are whole numbers, and so the grid is at least 1.
    """

    def __init__(
        self,
        *,
        epsilon: Number,
        sensitivity: Number,
        lower: Number | None = None,
        upper: Number | None = None,
        grid: str | Number = "auto",
        integer: bool = False,
    ) -> None:
        super().__init__(
            text(epsilon, "epsilon"),
            exact(sensitivity, "sensitivity"),
            optional_exact(lower, "lower"),
            optional_exact(upper, "upper"),
            exact(grid, "grid"),
            flag(integer, "integer"),
        )

    def __repr__(self) -> str:
        return f'Snapping({_options(self)}, grid="{self._grid}"{", integer=True" if self.integer else ""})'

    def __reduce__(self) -> tuple[Any, ...]:
        options = {**_picklable(self), "grid": self._grid, "integer": self.integer}
        return _restored, (Snapping, options)


class Geometric(_Told, _core.Geometric):
    """Integer noise on an exact integer statistic: P(noise = k) = (1 - q) / (1 + q) q^|k|, q = e^(-epsilon / sensitivity).

    For the same loss it puts more mass on the exact value than rounded Laplace noise does. What must hold is as of `Snapping`.

    Args:
        epsilon: the privacy loss; exact.
        sensitivity: the most that neighboring values differ, a whole number.
        lower, upper: public whole numbers that values and outputs are clamped to; either may be absent.
    """

    def __init__(
        self, *, epsilon: Number, sensitivity: Number, lower: Number | None = None, upper: Number | None = None
    ) -> None:
        super().__init__(
            text(epsilon, "epsilon"),
            exact(sensitivity, "sensitivity"),
            optional_exact(lower, "lower"),
            optional_exact(upper, "upper"),
        )

    def __repr__(self) -> str:
        return f"Geometric({_options(self)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (Geometric, _picklable(self))


def _options(mechanism: Snapping | Geometric) -> str:
    bounds = "".join(
        f", {end}={getattr(mechanism, end)}" for end in ("lower", "upper") if getattr(mechanism, end) is not None
    )
    return f'epsilon="{mechanism._epsilon}", sensitivity="{mechanism._sensitivity}"{bounds}'


def _picklable(mechanism: Snapping | Geometric) -> dict[str, Any]:
    return {
        "epsilon": mechanism._epsilon,
        "sensitivity": mechanism._sensitivity,
        "lower": mechanism.lower,
        "upper": mechanism.upper,
    }


def _restored(kind: Any, options: dict[str, Any]) -> Any:
    return kind(**options)


def trace(vectors: str, *, kernel: str = "best", slow: bool = False) -> str:
    """Recomputes released values from their recorded random bits, for auditors.

    Args:
        vectors: CSV text with the columns of docs/cli.md, "trace"; the same text comes back with `output` recomputed.
        kernel: "best", "portable", "avx2" or "avx512"; the result is the same.
        slow: every sample takes the multiple-precision path.
    """
    given = (text_of(vectors, "vectors"), text_of(kernel, "kernel"), flag(slow, "slow"))
    try:
        return _core.trace(*given)
    except BadData as error:  # which names a column
        raise BadData(str(error), "vectors") from None
