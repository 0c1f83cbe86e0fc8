"""The ledger: how much of a privacy budget has been spent on a dataset, in one file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, SupportsIndex

from . import _core, _files
from ._arguments import text_of, whole
from ._dataset import Dataset
from ._errors import BadData, named
from ._numbers import Number, budget_texts, fraction

if TYPE_CHECKING:
    from fractions import Fraction

    from ._entries import LedgerEntry
    from ._report import Report


class Ledger:
    """A ledger on disk. A release is paid for, durably, before the first random bit is drawn, and never refunded.

    Any number of processes may have one file open; threads may share a Ledger and take turns. After a fork the child opens
    its own: an inherited Ledger refuses every call.

    >>> ledger = Ledger("people.ledger")
    """

    __slots__ = ("_ledger",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens an existing ledger.

        Raises:
            BudgetRefused: it is missing, foreign, corrupt, or writable by others.
        """
        with named(ledger="path"):
            self._ledger = _core.Ledger(_files.place(path, "path"))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Ledger:
        """Opens an existing ledger, as `Ledger(path)` does."""
        return cls(path)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        dataset: Dataset | str | os.PathLike[str],
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
    ) -> Ledger:
        """Makes a new ledger, with mode 0600; an existing file is never touched.

        Args:
            dataset: what it is for: a Dataset, or the TOML file that declares one. It is kept, and from then on nobody else
                decides how the data are read.
            epsilon: the budget: all that may ever be spent; exact.
            delta: with epsilon: a delta, of which releases may spend too; with rho: where rho is read as an epsilon.
            rho: instead of epsilon: a budget of zero-concentrated differential privacy, for Gaussian noise.
        """
        toml, file = (dataset.to_toml(), None) if isinstance(dataset, Dataset) else (None, _files.place(dataset, "dataset"))
        ledger = cls.__new__(cls)
        with named(ledger="path", specification="dataset", declaration="dataset"):
            ledger._ledger = _core.create_ledger(_files.place(path, "path"), toml, file, *budget_texts(epsilon, rho, delta))
        return ledger

    @property
    def path(self) -> str:
        """Where the file lies."""
        return self._ledger.path

    @property
    def dataset(self) -> str:
        """The name of the data it is for."""
        return str(self._ledger.identity[0])

    @property
    def neighbors(self) -> str:
        """What it protects: "change-one" or "add-remove"."""
        return str(self._ledger.identity[1])

    @property
    def privacy_unit(self) -> str | None:
        """The column that says whose row it is, or None: one row."""
        return str(self._ledger.identity[2]) or None

    @property
    def declaration(self) -> str:
        """What its custodian declared of the data, as TOML; "" when it was made without."""
        return self._ledger.declaration

    @property
    def measure(self) -> str:
        """In what it counts: "pure" epsilons, "approximate" epsilons and deltas, or "zcdp", rhos."""
        return str(self._ledger.balance()["measure"])

    @property
    def delta(self) -> Fraction:
        """Of a budget with a delta: all of that which may be spent; of a rho, where it is read as an epsilon. Else 0."""
        return fraction(self._ledger.balance()["delta"])

    @property
    def spent_delta(self) -> Fraction:
        """What has been spent of the delta."""
        return fraction(self._ledger.balance()["spent_delta"])

    @property
    def budget(self) -> Fraction:
        """All that may ever be spent: an epsilon, or a rho."""
        return fraction(self._ledger.balance()["budget"])

    @property
    def spent(self) -> Fraction:
        """What has been spent, by every process, until now."""
        return fraction(self._ledger.balance()["spent"])

    @property
    def remaining(self) -> Fraction:
        """What is left."""
        return fraction(self._ledger.balance()["remaining"])

    @property
    def anchor(self) -> str:
        """A line to keep elsewhere, which shows later that nothing was rolled back: see `verify`."""
        return str(self._ledger.balance()["anchor"])

    def entries(self) -> tuple[LedgerEntry, ...]:
        """All past releases, oldest first."""
        from ._entries import entry

        return tuple(entry(facts) for facts in self._ledger.entries())

    def entry(self, release: SupportsIndex) -> LedgerEntry:
        """One past release, by its number."""
        from ._entries import entry

        return entry(self._ledger.entry(_number(release)))

    def find(self, label: str) -> int | None:
        """The number of the release that bears a label, or None."""
        return self._ledger.find(text_of(label, "label"))

    def specification(self, release: SupportsIndex) -> str:
        """What was asked in a release, as TOML."""
        return self._ledger.specification(_number(release))

    def report(self, release: SupportsIndex) -> Report:
        """The report of a release again, free of charge.

        Raises:
            BadData: the program ended before it had one; nothing was shown, and the debit stands.
        """
        from ._report import Report

        kept = self._ledger.report(_number(release))
        if kept is None:
            raise BadData(
                f"release = {release}: was debited, but the program ended before it had a report; nothing was shown, and "
                "the debit stands",
                "release",
            )
        return Report(_core.Report(kept, self._ledger, _number(release)))

    def verify(self, *anchors: str) -> None:
        """Reads and recomputes everything: every number, total and link of the hash chain, which must pass each anchor.

        Raises:
            BudgetRefused: saying what is wrong and where.
        """
        self._ledger.verify([text_of(anchor, "anchors") for anchor in anchors])

    def _facts(self) -> list[tuple[str, str]]:
        balance: dict[str, Any] = self._ledger.balance()
        return [
            ("dataset", self.dataset),
            ("neighbors", self.neighbors),
            ("privacy unit", self.privacy_unit or "one row"),
            ("budget", str(balance["budget_shown"])),
            ("spent", str(balance["spent_shown"])),
            ("remaining", str(balance["remaining_shown"])),
            ("releases", str(balance["releases"])),
        ]

    def __repr__(self) -> str:
        lines = [("ledger", os.path.basename(self.path)), *self._facts()]
        return "\n".join(f"{name:<12}  {fact}" for name, fact in lines)

    def _repr_html_(self) -> str:
        return _files.table_html(f"ledger {os.path.basename(self.path)}", self._facts())


def _number(release: SupportsIndex) -> int:
    return whole(release, "release", -(2**63))
