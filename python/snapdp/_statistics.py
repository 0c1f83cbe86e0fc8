"""Statistics, as an analyst asks for them. Each function is a kind; its options are the keys of a [[statistic]]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, Union

from . import _toml
from ._arguments import entries as entries_of
from ._arguments import listed, text_of, whole
from ._dataset import copied
from ._numbers import Number

if TYPE_CHECKING:
    from ._chain import Step

Range = Union[str, Sequence[Union[Number, None]], Mapping[str, Number]]
_Next = TypeVar("_Next")
Guesses = Iterable[Union[Number, tuple[Number, Number]]]
Bounds = Sequence[Number]

# Exact whatever TOML's own numbers can hold.
_exact = ("epsilon", "accuracy", "weight", "rho", "delta", "alpha")


class PrivateKeys:
    """How groups are chosen whose keys nobody declared: made by `private_keys`, for `Statistic.by`."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, object]) -> None:
        self._entries = dict(entries)

    def _table(self, column: str) -> str:
        return _toml.table(f"[keys.{_toml.key(column, 'column')}]", self._entries)

    def __repr__(self) -> str:
        return f"private_keys({', '.join(f'{key}={entry!r}' for key, entry in self._entries.items())})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrivateKeys) and self._entries == other._entries

    def __hash__(self) -> int:
        return hash(tuple(self._entries.items()))


def private_keys(
    epsilon: Number,
    delta: Number,
    *,
    max_groups_per_unit: int | None = None,
    min_units: int | None = None,
    most: int | None = None,
) -> PrivateKeys:
    """Groups whose keys nobody declared: those are shown that have enough privacy units, `count().by("city", keys=private_keys("0.5", "1e-6"))`.

    A group of n units is shown with the greatest probability that epsilon and delta allow (Desfontaines, Voss, Gipson, Mandayam
    2022). Statistics by equal keys of one column share the choice, which is paid for once. The budget needs a delta.

    Args:
        epsilon, delta: what the choice may cost a privacy unit, whatever the number of its groups.
        max_groups_per_unit: required with a unit: in how many groups of a unit it counts there. The fewer, the smaller the
            groups that are seen.
        min_units: no group of fewer units is ever shown; 1 unless given.
        most: no more groups are shown, those first in order; 1,000 unless given.
    """
    counts = {"max_groups_per_unit": max_groups_per_unit, "min_units": min_units, "most": most}
    whole_counts = {name: whole(count, name, 1) for name, count in counts.items() if count is not None}
    return PrivateKeys({"epsilon": _price(epsilon, "epsilon"), "delta": _price(delta, "delta"), **whole_counts})


