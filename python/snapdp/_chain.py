"""Chains: rows, transformations, a statistic and its noise, joined by `>>`. Every part is the library's own, and so is what it
claims: Python only holds it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, NoReturn, SupportsIndex, TypeVar, Union, overload

from . import _core, _files
from ._arguments import another_kind, choice, flag, listed, of_class, pair, text_of, whole
from ._dataset import Column
from ._errors import Error, InvalidArgument, Mismatch, named, reworded
from ._numbers import Number, exact, fraction, optional_exact, text
from ._payments import Accountant, Budget, Release, debiting, value_of

if TYPE_CHECKING:
    from ._ledger import Ledger
    from ._planned import Part
    from ._report import Estimate
    from ._statistics import Statistic
    from ._utility import Accuracy, Bias

_Chained = TypeVar("_Chained", covariant=True)
_Next = TypeVar("_Next")
_Built = Union[_core.Transformation, _core.Aggregation]

_most_columns = 8  # of one chain
_neighbors = ("add-remove", "change-one", "hamming")


def _lacks(chain: object) -> str:
    if isinstance(chain, Rows):
        return "it has no step; rows(...) >> impute(0) >> clamp(0, 100) >> sum() >> snapping(epsilon=...)"
    if isinstance(chain, Step):
        return 'it has no rows, so that nothing is known of it; rows(real(), neighbors="add-remove") >> ... before it'
    if isinstance(chain, Transformation):
        return "it has no statistic and no noise; ... >> sum() >> snapping(epsilon=...)"
    return "it has no noise; ... >> snapping(epsilon=...)"


class _Unfinished:
    """What lacks a step says so."""

    __slots__ = ()

    def _refuse(self) -> NoReturn:
        raise Mismatch(f"chain: {_lacks(self)}", "chain")

    def loss(self, d_in: Number = 1) -> Fraction:
        """Of a chain that ends with its noise: see `Measurement.loss`."""
        self._refuse()

    def accuracy(self, alpha: Number = 0.05) -> Accuracy:
        """Of a chain that ends with its noise: see `Measurement.accuracy`."""
        self._refuse()

    def release(self, data: object, budget: Ledger | Budget | Accountant, *, name: str = "chain") -> Release:
        """Of a chain that ends with its noise: see `Measurement.release`."""
        self._refuse()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled: it may hold functions of yours; build the chain where it is used"
        )


class _StepPart:
    """One step that waits for what comes before it: of rows, of a statistic, or noise."""

    __slots__ = ("words", "make", "noise", "layout", "functions", "kind", "keeps_rows")

    def __init__(
        self,
        words: str,
        make: Callable[[_core.Rows], _Built] | None = None,
        noise: Callable[[_core.Aggregation, int], _core.Measurement] | None = None,
        layout: Callable[[_core.Rows], _core.HierarchyLayout] | None = None,
        functions: tuple[object, ...] = (),
        kind: str = "",
        keeps_rows: bool = True,
    ) -> None:
        self.kind = kind
        self.keeps_rows = keeps_rows
        self.words = words
        self.functions = functions
        self.make = make
        self.noise = noise
        self.layout = layout


class Step(_Unfinished, Generic[_Chained]):
    """One step or several, which wait for their rows: `clamp(0, 100) >> mean()`. Made by the functions of this package.

    To a type checker it is a Step[Transformation], Step[Aggregation] or Step[Measurement], by what it makes of rows.
    """

    __slots__ = ("_parts",)

    def __init__(self, parts: tuple[_StepPart, ...]) -> None:
        self._parts = parts

    @overload
    def __rshift__(self, other: Step[_Next]) -> Step[_Next]: ...
    @overload
    def __rshift__(self, other: Statistic) -> Step[Aggregation]: ...
    def __rshift__(self, other: object) -> Step[Any]:
        return Step(self._parts + _as_step(other)._parts)

    def __repr__(self) -> str:
        return " >> ".join(part.words for part in self._parts)


def _as_step(other: object, parameter: str = "chain") -> Step[Any]:
    if isinstance(other, Step):
        return other
    from ._statistics import Statistic

    if isinstance(other, Statistic):
        from ._steps import statistic_step

        return statistic_step(other)
    if isinstance(other, (Transformation, Aggregation, Measurement, Rows)):
        raise Mismatch(
            f"{parameter}: a {type(other).__name__} has its rows already, and what comes before it has too or has none; join "
            "steps without rows",
            parameter,
        )
    raise another_kind(other, parameter, "steps such as clamp(0, 100), mean() and snapping(epsilon=1)")


class Rows(_Unfinished):
    """Where a chain starts: what its rows may be, and how neighbors differ. Made by `rows`; `rows[...]` takes columns of it.

    Attributes:
        names: of a table's columns, None for one column without a name.
        where: which rows count, or None: all.
        unit: the column that says whose row it is, or None: one row.
        max_rows_per_unit: how many rows of a unit count.
    """

    __slots__ = ("_held", "_columns", "_options", "names", "where", "unit", "max_rows_per_unit")

    def __init__(self, held: _core.Rows | None, columns: Mapping[str, Column] | None, options: dict[str, Any]) -> None:
        self._held = held
        self._columns = columns
        self._options = options
        self.names: tuple[str, ...] | None = None if columns is None else tuple(columns)
        self.where: str | None = options.get("where")
        self.unit: str | None = options.get("unit")
        self.max_rows_per_unit: int = options.get("max_rows_per_unit", 1)

    @property
    def _rows(self) -> _core.Rows:
        if self._held is not None:
            return self._held
        raise InvalidArgument(
            f"columns: there are {len(self.names or ())}, and a chain takes {_most_columns} at most; choose some, "
            f'people["{(self.names or ("age",))[0]}"]',
            "columns",
        )

    @property
    def size(self) -> int | None:
        """The public number of rows, or None."""
        return self._rows.size

    @property
    def domain(self) -> str:
        """What may occur, in words."""
        return self._rows.domain

    @property
    def metric(self) -> str:
        """How far apart two datasets are, in words."""
        return self._rows.metric

    @property
    def _is_table(self) -> bool:
        return self.names is not None and bool(self._options["anything"])

    def __getitem__(self, names: str | tuple[str, ...]) -> Rows:
        wanted = [names] if isinstance(names, str) else listed(names, "columns", "the name of a column, or several")
        for name in wanted:
            if name not in (self.names or ()):
                there = "the rows have no names" if self.names is None else f"there are {', '.join(map(repr, self.names))}"
                raise InvalidArgument(f"columns: there is no {name!r}; {there}", "columns")
        assert self._columns is not None
        return _rows({name: self._columns[name] for name in wanted}, self._options)

    @overload
    def __rshift__(self, other: Step[_Next]) -> _Next: ...
    @overload
    def __rshift__(self, other: Statistic) -> Aggregation: ...
    def __rshift__(self, other: Any) -> Any:
        return _continued(self, self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return (self.names, self.where, self.unit, self.max_rows_per_unit, *(self._held and (self.domain, self.metric) or ()))

    def __repr__(self) -> str:
        unit = f", at most {self.max_rows_per_unit} rows for each {self.unit!r}" if self.unit else ""
        unit += f", where {self.where}" if self.where else ""
        named = "" if self.names is None else f" {', '.join(map(repr, self.names))}:"
        told = "a table" if self._held is None else f"{self.domain}, {self.metric}"
        return f"<Rows{named} {told}{unit}>"


def rows(
    columns: Column | Mapping[str, Column],
    *,
    neighbors: str,
    size: SupportsIndex | None = None,
    missing: bool = True,
    where: str | None = None,
    unit: str | None = None,
    max_rows_per_unit: SupportsIndex | None = None,
) -> Rows:
    """Where a chain starts: what is public about its rows. None of it may come from the rows.

    Args:
        columns: one column, `real()`, `integer()` or `text()`, for lists and arrays of its cells; or a dict of names and
            columns, for tables: a chain then starts at `people["age"]`. Bounds, `real(0, 100)`, say what cells there are, and
            rows with others are refused; without bounds `clamp` sees to it.
        neighbors: "add-remove", a row comes or goes; "change-one", a row is replaced; or "hamming", the same of rows in an
            order.
        size: change-one and hamming: the public number of rows; others are refused.
        missing: whether cells may be missing or NaN, as those of any data may: `impute` or `drop` then comes first. False is a
            promise, and a release of rows that break it is refused before the debit: that refusal depends on the rows. So does
            that of a list or array in memory with a cell of another type; in tables such a cell is missing.
        where: add-remove, of tables: only rows for which this condition holds count: "age >= 18 and city in ('Ulm', 'Jena')".
        unit: add-remove, of tables: the column that says whose row it is; whole units are protected.
        max_rows_per_unit: required with `unit`: so many rows of a unit count, and all noise is for as many.

    Raises:
        InvalidArgument: naming the option, the value, the rule and the next step.
    """
    given = list(columns.values()) if isinstance(columns, Mapping) else [columns]
    for column in given:
        of_class(column, Column, "columns", "real(), integer() or text(), or a dict of them by name")
    choice(neighbors, "neighbors", _neighbors, "which rows two datasets that nobody can tell apart differ in")
    may_miss = flag(missing, "missing")
    anything = may_miss and all("bounds" not in column._entries for column in given)
    options: dict[str, Any] = {"neighbors": neighbors, "missing": may_miss, "anything": anything}
    if size is not None:
        options["size"] = whole(size, "size")
    if unit is not None or max_rows_per_unit is not None:
        options |= _unit_options(unit, max_rows_per_unit)
    if where is not None:
        options["where"] = text_of(where, "where")
    for name in ("unit", "where"):
        if name in options and not (isinstance(columns, Mapping) and anything and neighbors == "add-remove"):
            raise InvalidArgument(
                f'{name}: needs a table, rows({{"minutes": real()}}, neighbors="add-remove", ...), whose columns have no bounds '
                "and may miss cells",
                name,
            )
    if not isinstance(columns, Mapping):
        return Rows(_held(given, options), None, options)
    by_name = {text_of(name, "columns"): column for name, column in columns.items()}
    options["declared"] = {name: str(column._entries["type"]) for name, column in by_name.items()}
    return _rows(by_name, options)


def _held(columns: Iterable[Column], options: Mapping[str, Any]) -> _core.Rows:
    return _core.Rows(
        [_column_text(column) for column in columns], options["missing"], options.get("size"), options["neighbors"]
    )


def _rows(columns: Mapping[str, Column], options: dict[str, Any]) -> Rows:
    return Rows(_held(columns.values(), options) if len(columns) <= _most_columns else None, columns, options)


def _unit_options(unit: str | None, max_rows: SupportsIndex | None) -> dict[str, Any]:
    if unit is None or max_rows is None:
        lacking = "unit" if unit is None else "max_rows_per_unit"
        raise InvalidArgument(f"{lacking}: is missing; units and the number of their rows that count go together", lacking)
    return {"unit": text_of(unit, "unit"), "max_rows_per_unit": whole(max_rows, "max_rows_per_unit", 1)}


def _column_text(column: Column) -> tuple[str, str | None, str | None]:
    entries = column._entries
    for name in entries:
        if name not in ("type", "bounds"):
            raise InvalidArgument(
                f"columns: {name} of a column is for declarations; in a chain give it to the step that needs it", name
            )
    bounds = entries.get("bounds")
    if not isinstance(bounds, list):
        return str(entries["type"]), None, None
    return str(entries["type"]), exact(bounds[0], "lower"), exact(bounds[1], "upper")


# What refusals of the library call things, and what they are called here.
_called = (
    ("an untrusted_domain()", "rows(..., missing=True)"),
    ("untrusted_domain()", "rows(..., missing=True)"),
    ("of_size(n)", "rows(..., size=n)"),
    ("NoiseOptions::distance = ", "distance="),
    ("symmetric_distance()", 'neighbors="add-remove"'),
    ("change_one()", 'neighbors="change-one"'),
    ("hamming()", 'neighbors="hamming"'),
    ("make_", ""),
)


@contextmanager
def _in_python() -> Iterator[None]:
    """Refusals of the library in the words of this package."""
    try:
        yield
    except Error as error:
        if not error._of_library:
            raise
        message = str(error)
        for library, here in _called:
            message = message.replace(library, here)
        if message == str(error):
            raise
        raise reworded(error, message, error.parameter) from None


def _continued(start: Rows, chain: Any, other: object) -> Any:
    """The chain with the steps of another."""
    with _in_python():
        for part in _as_step(other)._parts:
            chain = _joined(start, chain, part)
    return chain


def _joined(start: Rows, chain: Any, part: _StepPart) -> Any:
    """The chain with one step more."""
    if isinstance(chain, Measurement):
        raise Mismatch(
            f"chain: it ends with its noise, and {part.words} comes after it; release it, or join it by sequential(...)",
            "chain",
        )
    if part.noise is not None:
        if not isinstance(chain, Aggregation):
            raise Mismatch(f"chain: it has no statistic; sum(), mean() ... before {part.words}", "chain")
        held = part.noise(chain._part, start.max_rows_per_unit)
        if start._is_table:
            declared = start._options["declared"]
            held = held.on_table(list(start.names or ()), declared, start.where, start.unit, start.max_rows_per_unit)
        return Measurement(held, start, (chain,))
    if isinstance(chain, Aggregation):
        raise Mismatch(f"chain: it has a statistic already, and {part.words} works on rows; snapping(...) comes next", "chain")
    assert part.make is not None
    before = chain._rows if isinstance(chain, Rows) else chain._part.output
    made = part.make(before)
    layout = None if part.layout is None else part.layout(before)
    steps = (part,) if isinstance(chain, Rows) else (*chain._steps, part)
    if isinstance(made, _core.Transformation):
        return Transformation(made if isinstance(chain, Rows) else chain._part.then(made), start, steps)
    return Aggregation(made if isinstance(chain, Rows) else made.after(chain._part), start, steps, before, layout)


@dataclass(frozen=True)
class ChainStep(_files.Shown):
    """One step in words.

    function: what it does; output: what it gives; metric: how far apart two outputs are; distance: at most this, for inputs of
    the chain at the distance that was asked for, None when nothing is claimed.
    """

    function: str
    output: str
    metric: str
    distance: Fraction | None


class _Chain(_Unfinished):
    """What every chain with rows tells: its steps, and what it claims of distances."""

    __slots__ = ("_part", "_steps", "start")

    _part: Any
    _steps: tuple[_StepPart, ...]  # they own the functions of Python that the part calls
    start: Rows

    def stability(self, d_in: Number = 1) -> Fraction:
        """The least distance that is proved for outputs of inputs at most d_in apart; exact.

        Raises:
            Mismatch: nothing is claimed.
        """
        return fraction(self._part.forward(text(d_in, "d_in")))

    def backward(self, d_out: Number) -> Fraction:
        """A distance of inputs for which outputs are at most d_out apart, as large as is proved."""
        return fraction(self._part.backward(text(d_out, "d_out")))

    def check(self, d_in: Number, d_out: Number) -> bool:
        """Whether the relation holds: inputs at most d_in apart give outputs at most d_out apart."""
        return bool(self._part.holds(text(d_in, "d_in"), text(d_out, "d_out")))

    def steps(self, d_in: Number = 1) -> tuple[ChainStep, ...]:
        """Each step, with the distance of its outputs for inputs of the chain at most d_in apart."""
        return tuple(
            ChainStep(function, output, metric, None if distance is None else fraction(distance))
            for function, output, metric, distance in self._part.steps(text(d_in, "d_in"))
        )

    def _lines(self) -> list[tuple[str, str]]:
        return _told(self.start, self.steps(1), 1)

    def __repr__(self) -> str:
        return _shown(self._lines())

    def _repr_html_(self) -> str:
        return _files.table_html(type(self).__name__.lower(), self._lines())


def _told(start: Rows, steps: Iterable[ChainStep], d_in: object) -> list[tuple[str, str]]:
    lines = [("rows", f"{start.domain}; {start.metric} {d_in}")]
    for step in steps:
        distance = "nothing claimed" if step.distance is None else _short(step.distance)
        lines.append((step.function, f"{step.output}; {step.metric} {distance}"))
    return lines


def _same_rows(start: Rows, other: Rows) -> None:
    """What comes later may choose rows only as the chain does: the choice is made once, where it starts."""
    chosen = (other.where, other.unit, other.unit and other.max_rows_per_unit)
    if any(chosen) and chosen != (start.where, start.unit, start.unit and start.max_rows_per_unit):
        raise Mismatch(
            "chain: what comes later has a condition or a unit that its start has not; say where=, unit= and "
            "max_rows_per_unit= of the rows that the whole chain starts at",
            "chain",
        )


def _short(number: Fraction) -> str:
    return _core.short_number(str(number))


def _shown(lines: list[tuple[str, str]]) -> str:
    width = max(len(name) for name, _ in lines)
    return "\n".join(f"{name:<{width}}  {fact}" for name, fact in lines)


class Transformation(_Chain):
    """A chain from rows to rows.

    Attributes:
        start: the rows that it starts at.
    """

    __slots__ = ()

    def __init__(self, part: _core.Transformation, start: Rows, steps: tuple[_StepPart, ...]) -> None:
        self._part = part
        self._steps = steps
        self.start = start

    @property
    def output(self) -> Rows:
        """The rows that it gives, where another chain may start."""
        return Rows(self._part.output, None, {"anything": False})

    @overload
    def __rshift__(self, other: Step[_Next]) -> _Next: ...
    @overload
    def __rshift__(self, other: Statistic) -> Aggregation: ...
    @overload
    def __rshift__(self, other: Transformation) -> Transformation: ...
    @overload
    def __rshift__(self, other: Aggregation) -> Aggregation: ...
    def __rshift__(self, other: Any) -> Any:
        if isinstance(other, (Transformation, Aggregation)):
            _same_rows(self.start, other.start)
        if isinstance(other, Transformation):
            with _in_python():
                then = self._part.then(other._part)
            return Transformation(then, self.start, self._steps + other._steps)
        if isinstance(other, Aggregation):
            with _in_python():
                after = other._part.after(self._part)
            return Aggregation(after, self.start, self._steps + other._steps, other._before, other._layout)
        return _continued(self.start, self, other)

    def exact(self, data: object) -> list[Any]:
        """The rows that it gives. They are not protected: for tests of the chain."""
        from ._cells import cells

        with named(rows="data"):
            return list(_core.applied(self._part, cells(self.start, data)))


class Aggregation(_Chain):
    """A chain from rows to an exact statistic. It may not leave the house before noise: `>> snapping(epsilon=...)`.

    Attributes:
        start: the rows that it starts at.
    """

    __slots__ = ("_before", "_layout")

    def __init__(
        self,
        part: _core.Aggregation,
        start: Rows,
        steps: tuple[_StepPart, ...],
        before: _core.Rows,
        layout: _core.HierarchyLayout | None,
    ) -> None:
        self._part = part
        self._steps = steps
        self.start = start
        self._before = before  # the rows that the statistic itself takes
        self._layout = layout

    def _require(self, kind: str, parameter: str) -> None:
        if self._steps[-1].kind != kind:
            raise Mismatch(
                f"{parameter}: that part is {self._steps[-1].words}; name the one that is a {kind}(), by its place", parameter
            )

    def _of_rows(self) -> tuple[object, ...]:
        """Equal for statistics of the same rows: the columns and steps that may leave some out."""
        leaving = [place for place, step in enumerate(self._steps) if not step.keeps_rows]
        return (self.start.names, *(step.words for step in self._steps[: leaving[-1] + 1])) if leaving else ()

    def __rshift__(self, other: Step[_Next]) -> _Next:
        return _continued(self.start, self, other)  # type: ignore[no-any-return]

    def exact(self, data: object) -> tuple[Fraction, ...]:
        """The statistic of some rows, on its grid. It is exact and not protected: for tests of the chain.

        Raises:
            BadData: the rows are not in the input domain, or of another number than the public one.
        """
        from ._cells import cells

        with named(rows="data"):
            return tuple(fraction(value) for value in _core.exact(self._part, cells(self.start, data)))


class Measurement(_Chain):
    """A chain that ends with its noise, or several as one release: what may be shown, and what it costs.

    Attributes:
        start: the rows that it starts at.
        aggregations: the exact statistics that the noise is added to.
    """

    __slots__ = ("aggregations",)

    def __init__(self, part: _core.Measurement, start: Rows, aggregations: tuple[Aggregation, ...]) -> None:
        self._part = part
        self._steps = ()
        self.start = start
        self.aggregations = aggregations

    def __rshift__(self, other: object) -> NoReturn:
        _continued(self.start, self, other)
        raise AssertionError("a step follows the noise")

    def loss(self, d_in: Number = 1) -> Fraction:
        """The privacy loss between datasets at most d_in apart, proved and exact: at most the epsilon asked for, at 1.

        Of a table with a unit, distances are counted in units.
        """
        return fraction(self._part.loss(text(d_in, "d_in")))

    def check(self, d_in: Number, d_out: Number) -> bool:
        """Whether it is proved that inputs at most d_in apart are told apart with a loss of at most d_out."""
        return bool(self._part.holds(text(d_in, "d_in"), text(d_out, "d_out")))

    def stability(self, d_in: Number = 1) -> Fraction:
        """Of the statistic that the noise is added to: see `Aggregation.stability`."""
        return self._one("stability").stability(d_in)

    def backward(self, d_out: Number) -> Fraction:
        """Of the statistic that the noise is added to: see `Aggregation.backward`."""
        return self._one("backward").backward(d_out)

    def steps(self, d_in: Number = 1) -> tuple[ChainStep, ...]:
        """Of the statistic that the noise is added to: see `Aggregation.steps`."""
        return self._one("steps").steps(d_in)

    def _one(self, what: str) -> Aggregation:
        if len(self.aggregations) == 1:
            return self.aggregations[0]
        raise InvalidArgument(f"{what}: there are several parts; look at .aggregations", what)

    @property
    def price(self) -> Fraction:
        """What a release debits."""
        return fraction(self._part.price)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The noise of each measurement inside."""
        from ._planned import Part

        names = ("epsilon", "sensitivity", "scale", "grid")
        return tuple(Part(facts["description"], *(fraction(facts[name]) for name in names)) for facts in self._part.parts())

    def accuracy(self, alpha: Number = 0.05, part: int = 0) -> Accuracy:
        """How near the exact statistic a release will be, except with probability alpha: known before any row is read.

        Args:
            alpha: of each number by itself.
            part: which measurement, of several.
        """
        from ._utility import Accuracy

        facts = self._part.accuracy(self._place(part), text(alpha, "alpha"))
        return Accuracy(**{**facts, "epsilon": fraction(facts["epsilon"])})

    def bias(self, value: Number | None = None, part: int = 0) -> Bias:
        """E[released] - exact, at a public guess at the exact statistic and at its worst.

        Args:
            value: the guess.
            part: which measurement, of several.
        """
        from ._utility import Bias

        with named(guess="value"):
            return Bias(**self._part.bias(self._place(part), optional_exact(value, "value")))

    def _place(self, part: object, parameter: str = "part") -> int:
        return whole(part, parameter, 0, len(self.aggregations) - 1)

    def release(self, data: object, budget: Ledger | Budget | Accountant, *, name: str = "chain") -> Release:
        """Folds the rows, debits `price`, then draws the noise. What is wrong is said before the debit and costs nothing.

        A ledger keeps the chain in words, and no report: the numbers are yours to keep.
        What a function of yours raises while rows are folded comes out as it is, and nothing was debited.

        Args:
            data: of one column a list, an array of NumPy, a buffer or what speaks Arrow; of a table whatever `Plan.release`
                takes.
            budget: who pays: a Ledger, which is debited on disk, a Budget in memory, or an object with a method `debit(Debit)`.
            name: what a ledger calls the release.

        Raises:
            BudgetRefused: too little is left.
            Mismatch: the ledger or budget is for other neighbors; a function of yours gave what its output cannot hold.
            BadData: the rows are not what they were said to be.
            InvalidArgument: data that cannot be read.
        """
        from ._cells import read
        from ._ledger import Ledger

        label = text_of(name, "name")
        if isinstance(budget, Ledger):
            pay: Callable[..., dict[str, Any]] = _core.pay_by_ledger
            payer: tuple[Any, ...] = (budget._ledger, label)
        elif isinstance(budget, Budget):
            pay, payer = _core.pay_by_budget, (budget._budget,)
        elif callable(getattr(budget, "debit", None)) and not isinstance(budget, type):
            pay, payer = _core.pay_by_function, (debiting(budget),)
        else:
            raise another_kind(budget, "budget", "a Ledger, a Budget or an object with a method debit(Debit)")
        with _in_python(), named(rows="data"):
            facts = pay(self._part, *read(self, data), *payer)
        parts = tuple(tuple(value_of(value) for value in part) for part in facts["values"])
        return Release(parts, fraction(facts["loss"]), facts.get("release"))

    def quantiles(self, release: Release, quantiles: Iterable[Number], *, alpha: Number = 0.05) -> tuple[Estimate, ...]:
        """Quantiles from a released `hierarchy`, free of charge: any number of them.

        Args:
            release: what this measurement released.
            quantiles: from 0 to 1.
            alpha: all intervals hold together, except with this probability: between their ends, which are edges, lie all
                exact quantiles of the rows.
        """
        from ._report import Estimate

        layout = self._one("quantiles")._layout
        if layout is None:
            raise Mismatch("quantiles: they come from a hierarchy; rows ... >> hierarchy(edges) >> snapping(...)", "quantiles")
        wanted = [text(quantile, "quantiles") for quantile in listed(quantiles, "quantiles", "a list of numbers from 0 to 1")]
        rate = text(alpha, "alpha")
        tree = [str(Fraction(value)) for value in self._released(release).values]
        with named(q="quantiles"):
            found = [_core.quantile(layout, self._part, tree, quantile, rate, len(wanted)) for quantile in wanted]
        return tuple(Estimate(value, (lower, upper)) for value, lower, upper in found)

    def mean(
        self,
        release: Release,
        bounds: tuple[Number, Number] | None = None,
        *,
        count: SupportsIndex = 0,
        sum: SupportsIndex = 1,
        alpha: Number = 0.05,
    ) -> Estimate:
        """The mean under add-remove, from a released count and a released centered sum, free of charge.

        Args:
            release: what this measurement released: `sequential(rows >> ... >> count(), ... >> centered_sum())` with noise.
            bounds: those of the values that were summed, which the sum knows: others are refused.
            count, sum: which of the parts they are, from 0 on.
            alpha: the exact mean of one row or more lies in the interval, except with this probability.

        Raises:
            Mismatch: the parts are no count and no centered sum, or not of the same rows.
        """
        from ._report import Estimate

        places = self._place(count, "count"), self._place(sum, "sum")
        counted, summed = (self.aggregations[place] for place in places)
        counted._require("count", "count")
        summed._require("centered_sum", "sum")
        if counted._of_rows() != summed._of_rows():
            raise Mismatch(
                "count: counts other rows than were summed; let the same steps that leave rows out, drop() or your own, come "
                "before both",
                "count",
            )
        if bounds is not None:
            ends = [exact(end, "bounds") for end in pair(bounds, "bounds", "(lower, upper), or none")]
            with named(lower="bounds", upper="bounds"):
                agreed = summed._before.has_bounds(*ends)
            if not agreed:
                raise InvalidArgument(
                    f"bounds: are others than those of the values that were summed, {summed._before.domain}; leave them out",
                    "bounds",
                )
        held = self._released(release).parts
        parts = [(place, str(Fraction(held[place][0]))) for place in places]
        value, off = _core.mean_of(self._part, parts[0], parts[1], summed._before, text(alpha, "alpha"))
        return Estimate(value, (value - off, value + off))

    def _released(self, release: object) -> Release:
        """What has as many numbers in as many parts as this measurement releases."""
        held = of_class(release, Release, "release", "what this measurement released")
        if [len(part) for part in held.parts] == self._part.dimensions:
            return held
        raise Mismatch("release: is of another measurement; give what this one released", "release")

    def _lines(self) -> list[tuple[str, str]]:
        lines: list[tuple[str, str]] = []
        for aggregation, facts in zip(self.aggregations, self._part.parts()):
            distance = fraction(facts["distance"])
            lines += _told(aggregation.start, aggregation.steps(distance), distance)
            lines.append((f"{facts['noise']} noise", _noise_words(facts)))
        loss, price = _short(self.loss(1)), _short(self.price)
        lines.append(("loss", f"at most {loss} at {self._part.metric} 1; a release debits {price}"))
        return lines


