"""What is given to the package's functions, looked at before it goes anywhere: what is wrong is refused by its name."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from ._errors import InvalidArgument
from ._numbers import is_flag, whole_text

_Kind = TypeVar("_Kind")
_most = 2**63 - 1
_long = 60  # characters of a value that a message shows


def another_kind(value: object, parameter: str, wanted: str) -> InvalidArgument:
    """For what is of a wrong type."""
    given = "None" if value is None else f"a {type(value).__name__}"
    return InvalidArgument(f"{parameter}: is {given}; give {wanted}", parameter)


def text_of(value: object, parameter: str, wanted: str = "a text") -> str:
    """A name or words: a text, and nothing else."""
    if isinstance(value, str):
        return whole_text(value, parameter)
    raise another_kind(value, parameter, wanted)


def choice(value: object, parameter: str, choices: Sequence[str], why: str = "") -> str:
    """One of a few words."""
    *first, last = map('"{}"'.format, choices)
    wanted = f"{', '.join(first)} or {last}"
    if not isinstance(value, str):
        raise another_kind(value, parameter, wanted)
    if value in choices:
        return value
    shown = value if len(value) <= _long else f"{value[:_long]}..."
    raise InvalidArgument(f"{parameter} = {shown!r}: must be {wanted}{why and f'; {why}'}", parameter)


def flag(value: object, parameter: str) -> bool:
    """True or False, and no other value that Python takes for one of them: "no" would be true."""
    if is_flag(value):
        return bool(value)
    raise another_kind(value, parameter, "True or False")


def whole(value: object, parameter: str, least: int = 0, most: int = _most) -> int:
    """A whole number in a range."""
    number: int | None = None
    if not is_flag(value):
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            pass
    if number is None:
        raise another_kind(value, parameter, "a whole number")
    if least <= number <= most:
        return number
    shown = str(number) if abs(number) <= 10**20 else "a number of more than 64 bits"
    rule = f"at least {least}, and of 64 bits" if most == _most else f"between {least} and {most}"
    raise InvalidArgument(f"{parameter} = {shown}: must be {rule}; give a whole number in that range", parameter)


def optional_whole(value: object, parameter: str, least: int = 0, most: int = _most) -> int | None:
    return None if value is None else whole(value, parameter, least, most)


def real(value: object, parameter: str) -> float:
    """A double, which may be NaN or infinite."""
    if not is_flag(value) and not isinstance(value, (str, bytes, bytearray)):
        try:
            return float(value)  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            pass
    raise another_kind(value, parameter, "a number that a double holds")


def listed(values: object, parameter: str, wanted: str = "a list") -> list[Any]:
    """The members of a list, or of whatever has members in an order. A set gets one that is the same every time."""
    if isinstance(values, Iterable) and not isinstance(values, (str, bytes, bytearray, Mapping)):
        if isinstance(values, (set, frozenset)):
            return _sorted(values, parameter)
        if getattr(values, "shape", None) != ():
            return list(values)
    raise another_kind(values, parameter, wanted)


def _sorted(members: Iterable[Any], parameter: str) -> list[Any]:
    try:
        return sorted(members, key=lambda member: (isinstance(member, str), member))
    except TypeError:
        raise InvalidArgument(
            f"{parameter}: is a set of what has no order; give a list of numbers or texts", parameter
        ) from None


def pair(values: object, parameter: str, wanted: str) -> tuple[Any, Any]:
    """Two members."""
    if isinstance(values, (set, frozenset)):  # whose order is nobody's
        raise another_kind(values, parameter, wanted)
    members = listed(values, parameter, wanted)
    if len(members) != 2:
        raise InvalidArgument(f"{parameter}: has {len(members)} members; give {wanted}", parameter)
    return members[0], members[1]


def entries(value: Mapping[Any, Any], parameter: str, key: str) -> Mapping[str, Any]:
    """A dict with one key."""
    if list(value) == [key]:
        return value
    raise InvalidArgument(f'{parameter}: is a dict of other keys; the one that may be there is "{key}"', parameter)


def function(value: object, parameter: str) -> Callable[..., Any]:
    if callable(value):
        return value
    raise another_kind(value, parameter, "a function")


def optional_function(value: object, parameter: str) -> Callable[..., Any] | None:
    return None if value is None else function(value, parameter)


def of_class(value: object, kind: type[_Kind], parameter: str, wanted: str) -> _Kind:
    if isinstance(value, kind):
        return value
    raise another_kind(value, parameter, wanted)