class Statistic:
    """One statistic of a plan: made by count(), mean("age") ... and grouped by `by`. Without a column, a step of a chain."""

    __slots__ = ("_entries", "_named")

    def __init__(self, entries: Mapping[str, object]) -> None:
        given = {key: copied(entry) for key, entry in entries.items() if entry is not None}
        if isinstance(given.get("range"), Mapping):
            entries_of(given["range"], "range", "gamma")  # type: ignore[arg-type]
        self._named = "name" in given
        if not self._named:
            given["name"] = " ".join([str(given["kind"]).replace("_", " "), *_columns_of(given)]).strip()
        self._entries: dict[str, object] = {"name": given.pop("name"), **given}

    @property
    def name(self) -> str:
        """What a plan and a report call it."""
        return str(self._entries["name"])

    def by(
        self,
        column: str,
        *,
        keys: Iterable[Number | str] | PrivateKeys | None = None,
        max_groups_per_unit: int | None = None,
        max_rows_per_group_per_unit: int | None = None,
        expected_group_size: int | None = None,
        differences: Iterable[tuple[Number | str, Number | str]] | None = None,
    ) -> Statistic:
        """The same statistic once for each key of a column; one epsilon pays for all groups together.

        Args:
            column: which says what group a row is in. Needs add-remove neighbors.
            keys: the groups, in order; those of the column unless given. Every key appears in the result. Or
                `private_keys(...)`, where nobody knows them: then those appear that have enough privacy units.
            max_groups_per_unit, max_rows_per_group_per_unit: with a unit, both: of a unit's rows only those in so
                many groups count, and so many of each.
            expected_group_size: a public guess at the rows of a group, for planning.
            differences: pairs of keys: what the first group has more than the second, as a number of its own that costs
                nothing, "mean income by city: Jena - Ulm". For kinds that are one number a group.
        """
        entries: dict[str, object] = {
            **self._entries,
            "group_by": text_of(column, "column"),
            "keys": keys,
            "max_groups_per_unit": max_groups_per_unit,
            "max_rows_per_group_per_unit": max_rows_per_group_per_unit,
            "expected_group_size": expected_group_size,
            "differences": differences,
        }
        if not self._named:
            entries["name"] = f"{self.name} by {column}"
        grouped = Statistic(entries)
        grouped._named = self._named
        return grouped

    def _columns(self) -> list[str]:
        return _columns_of(self._entries, "group_by")

    def _private_keys(self) -> tuple[str, PrivateKeys] | None:
        keys = self._entries.get("keys")
        return (str(self._entries["group_by"]), keys) if isinstance(keys, PrivateKeys) else None

    def _table(self) -> str:
        entries = dict(self._entries)
        if self._private_keys():
            entries["keys"] = "private"
        if not any(price in entries for price in ("epsilon", "accuracy", "weight", "rho")):
            entries["weight"] = 1
        for key in _exact:
            if key in entries and not isinstance(entries[key], str):
                entries[key] = _price(entries[key], key)
        return _toml.table("[[statistic]]", entries)

    def __rshift__(self, other: Step[_Next]) -> Step[_Next]:
        from ._steps import statistic_step

        return statistic_step(self) >> other

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={entry!r}" for key, entry in self._entries.items() if key not in ("kind", "name"))
        return f"<{self.name!r}: {self._entries['kind']}({shown})>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Statistic) and self._table() == other._table()

    def __hash__(self) -> int:
        return hash(self._table())


def _columns_of(entries: Mapping[str, object], *more: str) -> list[str]:
    """What a statistic takes: its column, both of two, or y and each x."""
    columns = [str(entries[key]) for key in ("column", *more, "y") if key in entries]
    for key in ("columns", "x"):
        several = entries.get(key, [])
        assert isinstance(several, list)
        columns += several
    return columns


def _price(number: object, parameter: str) -> str:
    from ._numbers import text

    return text(number, parameter)


def _chained(column: object, parameter: str = "column") -> str | None:
    """None for a step of a chain, which takes the column that the chain gives; a plan refuses it."""
    return None if column is None else _column(column, parameter)


def _column(column: object, parameter: str = "column") -> str:
    return text_of(column, parameter, "the name of a column")


def count(
    *,
    range: Range | None = None,
    guesses: Guesses | None = None,
    nonnegative: bool | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
) -> Statistic:
    """The number of rows. Under change-one it is public: released as it is, at no cost.

    Args:
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        nonnegative: True: results below 0 become 0, after the release.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact. Under change-one the count is public, and costs nothing.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
    """
    return Statistic(
        {
            "kind": "count",
            "name": name,
            "title": title,
            "range": range,
            "guesses": guesses,
            "nonnegative": nonnegative,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
        }
    )


