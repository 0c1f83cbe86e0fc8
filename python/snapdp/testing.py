"""For tests of your own steps: a search for neighboring rows that tell a claim to be false.

from snapdp import testing

chain = dp.rows(dp.real(0, 10), neighbors="add-remove", missing=False) >> dp.aggregation(float, stability=1)
print(testing.find_counterexample(chain))      # 10 alone, and no row: 10 apart, not 1
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from . import _core, _files
from ._arguments import another_kind, listed, real, text_of, whole
from ._chain import Aggregation, Measurement, Transformation
from ._errors import InvalidArgument
from ._numbers import fraction

__all__ = ["Counterexample", "find_counterexample"]

_most_rows = 65_536  # that the search makes


@dataclass(frozen=True)
class Counterexample(_files.Shown):
    """Two neighboring datasets that break a rule, made small. No private row is in it: the search made them.

    part: the chain in words. rule: "stability", "relation", "output domain", "error", "split", "byte form" or "loss".
    explanation: what is wrong. first, second: the rows. first_output, second_output: what the chain makes of them, in words.
    d_in: the distance of the rows. d_out: that of the outputs, None when it is infinite or not what is broken. promised: what
    was claimed, None when that is not what is broken.
    """

    part: str
    rule: str
    explanation: str
    first: tuple[Any, ...]
    second: tuple[Any, ...]
    first_output: str
    second_output: str
    d_in: Fraction
    d_out: Fraction | None
    promised: Fraction | None
    description: str

    def __str__(self) -> str:
        return self.description


def find_counterexample(
    chain: Transformation | Aggregation | Measurement,
    *,
    trials: int = 2000,
    seed: int = 1,
    distances: Iterable[int] = (1, 2, 3, 5),
    reals: Iterable[float] = (),
    integers: Iterable[int] = (),
    texts: Iterable[str] = (),
) -> Counterexample | None:
    """Searches for neighbors that a chain tells farther apart than it claims, for outputs outside their domain, for dependence
    on order and splits of rows, and, of a measurement, for a loss that is larger than claimed. That it finds nothing proves
    nothing. The same arguments give the same search.

    Args:
        chain: with its rows: of a public size of 65,536 at most.
        trials: how many pairs of datasets are tried.
        seed: of the search; noise is never drawn.
        distances: in how many rows neighbors differ, taken in turn.
        reals, integers, texts: cells worth trying besides the built-in ones: edges, categories, keys.
    """
    parts = [one._part for one in chain.aggregations] if isinstance(chain, Measurement) else []
    if not isinstance(chain, (Transformation, Aggregation, Measurement)):
        raise another_kind(chain, "chain", "one that starts at its rows, rows(...) >> ...")
    options = (
        whole(trials, "trials", 1),
        whole(seed, "seed", 0, 2**64 - 1),
        _distances(distances),
        [real(one, "reals") for one in listed(reals, "reals", "a list of numbers")],
        [whole(one, "integers", -(2**63)) for one in listed(integers, "integers", "a list of whole numbers")],
        [text_of(one, "texts") for one in listed(texts, "texts", "a list of texts")],
    )
    for part in [chain._part, *parts]:
        found: Any = _core.find_counterexample(part, *options)
        if found is not None:
            if found["rule"] == "error" and found["explanation"].rstrip(" :\n").endswith("KeyboardInterrupt"):
                raise KeyboardInterrupt
            return _counterexample(found)
    return None


def _distances(given: object) -> list[int]:
    distances = [whole(one, "distances", 1, _most_rows) for one in listed(given, "distances", "a list of whole numbers")]
    if not distances:
        raise InvalidArgument("distances: there are none; give numbers of rows, (1, 2)", "distances")
    return distances


def _counterexample(found: dict[str, Any]) -> Counterexample:
    numbers = {name: None if found[name] is None else fraction(found[name]) for name in ("d_in", "d_out", "promised")}
    return Counterexample(**{**found, **numbers, "first": tuple(found["first"]), "second": tuple(found["second"])})
