"""Files and views: written whole and for their owner alone, shown apart from the page around them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from html import escape

from . import _core
from ._arguments import another_kind
from ._errors import InvalidArgument, IoError
from ._numbers import is_fraction, whole_text

# What SQLite may write beside a ledger.
_companions = ("-journal", "-wal", "-shm")


def place(path: object, parameter: str) -> str:
    """A path as the library takes it."""
    try:
        plain = os.fsdecode(path)  # type: ignore[arg-type]
    except TypeError:
        raise another_kind(path, parameter, "a path") from None
    if "\0" in plain:
        raise InvalidArgument(f"{parameter}: holds a zero byte, which no path has; remove it", parameter)
    return whole_text(plain, parameter)


def write(path: str | os.PathLike[str], text: str) -> None:
    """At once, so that a reader sees the old file or the new one, and with mode 0600. Replaces no ledger."""
    import tempfile

    target = os.path.abspath(place(path, "path"))
    _spare_ledgers(target)
    try:
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(target), prefix=".snapdp-")
        try:
            with open(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.replace(draft, target)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise IoError(f'path = "{target}": cannot be written: {error.strerror}; choose another place', "path") from None


def _spare_ledgers(target: str) -> None:
    """A ledger is the record of what was spent, and a planted journal would be played back into it."""
    if _core.ledger_lies_at(target):
        raise InvalidArgument(f'path = "{target}": is a ledger, which no output replaces; choose another name', "path")
    real = os.path.realpath(target)
    for ending in _companions:
        if real.endswith(ending) and _core.ledger_lies_at(real[: -len(ending)]):
            raise InvalidArgument(
                f'path = "{target}": is the name of a ledger\'s journal, which no output replaces; choose another name',
                "path",
            )


def framed(page: str, height: int) -> str:
    """A whole page for a notebook: in a frame of its own, where neither styles nor names meet those of others.

    Scripts may not run in it, and the page has none. Its origin is that of the notebook, or browsers draw it in a process apart.
    """
    return (
        f'<iframe sandbox="allow-same-origin" srcdoc="{escape(page)}" style="width:100%;height:{height}px;border:0" '
        'title="SnapDP"></iframe>'
    )


def table_html(title: str, rows: Iterable[tuple[str, str]]) -> str:
    """A small table of facts, in the colors of the page around it."""
    cells = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"


def text_html(text: str) -> str:
    """A text of several lines as it is."""
    return f"<pre style='font-family:monospace;line-height:1.3'>{escape(text)}</pre>"


class Shown:
    """A record, a dataclass, that a notebook shows as a table of its facts."""

    def _title(self) -> str:
        return type(self).__name__

    def _facts(self) -> list[tuple[str, object]]:
        return [(name, value) for name, value in vars(self).items() if not name.startswith("_")]

    def _repr_html_(self) -> str:
        shown = ((name, _fact(value)) for name, value in self._facts())
        return table_html(self._title(), [(name, words) for name, words in shown if words])


_most = 8  # members of a list that a table shows
_long = 20  # characters of a fraction that nobody reads as a number


def _fact(value: object) -> str:
    if isinstance(value, tuple):
        shown = ", ".join(map(_fact, value[:_most]))
        return f"{shown}, ... {len(value)} in all" if len(value) > _most else shown
    if isinstance(value, Shown):
        held = ((name, _fact(fact)) for name, fact in value._facts())
        return ", ".join(f"{name} {words}" for name, words in held if words)
    words = "" if value is None else str(value)
    if len(words) > _long and is_fraction(value):
        return f"{float(value):.6g}, exactly {words}"  # type: ignore[arg-type]
    return words
