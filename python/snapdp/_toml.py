"""TOML for the library to read: it alone says what is right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from . import _numbers
from ._arguments import listed, text_of

_bare = re.compile(r"[A-Za-z0-9_-]+\Z")
# Words, which no number becomes: NaN and what TOML has no number for would else be written as a text.
_texts = frozenset((
    "delimiter", "description", "format", "group_by", "mode", "name", "neighbors", "noise", "other", "privacy_unit", "title",
    "type", "unit", "where",
))  # fmt: skip
_escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def string(item: object, parameter: str) -> str:
    text = text_of(item, parameter)
    return '"' + "".join(_escapes.get(c, c if ord(c) >= 32 and ord(c) != 127 else f"\\u{ord(c):04x}") for c in text) + '"'


def key(name: str, parameter: str) -> str:
    return name if _bare.match(name) else string(name, parameter)


def value(item: object, parameter: str) -> str:
    """As TOML writes it. Numbers keep every digit; what TOML has no number for is a text that the library reads."""
    if isinstance(item, str):
        return string(item, parameter)
    if _numbers.is_flag(item):
        return "true" if item else "false"
    if isinstance(item, Mapping):
        return "{ " + ", ".join(f"{key(str(k), parameter)} = {value(v, parameter)}" for k, v in item.items()) + " }"
    if item is None:
        return '"none"'  # an open end of a range
    if isinstance(item, float) or not isinstance(item, Iterable):
        return _number(item, parameter)
    if getattr(item, "shape", None) == ():  # a scalar of NumPy
        return _number(item, parameter)
    return "[" + ", ".join(value(member, parameter) for member in listed(item, parameter)) + "]"


def _number(item: object, parameter: str) -> str:
    if isinstance(item, float):
        text = float.__repr__(item)
        return text if item - item == 0 else string(text, parameter)
    if _numbers.is_decimal(item):
        return _decimal(item, parameter)
    text = _numbers.text(item, parameter)
    return text if -(2**63) <= _whole(text) < 2**63 else string(text, parameter)


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        return 2**63


def _decimal(item: object, parameter: str) -> str:
    """Plain digits where that is short, so that it is a number among numbers."""
    from decimal import Decimal

    assert isinstance(item, Decimal)
    if item.is_finite() and -30 < item.adjusted() < 30 and len(item.as_tuple().digits) < 40:
        plain = format(item, "f")
        return plain if "." in plain or -(2**63) <= int(plain) < 2**63 else string(plain, parameter)
    return string(str(item), parameter)


def table(header: str, entries: Mapping[str, object]) -> str:
    """A table, without the keys whose value is None."""
    lines = [
        f"{key(name, name)} = {string(item, name) if name in _texts else value(item, name)}"
        for name, item in entries.items()
        if item is not None
    ]
    return "\n".join([header, *lines]) + "\n"
