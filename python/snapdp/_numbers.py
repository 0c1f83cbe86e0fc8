"""Numbers as texts, which the library reads exactly, and exact numbers from its texts."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

from ._errors import InvalidArgument

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

Number = Union[str, int, float, "Decimal", "Fraction", SupportsIndex]
"""A number. A text is what it says ("1/4", "0.1", "1e-3"), a float its shortest decimal: 0.1 is one tenth."""


def _is(value: object, module: str, name: str) -> bool:
    """Whether it is of this class of the standard library, without importing it."""
    return any(base.__module__ == module and base.__name__ == name for base in type(value).__mro__)


def is_from(value: object, package: str, name: str) -> bool:
    """Whether it is of this class of a package, without importing it."""
    return any(base.__name__ == name and base.__module__.split(".")[0] == package for base in type(value).__mro__)


def is_fraction(value: object) -> bool:
    return _is(value, "fractions", "Fraction")


def is_decimal(value: object) -> bool:
    return _is(value, "decimal", "Decimal")


def is_flag(value: object) -> bool:
    """Whether it is True or False, NumPy's too."""
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool") and hasattr(value, "dtype")


def text(value: object, parameter: str) -> str:
    """The decimal that people mean: for epsilons, budgets, accuracies and rates."""
    if isinstance(value, str):
        return whole_text(value, parameter)
    if is_flag(value):
        raise _no_number(value, parameter)
    if isinstance(value, float):  # NumPy's float64 too
        return float.__repr__(value)
    try:
        if is_fraction(value) or is_decimal(value):
            return str(value)
        return format(operator.index(value), "d")  # type: ignore[arg-type]
    except TypeError:
        pass
    except ValueError:  # beyond the digits that Python writes
        raise InvalidArgument(
            f"{parameter}: has thousands of digits; give a number of 100 digits at most", parameter
        ) from None
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        raise InvalidArgument(
            f"{parameter} = {value!s}: is a {value.dtype}, whose digits end before those of the number that was "
            f'meant; write it as a text, {parameter}="{value!s}"',
            parameter,
        )
    raise _no_number(value, parameter)


def exact(value: object, parameter: str) -> str:
    """The number that it is: for sensitivities, bounds and values, where a float is a binary fraction."""
    if isinstance(value, float) and value - value == 0:
        return float.hex(value)
    if hasattr(value, "dtype") and getattr(value, "shape", None) == () and hasattr(value, "__float__"):
        if _is_whole(value):
            return text(value, parameter)
        plain = float(value)
        if plain != value and plain == plain:
            raise InvalidArgument(
                f"{parameter} = {value!s}: is a {value.dtype} that no double is; write it as a text, or give a double",
                parameter,
            )
        return exact(plain, parameter)
    return text(value, parameter)


def _is_whole(value: Any) -> bool:
    """Whether its type is one of whole numbers: arrays of floats have `__index__` too, and refuse to answer."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def whole_text(value: str, parameter: str) -> str:
    """A text that UTF-8 can hold: Python's may have halves of characters, as in "a\\ud800"."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(
            f"{parameter}: holds half a character, a surrogate, which UTF-8 cannot say; remove it", parameter
        ) from None
    return str.__str__(value)


def optional_text(value: object, parameter: str) -> str | None:
    return None if value is None else text(value, parameter)


def optional_exact(value: object, parameter: str) -> str | None:
    return None if value is None else exact(value, parameter)


def _no_number(value: object, parameter: str) -> InvalidArgument:
    return InvalidArgument(
        f"{parameter}: is a {type(value).__name__}; give a number: an int, a float, a Decimal, a Fraction, or a text "
        f'such as "1/4"',
        parameter,
    )


def exact_fraction(value: object, parameter: str) -> Fraction:
    """The number that people mean, as a Fraction."""
    from fractions import Fraction

    number = text(value, parameter)
    try:
        return Fraction(number)
    except (ValueError, ZeroDivisionError):
        raise InvalidArgument(f'{parameter} = {number[:60]!r}: must be a number, such as 0.1 or "1/4"', parameter) from None


def fraction(number: str) -> Fraction:
    """The number of a text of the library."""
    from fractions import Fraction

    return Fraction(number)


def round_up(number: float) -> str:
    """A positive number to two digits, upward: what is promised is no less."""
    from . import _core

    return "no bound" if number == float("inf") else _core.round_up_to_digits(float.hex(number), 2)


def budget_entries(epsilon: Number | None, rho: Number | None, delta: Number | None) -> dict[str, str]:
    """A budget as [budget] has it: epsilon, epsilon and delta, or rho and delta."""
    given = {"epsilon": epsilon, "rho": rho, "delta": delta}
    if epsilon is not None and rho is not None:
        raise InvalidArgument("rho: cannot stand beside epsilon: a budget counts in one of them; leave one out", "rho")
    if epsilon is None and rho is None:
        raise InvalidArgument("epsilon is missing: give the budget as an epsilon, or as a rho with a delta", "epsilon")
    if rho is not None and delta is None:
        raise InvalidArgument("delta: a budget of rho is read as an epsilon at a delta; give one, such as 1e-6", "delta")
    return {key: text(value, key) for key, value in given.items() if value is not None}


def budget_texts(epsilon: Number | None, rho: Number | None, delta: Number | None) -> tuple[str, str, str]:
    """The same as its measure, its amount and its delta."""
    entries = budget_entries(epsilon, rho, delta)
    measure = "zcdp" if "rho" in entries else "approximate" if "delta" in entries else "pure"
    return measure, entries.get("rho", entries.get("epsilon", "")), entries.get("delta", "0")
