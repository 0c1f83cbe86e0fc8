"""Plans: everything that a release will do and say apart from the noise. No row is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core, _files
from ._arguments import another_kind, flag, text_of, whole
from ._dataset import Dataset, declaration_of
from ._errors import Error, InvalidArgument, named, without_lines
from ._frames import opener
from ._numbers import fraction
from ._progress import Progress, shown

if TYPE_CHECKING:
    from fractions import Fraction

    from ._ledger import Ledger
    from ._planned import Check, PlannedStatistic, Warning
    from ._plot import Picture
    from ._report import Report


class Explanation(str):
    """A text that a console and a notebook show as it is, line by line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return _files.text_html(self)


class Plan:
    """What statistics cost and how near they will be; `release` carries it out. Made by `Dataset.plan` or `plan`.

    Attributes:
        epsilon: what a release debits; exact.
        budget: the most that this run may cost; exact.
        unpaid: statistics with a weight for which the others leave nothing.
        affordable: whether the run fits its budget.
    """

    __slots__ = ("_plan", "_source", "_statistics")

    def __init__(self, toml: str, name: str = "plan", folder: str = "", declaration: str | None = None) -> None:
        self._source = (
            text_of(toml, "toml"),
            text_of(name, "name"),
            text_of(folder, "folder"),
            None if declaration is None else text_of(declaration, "declaration"),
        )
        try:
            self._plan = _core.Plan(*self._source)
        except Error as error:
            if name != "plan":
                raise
            raise without_lines(error, "plan") from None
        self._statistics: tuple[PlannedStatistic, ...] | None = None

    @property
    def epsilon(self) -> Fraction:
        return fraction(self._plan.epsilon)

    @property
    def budget(self) -> Fraction:
        return fraction(self._plan.budget)

    @property
    def unpaid(self) -> tuple[str, ...]:
        return tuple(self._plan.unpaid)

    @property
    def affordable(self) -> bool:
        return self._plan.affordable

    @property
    def loss_bound(self) -> Fraction:
        """The proved bound on the privacy loss of the whole run."""
        return fraction(self._plan.loss_bound)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that a release reads."""
        return tuple(self._plan.columns)

    @property
    def statistics(self) -> tuple[PlannedStatistic, ...]:
        """What is known of each statistic."""
        if self._statistics is None:
            from ._planned import planned

            self._statistics = tuple(planned(facts) for facts in self._plan.statistics())
        return self._statistics

    def __getitem__(self, name: str) -> PlannedStatistic:
        for statistic in self.statistics:
            if statistic.name == name:
                return statistic
        raise KeyError(name)

    def warnings(self, ledger: Ledger | None = None) -> tuple[Warning, ...]:
        """What to think about before paying, by public facts; with the ledger that is to pay, also what it says."""
        from ._planned import Warning

        return tuple(Warning(*pair) for pair in self._plan.warnings(_held(ledger)))

    def to_table(self, ledger: Ledger | None = None, *, utility: bool = False, width: int = 80) -> str:
        """The table of `snapdp plan`.

        Args:
            ledger: that is to pay: its balance is shown too.
            utility: also the noise and bias of every number, and what other choices would give.
            width: in columns.
        """
        return self._plan.to_table(_held(ledger), flag(utility, "utility"), whole(width, "width", 1), "none", False)

    def to_json(self) -> str:
        """The JSON of `snapdp plan --json`; docs/cli.md describes its keys."""
        return self._plan.to_json()

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict; exact numbers are texts that `fractions.Fraction` reads."""
        import json

        facts: dict[str, Any] = json.loads(self.to_json())
        return facts

    def to_html(self, ledger: Ledger | None = None) -> str:
        """A page, without scripts and with nothing to load."""
        return self._plan.to_html(_held(ledger))

    def html(self, path: str | os.PathLike[str], ledger: Ledger | None = None) -> None:
        """Writes the page, with mode 0600."""
        _files.write(path, self.to_html(ledger))

    def to_toml(self) -> str:
        """The specification as a file for the command-line tool: `snapdp plan FILE`."""
        return self._source[0]

    def explain(self) -> str:
        """Each statistic as its chain of steps, distances and losses, in plain words: `snapdp explain`."""
        return Explanation(self._plan.explanation())

    def sql(self, dialect: str, table: str) -> str:
        """The query with which a database computes the exact statistics of this plan: `snapdp pushdown`.

        What it gives, exact integers, is as private as the rows: keep it where they may be. `aggregates` takes it to `release`;
        `sql` does all of this over a connection.

        Args:
            dialect: "duckdb", "postgresql", "spark", "sqlite" or "datafusion"; untested, with a warning: "bigquery",
                "clickhouse", "snowflake", "trino".
            table: as of `sql`.
        """
        from ._elsewhere import query

        return query(self._plan, dialect, table)

    def plot(self, *, width: float = 7.5) -> Picture:
        """What each statistic costs and how near it will be as a chart, drawn by matplotlib.

        Raises:
            NotInstalled: there is no matplotlib. `html` writes a page with charts, without it.
        """
        from ._plot import of_plan

        return of_plan(self, width)

    def check(self, data: object = None, *, progress: Progress | None = None) -> Check:
        """What the rows hold, against what the plan says of them. Exact, not protected: do not share it.

        Args:
            data: as of `release`.
            progress: as of `release`.
        """
        from ._planned import Check

        with shown(progress) as told:
            return Check(*_core.check(self._plan, opener(data), told))

    def release(
        self, data: object, ledger: Ledger, *, label: str = "", progress: Progress | None = None
    ) -> Report:
        """Releases the statistics: reads the rows once, debits the ledger on disk, then draws the noise.

        What is wrong is said before the debit and costs nothing; after it nothing fails. The report is kept in the ledger
        before this returns, `Ledger.report` shows it again; if the ledger's disk fails just then, `Report.not_stored` names
        the file beside it that has the record. Ctrl-C ends a release while rows are read, and waits from then on until the
        report is kept.

        Args:
            data: a table of pandas, Polars, pyarrow, DuckDB, DataFusion or anything with `__arrow_c_stream__`; an ADBC
                cursor; a dict of arrays; the path of a CSV or Parquet file; None for the file that the dataset names. Or what is
                counted where it is: a frame of PySpark, a table of a database, `sql`; a query's result, `aggregates`; `states`.
            ledger: that pays.
            label: a name: a release of the same label and plan is paid once, and given again after that.
            progress: True for a bar, of tqdm where that is installed; or a function, called with a percentage while rows are read.

        Raises:
            BudgetRefused: the ledger is for other data, or too little is left.
            BadData: a column is missing or cannot be used, or the data do not have the declared size.
        """
        from ._report import Report

        with shown(progress) as told:
            return Report(_core.release(self._plan, _paying(ledger), opener(data), told, text_of(label, "label")))

    def dry_run(
        self, data: object, ledger: Ledger, *, label: str = "", progress: Progress | None = None
    ) -> None:
        """Does all that `release` does before the debit, the rows included, and nothing after: raises what it would raise."""
        with shown(progress) as told:
            _core.dry_run(self._plan, _paying(ledger), opener(data), told, text_of(label, "label"))

    def __str__(self) -> str:
        return self.to_table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return _files.framed(self.to_html(), 720)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plan) and self._source == other._source

    def __hash__(self) -> int:
        return hash(self._source)

    def __reduce__(self) -> tuple[type[Plan], tuple[str, str, str, str | None]]:
        return Plan, self._source


