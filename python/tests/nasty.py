"""Nasty tables and questions, for every engine alike: whatever holds these rows gives the states of the rows themselves."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pyarrow as arrow

import snapdp as dp

types = {
    "real": arrow.float64(),
    "int": arrow.int64(),
    "dec": arrow.decimal128(20, 2),
    "flag": arrow.bool_(),
    "small": arrow.int16(),
    "single": arrow.float32(),
    "text": arrow.string(),
    "loose": arrow.float64(),  # of which nothing is declared, to be read as another type
    "whole": arrow.int64(),
}
keys = ["a", "A", "ä", "a\u0308", " a", "a ", "it's", 'say "hi"', "back\\slash", "\\'", "${spark.app.name}", "%s", "?", "x0", "NULL", "-- no"]
reals = [
    0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1e-30, -1e-30, 0.1, -0.1, 0.5, 1.5, -1.5, 2.5, 99.99999999999999, 100.0,
    100.00000000000001, -100.0, 123.456, 1e15, -1e15, 9.007199254740993e15, 9.223372036854776e18, -9.223372036854776e18, 1e300,
    -1e300, 1.7976931348623157e308, math.inf, -math.inf, math.nan, None,
]  # fmt: skip
ints = [0, 1, -1, 2, 7, -7, 100, 101, -101, 2**31, -(2**31) - 1, 2**53 + 1, 2**62, 2**63 - 1, -(2**63), -(2**63) + 1, None]
decimals = ["0.00", "-0.01", "1.00", "-1.00", "2.50", "7.00", "99.99", "1234567890123.90", "-1234567890123.90", None]
singles = [0.0, -0.0, 0.1, -2.5, 3.4e38, 1e-45, math.inf, -math.inf, math.nan, None]


def table(columns: dict[str, list]) -> arrow.Table:
    from decimal import Decimal

    def cells(name: str) -> list:
        if name == "dec":
            return [None if cell is None else Decimal(cell) for cell in columns[name]]
        return columns[name]

    return arrow.table({name: arrow.array(cells(name), kind) for name, kind in types.items()})


def mixed(count: int, seed: int) -> arrow.Table:
    """Rows in which every nasty cell meets others."""
    source = random.Random(seed)

    def drawn(few: list) -> list:
        return [few[i] if i < len(few) and i < count else source.choice(few) for i in range(count)]

    return table(
        {
            "real": drawn(reals),
            "int": drawn(ints),
            "dec": drawn(decimals),
            "flag": drawn([True, False, None]),
            "small": drawn([-(2**15), -3, 0, 3, 2**15 - 1, None]),
            "single": drawn(singles),
            "text": drawn([*keys, "elsewhere", "", None]),
            "loose": drawn(reals[::-1]),
            "whole": drawn(ints[::-1]),
        }
    )


def ordinary(count: int, seed: int) -> arrow.Table:
    source = random.Random(seed)
    return table(
        {
            "real": [source.gauss(20, 40) for _ in range(count)],
            "int": [source.randrange(-20, 130) for _ in range(count)],
            "dec": [f"{source.randrange(-500, 500)}.{source.randrange(100):02}" for _ in range(count)],
            "flag": [source.random() < 0.3 for _ in range(count)],
            "small": [source.randrange(-3, 4) for _ in range(count)],
            "single": [source.uniform(-5, 5) for _ in range(count)],
            "text": [source.choice(keys) for _ in range(count)],
            "loose": [source.choice([source.gauss(0, 1), float(source.randrange(5))]) for _ in range(count)],
            "whole": [source.randrange(-5, 5) for _ in range(count)],
        }
    )


tables: dict[str, Callable[[], arrow.Table]] = {
    "mixed": lambda: mixed(300, 1),
    "ordinary": lambda: ordinary(3000, 2),
    "empty": lambda: table({name: [] for name in types}),
    "one row": lambda: mixed(1, 3),
    "all null": lambda: table({name: [None] * 5 for name in types}),
    "all nan": lambda: table({name: [math.nan if name in ("real", "single", "loose") else None] * 3 for name in types}),
}


def dataset(**options: object) -> dp.Dataset:
    if "size" not in options:
        options = {"neighbors": "add-remove", "expected_size": 1000, **options}
    return dp.dataset(
        "nasty",
        row_grid="auto",
        columns={
            "real": dp.real(-100, 100),
            "int": dp.integer(-100, 100),
            "text": dp.text(keys=keys),
            "small": dp.integer(keys=[-3, 0, 3]),
        },
        **options,  # type: ignore[arg-type]
    )


def sums() -> list[dp.Statistic]:
    return [
        dp.count(),
        dp.sum("real"),
        dp.mean("int"),
        dp.variance("real"),
        dp.standard_deviation("int"),
        dp.covariance("real", "loose", bounds=[(-100, 100), (-1, "0.7")]),
        dp.correlation("whole", "dec", bounds=[(-100, 100), (-3, 3)], type="real"),
        dp.regression("real", ["loose", "int"], bounds=[(-100, 100), (-1, "0.7"), (-50, 100)]),
        dp.covariance("int", "whole", bounds=[(-100, 100), (-(2**40), 2**40)], name="integers"),
        dp.mean("real", bounds=("-1e290", "1e290"), name="wide"),
        dp.mean("real", bounds=(0, "1e-280"), name="narrow"),
        dp.mean("real", bounds=("-0.3", "0.7"), row_grid="2^-3", name="coarse"),
        dp.sum("int", bounds=(-(2**60), 2**60), name="large"),
        dp.variance("int", bounds=(-(2**60), 2**60), name="large squares"),
        dp.mean("dec", type="real", bounds=("-1e12", "1e12"), name="decimal as real"),
        dp.mean("dec", type="integer", bounds=(-5, 50), name="decimal as integer"),
        dp.mean("loose", type="integer", bounds=(-50, 150), name="real as integer"),
        dp.mean("whole", type="real", bounds=(-50, "1e18"), name="integer as real"),
        dp.mean("flag", type="integer", bounds=(0, 1)),
        dp.sum("flag", type="real", bounds=(0, 1)),
        dp.mean("small", type="integer", bounds=(-4, 4)),
        dp.mean("single", type="real", bounds=(-3, 3)),
    ]


def bins() -> list[dp.Statistic]:
    return [
        dp.histogram("real", edges=[-100, "-1e-30", 0, "0.1", 1, 100]),
        dp.histogram("int", edges=[-100, -1, 0, 1, 2, 100], other="bin", name="integers"),
        dp.histogram("text", categories=keys, other="bin"),
        dp.histogram("small", categories=[3, -3, 0], name="three"),
        dp.histogram("int", categories=[2**63 - 1, -(2**63), 0], name="extremes"),
        dp.distinct("text", categories=keys),
        dp.range_count("real", bounds=(0, "0.1")),
        dp.range_count("int", bounds=(-1, 2**62), name="half"),
        dp.quantiles("real", ["0.25", "0.5", "0.9"], resolution=10),
        dp.median("int", resolution=5),
        dp.quantiles("single", ["0.5"], edges=[-2, 0, "0.25", 2], type="real"),
    ]


def groups() -> list[dp.Statistic]:
    return [
        dp.count().by("text"),
        dp.mean("real").by("text"),
        dp.mean("real").by("small"),
        dp.variance("int").by("small"),
        dp.histogram("int", edges=[-100, 0, 100], name="signs").by("text"),
        dp.covariance("real", "loose", bounds=[(-100, 100), (-1, 1)]).by("small"),
        dp.regression("int", ["real", "loose"], bounds=[(-100, 100), (-9, 9), (-1, 1)]).by("text"),
        dp.sum("real", bounds=(-1, 1)).by("real", keys=[-1.5, 0, 0.1]),
    ]


conditions = [
    "real >= -1.5 and real < 100",
    "not real > 0",
    "int in (0, 1, 7) or text in ('a', 'ä')",
    "text != 'a' and not (small = 3 or small < 0)",
    "int > 9007199254740992 or real <= -1e300",
]


def plans(count: int) -> dict[str, dp.Plan]:
    """For a table of so many rows."""
    found = {
        "sums": dataset().plan(*sums(), epsilon=1),
        "sums, imputed": dataset(nulls={"impute": "0.5"}).plan(
            dp.count(), dp.mean("real"), dp.variance("real"), dp.mean("real").by("small"), epsilon=1
        ),
        "moments": dataset(neighbors="change-one", size=count, nulls={"impute": "0.5"}).plan(
            *(dp.moment("real", order=order, name=f"moment {order}") for order in (1, 2, 3, 4)),
            dp.mean("real"),
            epsilon=1,
        ),
        "bins": dataset().plan(*bins(), epsilon=1),
        "groups": dataset().plan(*groups(), epsilon=1),
    }
    for condition in conditions:
        found[f"where {condition}"] = dataset(where=condition).plan(
            dp.count(), dp.mean("real"), dp.histogram("text", other="bin", categories=keys), dp.count().by("small"), epsilon=1
        )
    return found


def states(plan: dp.Plan, data: object, whole_units: bool = False) -> bytes:
    """What `dp.fold` gives, without the random identity and the checksum; and under a condition or a unit without the number of
    all rows, because a query counts those that it keeps."""
    part = dp.fold(plan, data, whole_units)
    rows = b"" if "where = " in plan.to_toml() or "privacy_unit = " in plan.to_toml() else part[61:69]
    return part[:12] + part[28:61] + rows + part[69:-32]


# Names that a query has to carry whatever they are, and some that it uses itself.
names = [
    "select", "group", "order", 'a"b', "a'b", "a`b", "a.b", "back\\slash", "Ünï cödé", " blank ", "x0", "c0", "q", "row_unit", "row_rank",
    "snapdp_plan", "part", "key_1", "n_0", "COUNT", "${spark.app.name}", "--", "/* */", ";", "%s", "?", ":name", "$1", "é" * 20,
]  # fmt: skip


def named(count: int = 40) -> arrow.Table:
    source = random.Random(4)
    return arrow.table({name: arrow.array([source.randrange(-3, 4) for _ in range(count)], arrow.int64()) for name in names})


def named_plan() -> dp.Plan:
    declared = {name: dp.integer(-2, 3) for name in names}
    people = dp.dataset("names", neighbors="add-remove", expected_size=40, columns=declared)
    return people.plan(*(dp.sum(name) for name in names), dp.count().by("select", keys=[-1, 0, 1]), epsilon=1)
