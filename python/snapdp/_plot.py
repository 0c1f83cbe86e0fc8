"""Charts of plans and reports with matplotlib, by the marks of the pages: a bar is solid up to what the interval leaves certain,
paler and framed over the interval, with a tick at the released number; what is only planned is hatched."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Union

from ._arguments import real, text_of
from ._errors import InvalidArgument, NotInstalled

if TYPE_CHECKING:
    from ._plan import Plan
    from ._report import Estimate, Released, Report

try:
    from matplotlib import rc_context
    from matplotlib.figure import Figure
except ImportError:
    raise NotInstalled(
        "matplotlib: is not installed, and draws the plots; pip install matplotlib, or look at the page with its own charts, "
        'report.html("report.html")',
        "matplotlib",
    ) from None

_bar, _inside, _tick, _planned, _soft = "#1f5f8b", "#a9cbe3", "#0b1f2f", "#d55e00", "#555d66"
_row = 0.36  # inches
_widest = 500  # inches: of what is wider matplotlib makes no image


class Picture(Figure):
    """A figure of matplotlib that a notebook shows by itself, and no window opens for. `savefig` writes it."""

    def _repr_svg_(self) -> str:
        text = io.StringIO()
        with rc_context({"svg.hashsalt": "snapdp"}):
            self.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()


class _Row(NamedTuple):
    label: str
    value: float
    lower: Union[float, None]
    upper: Union[float, None]


def _wanted(names: Sequence[str], there: Iterable[str]) -> list[str]:
    known = list(there)
    for name in names:
        if text_of(name, "names", "names of statistics") not in known:
            raise InvalidArgument(f'names: there is no "{name}"; give some of {", ".join(known)}, or none for all', "names")
    return list(names) or known


def _empty(heights: Sequence[int], width: float) -> tuple[Picture, Any]:
    """A picture with one chart above the other, as high as their rows are many."""
    inches = real(width, "width")
    if not 1 <= inches <= _widest:
        raise InvalidArgument(f"width = {inches:.6g}: must be between 1 and {_widest} inches", "width")
    picture = Picture(figsize=(inches, sum(_row * rows + 0.9 for rows in heights)), layout="constrained", facecolor="white")
    return picture, picture.subplots(len(heights), squeeze=False, height_ratios=[rows + 1.5 for rows in heights])[:, 0]


def of_report(report: Report, names: Sequence[str], width: float) -> Picture:
    """A chart a statistic, a row a number: the number, its interval, and 0."""
    # What names categories has no number to draw.
    shown = [(name, _rows(report[name])) for name in _wanted(names, report) if not report[name].top]
    if not shown:
        raise InvalidArgument("names: none of these statistics has a number to draw; look at .top", "names")
    facts = {entry["name"]: entry for entry in report.to_dict()["statistics"]}
    picture, charts = _empty([len(rows) for _, rows in shown], width)
    for chart, (name, rows) in zip(charts, shown):
        for place, row in enumerate(rows):
            _draw(chart, place, row)
        chart.axvline(0, color=_soft, linewidth=0.8)
        chart.set_yticks(range(len(rows)), [row.label for row in rows])
        chart.use_sticky_edges = False  # an interval may end left of 0: with some air
        chart.margins(x=0.02)
        chart.set_ylim(len(rows) - 0.5, -0.5)  # in the order of the report, from above
        chart.set_title(_plain(facts[name].get("title", name)), loc="left", fontweight="bold", fontsize=10)
        chart.set_xlabel(_plain(_under(report[name], facts[name].get("unit", ""))), fontsize=8)
        chart.spines[["top", "right", "left"]].set_visible(False)
        chart.tick_params(axis="y", length=0)
    return picture


def _plain(text: str) -> str:
    """matplotlib takes what stands between two dollars for a formula."""
    return text.replace("$", r"\$")


def _under(statistic: Released, unit: str) -> str:
    interval = "" if statistic.alpha is None else f"{_promise(statistic)} {_times(float(statistic.alpha))}; "
    return f"{unit + '; ' if unit else ''}{interval}\N{GREEK SMALL LETTER EPSILON} = {float(statistic.epsilon):.6g}"


def _promise(statistic: Released) -> str:
    if len(statistic.estimates) == 1:
        return "bar: the exact number lies in it"
    if _together(statistic):
        return "bars: all the exact numbers lie in theirs at once"
    return "bars: each exact number lies in its own, one by one,"


def _together(statistic: Released) -> bool:
    """Whether the intervals hold for all numbers at once, as reports do for bins, quantiles and coefficients, also by groups."""
    one = next(iter(statistic.groups.values()), statistic)
    return bool(one.bins or one.quantiles or one.coefficients) or one.kind == "median"


def _times(alpha: float) -> str:
    return f"{100 * (1 - alpha):.6g} times in 100"


def _rows(statistic: Released) -> list[_Row]:
    if statistic.groups:
        return [
            row._replace(label=f"{_plain(str(key))}, {row.label}" if row.label else _plain(str(key)))
            for key, group in statistic.groups.items()
            for row in _rows(group)
        ]
    held: dict[Any, Estimate] = (
        dict(statistic.bins) or dict(statistic.quantiles) or dict(statistic.coefficients) or {"": statistic.estimates[0]}
    )
    return [
        _Row(_plain(str(key)), float(estimate.value), *(None if end is None else float(end) for end in estimate.interval))
        for key, estimate in held.items()
    ]


def _draw(chart: Any, place: int, row: _Row) -> None:
    if row.lower is not None and row.upper is not None:
        certain = max(0.0, row.lower) or min(0.0, row.upper)  # from 0 to the near end, where 0 lies outside
        chart.barh(place, certain, height=0.5, color=_bar)
        chart.barh(place, row.upper - row.lower, left=row.lower, height=0.5, color=_inside, edgecolor=_bar)
    chart.vlines(row.value, place - 0.36, place + 0.36, color=_tick, linewidth=2.4)


def of_plan(plan: Plan, width: float) -> Picture:
    """What each statistic costs of the budget, and how near it will be."""
    statistics = plan.statistics
    picture, (chart,) = _empty([len(statistics)], width)
    budget = float(plan.budget)
    for place, statistic in enumerate(statistics):
        cost = float(statistic.epsilon)
        chart.barh(place, cost, height=0.5, facecolor="white", edgecolor=_bar, hatch="////")
        chart.annotate(
            f" {_near(statistic)}, \N{GREEK SMALL LETTER EPSILON} {cost:.4g}", (cost, place), va="center", fontsize=8
        )
    chart.set_yticks(range(len(statistics)), [_plain(statistic.name) for statistic in statistics])
    chart.set_ylim(len(statistics) - 0.5, -0.5)
    chart.set_xlim(0, budget * 1.35)  # with room for the words behind the longest bar
    chart.axvline(budget, color=_soft, linestyle="dotted")
    chart.set_title(
        f"Would cost \N{GREEK SMALL LETTER EPSILON} {float(plan.epsilon):.6g} of {budget:.6g}; nothing is read or spent",
        loc="left", fontweight="bold", fontsize=10,
    )  # fmt: skip
    chart.set_xlabel("\N{GREEK SMALL LETTER EPSILON}; dotted: the budget of the run", fontsize=8)
    chart.spines[["top", "right", "left"]].set_visible(False)
    chart.tick_params(axis="y", length=0)
    return picture


def _near(statistic: Any) -> str:
    """The accuracy, upward, of all bins and groups together where there are several."""
    from ._numbers import round_up

    if statistic.rank_error is not None:
        return f"\N{PLUS-MINUS SIGN}{round_up(statistic.rank_error)} rows"
    if statistic.accuracy is None:
        return "told with the release"
    together = statistic.accuracy.simultaneous
    near = statistic.accuracy.tight if together is None else together
    return f"\N{PLUS-MINUS SIGN}{round_up(near)}{'' if together is None else ', all at once'}"
