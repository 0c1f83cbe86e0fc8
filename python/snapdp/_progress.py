"""How far a reading is: a bar where tqdm is installed, else a line, or a function of the caller's. Percentages, never rows."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Union

from ._errors import InvalidArgument

Progress = Union[bool, Callable[[float], object]]


@contextmanager
def shown(progress: Progress | None) -> Iterator[Callable[[float], object] | None]:
    """What the library calls with a percentage while rows are read; whatever it drew is finished at the end."""
    if progress is None or progress is False:
        yield None
    elif progress is True:
        bar = _Bar()
        try:
            yield bar
        finally:
            bar.close()
    elif callable(progress):
        yield progress
    else:
        raise InvalidArgument(
            f"progress: is a {type(progress).__name__}; give True for a bar, or a function that takes a percentage", "progress"
        )


class _Bar:
    """Begins with the first percentage, so that what reads no row draws nothing."""

    def __init__(self) -> None:
        self._shown: Any = None

    def __call__(self, percent: float) -> None:
        if self._shown is None:
            self._shown = _tqdm() or _Line()
        self._shown.n = percent
        self._shown.refresh()

    def close(self) -> None:
        # A screen that fails now must not cost the report, which is paid for.
        with suppress(Exception):
            if self._shown is not None:
                self._shown.close()


def _tqdm() -> Any:
    """A bar of tqdm, for a notebook or a terminal, or None without it."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=100, desc="reading rows", bar_format="{desc}: {percentage:3.0f} %|{bar}| {elapsed}")


class _Line:
    """The plain line on standard error that stands for a bar."""

    def __init__(self) -> None:
        self.n = 0.0
        self._last = ""

    def refresh(self) -> None:
        line = f"reading rows: {self.n:3.0f} %"
        if line != self._last:
            print(f"\r{line}", end="", file=sys.stderr, flush=True)
            self._last = line

    def close(self) -> None:
        print(file=sys.stderr, flush=True)
