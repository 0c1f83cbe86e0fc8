"""What SnapDP refuses, and why: one exception a code of the library."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Error(Exception):
    """What SnapDP refuses. The message names the parameter, the value, the rule and the next step.

    It never holds a cell or a number of rows. Nothing has been debited, unless the message says that it has.

    Attributes:
        code: "invalid_argument", "mismatch", "budget_refused", "bad_data", "io" or "not_installed".
        parameter: the name of the offending parameter, as its caller wrote it: "epsilon".
    """

    code: str = ""
    _of_library = False  # whether the library refused, and not this package or a function of somebody's

    def __init__(self, message: str, parameter: str = "") -> None:
        super().__init__(message)
        self.parameter = parameter

    def __reduce__(self) -> tuple[type[Error], tuple[str, str]]:
        return type(self), (str(self), self.parameter)


class InvalidArgument(Error, ValueError):
    """A parameter breaks a documented rule: bounds, epsilon, an option of a statistic ..."""

    code = "invalid_argument"


class Mismatch(Error):
    """Two parts do not fit."""

    code = "mismatch"


class BudgetRefused(Error):
    """The ledger, or the budget of the run, does not allow the release."""

    code = "budget_refused"


class BadData(Error):
    """The data do not fit what was declared: a missing column, another type or size."""

    code = "bad_data"


class IoError(Error):
    """A file, the engine or the system's random generator failed."""

    code = "io"


class NotInstalled(Error, ImportError):
    """A package that this needs and SnapDP does not bring along is not there."""

    code = "not_installed"


_by_code: dict[str, type[Error]] = {
    kind.code: kind for kind in (InvalidArgument, Mismatch, BudgetRefused, BadData, IoError)
}


def from_code(code: str, parameter: str, message: str) -> Error:
    """The exception for an error of the library."""
    error = _by_code[code](message, parameter)
    error._of_library = True
    return error


def reworded(error: Error, message: str, parameter: str) -> Error:
    """The same refusal of the library in other words."""
    other = type(error)(message, parameter)
    other._of_library = True
    return other


@contextmanager
def named(**names: str) -> Iterator[None]:
    """Refusals of the library by the names of this package: named(q="quantiles"). One's own come out as they are."""
    try:
        yield
    except Error as error:
        here = names.get(error.parameter)
        if here is None or not error._of_library:
            raise
        message = str(error)
        if message.startswith((f"{error.parameter} = ", f"{error.parameter}:")):
            message = here + message[len(error.parameter) :]
        raise reworded(error, message, here) from None


def without_lines(error: Error, name: str) -> Error:
    """Of what was written in Python there are no lines to look at: "plan:12: ..."."""
    import re

    return type(error)(re.sub(rf"(?m)^{name}:\d+: ", "", str(error)), error.parameter)
