"""Drivers of databases: how each is asked, which dialect it speaks, and what it tells of a table's columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from . import _core
from ._arguments import text_of
from ._errors import InvalidArgument
from ._numbers import is_from

_Read = TypeVar("_Read")

# A column's name and how it is stored: "integer", "real", "decimal", "boolean", "text", "unknown" or "unusable".
Header = list[tuple[str, str]]
Answer = tuple[list[str], Iterable[Sequence[object]]]

# The dialect of a driver's module.
_dialects = {
    "sqlite3": "sqlite",
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
    "pg8000": "postgresql",
    "datafusion": "datafusion",
    "databricks": "spark",
    "snowflake": "snowflake",
    "trino": "trino",
    "clickhouse_connect": "clickhouse",
    "clickhouse_driver": "clickhouse",
}

# What databases of ADBC call themselves.
_vendors = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "postgresql": "postgresql",
    "snowflake": "snowflake",
    "bigquery": "bigquery",
    "datafusion": "datafusion",
}

# PostgreSQL's types by their numbers, which are the same in every database; those of domains are their base types'.
_postgresql_types = {
    **dict.fromkeys((20, 21, 23), "integer"),
    **dict.fromkeys((700, 701), "real"),
    **dict.fromkeys((18, 19, 25, 1042, 1043), "text"),
    **dict.fromkeys((1082, 1083, 1114, 1184, 1186, 1266, 114, 3802, 17, 2950), "unusable"),
    16: "boolean",
    1700: "decimal",
}

_duckdb_types = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"), "integer"),
    **dict.fromkeys(("UBIGINT", "HUGEINT", "UHUGEINT", "DECIMAL"), "decimal"),
    **dict.fromkeys(("FLOAT", "DOUBLE"), "real"),
    **dict.fromkeys(("VARCHAR", "ENUM"), "text"),
    "BOOLEAN": "boolean",
    '"NULL"': "unknown",
    "NULL": "unknown",
}

_arrow_types = {
    **dict.fromkeys(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"), "integer"),
    **dict.fromkeys(("uint64", "decimal32", "decimal64", "decimal128", "decimal256"), "decimal"),
    **dict.fromkeys(("halffloat", "float", "double"), "real"),
    **dict.fromkeys(("string", "large_string", "string_view", "dictionary"), "text"),
    **dict.fromkeys(("null", "extension"), "unknown"),
    "bool": "boolean",
}

_spark_types = {
    **dict.fromkeys(("ByteType", "ShortType", "IntegerType", "LongType"), "integer"),
    **dict.fromkeys(("FloatType", "DoubleType"), "real"),
    **dict.fromkeys(("StringType", "VarcharType", "CharType"), "text"),
    "DecimalType": "decimal",
    "BooleanType": "boolean",
    "NullType": "unknown",
}


class Driver:
    """How a database is asked. What it raises is for others to hide."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect

    def header(self, table: list[str]) -> Header:
        """The columns of a table. No row is read."""
        raise NotImplementedError

    def answer(self, query: str) -> Answer:
        """The names and the rows of what one query gives."""
        raise NotImplementedError


class _Cursors(Driver):
    """DB-API 2.0: a cursor for each query."""

    def __init__(self, connection: Any, dialect: str, type_of: Callable[[object], str]) -> None:
        super().__init__(dialect)
        self._connection = connection
        self._type_of = type_of

    def header(self, table: list[str]) -> Header:
        return self._asked(
            _core.header_query(self.dialect, table),
            lambda cursor: [(str(column[0]), self._type_of(column[1])) for column in cursor.description],
        )

    def answer(self, query: str) -> Answer:
        return self._asked(query, lambda cursor: ([column[0] for column in cursor.description], cursor.fetchall()))

    def _asked(self, query: str, read: Callable[[Any], _Read]) -> _Read:
        cursor = self._connection.cursor()
        try:
            cursor.execute(query)
            return read(cursor)
        finally:
            cursor.close()


class _Duckdb(_Cursors):
    """A cursor of DuckDB is another connection, which sees neither temporary tables nor registered frames."""

    def _asked(self, query: str, read: Callable[[Any], _Read]) -> _Read:
        return read(self._connection.execute(query))


