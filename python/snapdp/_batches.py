"""Batches for a mechanism: arrays and sequences, each value for itself."""

from __future__ import annotations

import array
import math
from collections.abc import Sequence
from typing import Any

from . import _core
from ._errors import InvalidArgument
from ._numbers import is_decimal, is_flag, is_fraction, is_from


def release(mechanism: _core.Snapping | _core.Geometric, value: Any) -> object:
    """What `Snapping.release` does with what is no int and no float. No message holds a value, which may be private."""
    kind = type(value)
    if kind.__name__ == "ndarray" and kind.__module__ == "numpy" and value.shape:  # at once, and no kind of array of its own
        return _array(mechanism, value)
    if is_from(value, "numpy", "MaskedArray"):
        raise InvalidArgument("value: is a masked array, whose mask would be lost; give value.filled(...)", "value")
    if getattr(value, "dtype", None) is not None and hasattr(value, "shape") and not is_flag(value):
        return _scalar(mechanism, value) if value.shape == () else _array(mechanism, value)
    if isinstance(value, (array.array, memoryview)):
        return _buffer(mechanism, memoryview(value))
    if is_fraction(value) or is_decimal(value):
        return mechanism.release(_double(value))
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        if mechanism.integer or not all(isinstance(item, float) for item in value):
            return [mechanism.release(item) for item in _numbers(value)]
        return list(_buffer(mechanism, memoryview(array.array("d", value))))
    if hasattr(type(value), "__next__"):
        raise InvalidArgument(
            f"value: is a {type(value).__name__}, which gives its values once; give a list or an array", "value"
        )
    raise InvalidArgument(f"value: is a {type(value).__name__}; give a number, a list of numbers or an array", "value")


def _double(value: Any) -> float:
    try:
        plain = float(value)
    except (OverflowError, ValueError):
        plain = math.nan
    if plain == value:
        return plain
    raise InvalidArgument(
        f"value: is a {type(value).__name__} that no double is; a value is the double that was computed, so give "
        "float(value)",
        "value",
    )


def _numbers(values: Sequence[Any]) -> Sequence[Any]:
    """What is no number is told before any is released."""
    for item in values:
        if not _is_number(item):
            raise InvalidArgument(f"value: holds a {type(item).__name__}; give numbers", "value")
    return values


def _is_number(item: Any) -> bool:
    if is_flag(item) or isinstance(item, (int, float)):
        return not is_flag(item)
    if getattr(item, "shape", None) != () or is_from(item, "numpy", "MaskedArray"):
        return False
    return getattr(item.dtype, "kind", "") in "iuf" and item.dtype.itemsize <= 8


def _scalar(mechanism: _core.Snapping | _core.Geometric, value: Any) -> object:
    """A scalar of NumPy."""
    plain = value.item()
    if isinstance(plain, (int, float)) and not isinstance(plain, bool):
        return mechanism.release(plain)
    raise InvalidArgument(f"value: is a {value.dtype}; give a number", "value")


def _array(mechanism: _core.Snapping | _core.Geometric, values: Any) -> Any:
    """An array of NumPy, or what has one: a new array of the same shape."""
    import numpy

    given = numpy.asarray(values)
    if given.dtype.kind not in "iuf" or given.dtype.itemsize > 8:
        raise InvalidArgument(f"value: is an array of {given.dtype}; give numbers, of 64 bits at most", "value")
    if given.dtype.kind in "iu" and given.dtype.itemsize == 8:
        # One by one, whatever they are: a double cannot tell those beyond 2^53 apart.
        released: list[Any] = [mechanism.release(item) for item in given.reshape(-1).tolist()]
        whole = mechanism.integer and all(-(2**63) <= output < 2**63 for output in released)
        return numpy.array(released, dtype=numpy.int64 if whole else numpy.float64).reshape(given.shape)
    reals = numpy.ascontiguousarray(given, dtype=numpy.float64)
    out = numpy.empty(reals.shape)
    mechanism._release_batch(reals.reshape(-1), out.reshape(-1))
    return out.astype(numpy.int64) if mechanism.integer and _fits(numpy, out) else out


def _fits(numpy: Any, out: Any) -> bool:
    return bool(numpy.all(numpy.abs(out) < 2.0**63))


def _buffer(mechanism: _core.Snapping | _core.Geometric, values: memoryview) -> array.array[float]:
    if values.format != "d" or values.ndim != 1:
        raise InvalidArgument(
            f'value: is a buffer of format "{values.format}" with {values.ndim} dimensions; give doubles in one, '
            'array.array("d", ...)',
            "value",
        )
    reals = values if values.c_contiguous else memoryview(array.array("d", values))
    out = array.array("d", bytes(8 * len(reals)))
    mechanism._release_batch(reals, out)
    return out
