"""Differentially private statistics that stay private on real computers.

    import snapdp as dp

    people = dp.dataset("people-2026", neighbors="add-remove", unit="user_id", max_rows_per_unit=3,
                        expected_size=10_000,
                        columns={"age": dp.integer(0, 100), "income": dp.real(0, 500_000), "city": dp.text(keys=cities)})
    plan = people.plan(dp.count(), dp.mean("age", accuracy=0.25), dp.mean("income").by("city"), epsilon="1")
    print(plan)                                            # what it costs and how near it will be; no row is read
    ledger = dp.Ledger.create("people.ledger", people, epsilon=2)
    report = plan.release(frame, ledger, label="2026-Q4")  # pandas, Polars, pyarrow, DuckDB ..., or a file
    report["mean age"].value, report["mean age"].interval

Epsilons, budgets, accuracies and rates are exact: a text, an int, a Decimal, a Fraction, or a float, which means its shortest
decimal (0.1 is one tenth). What is refused is an `Error` that names the parameter, the value, the rule and the next step; it
is raised before anything is debited.
"""

from typing import TYPE_CHECKING

from ._core import version as __version__
from ._dataset import Column, Dataset, dataset, integer, read_dataset, real
from ._dataset import text_column as text
from ._errors import BadData, BudgetRefused, Error, InvalidArgument, IoError, Mismatch, NotInstalled
from ._ledger import Ledger
from ._mechanism import Geometric, Snapping, trace
from ._plan import Plan, plan
from ._statistics import (
    PrivateKeys,
    Statistic,
    correlation,
    count,
    covariance,
    distinct,
    histogram,
    mean,
    median,
    moment,
    private_keys,
    quantiles,
    range_count,
    regression,
    standard_deviation,
    sum,
    top,
    variance,
)

if TYPE_CHECKING:
    from . import testing
    from ._chain import Aggregation, ChainStep, Measurement, Rows, Step, Transformation, rows, sequential
    from ._elsewhere import Elsewhere, aggregates, fold, sql, states
    from ._entries import LedgerEntry
    from ._payments import Accountant, Budget, Debit, Release
    from ._planned import Check, Part, PlannedAccuracy, PlannedStatistic, Warning
    from ._report import Estimate, Released, Report
    from ._steps import (
        aggregation,
        bins,
        cast,
        centered_sum,
        clamp,
        drop,
        grouped,
        hierarchy,
        impute,
        parse,
        project,
        snapping,
        transformation,
    )
    from ._utility import (
        Accuracy,
        Audit,
        Bias,
        Bound,
        Certificate,
        Composition,
        Law,
        accuracy,
        audit,
        bias,
        bound,
        certify,
        compose,
        law,
    )

__all__ = [
    "Accountant", "Accuracy", "Aggregation", "Audit", "BadData", "Bias", "Bound", "Budget", "BudgetRefused", "Certificate",
    "ChainStep", "Check", "Column", "Composition", "Dataset", "Debit", "Elsewhere", "Error", "Estimate", "Geometric",
    "InvalidArgument", "IoError", "Law", "Ledger", "LedgerEntry", "Measurement", "Mismatch", "NotInstalled", "Part", "Plan",
    "PlannedAccuracy", "PlannedStatistic", "PrivateKeys", "Release", "Released", "Report", "Rows", "Snapping", "Statistic",
    "Step", "Transformation", "Warning", "accuracy", "aggregates", "aggregation", "audit", "bias", "bins", "bound", "cast",
    "centered_sum", "certify", "clamp", "compose", "correlation", "count", "covariance", "dataset", "distinct", "drop", "fold",
    "grouped", "hierarchy", "histogram", "impute", "integer", "law", "mean", "median", "moment", "parse", "plan",
    "private_keys", "project", "quantiles", "range_count", "read_dataset", "real", "regression", "rows", "sequential", "snapping",
    "sql", "standard_deviation", "states", "sum", "testing", "text", "top", "trace", "transformation", "variance",
]  # fmt: skip

# Loaded when they are used: records take the standard library some time to make.
_later = {
    "_chain": ("Aggregation", "ChainStep", "Measurement", "Rows", "Step", "Transformation", "rows", "sequential"),
    "_elsewhere": ("Elsewhere", "aggregates", "fold", "sql", "states"),
    "_entries": ("LedgerEntry",),
    "_payments": ("Accountant", "Budget", "Debit", "Release"),
    "_planned": ("Check", "Part", "PlannedAccuracy", "PlannedStatistic", "Warning"),
    "_report": ("Estimate", "Released", "Report"),
    "_steps": (
        "aggregation", "bins", "cast", "centered_sum", "clamp", "drop", "grouped", "hierarchy", "impute", "parse", "project",
        "snapping", "transformation",
    ),  # fmt: skip
    "_utility": (
        "Accuracy", "Audit", "Bias", "Bound", "Certificate", "Composition", "Law", "accuracy", "audit", "bias", "bound",
        "certify", "compose", "law",
    ),  # fmt: skip
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "testing":
        return import_module(f"{__name__}.testing")
    for module, names in _later.items():
        if name in names:
            loaded = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = loaded
            return loaded
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
