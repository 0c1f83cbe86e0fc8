"""Cells for a chain: lists, arrays, buffers and what speaks Arrow. Types decide how cells are read, never what they are."""

from __future__ import annotations

import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _core, _frames
from ._errors import InvalidArgument
from ._numbers import is_from

if TYPE_CHECKING:
    from ._chain import Measurement, Rows

_accepted = "give a list of its cells, an array or a buffer of them, or what speaks Arrow"


def read(measurement: Measurement, data: object) -> tuple[_core.Cells | None, _core.Source | None]:
    """The rows of a release: cells in memory, or a table."""
    start = measurement.start
    if start._is_table:
        return None, _table(measurement, data)
    if start._options["anything"] and start.names is None and _speaks_arrow(data):
        return None, _arrow(start._rows.types[0], data)
    return cells(start, data), None


def cells(start: Rows, data: object) -> _core.Cells:
    """Cells in memory."""
    held = _core.Cells()
    types = start._rows.types
    if start.names is None:
        if len(types) != 1:
            raise InvalidArgument("data: the chain starts at several columns without names; start at rows({...})", "data")
        _add(held, types[0], data)
        return held
    if not isinstance(data, Mapping) or any(name not in data for name in start.names):
        raise InvalidArgument(
            f"data: the chain starts at the columns {', '.join(map(repr, start.names))}; give a dict of their cells by name",
            "data",
        )
    for name, type in zip(start.names, types):
        _add(held, type, data[name])
    return held


def _table(measurement: Measurement, data: object) -> _core.Source:
    columns: dict[str, str] = {}
    for names, types in zip(measurement._part.columns, measurement._part.types):
        columns |= dict(zip(names, types))
    columns |= {name: type for name, type in measurement._part.selecting if name not in columns or type}
    return _frames.opener(data)("", "", "", list(columns), [name for name, type in columns.items() if type == "text"])


def _speaks_arrow(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def _arrow(type: str, data: Any) -> _core.Source:
    texts = frozenset(["cells"] if type == "text" else [])
    given = {"cells": data} if is_from(data, "pandas", "Series") or not hasattr(data, "__arrow_c_stream__") else data
    return _frames.arrow_source(given, ["cells"], texts)[0]


def type_name(data: object) -> str:
    return type(data).__name__


def _add(held: _core.Cells, type: str, data: Any) -> None:
    if is_from(data, "numpy", "MaskedArray"):
        raise InvalidArgument("data: is a masked array, whose mask would be lost; give data.filled(...)", "data")
    if hasattr(data, "__array__") and not isinstance(data, (array.array, memoryview)):
        return _add_array(held, type, data)
    if isinstance(data, (array.array, memoryview)):
        return _add_buffer(held, type, memoryview(data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return held.add_list(type, list(data))
    if hasattr(data.__class__, "__next__"):
        raise InvalidArgument(f"data: is a {type_name(data)}, which gives its cells once; {_accepted}", "data")
    raise InvalidArgument(f"data: is a {type_name(data)}, and the chain starts at one column; {_accepted}", "data")


def _add_array(held: _core.Cells, type: str, data: Any) -> None:
    import numpy

    given = numpy.asarray(data)
    if given.ndim != 1:
        raise InvalidArgument(f"data: is an array of {given.ndim} dimensions; give one", "data")
    kind = given.dtype.kind
    if kind == "O" or kind == "U":
        return held.add_list(type, given.tolist())
    if type == "real" and kind in "iuf" and given.dtype.itemsize <= 8:
        return held.add_reals(numpy.ascontiguousarray(given, dtype=numpy.float64))
    if type == "integer" and (kind == "i" or kind == "u" and given.dtype.itemsize < 8):
        return held.add_integers(numpy.ascontiguousarray(given, dtype=numpy.int64))
    wanted = {"real": "numbers of 64 bits at most", "integer": "integers of 64 bits with a sign", "text": "texts"}[type]
    raise InvalidArgument(f"data: is an array of {given.dtype} where cells are {type}; give {wanted}", "data")


def _add_buffer(held: _core.Cells, type: str, data: memoryview) -> None:
    if data.ndim == 1 and data.format in ("d", "q", "l") and data.itemsize == 8:
        plain = data if data.c_contiguous else memoryview(array.array(data.format, data))
        if type == "real" and data.format == "d":
            return held.add_reals(plain)
        if type == "real":
            return held.add_reals(array.array("d", plain))
        if type == "integer" and data.format != "d":
            return held.add_integers(plain)
    raise InvalidArgument(
        f'data: is a buffer of format "{data.format}" with {data.ndim} dimensions where cells are {type}; give doubles, "d", or '
        'integers of 64 bits, "q", in one',
        "data",
    )
