"""Reports: what was released, how accurate it is and what it cost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Union

from . import _core, _files
from ._arguments import flag, text_of, whole
from ._errors import InvalidArgument, named
from ._numbers import fraction

if TYPE_CHECKING:
    from fractions import Fraction

    from ._plot import Picture

Value = Union[int, float, "Fraction"]
Interval = tuple[Union[float, None], Union[float, None]]

_columns = (
    "statistic",
    "group",
    "bin",
    "value",
    "lower",
    "upper",
    "alpha",
    "epsilon",
    "population_lower",
    "population_upper",
)
_words = ("statistic", "group", "bin")


@dataclass(frozen=True)
class Estimate(_files.Shown):
    """One released number.

    value: an int for counts and sums of integers, else a float; a Fraction where no float is that number.
    interval: the exact number lies in it, except with probability alpha; an end is None where nothing bounds it.
    population: where that of the population lies, when the rows are declared to be a sample.
    """

    value: Value
    interval: Interval
    population: Interval | None = None

    def __float__(self) -> float:
        return float(self.value)


@dataclass(frozen=True)
class Released(_files.Shown):
    """A released statistic. What is one number has `value` and `interval`; else `bins`, `quantiles`, `coefficients` or
    `groups` hold them. The coefficients of a regression have the names of its columns, and "intercept".
    Of `top` the categories stand in `top`, the most frequent first, and there is no number.

    epsilon: what was paid, for all its numbers. alpha: of the intervals. warnings: what to beware of, in words.
    `released[key]` is the group, bin, quantile or coefficient of that key.
    """

    name: str
    kind: str
    epsilon: Fraction
    alpha: Fraction | None
    estimates: tuple[Estimate, ...]
    bins: Mapping[str, Estimate] = field(default_factory=dict)
    quantiles: Mapping[Fraction, Estimate] = field(default_factory=dict)
    groups: Mapping[Union[str, Value], Released] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    top: tuple[str, ...] = ()
    coefficients: Mapping[str, Estimate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("bins", "quantiles", "groups", "coefficients"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __reduce__(self) -> tuple[Any, ...]:
        held = (dict(self.bins), dict(self.quantiles), dict(self.groups))
        last = (self.warnings, self.top, dict(self.coefficients))
        return Released, (self.name, self.kind, self.epsilon, self.alpha, self.estimates, *held, *last)

    def _one(self, what: str) -> Estimate:
        if self.top:
            raise InvalidArgument(f'{what}: "{self.name}" names categories and has no number; look at .top', what)
        several = {"groups": self.groups, "bins": self.bins, "quantiles": self.quantiles, "coefficients": self.coefficients}
        held = next((name for name, numbers in several.items() if numbers), None)
        if held:
            raise InvalidArgument(
                f'{what}: "{self.name}" has {held}, each with its own; look at .{held}, or [KEY] for one of them', what
            )
        return self.estimates[0]

    @property
    def value(self) -> Value:
        """The released number."""
        return self._one("value").value

    @property
    def interval(self) -> Interval:
        """Where the exact number lies, except with probability alpha."""
        return self._one("interval").interval

    @property
    def population(self) -> Interval | None:
        """Where that of the population lies, when the rows are declared to be a sample."""
        return self._one("population").population

    def _facts(self) -> list[tuple[str, object]]:
        held: Mapping[Any, Any] = self.groups or self.bins or self.quantiles or self.coefficients
        facts = {"kind": self.kind, "epsilon": self.epsilon, "alpha": self.alpha}
        numbers = [(str(key), _in_words(one)) for key, one in held.items()]
        if self.top:
            numbers = [(str(rank + 1), category) for rank, category in enumerate(self.top)]
        elif not numbers:
            numbers = [("value", _in_words(self.estimates[0]))]
        return [*facts.items(), *numbers, *(("beware", words) for words in self.warnings)]

    def _title(self) -> str:
        return self.name

    def __getitem__(self, key: Any) -> Released | Estimate:
        if self.groups:
            return self.groups[key]
        if self.bins:
            return self.bins[key if isinstance(key, str) else str(key)]
        if self.coefficients:
            return self.coefficients[key]
        if self.quantiles:
            from fractions import Fraction

            from ._numbers import text

            return self.quantiles[Fraction(text(key, "quantile"))]
        raise KeyError(key)

    def __float__(self) -> float:
        return float(self.value)


def _in_words(one: Released | Estimate) -> str:
    """A number with its interval; of a group all its numbers."""
    if isinstance(one, Estimate):
        lower, upper = ("" if end is None else f"{end:.6g}" for end in one.interval)
        return f"{float(one.value):.6g}  [{lower}, {upper}]"
    keys = list(one.bins) or [str(share) for share in one.quantiles] or list(one.coefficients)
    if not keys:
        return _in_words(one.estimates[0])
    return "; ".join(f"{key}: {_in_words(estimate)}" for key, estimate in zip(keys, one.estimates))


class Report(Mapping[str, Released]):
    """What was released: a mapping from the names of statistics to what is known of them.

    >>> report["mean age"].value, report["mean age"].interval

    Attributes:
        release: its number in the ledger; None when public facts alone were shown, and nothing was paid.
        reprinted: whether it had been released before, under its label: nothing was read and nothing debited now.
        not_stored: "", or why the ledger could not keep the report although it was paid for, and the file beside the
            ledger that has its record instead: keep that, `Report.from_json` reads it.
    """

    __slots__ = ("_report", "_not_stored", "_released", "_facts")

    def __init__(self, report: _core.Report, not_stored: str = "") -> None:
        self._report = report
        self._not_stored = not_stored or report.not_stored
        self._released: dict[str, Released] | None = None
        self._facts: dict[str, Any] | None = None

    @classmethod
    def from_json(cls, text: str) -> Report:
        """A report from its record, `to_json()`."""
        with named(report="text"):
            return cls(_core.Report(text_of(text, "text"), None, None))

    @property
    def release(self) -> int | None:
        return self._report.release if self._report.release is not None else self._dict()["release"]

    @property
    def time(self) -> str:
        """When it was paid for, UTC; "" when that is not known."""
        return self._report.time

    @property
    def reprinted(self) -> bool:
        return self._report.reprinted

    @property
    def not_stored(self) -> str:
        return self._not_stored

    @property
    def spent(self) -> Fraction:
        """What the ledger had spent after this release."""
        return fraction(self._dict()["ledger"]["spent"])

    @property
    def remaining(self) -> Fraction:
        """What it had left after this release."""
        return fraction(self._dict()["ledger"]["remaining"])

    def _dict(self) -> dict[str, Any]:
        if self._facts is None:
            import json

            self._facts = json.loads(self.to_json())
        assert self._facts is not None
        return self._facts

    def _all(self) -> dict[str, Released]:
        if self._released is None:
            self._released = _read(self._dict(), _rows(self.to_csv()))
        return self._released

    def __getitem__(self, name: str) -> Released:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def to_json(self) -> str:
        """The record, to the letter as the ledger keeps it; docs/cli.md describes its keys."""
        return self._report.to_json()

    def to_dict(self) -> dict[str, Any]:
        """The record as a dict; exact numbers are texts that `fractions.Fraction` reads."""
        import json

        facts: dict[str, Any] = json.loads(self.to_json())
        return facts

    def to_table(self, *, width: int = 80, all_digits: bool = False) -> str:
        """The table of `snapdp report`: rounded to what the noise allows, unless all digits are asked for."""
        return self._report.to_table(whole(width, "width", 1), "none", False, flag(all_digits, "all_digits"))

    def to_html(self) -> str:
        """A page, without scripts and with nothing to load, for screens and for paper."""
        return self._report.to_html()

    def to_csv(self) -> str:
        """A line a number, with all digits: statistic, group, bin, value, lower, upper, alpha, epsilon ..."""
        return self._report.to_csv()

    def to_markdown(self) -> str:
        """GitHub's Markdown."""
        return self._report.to_markdown()

    def html(self, path: str | os.PathLike[str]) -> None:
        """Writes the page, with mode 0600."""
        _files.write(path, self.to_html())

    def csv(self, path: str | os.PathLike[str]) -> None:
        """Writes the lines of `to_csv`, with mode 0600."""
        _files.write(path, self.to_csv())

    def _table(self) -> dict[str, list[Any]]:
        table: dict[str, list[Any]] = {name: [] for name in _columns}
        for row in _rows(self.to_csv()):
            for name in _columns:
                cell = row[name]
                table[name].append((cell or None) if name in _words else _float(cell))
        return table

    def to_pandas(self) -> Any:
        """A pandas DataFrame, a row a number; numbers are rounded to floats."""
        import pandas

        types = {name: "float64" for name in _columns if name not in _words}
        return pandas.DataFrame(self._table()).astype(types)

    def to_polars(self) -> Any:
        """A Polars DataFrame, a row a number; numbers are rounded to floats."""
        import polars

        types = {name: polars.String if name in _words else polars.Float64 for name in _columns}
        return polars.DataFrame(self._table(), schema=types)

    def to_arrow(self) -> Any:
        """A pyarrow Table, a row a number; numbers are rounded to floats."""
        import pyarrow

        types = [(name, pyarrow.string() if name in _words else pyarrow.float64()) for name in _columns]
        return pyarrow.table(self._table(), schema=pyarrow.schema(types))

    def plot(self, *names: str, width: float = 7.5) -> Picture:
        """The numbers with their intervals as charts, drawn by matplotlib: a figure that notebooks show and `savefig` writes.

        Args:
            names: of the statistics to draw; all of them unless given.
            width: in inches; the height follows from how many numbers there are.

        Raises:
            NotInstalled: there is no matplotlib. `html` writes a page with charts, without it.
        """
        from ._plot import of_report

        return of_report(self, names, width)

    def _alarm(self) -> str:
        """What has to be seen before all else, or ""."""
        if not self.not_stored:
            return ""
        return f"Release {self.release} is paid for, but the ledger could not keep its report: {self.not_stored}"

    def __str__(self) -> str:
        alarm = self._alarm()
        return f"{alarm}\n\n{self.to_table()}" if alarm else self.to_table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        alarm = self._alarm()
        shown = f"<p><strong>{escape(alarm)}</strong></p>" if alarm else ""
        return shown + _files.framed(self.to_html(), 720)

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return _restored, (self.to_json(), self.not_stored)