def _noise_words(facts: Mapping[str, Any]) -> str:
    bounds = [facts["lower"], facts["upper"]]
    clamped = "" if bounds == [None, None] else f", clamped to [{bounds[0]}, {bounds[1]}]"
    scale, grid, epsilon = (_short(fraction(facts[name])) for name in ("scale", "grid", "epsilon"))
    return f"scale {scale}, grid {grid}{clamped}; epsilon {epsilon} at distance {facts['distance']}"


def sequential(*measurements: Measurement) -> Measurement:
    """Several measurements of the same rows as one release: one debit of the sum of their losses, then all the noise.

    Args:
        measurements: all start at the same `rows(...)`, those of a table at any of its columns.

    Raises:
        Mismatch: they start at other rows, by another metric, or protect other neighbors.
        InvalidArgument: there are none.
    """
    if not measurements:
        raise InvalidArgument("measurements: there are none; give one or more", "measurements")
    for one in measurements:
        of_class(one, Measurement, "measurements", "chains that end with snapping(...)")
    with _in_python():
        held = _core.make_sequential([one._part for one in measurements])
    return Measurement(held, measurements[0].start, tuple(part for one in measurements for part in one.aggregations))


def words(name: str, arguments: Sequence[object], options: Mapping[str, object]) -> str:
    """A step as it was written."""
    given = [repr(argument) for argument in arguments]
    return f"{name}({', '.join(given + [f'{key}={value!r}' for key, value in options.items() if value is not None])})"
