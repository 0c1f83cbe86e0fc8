"""Files and views: written whole and for their owner alone, shown apart from the page around them."""

from __future__ import annotations

import os
from html import escape

from ._errors import IoError


def write(path: str | os.PathLike[str], text: str) -> None:
    """At once, so that a reader sees the old file or the new one, and with mode 0600."""
    import tempfile

    place = os.path.abspath(os.fsdecode(path))
    try:
        handle, draft = tempfile.mkstemp(dir=os.path.dirname(place), prefix=".snapdp-")
        try:
            with open(handle, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            os.replace(draft, place)
        except BaseException:
            os.unlink(draft)
            raise
    except OSError as error:
        raise IoError(f'path = "{place}": cannot be written: {error.strerror}; choose another place', "path") from None


def framed(page: str, height: int) -> str:
    """A whole page for a notebook: in a frame of its own, where neither styles nor names meet those of others.

    Scripts may not run in it, and the page has none. Its origin is that of the notebook, or browsers draw it in a process apart.
    """
    return (
        f'<iframe sandbox="allow-same-origin" srcdoc="{escape(page)}" style="width:100%;height:{height}px;border:0" '
        'title="SnapDP"></iframe>'
    )


def table_html(title: str, rows: list[tuple[str, str]]) -> str:
    """A small table of facts."""
    cells = "".join(f"<tr><th style='text-align:left'>{escape(k)}</th><td>{escape(v)}</td></tr>" for k, v in rows)
    return f"<table><caption>{escape(title)}</caption><tbody>{cells}</tbody></table>"