def _restored(text: str, not_stored: str) -> Report:
    return Report(_core.Report(text, None, None), not_stored)


def _rows(csv: str) -> list[dict[str, str]]:
    import csv as reader
    import io

    return list(reader.DictReader(io.StringIO(csv, newline="")))


def _float(cell: str) -> float | None:
    if not cell:
        return None
    return float(fraction(cell)) if "/" in cell else float(cell)


def _value(number: int | float | str) -> Value:
    if not isinstance(number, str):
        return number
    exact = fraction(number)
    return exact.numerator if exact.denominator == 1 else exact


def _key(key: int | float | str) -> str | Value:
    return key


def _interval(row: Mapping[str, str], lower: str, upper: str) -> Interval | None:
    ends = (_float(row[lower]), _float(row[upper]))
    return None if ends == (None, None) else ends


def _read(facts: dict[str, Any], rows: list[dict[str, str]]) -> dict[str, Released]:
    """The record has the values and what was asked; the lines, in the same order, have the intervals."""
    lines = iter(rows)
    warnings = facts.get("warnings", [])
    result = {}
    for asked in facts["statistics"]:
        words = tuple(warning["message"] for warning in warnings if warning.get("statistic") == asked["name"])
        groups = {
            _key(group["key"]): _entry(asked, group, lines, ()) for group in asked.get("groups", ())
        }
        if groups:
            estimates = tuple(estimate for group in groups.values() for estimate in group.estimates)
            alpha = next(iter(groups.values())).alpha
            result[asked["name"]] = Released(
                asked["name"], asked["kind"], _cost(asked), alpha, estimates,
                groups=groups, warnings=words,
            )  # fmt: skip
        else:
            result[asked["name"]] = _entry(asked, asked, lines, words)
    return result


