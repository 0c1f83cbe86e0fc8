"""A dataset: what its custodian says of it, once. Everything here is public, and nothing of it comes from rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from . import _core, _files, _toml
from ._arguments import another_kind, entries, of_class, text_of
from ._errors import Error, InvalidArgument, named, without_lines
from ._numbers import Number, budget_entries

if TYPE_CHECKING:
    from ._plan import Plan
    from ._statistics import Statistic


_kinds = "integer(0, 100), real(0, 1) or text(keys=[...])"


class Column:
    """What is declared of a column: made by `integer`, `real` and `text`."""

    __slots__ = ("_entries",)

    def __init__(self, entries: Mapping[str, object]) -> None:
        self._entries = {name: copied(entry) for name, entry in entries.items() if entry is not None}
        labels = self._entries.get("labels")
        if isinstance(labels, Mapping):
            self._entries["labels"] = {key: text_of(label, "labels") for key, label in labels.items()}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={entry!r}" for name, entry in self._entries.items() if name != "type")
        return f"{self._entries['type']}({shown})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Column) and self._table() == other._table()

    def __hash__(self) -> int:
        return hash(self._table())

    def _table(self, header: str = "") -> str:
        return _toml.table(header, self._entries)


def copied(entry: object) -> object:
    """What was given, as it is now: a generator is read once, and what becomes of a list or an array later is nothing to us."""
    if isinstance(entry, (str, bytes)) or not isinstance(entry, Iterable) or getattr(entry, "shape", None) == ():
        return entry
    if isinstance(entry, Mapping):
        return {key: copied(value) for key, value in entry.items()}
    if isinstance(entry, (set, frozenset)):
        return frozenset(entry)
    return [copied(member) for member in entry]


def _bounds(lower: Number | None, upper: Number | None) -> list[Number] | None:
    if lower is None and upper is None:
        return None
    if lower is None or upper is None:
        missing = "lower" if lower is None else "upper"
        raise InvalidArgument(f"{missing}: is missing; bounds have two ends, integer(0, 100)", missing)
    return [lower, upper]


def integer(
    lower: Number | None = None,
    upper: Number | None = None,
    *,
    categories: Iterable[Number] | None = None,
    keys: Iterable[Number] | None = None,
    description: str | None = None,
    unit: str | None = None,
    labels: Mapping[object, str] | None = None,
) -> Column:
    """A column of whole numbers of 64 bits.

    Args:
        lower, upper: what its values lie between, both ends included; values outside are clamped.
        categories, keys: its public values (one of the two): the bins of histograms, the groups of `.by()`.
        description: words for people, for whoever reads the declaration.
        unit: of its values, for reports: "dollars a year".
        labels: what people call its values or bins, {9: "High school diploma"}.
    """
    return Column(
        {
            "type": "integer",
            "bounds": _bounds(lower, upper),
            "categories": categories,
            "keys": keys,
            "description": description,
            "unit": unit,
            "labels": labels,
        }
    )


def real(
    lower: Number | None = None,
    upper: Number | None = None,
    *,
    categories: Iterable[Number] | None = None,
    keys: Iterable[Number] | None = None,
    description: str | None = None,
    unit: str | None = None,
    labels: Mapping[object, str] | None = None,
) -> Column:
    """A column of numbers, read as doubles.

    Args:
        lower, upper: what its values lie between, both ends included; values outside are clamped.
        categories, keys: its public values (one of the two): the bins of histograms, the groups of `.by()`.
        description: words for people, for whoever reads the declaration.
        unit: of its values, for reports: "dollars a year".
        labels: what people call its values or bins, {"[0, 20)": "minors"}.
    """
    return Column(
        {
            "type": "real",
            "bounds": _bounds(lower, upper),
            "categories": categories,
            "keys": keys,
            "description": description,
            "unit": unit,
            "labels": labels,
        }
    )


def text_column(
    *,
    categories: Iterable[str] | None = None,
    keys: Iterable[str] | None = None,
    description: str | None = None,
    labels: Mapping[str, str] | None = None,
) -> Column:
    """A column of texts, compared to the letter.

    Args:
        categories, keys: its public values (one of the two): the bins of histograms, the groups of `.by()`.
        description: words for people, for whoever reads the declaration.
        labels: what people call its values, {"ULM": "Ulm"}.
    """
    return Column(
        {
            "type": "text",
            "categories": categories,
            "keys": keys,
            "description": description,
            "labels": labels,
        }
    )


class Dataset:
    """A declaration: where rows come from, who is protected, what is public. Made by `dataset` or `read_dataset`.

    Attributes:
        name: what the ledger calls the data.
        neighbors: "change-one" or "add-remove".
        privacy_unit: the column that says whose row it is, or None: one row.
        columns: the names of the columns of which something is declared.
    """

    __slots__ = ("name", "neighbors", "privacy_unit", "columns", "_text")

    def __init__(self, toml: str) -> None:
        try:
            _, facts = _core.declaration(text_of(toml, "toml"), "dataset", "")
        except Error as error:
            raise without_lines(error, "dataset") from None
        self._text = toml
        self.name: str = facts["dataset"]
        self.neighbors: str = facts["neighbors"]
        self.privacy_unit: str | None = facts["privacy_unit"]
        self.columns: tuple[str, ...] = tuple(facts["columns"])

    def plan(
        self,
        *statistics: Statistic,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        label: str | None = None,
        headline: str | None = None,
    ) -> Plan:
        """What these statistics cost and how near they will be. No row is read.

        Args:
            statistics: count(), mean("age"), ... Those without epsilon, rho, accuracy and weight share by equal
                weights what the others leave of the budget.
            epsilon: the most that they may cost together; exact.
            delta: for Gaussian noise: the most that their deltas may come to; with rho, where rho is read as an epsilon.
            rho: instead of epsilon: the most that they may cost in zero-concentrated differential privacy.
            label: a name for the release; `Plan.release` takes one too.
            headline: what a page about the release says at its top.
        """
        from ._plan import Plan
        from ._statistics import PrivateKeys, Statistic

        tables = [_toml.table("[budget]", budget_entries(epsilon, rho, delta))]
        chosen: dict[str, PrivateKeys] = {}
        for statistic in statistics:
            tables.append(of_class(statistic, Statistic, "statistics", 'statistics such as count() or mean("age")')._table())
            by = statistic._private_keys()
            if by and chosen.setdefault(*by) != by[1]:
                raise InvalidArgument(
                    f'statistics: the keys of "{by[0]}" are chosen in two ways; give all its statistics the same private_keys(...)',
                    "statistics",
                )
        tables += [keys._table(column) for column, keys in chosen.items()]
        head = {"label": label, "headline": headline}
        top = "".join(f"{name} = {_toml.string(words, name)}\n" for name, words in head.items() if words is not None)
        try:
            return Plan(top + self._text + "\n" + "\n".join(tables))
        except InvalidArgument as error:
            raise _with_columns(error, statistics, self.columns) from None

    def to_toml(self) -> str:
        """The declaration as a file for the command-line tool: `snapdp ledger create LEDGER FILE --epsilon E`."""
        return self._text

    def _repr_html_(self) -> str:
        return _files.text_html(self._text)

    def __repr__(self) -> str:
        unit = f", unit={self.privacy_unit!r}" if self.privacy_unit else ""
        return f"<Dataset {self.name!r}: neighbors={self.neighbors!r}{unit}, {len(self.columns)} columns declared>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dataset) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[type[Dataset], tuple[str]]:
        return Dataset, (self._text,)


def dataset(
    dataset: str,
    *,
    neighbors: str,
    unit: str | None = None,
    max_rows_per_unit: int | None = None,
    size: int | None = None,
    expected_size: int | None = None,
    columns: Mapping[str, Column] | None = None,
    nulls: str | Mapping[str, Number] | None = None,
    where: str | None = None,
    population: bool | None = None,
    row_grid: str | None = None,
    title: str | None = None,
    path: str | os.PathLike[str] | None = None,
    format: str | None = None,
    delimiter: str | None = None,
    privacy_unit: str | None = None,
) -> Dataset:
    """Declares a dataset: what is public about it, and who is protected.

    Args:
        dataset: the name of the data in the ledger; chosen by the custodian, never derived from rows.
        neighbors: what is hidden: "change-one", which values one row has, when the number of rows is public; or
            "add-remove", whether a row, or a unit with all its rows, is there at all.
        unit: add-remove: the column that says whose row it is (the file's privacy_unit, which is taken too).
        max_rows_per_unit: required with `unit`: how many rows of a unit count. All noise grows with it.
        size: change-one: the public number of rows, required; data of another size are refused.
        expected_size: add-remove: a public guess at the number of rows, for planning.
        columns: by name, integer(0, 100), real(0, 1), text(keys=[...]).
        nulls: what becomes of cells that hold no number: "drop" or {"impute": 0}.
        where: add-remove: only rows for which this condition holds count: "age >= 18 and state in (6, 36)".
        population: True when the rows are a random sample: reports then say what they say of the population.
        row_grid: "auto": real cells are rounded down to a public grid before they are summed, one so fine that no result shows it;
            databases that hold the rows need it. "none" (default) sums them as they are.
        title: what people call the data, in reports.
        path: the data file, CSV or Parquet, when the rows lie in one; from the current folder.
        format: "csv" or "parquet", for a file whose name does not tell.
        delimiter: between the cells of a CSV file.
        privacy_unit: another name for `unit`.

    Raises:
        InvalidArgument: naming the option, the value, the rule and the next step.
    """
    if unit is not None and privacy_unit is not None:
        raise InvalidArgument("privacy_unit: is what unit says; give one of them", "privacy_unit")
    data = {
        "path": None if path is None else _files.place(path, "path"),
        "format": format,
        "delimiter": delimiter,
        "title": title,
        "dataset": text_of(dataset, "dataset"),
        "neighbors": neighbors,
        "size": size,
        "expected_size": expected_size,
        "nulls": entries(nulls, "nulls", "impute") if isinstance(nulls, Mapping) else nulls,
        "privacy_unit": privacy_unit if unit is None else text_of(unit, "unit", "the name of a column"),
        "max_rows_per_unit": max_rows_per_unit,
        "where": where,
        "population": population,
        "row_grid": row_grid,
    }
    tables = [_toml.table("[data]", data)]
    if columns is not None and not isinstance(columns, Mapping):
        raise another_kind(columns, "columns", 'a dict of names, {"age": integer(0, 100)}')
    for name, column in (columns or {}).items():
        header = f"[columns.{_toml.key(text_of(name, 'columns'), 'columns')}]"
        tables.append(of_class(column, Column, "columns", f"what {name!r} holds, {_kinds}")._table(header))
    return Dataset("\n".join(tables))


def _with_columns(error: InvalidArgument, statistics: Iterable[Statistic], declared: Sequence[str]) -> InvalidArgument:
    """Also says which columns are not declared, but for a slip of the pen."""
    from difflib import get_close_matches

    lines = [str(error)]
    for column in dict.fromkeys(column for statistic in statistics for column in statistic._columns()):
        alike = [] if column in declared else get_close_matches(column, declared, 1)
        lines += [f'column "{column}" is not declared; did you mean "{name}"?' for name in alike]
    return InvalidArgument("\n".join(lines), error.parameter)


def read_dataset(path: str | os.PathLike[str]) -> Dataset:
    """The [data] and [columns] of a TOML file, which may hold a whole specification.

    A relative path of the data in it is taken from the folder of that file.
    """
    return Dataset(declaration_of(path, "path"))


def declaration_of(path: object, parameter: str) -> str:
    """The declaration in a file."""
    with named(specification=parameter, declaration=parameter):
        return str(_core.read_declaration(_files.place(path, parameter))[0])
