"""What plans tell, in plain records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _files
from ._numbers import fraction

if TYPE_CHECKING:
    from fractions import Fraction


@dataclass(frozen=True)
class PlannedAccuracy(_files.Shown):
    """P(|released - exact| > accuracy) <= alpha, in the unit of the statistic.

    tight: the least number that holds. conservative: the notes' formula. laplace: without rounding, for comparison.
    simultaneous: of histograms and groups: of all bins of all groups together.
    """

    tight: float
    conservative: float
    laplace: float
    simultaneous: float | None


@dataclass(frozen=True)
class Part(_files.Shown):
    """One noisy number, or vector, that a statistic is made of: "sum" and "count" of a mean; "" when it is itself."""

    part: str
    epsilon: Fraction
    sensitivity: Fraction
    scale: Fraction
    grid: Fraction


@dataclass(frozen=True)
class PlannedStatistic(_files.Shown):
    """What is known of a statistic before it is released.

    epsilon: what it costs. loss_bound: the proved bound on its privacy loss, at most epsilon. accuracy: None when it depends
    on what is released. rank_error: of quantiles, in rows. gap: of top, how many rows fewer than the most frequent one a category
    may have that is named. constant: the value itself, of what public facts alone determine.
    """

    name: str
    kind: str
    columns: tuple[str, ...]
    group_by: str | None
    groups: int
    bins: tuple[str, ...]
    epsilon: Fraction
    loss_bound: Fraction
    alpha: Fraction
    accuracy: PlannedAccuracy | None
    rank_error: float | None
    gap: float | None
    constant: Fraction | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Warning(_files.Shown):
    """Something to think about before paying; `statistic` is "" for the plan as a whole."""

    statistic: str
    message: str


@dataclass(frozen=True)
class Check:
    """What the rows hold, against what a plan says of them. Exact and not protected: for whoever holds the rows alone."""

    text: str
    json: str

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _files.text_html(self.text)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dict."""
        import json

        facts: dict[str, Any] = json.loads(self.json)
        return facts


def planned(facts: dict[str, Any]) -> PlannedStatistic:
    """From what the library says of a statistic."""
    accuracy = facts["accuracy"]
    return PlannedStatistic(
        name=facts["name"],
        kind=facts["kind"],
        columns=tuple(facts["columns"]),
        group_by=facts["group_by"],
        groups=facts["groups"],
        bins=tuple(facts["bins"]),
        epsilon=fraction(facts["epsilon"]),
        loss_bound=fraction(facts["loss_bound"]),
        alpha=fraction(facts["alpha"]),
        accuracy=None if accuracy is None else PlannedAccuracy(**accuracy),
        gap=facts["gap"],
        rank_error=facts["rank_error"],
        constant=None if facts["constant"] is None else fraction(facts["constant"]),
        parts=tuple(
            Part(
                part=part["part"],
                epsilon=fraction(part["epsilon"]),
                sensitivity=fraction(part["sensitivity"]),
                scale=fraction(part["scale"]),
                grid=fraction(part["grid"]),
            )
            for part in facts["measurements"]
        ),
    )
