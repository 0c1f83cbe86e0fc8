"""Rows for a release, from whatever people have: a table that speaks Arrow, pandas, a dict of arrays, or a file.

Only types decide how a column is read, never what its cells look like: two frames that differ in one row are read alike. No
message of a producer is passed on, because it may quote cells.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from . import _core, _engine, _files
from ._errors import BadData, Error, InvalidArgument, named
from ._numbers import is_decimal, is_flag, is_from

# What a release calls once the ledger has agreed: with the path, format and delimiter of the declaration in force, the
# columns that it reads, and those of them that are texts.
Opener = Callable[[str, str, str, list[str], list[str]], _core.Source]

# Streams that were read: a second reading would find no rows, and pay for them.
_read: dict[int, weakref.ref[Any]] = {}

_accepted = (
    "give a table (pandas, Polars, pyarrow, DuckDB, anything with __arrow_c_stream__), a dict of arrays, or the path of "
    "a CSV or Parquet file"
)


def opener(data: object) -> Opener:
    """Opens what people gave."""
    if data is None:
        return lambda path, format, delimiter, *_: _declared_file(path, format, delimiter)
    if isinstance(data, (str, os.PathLike)):
        file = _files.place(data, "data")
        return lambda _, format, delimiter, *__: _open_file(file, format, delimiter)
    if is_from(data, "snapdp", "Elsewhere"):
        elsewhere: Any = data
        return lambda _, __, ___, columns, ____: elsewhere._source(columns)
    if _is_spark(data):
        from ._elsewhere import spark

        table = spark(data)
        return lambda _, __, ___, columns, ____: table._source(columns)
    if not _is_table(data):
        kind = type(data).__name__
        if hasattr(type(data), "__next__"):
            raise InvalidArgument(f"data: is a {kind}, which gives its rows once and one by one; {_accepted}", "data")
        raise InvalidArgument(f"data: is a {kind}; {_accepted}", "data")
    return lambda _, __, ___, columns, texts: _open_table(data, columns, frozenset(texts))


def _is_table(data: object) -> bool:
    if is_from(data, "pandas", "Series"):  # it speaks Arrow, with a type that may follow from its cells
        return False
    return (
        hasattr(data, "__arrow_c_stream__")
        or type(data).__name__ == "PyCapsule"
        or isinstance(data, Mapping)
        or hasattr(data, "fetch_record_batch")
        or _is_lazy(data)
        or _is_pandas(data)
        or getattr(getattr(data, "dtype", None), "names", None) is not None
    )


def _is_spark(data: object) -> bool:
    """Not a pandas-on-Spark frame, which has another order of rows each time."""
    return is_from(data, "pyspark", "DataFrame") and hasattr(data, "createOrReplaceTempView")


def _is_pandas(data: object) -> bool:
    return is_from(data, "pandas", "DataFrame")


def _is_lazy(data: object) -> bool:
    return is_from(data, "polars", "LazyFrame")


def _declared_file(path: str, format: str, delimiter: str) -> _core.Source:
    if not path:
        raise InvalidArgument(f"data: is missing, and the declaration has no path; {_accepted}", "data")
    return _open_file(path, format, delimiter)


def _open_file(path: str, format: str, delimiter: str) -> _core.Source:
    engine = _engine.files()
    if _core.ledger_lies_at(path):  # which the engine would open and close, and end the locks on it
        raise InvalidArgument(f'data = "{path}": is a ledger; name the file that holds the rows', "data")
    with named(path="data"):
        return _core.adopt_source(engine.open_file(path, format, delimiter, 0))


def _open_table(data: object, columns: list[str], texts: Set[str]) -> _core.Source:
    source, names = arrow_source(data, columns, texts)
    require(names, columns)
    return source


def arrow_source(data: object, columns: list[str], texts: Set[str]) -> tuple[_core.Source, list[str]]:
    """Rows that Arrow carries, and what their columns are called, whatever that is."""
    try:
        source = _core.Source(_stream(data, columns, texts), 0, lambda: _again(data, columns, texts))
        return source, source.columns
    except Error:
        raise
    except Exception:  # its message may quote cells, and may differ with one of them
        raise BadData(
            f"data: the {type(data).__name__} cannot be turned into Arrow's format; convert its columns to numbers or texts",
            "data",
        ) from None


def _again(data: object, columns: list[str], texts: Set[str]) -> object:
    """The same rows once more: groups whose keys nobody declared are looked for before they are counted."""
    try:
        if type(data).__name__ != "PyCapsule":
            return _stream(data, columns, texts)
    except Exception:
        pass  # its message may quote cells
    raise InvalidArgument(
        "data: gives its rows once, and private keys need them twice; give a table, or a list of keys", "data"
    )


def require(names: list[str], columns: Iterable[str]) -> None:
    """Tells of a column that is there by another spelling. No other name of the data is ever told: it may be a cell."""
    for column in columns:
        if column in names:
            continue
        alike = [name for name in names if _spelling(name) == _spelling(column)]
        if alike:
            raise BadData(
                f'data: has no column "{column}", but "{alike[0]}"; names match to the letter, so rename it', "column"
            )


def _spelling(name: str) -> str:
    return "".join(letter for letter in name.casefold() if letter.isalnum())


def _stream(data: Any, columns: list[str], texts: Set[str]) -> object:
    if type(data).__name__ == "PyCapsule":
        return data
    if _is_lazy(data):
        data = data.select([name for name in data.collect_schema().names() if name in columns] or "*").collect()
    if _is_pandas(data):
        return _from_pandas(data, columns, texts).__arrow_c_stream__()
    if hasattr(data, "__arrow_c_stream__"):
        if hasattr(type(data), "__next__"):
            _read_once(data)
        elif is_from(data, "polars", "DataFrame"):
            wanted = [name for name in data.columns if name in columns]
            if wanted:  # a column that nobody asks for need not be one that Arrow knows
                data = data.select(wanted)
        return data.__arrow_c_stream__()
    if hasattr(data, "fetch_record_batch"):
        reader = data.fetch_record_batch()
        _read_once(reader)
        return reader.__arrow_c_stream__()
    if not isinstance(data, Mapping):  # a structured array
        data = {name: data[name] for name in data.dtype.names}
    return _from_arrays(data, columns, texts).__arrow_c_stream__()


def _read_once(data: object) -> None:
    known = _read.get(id(data))
    if known is not None and known() is data:
        raise InvalidArgument(
            f"data: this {type(data).__name__} was read before, and gives its rows once; make it anew", "data"
        )
    try:
        _read[id(data)] = weakref.ref(data, lambda _, key=id(data): _read.pop(key, None))  # type: ignore[misc]
    except TypeError:
        pass


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise InvalidArgument(
            "data: pandas and dicts of arrays are read by way of pyarrow, which is not installed: pip install pyarrow; "
            "Polars and DuckDB tables need nothing",
            "data",
        ) from None
    return pyarrow


def _from_pandas(frame: Any, columns: list[str], texts: Set[str]) -> Any:
    arrow = _pyarrow()
    wanted = [(place, name) for place, name in enumerate(frame.columns) if name in columns]
    if not wanted:  # the number of rows is all there is to know
        return arrow.table({"": arrow.nulls(len(frame))})
    arrays = [_pandas_column(arrow, name, frame.iloc[:, place], name in texts) for place, name in wanted]
    return arrow.Table.from_arrays(arrays, names=[name for _, name in wanted])


def _pandas_column(arrow: Any, name: str, series: Any, is_text: bool) -> Any:
    if _holds_objects(series.dtype):
        return _objects(arrow, series, is_text)
    if hasattr(series.dtype, "categories") and hasattr(series, "cat"):  # each looked at once, by itself
        names = _objects(arrow, list(series.dtype.categories), is_text)
        return arrow.DictionaryArray.from_arrays(arrow.array(series.cat.codes, mask=series.cat.codes < 0), names)
    array = arrow.array(series, from_pandas=True)
    if isinstance(array.type, arrow.BaseExtensionType):
        raise BadData(
            f'data: the column "{name}" has the dtype {series.dtype}, which is no number and no text; convert it',
            "column",
        )
    return array


def _holds_objects(dtype: Any) -> bool:
    """Of pandas: whether cells are Python objects, of which Arrow would look at each to find a type for all."""
    plain = getattr(dtype, "subtype", dtype)  # of a sparse column
    if getattr(plain, "kind", "") == "O" and type(plain).__module__.split(".")[0] == "numpy":
        return True
    return getattr(dtype, "storage", "") == "python"


def _from_arrays(arrays: Mapping[str, Any], columns: list[str], texts: Set[str]) -> Any:
    arrow = _pyarrow()
    named = {}
    for name, values in arrays.items():
        if name not in columns:
            continue
        if hasattr(type(values), "__next__"):
            raise InvalidArgument(
                f"data: a column is a {type(values).__name__}, which gives its cells once; give an array or a list", "data"
            )
        named[name] = _column(arrow, name, values, name in texts)
    if not named:
        lengths = [len(values) for values in arrays.values()]
        return arrow.table({"": arrow.nulls(lengths[0] if lengths else 0)})
    return arrow.table(named)


def _column(arrow: Any, name: str, values: Any, is_text: bool) -> Any:
    """One of a dict. What has a type of its own keeps it; all else is objects."""
    if any(is_from(values, "pandas", kind) for kind in ("Series", "Index", "ExtensionArray")):
        import pandas

        return _pandas_column(arrow, name, pandas.Series(values), is_text)
    if is_from(values, "pyarrow", "Array") or is_from(values, "pyarrow", "ChunkedArray"):
        return values
    if hasattr(values, "__arrow_c_array__"):
        return arrow.array(values)
    if hasattr(values, "__arrow_c_stream__"):
        return arrow.chunked_array(values)
    if getattr(getattr(values, "dtype", None), "kind", "O") in "OU":
        return _objects(arrow, values, is_text)
    return arrow.array(values)


def _objects(arrow: Any, cells: Any, is_text: bool) -> Any:
    """A column of Python objects, as a file of texts has it: each cell by itself, whatever the others are."""
    return arrow.array((cell_text(cell, is_text) for cell in cells), arrow.large_string(), size=len(cells))


def cell_text(cell: object, is_text: bool) -> str | None:
    """Texts are themselves; numbers their digits, which are read as the column is declared; all else is missing.

    Truth is 1 and 0 among numbers, and "true" and "false" among texts. Whatever a cell does when it is looked at, it is
    missing at worst, as one cell may not fail a table.
    """
    try:
        text = _text(cell, is_text)
        return None if text is None or not text.isascii() and not _is_utf8(text) else text
    except Exception:
        return None


def _is_utf8(text: str) -> bool:
    """Not so with half a character, "a\\ud800"."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(cell: Any, is_text: bool) -> str | None:
    if isinstance(cell, str):
        return str.__str__(cell)
    if is_flag(cell):
        return ("true" if cell else "false") if is_text else str(int(cell))
    if isinstance(cell, int):
        return int.__repr__(cell) if -(2**63) <= cell < 2**64 else None
    if isinstance(cell, float):
        return float.__repr__(cell) if cell == cell else None
    if is_decimal(cell):
        return str(cell)
    if hasattr(cell, "dtype") and cell.shape == () and not is_from(cell, "numpy", "MaskedArray"):  # a scalar of NumPy
        plain = cell.item() if getattr(cell.dtype, "kind", "f") in "biuf" else None  # a date too has an integer in it
        return _text(plain, is_text) if isinstance(plain, (int, float)) else None
    return None