def sum(
    column: str | None = None,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The sum of a column, each value clamped to the bounds.

    Args:
        column: its name, to the letter; none in a chain, rows(...) >> ... >> sum().
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "sum",
            "name": name,
            "title": title,
            "column": _chained(column),
            "type": type,
            "bounds": bounds,
            "range": range,
            "guesses": guesses,
            "mode": mode,
            "precision": precision,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def mean(
    column: str | None = None,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    expected_mean: Number | None = None,
    split: Sequence[Number] | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The mean of a column, each value clamped to the bounds.

    Args:
        column: its name, to the letter; none in a chain, rows(...) >> ... >> mean().
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        expected_mean: a public guess at the mean of the column; for planning only.
        split: add-remove: how epsilon is divided between sum and count; equally unless given.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "mean",
            "noise": noise,
            "name": name,
            "title": title,
            "column": _chained(column),
            "type": type,
            "bounds": bounds,
            "range": range,
            "guesses": guesses,
            "expected_mean": expected_mean,
            "split": split,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def variance(
    column: str | None = None,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    expected_deviation: Number | None = None,
    expected_mean: Number | None = None,
    split: Sequence[Number] | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The variance of a column, 1/(n - 1), each value clamped to the bounds.

    Args:
        column: its name, to the letter; none in a chain, rows(...) >> ... >> variance().
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        expected_deviation: a public guess at the standard deviation of the column; for planning only.
        expected_mean: a public guess at the mean of the column; for planning only.
        split: add-remove: how epsilon is divided among sum, count and squares; equally unless given.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "variance",
            "noise": noise,
            "name": name,
            "title": title,
            "column": _chained(column),
            "type": type,
            "bounds": bounds,
            "range": range,
            "guesses": guesses,
            "expected_deviation": expected_deviation,
            "expected_mean": expected_mean,
            "split": split,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def standard_deviation(
    column: str,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    expected_deviation: Number | None = None,
    expected_mean: Number | None = None,
    split: Sequence[Number] | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The square root of the variance.

    Args:
        column: its name, to the letter.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        expected_deviation: a public guess at the standard deviation of the column; for planning only.
        expected_mean: a public guess at the mean of the column; for planning only.
        split: add-remove: how epsilon is divided among sum, count and squares; equally unless given.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "standard_deviation",
            "noise": noise,
            "name": name,
            "title": title,
            "column": _column(column),
            "type": type,
            "bounds": bounds,
            "expected_deviation": expected_deviation,
            "expected_mean": expected_mean,
            "split": split,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def covariance(
    first: str | None = None,
    second: str | None = None,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    expected_deviation: Sequence[Number] | None = None,
    expected_mean: Sequence[Number] | None = None,
    split: Sequence[Number] | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The covariance of two columns, 1/(n - 1).

    Args:
        first: a column, by its name to the letter; none in a chain, rows(...) >> ... >> covariance().
        second: another one.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: a pair for each column, when the columns have none.
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        expected_deviation: public guesses at the standard deviations, one a column; for planning only.
        expected_mean: public guesses at the means, one a column; for planning only.
        split: add-remove: among sum_x, sum_y, count and products; equally unless given.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "covariance",
            "noise": noise,
            "name": name,
            "title": title,
            "columns": None if first is second is None else [_column(first, "first"), _column(second, "second")],
            "type": type,
            "bounds": bounds,
            "range": range,
            "guesses": guesses,
            "expected_deviation": expected_deviation,
            "expected_mean": expected_mean,
            "split": split,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def correlation(
    first: str,
    second: str,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    expected_deviation: Sequence[Number] | None = None,
    expected_mean: Sequence[Number] | None = None,
    split: Sequence[Number] | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The correlation of two columns.

    Args:
        first: a column, by its name to the letter.
        second: another one.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: a pair for each column, when the columns have none.
        expected_deviation: public guesses at the standard deviations, one a column; for planning only.
        expected_mean: public guesses at the means, one a column; for planning only.
        split: how epsilon is divided among the parts; equally unless given.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "correlation",
            "noise": noise,
            "name": name,
            "title": title,
            "columns": [_column(first, "first"), _column(second, "second")],
            "type": type,
            "bounds": bounds,
            "expected_deviation": expected_deviation,
            "expected_mean": expected_mean,
            "split": split,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def regression(
    y: str,
    x: Iterable[str],
    *,
    type: str | None = None,
    bounds: Sequence[Bounds] | None = None,
    split: Sequence[Number] | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """Least squares: y on an intercept and one or more columns x, from noisy moments of all of them.

    A report has an interval for each coefficient, all together: where those of the exact rows lie, clamped to their bounds.

    Args:
        y: the column that is to be explained, by its name to the letter.
        x: the columns that are to explain it, 1 to 7 of them, by groups 6.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: a pair for each column, that of y first, when the columns have none.
        split: how epsilon is divided among the parts; equally unless given.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which some coefficient may lie outside its interval; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "regression",
            "noise": noise,
            "name": name,
            "title": title,
            "y": _column(y, "y"),
            "x": [_column(column, "x") for column in listed(x, "x", "a list of names of columns")],
            "type": type,
            "bounds": bounds,
            "split": split,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def moment(
    column: str | None = None,
    order: int | None = None,
    *,
    type: str | None = None,
    bounds: Bounds | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
    row_grid: str | None = None,
) -> Statistic:
    """The mean of the column's powers x^order. Change-one only.

    Args:
        column: its name, to the letter; none in a chain, rows(...) >> ... >> moment(order=2).
        order: 1 to 4.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
        row_grid: what real cells are rounded down to before they are summed: \"auto\", \"none\" or a power of two; that of the dataset unless given.
    """
    return Statistic(
        {
            "kind": "moment",
            "noise": noise,
            "name": name,
            "title": title,
            "column": _chained(column),
            "order": order,
            "type": type,
            "bounds": bounds,
            "range": range,
            "guesses": guesses,
            "mode": mode,
            "precision": precision,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
            "row_grid": row_grid,
        }
    )


def median(
    column: str,
    *,
    edges: Iterable[Number] | None = None,
    resolution: Number | None = None,
    type: str | None = None,
    bounds: Bounds | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
) -> Statistic:
    """The median of a column, from noisy counts between public edges.

    Args:
        column: its name, to the letter.
        edges: public edges: bins [e0, e1), [e1, e2), ... of which the last is closed.
        resolution: instead of edges: one every so far between the bounds.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the rank error, in rows, or below 1 as a share of the rows; epsilon is the least to a thousandth.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
    """
    return Statistic(
        {
            "kind": "median",
            "name": name,
            "title": title,
            "column": _column(column),
            "edges": edges,
            "resolution": resolution,
            "type": type,
            "bounds": bounds,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
        }
    )


def quantiles(
    column: str,
    quantiles: Iterable[Number],
    *,
    edges: Iterable[Number] | None = None,
    resolution: Number | None = None,
    type: str | None = None,
    bounds: Bounds | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
) -> Statistic:
    """Quantiles of a column, all from one release of noisy counts.

    Args:
        column: its name, to the letter.
        quantiles: which, from 0 to 1: [0.25, 0.5, 0.75].
        edges: public edges: bins [e0, e1), [e1, e2), ... of which the last is closed.
        resolution: instead of edges: one every so far between the bounds.
        type: how cells are read, when the column does not say: "real" or "integer".
        bounds: (lower, upper), when the column has none; values outside are clamped. In the unit of the column.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the rank error, in rows, or below 1 as a share of the rows; epsilon is the least to a thousandth.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
    """
    return Statistic(
        {
            "kind": "quantiles",
            "name": name,
            "title": title,
            "column": _column(column),
            "quantiles": quantiles,
            "edges": edges,
            "resolution": resolution,
            "type": type,
            "bounds": bounds,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
        }
    )


def histogram(
    column: str | None = None,
    *,
    categories: Iterable[Number | str] | None = None,
    edges: Iterable[Number] | None = None,
    type: str | None = None,
    other: str | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    nonnegative: bool | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
) -> Statistic:
    """The number of rows in each bin.

    Args:
        column: its name, to the letter; none in a chain, rows(...) >> ... >> histogram(edges=[...]).
        categories: the bins; those of the column unless given.
        edges: public edges: bins [e0, e1), [e1, e2), ... of which the last is closed.
        type: how cells are read, when the column does not say: "real", "integer" or "text".
        other: "drop" (default), or "bin": rows outside every bin are counted in a last one.
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        nonnegative: True: results below 0 become 0, after the release.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
    """
    return Statistic(
        {
            "kind": "histogram",
            "name": name,
            "title": title,
            "column": _chained(column),
            "categories": categories,
            "edges": edges,
            "type": type,
            "other": other,
            "range": range,
            "guesses": guesses,
            "nonnegative": nonnegative,
            "mode": mode,
            "precision": precision,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
        }
    )


def distinct(
    column: str | None = None,
    *,
    categories: Iterable[Number | str] | None = None,
    type: str | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
) -> Statistic:
    """How many of a public set of values occur.

    Args:
        column: its name, to the letter; none in a chain, rows(...) >> ... >> distinct(categories=[...]).
        categories: the public set of values to look for; that of the column unless given.
        type: how cells are read, when the column does not say: "real", "integer" or "text".
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
    """
    return Statistic(
        {
            "kind": "distinct",
            "name": name,
            "title": title,
            "column": _chained(column),
            "categories": categories,
            "type": type,
            "range": range,
            "guesses": guesses,
            "mode": mode,
            "precision": precision,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
        }
    )


def range_count(
    column: str,
    *,
    bounds: Bounds | None = None,
    type: str | None = None,
    range: Range | None = None,
    guesses: Guesses | None = None,
    nonnegative: bool | None = None,
    mode: str | None = None,
    precision: int | None = None,
    noise: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    rho: Number | None = None,
    delta: Number | None = None,
    alpha: Number | None = None,
    grid: str | None = None,
) -> Statistic:
    """The number of rows whose value lies in the bounds, both ends included.

    Args:
        column: its name, to the letter.
        bounds: (lower, upper): what to count, both ends included; nothing is clamped.
        type: how cells are read, when the column does not say: "real" or "integer".
        range: what values and outputs are clamped to: (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        guesses: public guesses at the statistic, [40, 45] or with weights [(40, 1), (45, 3)]; for planning only.
        nonnegative: True: results below 0 become 0, after the release.
        mode: change-one: "exact" (default), or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        noise: "laplace" (default), "geometric" for integers, or "gaussian" where the plan has a delta.
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        accuracy: instead: the least epsilon whose tight accuracy at alpha is this or better. In the unit of the statistic.
        weight: instead: a share of what the others leave of the budget; 1 when no price is given.
        rho: instead, of Gaussian noise where the plan counts in rho: its price there.
        delta: with the epsilon or accuracy of Gaussian noise: the probability with which that epsilon may fail.
        alpha: the probability with which the stated accuracy may be exceeded; 0.05 unless given.
        grid: the spacing of released values: "auto" (default), "notes" or a power of two such as "2^-10".
    """
    return Statistic(
        {
            "kind": "range_count",
            "name": name,
            "title": title,
            "column": _column(column),
            "bounds": bounds,
            "type": type,
            "range": range,
            "guesses": guesses,
            "nonnegative": nonnegative,
            "mode": mode,
            "precision": precision,
            "noise": noise,
            "epsilon": epsilon,
            "accuracy": accuracy,
            "weight": weight,
            "rho": rho,
            "delta": delta,
            "alpha": alpha,
            "grid": grid,
        }
    )


def top(
    column: str,
    k: int,
    *,
    categories: Iterable[Number | str] | None = None,
    type: str | None = None,
    name: str | None = None,
    title: str | None = None,
    epsilon: Number | None = None,
    weight: Number | None = None,
    alpha: Number | None = None,
) -> Statistic:
    """The most frequent categories of a column in order, and nothing of how frequent they are.

    Args:
        column: its name, to the letter.
        k: how many of the categories are named.
        categories: the candidates; those of the column unless given.
        type: how cells are read, when the column does not say: "real", "integer" or "text".
        name: unique in a plan; the kind and its columns unless given: "mean age".
        title: what people call it, in reports.
        epsilon: the privacy loss that is paid; exact.
        weight: instead: a share of what the others leave of the budget; 1 when neither is given.
        alpha: the probability with which the stated gap may be exceeded; 0.05 unless given.
    """
    return Statistic(
        {
            "kind": "top",
            "name": name,
            "title": title,
            "column": _column(column),
            "k": k,
            "categories": categories,
            "type": type,
            "epsilon": epsilon,
            "weight": weight,
            "alpha": alpha,
        }
    )
