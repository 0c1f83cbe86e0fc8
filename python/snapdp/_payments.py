"""Who pays for what a chain releases, and what it released."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn, Protocol

from . import _core, _files
from ._errors import InvalidArgument
from ._numbers import Number, budget_texts, fraction

if TYPE_CHECKING:
    from ._report import Value


@dataclass(frozen=True)
class Debit(_files.Shown):
    """What a release asks an accountant to pay.

    loss: at least what is lost between neighbors, an epsilon; delta and rho: with these beside it; metric: neighbors are datasets at most `distance` apart by it; what: the
    release in words; unit: of distances in privacy units, the column that says whose row it is, else "".
    """

    loss: Fraction
    metric: str
    distance: Fraction
    what: str
    unit: str
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


class Accountant(Protocol):
    """Whoever pays: `debit` raises, and nothing was debited and nothing is released; or returns, and the debit stands."""

    def debit(self, debit: Debit) -> object:
        """Raises, or returns and the debit stands."""


@dataclass(frozen=True)
class Release(_files.Shown):
    """What a chain released.

    parts: the numbers of each measurement, ints where the statistic is an integer; loss: what was debited; entry: the number
    of the release in its ledger, None when another accountant paid.
    """

    parts: tuple[tuple[Value, ...], ...]
    loss: Fraction
    entry: int | None = None

    @property
    def values(self) -> tuple[Value, ...]:
        """All numbers, those of the parts one after the other."""
        return tuple(value for part in self.parts for value in part)

    @property
    def value(self) -> Value:
        """The number, when there is one."""
        if len(self.values) == 1:
            return self.values[0]
        raise InvalidArgument(f"value: {len(self.values)} numbers were released; look at .values or .parts", "value")

    def __float__(self) -> float:
        return float(self.value)


class Budget:
    """A budget in memory, gone with the process: for notebooks and tests. A `Ledger` keeps one on disk.

    Losses add up for the neighbors of one metric only, so the first debit decides which.

    Args:
        epsilon: all that may be spent; exact.
        delta: with epsilon: a delta, of which releases may spend too; with rho: where rho is read as an epsilon.
        rho: instead of epsilon: zero-concentrated differential privacy, for Gaussian noise.
    """

    __slots__ = ("_budget",)

    def __init__(self, epsilon: Number | None = None, *, delta: Number | None = None, rho: Number | None = None) -> None:
        self._budget = _core.Budget(*budget_texts(epsilon, rho, delta))

    @property
    def budget(self) -> Fraction:
        """All that may be spent: an epsilon, or a rho."""
        return fraction(self._budget.budget)

    @property
    def spent(self) -> Fraction:
        """What has been spent."""
        return fraction(self._budget.spent)

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return self.budget - self.spent

    def __repr__(self) -> str:
        return f'<Budget epsilon="{self.budget}": {self.remaining} left>'

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Budget cannot be pickled: a copy could be spent as well; make a Ledger, which processes share")


def value_of(value: int | float | tuple[int, int]) -> Value:
    return Fraction(*value) if isinstance(value, tuple) else value


def debiting(budget: Accountant) -> Callable[[str, str, str, str, str, str, str], None]:
    def debit(loss: str, delta: str, rho: str, metric: str, distance: str, what: str, unit: str) -> None:
        answer = budget.debit(
            Debit(fraction(loss), metric, fraction(distance), what, unit, fraction(delta), fraction(rho))
        )
        if answer is False or hasattr(answer, "__await__"):
            raise InvalidArgument(
                f"budget: its debit gave {'False' if answer is False else 'what must be awaited, and nobody paid'}; raise to "
                "refuse, and return nothing to agree",
                "budget",
            )

    return debit
