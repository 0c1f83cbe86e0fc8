"""The steps of chains. Each waits for its rows, and the library refuses those that its proof does not cover."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, SupportsIndex, Union

from . import _core
from ._arguments import (
    choice,
    entries,
    flag,
    function as function_of,
    listed,
    of_class,
    optional_function,
    optional_whole,
    pair,
    text_of,
    whole,
)
from ._chain import Measurement, Transformation, Aggregation, Rows, Step, _as_step, _column_text, _StepPart, words
from ._dataset import Column
from ._errors import InvalidArgument, named
from ._numbers import Number, exact, exact_fraction, optional_exact, optional_text, text

if TYPE_CHECKING:
    from ._statistics import Statistic

_Make = Callable[[_core.Rows], Union[_core.Transformation, _core.Aggregation]]

Bounds = tuple[Number, Number]
Stability = Union[Number, Callable[[Fraction], Number]]


def _step(name: str, make: _Make, *arguments: object, **options: object) -> Step[Any]:
    return Step((_StepPart(words(name, arguments, options), make, kind=name),))


def clamp(
    lower: Number | None = None, upper: Number | None = None, *, bounds: Sequence[tuple[Number, Number]] | None = None
) -> Step[Transformation]:
    """Values below `lower` become `lower`, those above `upper` become `upper`, infinities too. Neighbors stay neighbors.

    Cells may not be missing or NaN: `impute` or `drop` first. Proof: proofs/make_clamp.md.

    Args:
        lower, upper: public bounds; rounded outward to doubles, or to whole numbers for a column of integers.
        bounds: of several columns: (lower, upper) of each.
    """
    pairs = _pairs(lower, upper, bounds)
    given = (lower, upper) if bounds is None else ()
    return _step("clamp", lambda rows: _core.make_clamp(rows, pairs), *given, bounds=bounds)


def _pairs(lower: object, upper: object, bounds: object) -> list[tuple[str, str]]:
    if bounds is not None:
        if lower is not None or upper is not None:
            raise InvalidArgument("bounds: is for several columns, lower and upper for one; give one of the two", "bounds")
        wanted = "a list of pairs, one a column: clamp(bounds=[(0, 100), (0, 1)])"
        pairs = [pair(ends, "bounds", wanted) for ends in listed(bounds, "bounds", wanted)]
        return [(exact(low, "bounds"), exact(high, "bounds")) for low, high in pairs]
    for name, end in (("lower", lower), ("upper", upper)):
        if end is None:
            raise InvalidArgument(f"{name}: is missing; give both ends, clamp(0, 100)", name)
    return [(exact(lower, "lower"), exact(upper, "upper"))]


def impute(*values: Number) -> Step[Transformation]:
    """Cells that are missing or NaN become a constant. Neighbors stay neighbors. Proof: proofs/make_impute.md.

    Args:
        values: a public number for each column, a double or a whole number of 64 bits.
    """
    texts = [exact(value, "values") for value in values]

    def make(rows: _core.Rows) -> _core.Transformation:
        with named(impute="values"):
            return _core.make_impute(rows, texts)

    return _step("impute", make, *values)


def drop() -> Step[Transformation]:
    """Leaves out rows with a cell that is missing or NaN. Add-remove neighbors only. Proof: proofs/make_drop.md."""
    return Step((_StepPart(words("drop", (), {}), _core.make_drop, keeps_rows=False),))


def parse(*types: str) -> Step[Transformation]:
    """Reads texts as numbers; what is none becomes missing. Neighbors stay neighbors. Proof: proofs/make_parse.md.

    Args:
        types: "real", "integer" or "text" for each column.
    """
    names = [text_of(type, "types") for type in types]

    def make(rows: _core.Rows) -> _core.Transformation:
        with named(type="types"):
            return _core.make_parse(rows, names)

    return _step("parse", make, *names)


def cast(*types: str, nearest: bool = False) -> Step[Transformation]:
    """Numbers of one type as numbers of the other; bounds are lost. Neighbors stay neighbors. Proof: proofs/make_cast.md.

    Args:
        types: "real" or "integer" for each column.
        nearest: a real that is no integer of 64 bits becomes the nearest one; else it becomes missing.
    """
    names = [text_of(type, "types") for type in types]
    near = flag(nearest, "nearest")

    def make(rows: _core.Rows) -> _core.Transformation:
        with named(type="types"):
            return _core.make_cast(rows, names, near)

    return _step("cast", make, *names, nearest=near or None)


def project(count: SupportsIndex) -> Step[Transformation]:
    """Keeps the first columns. Neighbors stay neighbors. Proof: proofs/make_project.md.

    Args:
        count: how many.
    """
    number = whole(count, "count")
    return _step("project", lambda rows: _core.make_project(rows, number), number)


def bins(
    *, edges: Iterable[Number] | None = None, categories: Iterable[Number | str] | None = None, other: bool = False
) -> Step[Transformation]:
    """The number of each cell's bin, from 0 on; cells in none become missing. Proof: proofs/make_bin.md.

    Args:
        edges: public edges: bins [e0, e1), [e1, e2), ... of which the last is closed.
        categories: instead: a bin each; public.
        other: one more bin for all other cells.
    """
    held = _bins(edges, categories, flag(other, "other"))
    return _step("bins", lambda rows: _core.make_bin(rows, held), edges=edges, categories=categories, other=other or None)


def _bins(edges: object, categories: object, other: bool, name: str = "categories") -> _core.Bins:
    if (edges is None) == (categories is None):
        raise InvalidArgument(f"{name}: give either edges or {name}; they are public", name)
    if categories is None:
        return _core.bins("edges", [exact(one, "edges") for one in listed(edges, "edges", "a list of numbers")], other)
    given = listed(categories, name, "a list of numbers or texts")
    are_words = bool(given) and all(isinstance(one, str) for one in given)
    texts = [text_of(one, name) if are_words else exact(one, name) for one in given]
    with named(categories=name):
        return _core.bins("texts" if are_words else "numbers", texts, other)


def centered_sum() -> Step[Aggregation]:
    """The sum of a bounded column, each value less the middle of the bounds: for means under add-remove.

    Proof: proofs/make_centered_sum.md.
    """
    return _step("centered_sum", _core.make_centered_sum)


def hierarchy(edges: Iterable[Number], *, branching: SupportsIndex | None = None) -> Step[Aggregation]:
    """Counts of bins, of neighboring bins together, and so on up to all rows: `Measurement.quantiles` come from it.

    Cells may not be missing or NaN. Proof: proofs/make_hierarchy.md.

    Args:
        edges: public edges: bins [e0, e1), [e1, e2), ...; values below the first and from the last on count in the end bins.
        branching: how many nodes of a level make one of the next; what tells quantiles best unless given.
    """
    texts = [exact(edge, "edges") for edge in listed(edges, "edges", "a list of numbers")]
    ways = optional_whole(branching, "branching", 2)

    def layout(rows: _core.Rows) -> _core.HierarchyLayout:
        made = _core.layout(texts, ways, rows.size is not None)
        return made if rows.size is None else made.with_public_total(rows.size)

    def make(rows: _core.Rows) -> _core.Aggregation:
        return _core.make_hierarchy(rows, layout(rows))

    return Step((_StepPart(f"hierarchy({len(texts)} edges)", make, layout=layout),))


def grouped(
    inner: Step[Aggregation] | Statistic,
    *,
    keys: Iterable[Number | str] | None = None,
    edges: Iterable[Number] | None = None,
    other: bool = False,
) -> Step[Aggregation]:
    """A statistic once for each key of the first column, all together: one epsilon pays for all groups.

    Add-remove neighbors only. The numbers are those of the groups one after the other, in the order of the keys; every key has
    its group. Proof: proofs/make_grouped.md.

    Args:
        inner: the steps for the rows of a group, of which the key is left out: drop() >> clamp(0, 100) >> sum().
        keys: the public keys.
        edges: instead: the groups are bins [e0, e1), [e1, e2), ... of which the last is closed.
        other: one more group for all other rows.
    """
    groups = _bins(edges, keys, flag(other, "other"), "keys")
    steps = _as_step(inner, "inner")
    functions = tuple(function for part in steps._parts for function in part.functions)

    def of_group(rows: _core.Rows) -> _core.Aggregation:
        chain = Rows(rows, None, {"anything": False}) >> steps
        if isinstance(chain, Aggregation):
            made: _core.Aggregation = chain._part
            return made
        raise InvalidArgument(f"inner: {steps} is no statistic; end it with count(), sum() ... and without noise", "inner")

    def make(rows: _core.Rows) -> _core.Aggregation:
        return _core.make_grouped(rows, groups, of_group)

    shown = f"grouped({steps}, {groups.size} groups)"
    return Step((_StepPart(shown, make, functions=functions),))


def statistic_step(statistic: Statistic) -> Step[Aggregation]:
    """A statistic as a step: what plans alone know is refused."""
    entries = dict(statistic._entries)
    kind = str(entries.pop("kind"))
    if not statistic._named:
        del entries["name"]
    makes: dict[str, tuple[tuple[str, ...], Callable[..., _Make]]] = {
        "count": ((), lambda: _core.make_count),
        "sum": ((), lambda: _core.make_sum),
        "mean": ((), lambda: _core.make_mean),
        "variance": ((), lambda: _core.make_variance),
        "covariance": ((), lambda: _core.make_covariance),
        "moment": (("order",), _moment),
        "histogram": (("edges", "categories", "other"), _histogram),
        "distinct": (("categories",), _distinct),
    }
    if kind not in makes:
        raise InvalidArgument(f"chain: {kind} is no step of a chain; ask a plan for it, or build it of others", "chain")
    options, make = makes[kind]
    for name in entries:
        if name not in options:
            raise InvalidArgument(
                f"{name}: is an option of plans; a chain takes the columns it is given, and epsilon, noise, grid and range "
                "from snapping(...)",
                name,
            )
    return _step(kind, make(**entries), **entries)


def _moment(order: object = None) -> _Make:
    number = whole(order, "order", 1, 4)
    return lambda rows: _core.make_moment(rows, number)


def _histogram(edges: object = None, categories: object = None, other: object = "drop") -> _Make:
    bins = _bins(edges, categories, choice(other, "other", ("drop", "bin")) == "bin")
    return lambda rows: _core.make_histogram(rows, bins)


def _distinct(categories: object = None) -> _Make:
    bins = _bins(None, categories, False)
    return lambda rows: _core.make_distinct(rows, bins)


def snapping(
    *,
    epsilon: Number | None = None,
    delta: Number | None = None,
    rho: Number | None = None,
    noise: str = "laplace",
    grid: str | Number = "auto",
    range: str | Sequence[Number | None] | Mapping[str, Number] | None = None,
    mode: str = "exact",
    precision: int | None = None,
    distance: SupportsIndex | None = None,
) -> Step[Measurement]:
    """The noise at the end of a chain: a measurement. Proof: proofs/make_snapping.md.

    Args:
        epsilon: the privacy loss at `distance`; exact, 0.1 is one tenth.
        delta: of Gaussian noise: the probability with which that epsilon may fail.
        rho: of Gaussian noise, instead of both: its zero-concentrated differential privacy.
        noise: "laplace", "geometric" for integer statistics, or "gaussian".
        grid: "auto", "notes" or a power of two such as "2^-10": the spacing of released values.
        range: what values and outputs are clamped to: the statistic's public range, if it has one, unless another is chosen:
            (lower, upper), None for an open end, "none", or {"gamma": 0.01}.
        mode: "exact", or "precision", the notes' arithmetic.
        precision: how many bits, in precision mode.
        distance: how far apart neighboring datasets are; 1, or of a table with units the rows of one, unless given.
    """
    if epsilon is None and rho is None:
        raise InvalidArgument("epsilon is missing: the privacy loss; or of Gaussian noise a rho", "epsilon")
    loss, fails, gaussian = optional_text(epsilon, "epsilon"), optional_text(delta, "delta"), optional_text(rho, "rho")
    spacing = exact(grid, "grid")
    kind, ends = _range(range)
    apart = optional_whole(distance, "distance")
    names = text_of(mode, "mode"), optional_whole(precision, "precision", 1), text_of(noise, "noise")

    def measured(aggregation: _core.Aggregation, most: int) -> _core.Measurement:
        return _core.make_measurement(
            aggregation, loss, fails, gaussian, spacing, *names, most if apart is None else apart, kind, ends
        )

    shown = words("snapping", (), {"epsilon": epsilon, "delta": delta, "rho": rho, "noise": None if noise == "laplace" else noise})
    return Step((_StepPart(shown, noise=measured),))


_ranges = '(lower, upper), "none" or {"gamma": 0.01}'


def _range(given: object) -> tuple[str, list[str | None]]:
    if given is None:
        return "own", [None, None]
    if isinstance(given, str) and given == "none":
        return "none", [None, None]
    if isinstance(given, Mapping):
        return "gamma", [text(entries(given, "range", "gamma")["gamma"], "gamma"), None]
    return "fixed", [optional_exact(end, "range") for end in pair(given, "range", _ranges)]


def _crossing(function: Callable[[Fraction], Number], parameter: str) -> Callable[[str], str]:
    """A map of distances as the library calls it: texts in, texts out."""

    def mapped(distance: str) -> str:
        return str(exact_fraction(function(Fraction(distance)), parameter))

    return mapped


class _Claim:
    """A relation, or the number of a stability, and the functions that it calls."""

    def __init__(
        self,
        stability: Stability | None,
        relation: Callable[[Fraction, Fraction], bool] | None,
        forward: Callable[[Fraction], Number] | None,
        backward: Callable[[Fraction], Number] | None,
    ) -> None:
        if (stability is None) == (relation is None):
            raise InvalidArgument(
                "relation: give either stability, a number or a map of distances, or relation, a predicate of two; without a "
                "claim nothing can be private",
                "relation",
            )
        hints = {"forward": optional_function(forward, "forward"), "backward": optional_function(backward, "backward")}
        for name, hint in hints.items():
            if relation is None and hint is not None:
                raise InvalidArgument(f"{name}: is a hint for a relation; stability is a map already", name)
        self.number: str | None = None
        self.functions: tuple[object, ...] = ()
        if relation is not None:
            claimed = function_of(relation, "relation")

            def holds(d_in: str, d_out: str) -> bool:
                return bool(claimed(Fraction(d_in), Fraction(d_out)))

            crossing = [None if hint is None else _crossing(hint, name) for name, hint in hints.items()]
            self.functions = (holds, *crossing)
            self.relation = _core.predicate_relation(holds, *crossing)
        elif callable(stability):
            mapped = _crossing(stability, "stability")
            self.functions = (mapped,)
            self.relation = _core.map_relation(mapped)
        else:
            self.number = text(stability, "stability")
            self.relation = _core.stable(self.number)


def _own(function: Callable[..., object], name: str | None) -> str:
    """What a step of somebody else is called, wherever it is shown."""
    own = getattr(function_of(function, "function"), "__qualname__", type(function).__name__)
    called = own if name is None else text_of(name, "name")
    if not called or not called.isprintable():
        raise InvalidArgument("name: is empty or has characters that cannot be shown; ledgers keep it for auditors", "name")
    return f"{called} (claimed by its author, not proved)"


def transformation(
    function: Callable[[list[Any]], Sequence[Any]],
    *,
    output: Column | Sequence[Column] | None = None,
    missing: bool = False,
    stability: Stability | None = None,
    relation: Callable[[Fraction, Fraction], bool] | None = None,
    forward: Callable[[Fraction], Number] | None = None,
    backward: Callable[[Fraction], Number] | None = None,
    name: str | None = None,
) -> Step[Transformation]:
    """Your own function from rows to rows, anywhere in a chain. What you claim of it is trusted.

    The library sees to it that every row that comes out is one of the output domain, and refuses to release otherwise; it
    cannot see that the claim is true. `testing.find_counterexample` looks for rows that say it is not. Trusted besides: that
    the function depends on its rows alone, gives the same whatever rows lie beside them, and takes a time that reveals nothing
    you care about. What it raises ends the release before the debit, and comes out as it is: so it must not depend on one row.

    Args:
        function: takes a list of rows, 2048 at most at a time, and returns as many or, under add-remove, fewer. A row is its cell (a float, an int, a str, None where it is missing), or a tuple of the cells of several
            columns.
        output: what comes out: `real()`, `integer(0, 10)` or `text()`, with bounds if there are any; a list of them for
            several columns. As what goes in, unless given.
        missing: whether cells of an `output` may be missing or NaN.
        stability: the claim: c, when inputs at distance d give outputs at distance c d at most; or a map from a distance of
            inputs to one of outputs, exact `Fraction`s. A function of each row by itself, one row for one, has stability 1.
        relation: or the claim as a predicate: relation(d_in, d_out) may be true only if inputs at most d_in apart always give
            outputs at most d_out apart.
        forward, backward: hints for a relation: some d_out for a d_in, and some d_in for a d_out. They are checked by the
            relation and not trusted.
        name: what chains and ledgers call it; the function's own name unless given. Equal names must mean equal functions.
    """
    called = _own(function, name)
    claim = _Claim(stability, relation, forward, backward)
    columns = _output_columns(output, missing)

    def transform(rows: list[Any]) -> Sequence[Any]:
        return function(rows)

    def make(rows: _core.Rows) -> _core.Transformation:
        return _core.make_transformation(rows, transform, columns, called, claim.relation)

    return Step((_StepPart(called, make, functions=(transform, *claim.functions), keeps_rows=False),))


def _output_columns(
    output: Column | Sequence[Column] | None, missing: bool
) -> list[tuple[str, str | None, str | None, bool]] | None:
    may_miss = flag(missing, "missing")
    if output is None:
        return None
    wanted = "real(0, 1), integer() or text(), or a list of them"
    given = [output] if isinstance(output, Column) else listed(output, "output", wanted)
    return [(*_column_text(of_class(column, Column, "output", wanted)), may_miss) for column in given]


def aggregation(
    function: Callable[[Any], Number | Sequence[Number]],
    *,
    totals: SupportsIndex = 1,
    finish: Callable[[int, tuple[Fraction, ...]], Number | Sequence[Number]] | None = None,
    numbers: SupportsIndex | None = None,
    integer: bool = False,
    grid: str | Number | None = None,
    range: tuple[Number, Number] | None = None,
    stability: Stability | None = None,
    relation: Callable[[Fraction, Fraction], bool] | None = None,
    forward: Callable[[Fraction], Number] | None = None,
    backward: Callable[[Fraction], Number] | None = None,
    name: str | None = None,
) -> Step[Aggregation]:
    """Your own statistic: what each row adds to some totals, and what follows from them. What you claim of it is trusted.

    Totals are summed exactly, so that neither order nor splits of rows matter. Distances of outputs are |y - y'|, or sums of
    these of several numbers. The statistic is rounded once, to a grid: stability as a number is that of the statistic before,
    and is raised to whole steps; a map or relation speaks of the rounded one. All else that is trusted is as of
    `transformation`.

    Args:
        function: takes a row, as of `transformation`, and gives what it adds to the total: an int, a float or a Fraction
            that is a binary fraction; a list of them for several totals.
        totals: how many.
        finish: takes the number of rows and the totals, and gives the statistic: one number or a list. The totals themselves,
            unless given.
        numbers: how many numbers `finish` gives; 1 unless given.
        integer: only integers come out, and so do releases; the grid is 1.
        grid: a power of two such as "2^-20", to which the statistic is rounded. Unless given it follows from a `stability` that
            is a number, as the library's own do.
        range: the public range of the statistic: others are refused before the debit, and releases are clamped to it.
        stability, relation, forward, backward: the claim, as of `transformation`.
        name: what chains and ledgers call it; the function's own name unless given.
    """
    called = _own(function, name)
    width = whole(totals, "totals", 1)
    given = optional_whole(numbers, "numbers", 1)
    ending = optional_function(finish, "finish")
    dimension = width if ending is None else given or 1
    integral = flag(integer, "integer")
    spacing = optional_text(grid, "grid")
    claim = _Claim(stability, relation, forward, backward)
    held = claim.relation
    if claim.number is not None:
        spacing, held = _core.rounded_stability(claim.number, spacing, integral, dimension)
    elif spacing is None and not integral:
        raise InvalidArgument(
            'grid: is missing; give the power of two that the statistic is rounded to, grid="2^-20", or integer=True', "grid"
        )
    both = (None, None) if range is None else pair(range, "range", "(lower, upper)")
    lower, upper = (None if range is None else exact(end, "range") for end in both)
    finishing = None if ending is None else _finishing(ending, dimension)

    def add(row: Any) -> Number | Sequence[Number]:
        return function(row)

    def make(rows: _core.Rows) -> _core.Aggregation:
        with named(lower="range", upper="range", bounds="range"):
            return _core.make_aggregation(
                rows, add, width, finishing, dimension, spacing or "1", integral, lower, upper, called, held
            )

    return Step((_StepPart(called, make, functions=(add, finishing, *claim.functions)),))


def _finishing(
    finish: Callable[[int, tuple[Fraction, ...]], Number | Sequence[Number]], numbers: int
) -> Callable[[int, list[str]], list[str]]:
    def finished(rows: int, totals: list[str]) -> list[str]:
        given = finish(rows, tuple(map(Fraction, totals)))
        values = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(values) != numbers:
            raise InvalidArgument(f"finish: gave {len(values)} numbers, and {numbers} are declared", "finish")
        return [str(_exact_number(value)) for value in values]

    return finished


def _exact_number(value: Any) -> Fraction:
    """The number that it is. What is none is refused without it: it may be private."""
    plain = value.item() if hasattr(value, "dtype") and getattr(value, "shape", None) == () else value
    try:
        return Fraction(plain)
    except (TypeError, ValueError, OverflowError):
        kind = type(value).__name__
        raise InvalidArgument(f"finish: gave a {kind} that is no finite number; give numbers", "finish") from None
