"""The engine of files, which the command-line tool has too. DuckDB is its parser of Parquet, and is not bundled: it is the
library that this build was made with, or else what DuckDB's own Python package exports."""

from __future__ import annotations

import os
from typing import Any

from ._errors import IoError

# Versions of DuckDB's package whose C API the engine was tested with.
tested = ("1.4", "1.5", "2.0")

_without = (
    "data: files are read by DuckDB, and {what}; pip install \"snapdp[duckdb]\", or read the file into a table (pyarrow, "
    "Polars, pandas), with columns of CSV as texts"
)


def files() -> Any:
    """The extension module, ready to open files."""
    try:
        from . import _duckdb
    except ImportError:
        raise IoError(
            "data: this build of snapdp has no engine of files; read the file into a table (pyarrow, Polars, pandas), with "
            "columns of CSV as texts, or build snapdp in a checkout after ./dev build",
            "data",
        ) from None
    if not _duckdb.version():
        _duckdb.load(_library(_duckdb.built_with))
    return _duckdb


def _library(built_with: str) -> str:
    if built_with and os.path.exists(built_with):
        return built_with
    from importlib.metadata import PackageNotFoundError, version
    from importlib.util import find_spec

    try:
        found = version("duckdb")
    except PackageNotFoundError:
        raise IoError(_without.format(what="there is none"), "data") from None
    if not found.startswith(tuple(f"{minor}." for minor in tested)):
        raise IoError(
            _without.format(what=f"the package duckdb is {found}, where {' or '.join(tested)} was tested"), "data"
        )
    spec = find_spec("_duckdb")
    if spec is None or spec.origin is None:
        raise IoError(_without.format(what=f"the package duckdb {found} has no library where it was"), "data")
    return spec.origin
