"""What a ledger tells of its releases."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from . import _files
from ._numbers import fraction


class Charge(NamedTuple):
    """What a statistic lost: an epsilon, but for delta, and rho by its Gaussian noise."""

    name: str
    epsilon: Fraction
    delta: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)


@dataclass(frozen=True)
class LedgerEntry(_files.Shown):
    """One past release.

    cost: an epsilon, or of a ledger that counts in rho that; spent: the total after it; charges: what each statistic lost;
    delta, spent_delta: beside these; reported: whether its report is kept.
    """

    release: int
    time: str
    cost: Fraction
    spent: Fraction
    charges: tuple[Charge, ...]
    label: str
    reported: bool
    delta: Fraction = Fraction(0)
    spent_delta: Fraction = Fraction(0)

    @property
    def epsilon(self) -> Fraction:
        """The cost, in a ledger of epsilons."""
        return self.cost


def entry(facts: dict[str, Any]) -> LedgerEntry:
    """From what the library says of a release."""
    charges = tuple(Charge(name, *map(fraction, numbers)) for name, *numbers in facts["charges"])
    amounts = {key: fraction(facts[key]) for key in ("cost", "spent", "delta", "spent_delta")}
    return LedgerEntry(**{**facts, **amounts, "charges": charges})