class _Datafusion(Driver):
    def __init__(self, context: Any) -> None:
        super().__init__("datafusion")
        self._context = context

    def header(self, table: list[str]) -> Header:
        schema = self._context.sql(_core.header_query(self.dialect, table)).schema()
        return [(field.name, arrow_type(field.type)) for field in schema]

    def answer(self, query: str) -> Answer:
        frame = self._context.sql(query)
        names = list(frame.schema().names)
        return names, [row for batch in frame.collect() for row in zip(*(column.to_pylist() for column in batch.columns))]


class _Spark(Driver):
    """A frame of PySpark as a view that is there while its query runs."""

    def __init__(self, frame: Any, name: str) -> None:
        super().__init__("spark")
        self._frame = frame
        self._name = name

    def header(self, table: list[str]) -> Header:
        literals = "spark.sql.parser.escapedStringLiterals"
        if str(self._frame.sparkSession.conf.get(literals, "false")).lower() == "true":
            raise InvalidArgument(f'data: the Spark session reads texts otherwise; set {literals} to "false"', "data")
        return [(field.name, _spark_types.get(type(field.dataType).__name__, "unusable")) for field in self._frame.schema.fields]

    def answer(self, query: str) -> Answer:
        session = self._frame.sparkSession
        self._frame.createOrReplaceTempView(self._name)
        try:
            result = session.sql(query)
            return list(result.columns), result.collect()
        finally:
            session.catalog.dropTempView(self._name)


def driver_of(connection: Any, dialect: str | None) -> Driver:
    """Throws InvalidArgument for what is no connection, and for one whose dialect is unknown and not named."""
    if dialect is not None:
        _core.is_tested_dialect(text_of(dialect, "dialect"))
    if is_from(connection, "datafusion", "SessionContext"):
        return _Datafusion(connection)
    if not hasattr(connection, "cursor"):
        raise InvalidArgument(
            f"connection: is a {type(connection).__name__}; give a connection of DB-API 2.0 (sqlite3, duckdb, psycopg ...), of "
            "ADBC's dbapi, or DataFusion's SessionContext",
            "connection",
        )
    spoken = dialect or _guessed(connection)
    if spoken is None:
        raise InvalidArgument(
            f"dialect: is missing, and the module {type(connection).__module__} does not tell it; name it, "
            'dialect="postgresql"',
            "dialect",
        )
    if _modules(connection) & {"duckdb", "_duckdb"}:
        return _Duckdb(connection, spoken, duckdb_type)
    return _Cursors(connection, spoken, _type_codes(connection, spoken))


def spark_driver(frame: Any, name: str) -> Driver:
    return _Spark(frame, name)


def arrow_type(stored: object) -> str:
    return _arrow_types.get(_first_word(stored), "unusable")


def duckdb_type(stored: object) -> str:
    return _duckdb_types.get(_first_word(stored), "unusable")


def _first_word(stored: object) -> str:
    """DECIMAL of DECIMAL(38, 2), dictionary of dictionary<...>; and no list: INTEGER[]."""
    import re

    text = str(stored)
    plain = re.match(r"[^(<\[]*", text)
    return "" if plain is None or text.endswith("]") and "(" not in text else plain[0]


def _modules(connection: object) -> set[str]:
    return {base.__module__.split(".")[0] for base in type(connection).__mro__}


def _guessed(connection: Any) -> str | None:
    if hasattr(connection, "adbc_get_info"):
        return _vendors.get(str(connection.adbc_get_info().get("vendor_name", "")).lower())
    return next((_dialects[name] for name in sorted(_modules(connection)) if name in _dialects), None)


def _type_codes(connection: object, dialect: str) -> Callable[[object], str]:
    """What a driver's cursors say of columns; SQLite's columns hold anything."""
    if dialect == "sqlite":
        return lambda code: "unknown"
    if hasattr(connection, "adbc_get_info"):
        return arrow_type
    if dialect == "postgresql":
        return lambda code: _postgresql_types.get(code, "unknown") if isinstance(code, int) else "unknown"
    return lambda code: "unknown"