def _entry(
    asked: dict[str, Any], entry: dict[str, Any], lines: Iterator[dict[str, str]], warnings: tuple[str, ...]
) -> Released:
    alpha = None

    def estimate(number: Any) -> Estimate:
        nonlocal alpha
        row = next(lines)
        if row["statistic"] != asked["name"]:
            raise AssertionError("the lines of a report are not in the order of its record")
        if row["alpha"]:
            alpha = fraction(row["alpha"])
        return Estimate(
            _value(number),
            (_float(row["lower"]), _float(row["upper"])),
            _interval(row, "population_lower", "population_upper"),
        )

    if "top" in entry:
        for _ in entry["top"]:
            alpha = fraction(next(lines)["alpha"])
        top = tuple(chosen["category"] for chosen in entry["top"])
        return Released(asked["name"], asked["kind"], _cost(asked), alpha, (), warnings=warnings, top=top)
    bins = {bin["bin"]: estimate(bin["value"]) for bin in entry.get("bins", ())}
    quantiles = {fraction(quantile["q"]): estimate(quantile["value"]) for quantile in entry.get("quantiles", ())}
    coefficients = {one["name"]: estimate(one["value"]) for one in entry.get("coefficients", ())}
    several = (*bins.values(), *quantiles.values(), *coefficients.values())
    held = several or (estimate(entry["value"]),)
    return Released(
        asked["name"], asked["kind"], _cost(asked), alpha, held,
        bins=bins, quantiles=quantiles, warnings=warnings, coefficients=coefficients,
    )  # fmt: skip


def _cost(asked: Mapping[str, Any]) -> Fraction:
    """Of a statistic in the record: an epsilon, or where the run counts in rho that."""
    return fraction(asked["rho"] if "rho" in asked else asked["epsilon"])
