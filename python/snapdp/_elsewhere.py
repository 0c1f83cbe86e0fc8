"""Rows that stay where they are: in a database, in Spark, on workers. What comes back is exact integers or states, without noise
and so as private as the rows; the noise is drawn where the release is.

Whoever gives a connection or a frame is trusted with its rows. No message of a driver is passed on, because it may quote cells.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from . import _core
from ._arguments import choice, flag, listed, of_class, text_of
from ._drivers import Driver, driver_of, spark_driver
from ._errors import BadData, Error, InvalidArgument, IoError
from ._numbers import is_decimal, is_flag
from ._progress import Progress, shown

if TYPE_CHECKING:
    from ._plan import Plan

_Answer = TypeVar("_Answer")

# More digits than any exact sum has.
_most_digits = 60


class Elsewhere:
    """Rows that are counted where they are: made by `sql`, `aggregates` and `states`, for `Plan.release`."""

    def _source(self, columns: list[str]) -> _core.Source:
        raise NotImplementedError


class _Table(Elsewhere):
    """A table behind a driver. A release calls it with one query."""

    def __init__(self, driver: Driver, name: list[str], shown: str) -> None:
        self._driver = driver
        self._name = name
        self._shown = shown

    def __repr__(self) -> str:
        return f"<the table {self._shown}, by {self._driver.dialect}>"

    def _source(self, columns: list[str]) -> _core.Source:
        from ._frames import require

        header = self._asked(
            lambda: self._driver.header(self._name),
            f"table = {self._shown}: cannot be read through this connection; check the name, schema.table too, the rights "
            "of whoever is connected, and that the connection is open",
            "table",
        )
        require([name for name, _ in header], columns)
        return _core.sql_source(self._driver.dialect, self._name, header, self)

    def __call__(self, query: str) -> tuple[list[str], Iterator[list[str]]]:
        names, rows = self._asked(
            lambda: self._driver.answer(query),
            "data: the database refused the query or broke it off; what it said is not shown, as it may quote rows. Run "
            f'plan.sql("{self._driver.dialect}", ...) there to see, or cast the columns in a view; nothing was debited',
            "data",
        )
        return [str(name) for name in names], ([_cell(cell) for cell in row] for row in rows)

    @staticmethod
    def _asked(ask: Callable[[], _Answer], words: str, parameter: str) -> _Answer:
        try:
            return ask()
        except Error:
            raise
        except Exception:
            pass  # so that what is raised holds no trace of it
        raise IoError(words, parameter)


class _Result(Elsewhere):
    def __init__(self, names: list[str], rows: list[list[str]]) -> None:
        self._names = names
        self._rows = rows

    def __repr__(self) -> str:
        return "<aggregates>"

    def _source(self, columns: list[str]) -> _core.Source:
        return _core.result_source(self._names, self._rows, columns)


class _States(Elsewhere):
    def __init__(self, states: list[bytes]) -> None:
        self._states = states

    def __repr__(self) -> str:
        return "<states>"

    def _source(self, columns: list[str]) -> _core.Source:
        return _core.states_source(self._states, columns)


def sql(connection: object, table: str, dialect: str | None = None) -> Elsewhere:
    """A table of a database, for `Plan.release`: one query reads it, and only exact integers leave the database.

    Real columns need a row grid, `dataset(..., row_grid="auto")`.

    Args:
        connection: of a DB-API 2.0 driver (sqlite3, duckdb, psycopg ...), ADBC's `dbapi` too, or DataFusion's SessionContext. It
            stays yours: it is not closed, and a transaction that it has begun is yours to end.
        table: its name, to the letter; "schema.table" too, and a part between double quotes may hold dots.
        dialect: "duckdb", "postgresql", "spark", "sqlite" or "datafusion"; that of the driver unless given. Untested: "bigquery",
            "clickhouse", "snowflake", "trino".
    """
    name = _core.parse_table_name(text_of(table, "table"))
    return _Table(driver_of(connection, dialect), name, table)


def spark(frame: Any) -> Elsewhere:
    """A frame of PySpark, under a name that nobody else has, for as long as the query runs."""
    from secrets import token_hex

    name = f"snapdp_{token_hex(16)}"
    return _Table(spark_driver(frame, name), [name], "of the frame")


def aggregates(columns: Iterable[str], rows: Iterable[Sequence[object]]) -> Elsewhere:
    """The result of a query that `Plan.sql` wrote and that was run elsewhere, for `Plan.release`.

    It is validated like any untrusted input: of this plan, complete, and possible for rows within the declared bounds.

    Args:
        columns: the names of the result's columns.
        rows: its rows, in any order: ints, Decimals or texts of whole numbers.
    """
    names = [text_of(name, "columns") for name in listed(columns, "columns", "the names of the result's columns, as a list")]
    cells = [listed(row, "rows", "rows, each a list of its cells") for row in listed(rows, "rows", "a list of rows")]
    return _Result(names, list(_texts(cells)))


def states(states: Iterable[bytes]) -> Elsewhere:
    """The states of all parts of a table, for `Plan.release`. A part that is handed over twice is refused.

    Args:
        states: what `fold` gave for each part, or `snapdp fold` wrote. One that is missing cannot be told.
    """
    parts = listed(states, "states", "a list of parts, of one part too")
    for part in parts:
        if not isinstance(part, (bytes, bytearray, memoryview)):
            raise InvalidArgument(f"states: one is a {type(part).__name__}; give the bytes that fold(...) returned", "states")
    return _States([bytes(part) for part in parts])


def fold(plan: Plan, data: object, whole_units: bool = False, *, progress: Progress | None = None) -> bytes:
    """The exact states of one part of the rows, to be released with those of the other parts: `states`. Nothing is debited.

    They are as private as the rows. A part that is folded twice is counted twice.

    Args:
        plan: the same for all parts; it pickles as the text that it was made of.
        data: the rows of this part, as of `Plan.release`.
        whole_units: True when every privacy unit that has a row in this part has all its rows in it; needed when the dataset has a
            unit.
        progress: as of `Plan.release`.
    """
    from ._frames import opener
    from ._plan import held_plan

    with shown(progress) as told:
        return _core.fold(held_plan(plan), opener(data), told, flag(whole_units, "whole_units"))


def query(plan: _core.Plan, dialect: str, table: str) -> str:
    """What `Plan.sql` gives."""
    text = _core.sql_query(
        plan, text_of(dialect, "dialect"), _core.parse_table_name(text_of(table, "table"))
    )
    if not _core.is_tested_dialect(dialect):
        import warnings

        warnings.warn(
            f"dialect = {dialect}: its queries follow its manual and were never run by SnapDP's tests; compare with another "
            "way before you rely on one",
            stacklevel=3,
        )
    return text


def _texts(rows: Iterable[Sequence[object]]) -> Iterator[list[str]]:
    return ([_digits(cell) for cell in row] for row in rows)


def _cell(cell: Any) -> str:
    """The same, or a key of groups."""
    if isinstance(cell, str):
        return str.__str__(cell).encode("utf-8", "replace").decode()
    return _digits(cell)


def _digits(cell: Any) -> str:
    """A cell of a result as text, which the library reads as an integer or refuses."""
    if hasattr(cell, "dtype") and hasattr(cell, "item") and getattr(cell, "shape", None) == ():  # a scalar of NumPy
        cell = cell.item()
    if isinstance(cell, int) and not is_flag(cell) and cell.bit_length() < 4 * _most_digits:
        return int.__repr__(cell)
    if is_decimal(cell) and (not cell or abs(cell.adjusted()) <= _most_digits):
        return format(cell, "f")
    if isinstance(cell, str) and cell.isascii():
        return str.__str__(cell)
    raise BadData(
        f"aggregates: a cell is a {type(cell).__name__} and no whole number of at most {_most_digits} digits; hand over the "
        "result of the query as it is, ints, Decimals or texts of digits",
        "aggregates",
    )