def plan(
    path: str | os.PathLike[str],
    *,
    declaration: str | os.PathLike[str] | Dataset | None = None,
    ledger: Ledger | None = None,
) -> Plan:
    """The plan of a specification's TOML file, as the command-line tool reads it.

    Args:
        path: the file; docs/specification.md describes it.
        declaration: the dataset, or the file that declares it, when the specification has no [data].
        ledger: instead: the ledger whose declaration is in force.
    """
    if declaration is not None and ledger is not None:
        raise InvalidArgument("declaration: is what the ledger keeps; give one of them", "declaration")
    declared: str | None = None
    if ledger is not None:
        declared = _paying(ledger).declaration or None
    elif isinstance(declaration, Dataset):
        declared = declaration.to_toml()
    elif declaration is not None:
        declared = declaration_of(declaration, "declaration")
    file = _files.place(path, "path")
    with named(specification="path"):
        text, folder = _core.read_specification(file, declared)
    return Plan(text, file, folder, declared)


def held_plan(plan: object) -> _core.Plan:
    if isinstance(plan, Plan):
        return plan._plan
    raise InvalidArgument(
        f'plan: is a {type(plan).__name__}; make one of a dataset, people.plan(...), or of a file, plan("people.toml")', "plan"
    )


def _held(ledger: Ledger | None) -> _core.Ledger | None:
    return None if ledger is None else _paying(ledger)


def _paying(ledger: Ledger) -> _core.Ledger:
    held = getattr(ledger, "_ledger", None)
    if isinstance(held, _core.Ledger):
        return held
    raise another_kind(
        ledger,
        "ledger",
        'an open one, Ledger("people.ledger"), or make one, Ledger.create("people.ledger", dataset, epsilon=2)',
    )
