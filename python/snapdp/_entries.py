"""What a ledger tells of its releases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _files
from ._numbers import fraction

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class LedgerEntry(_files.Shown):
    """One past release.

    epsilon: what it cost; spent: the total after it; charges: what each statistic cost; reported: whether its report is kept.
    """

    release: int
    time: str
    epsilon: Fraction
    spent: Fraction
    charges: tuple[tuple[str, Fraction], ...]
    label: str
    reported: bool


def entry(facts: dict[str, Any]) -> LedgerEntry:
    """From what the library says of a release."""
    charges = tuple((name, fraction(epsilon)) for name, epsilon in facts["charges"])
    return LedgerEntry(
        **{**facts, "epsilon": fraction(facts["epsilon"]), "spent": fraction(facts["spent"]), "charges": charges}
    )
