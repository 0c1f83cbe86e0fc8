"""Whatever is given to whatever the package has: it works, or it is an Error that names the parameter."""

from __future__ import annotations

import inspect
import sqlite3
from dataclasses import dataclass, field, is_dataclass
from fractions import Fraction
from typing import Any, Callable

import pytest

import snapdp as dp
from conftest import root
from snapdp import testing

for needed in ("pyarrow", "pandas", "polars", "matplotlib"):  # some results are theirs
    pytest.importorskip(needed)


def anything(*arguments, **options):
    return None


class Anything:
    def __init__(self, *arguments, **options):
        pass


wrong: dict[str, Any] = {
    "5": 5,
    "-1": -1,
    "0": 0,
    "1.5": 1.5,
    "a word": "no",
    "no text": "",
    "half a character": "a\ud800",
    "a zero byte": "a\0b",
    "None": None,
    "no members": [],
    "no entries": {},
    "an object": object(),
    "NaN": float("nan"),
    "infinity": float("-inf"),
    "bytes": b"x",
    "True": True,
    "beyond 64 bits": 10**30,
    "beyond digits": -(10**5000),
    "complex": 1j,
    "a function": anything,
    "a class": Anything,
    "of numbers": [5],
    "of words": ["no"],
    "of objects": [object()],
    "of nothing": [None],
    "of lists": [[]],
    "of pairs": [(1, 2)],
    "a pair": (7, None),
    "a set": {object()},
    "by words": {"no": 5},
    "by numbers": {5: object()},
    "a statistic": dp.count(),
    "a column": dp.real(),
    "a step": dp.drop(),
}


@dataclass
class Use:
    """A call with good arguments, and what the result is good for."""

    call: Callable[..., Any]
    given: dict[str, Any] = field(default_factory=dict)
    then: Callable[[Any], Any] = lambda result: result
    # What a refusal may name besides the parameter, because it follows from it; "*" stands for any.
    also: dict[str, set[str]] = field(default_factory=dict)


class World:
    """What calls need: made once, and none of them changes it."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.people = dp.dataset(
            "people", neighbors="add-remove", expected_size=100,
            columns={"age": dp.integer(0, 100), "income": dp.real(0, 10), "city": dp.text(keys=["Jena", "Ulm"])},
        )  # fmt: skip
        self.public = dp.dataset("public", neighbors="change-one", size=4, columns={"age": dp.integer(0, 100), "y": dp.real(0, 1)})
        self.ledger = dp.Ledger.create(folder / "people.ledger", self.people, epsilon=10**6)
        self.frame = {"age": [1, 2, 3, 40], "income": [1.0, 2.0, None, 4.0], "city": ["Ulm", "Jena", None, "Ulm"]}
        self.plan = self.people.plan(dp.count(), dp.mean("age"), epsilon=1)
        (folder / "plan.toml").write_text(self.plan.to_toml())
        (folder / "people.toml").write_text(self.people.to_toml())
        (folder / "statistics.toml").write_text(
            '[budget]\nepsilon = 1\n[[statistic]]\nname = "n"\nkind = "count"\nepsilon = 1\n'
        )
        self.report = self.plan.release(self.frame, self.ledger, label="first")
        self.rows = dp.rows(dp.real(0, 10), neighbors="add-remove", missing=False)
        self.numbers = self.rows >> dp.clamp(0, 10)
        self.total = self.numbers >> dp.sum()
        self.noisy = self.total >> dp.snapping(epsilon=1)
        self.table = dp.rows({"x": dp.real(), "y": dp.real()}, neighbors="change-one", size=4, missing=False)
        self.any_table = dp.rows({"x": dp.real(), "city": dp.text()}, neighbors="add-remove")
        self.tree = self.numbers >> dp.hierarchy([0, 1, 2, 10]) >> dp.snapping(epsilon=1)
        self.grown = self.tree.release(self.cells(), dp.Budget(1))
        self.parts = dp.sequential(
            self.numbers >> dp.count() >> dp.snapping(epsilon=1), self.numbers >> dp.centered_sum() >> dp.snapping(epsilon=1)
        )
        self.released = self.parts.release(self.cells(), dp.Budget(2))
        self.words = dp.rows(dp.text(), neighbors="add-remove")
        self.reals = dp.rows(dp.real(), neighbors="add-remove")

    @staticmethod
    def cells() -> list[float]:
        return [1.0, 2.0, 9.5]

    def planned(self, *statistics: dp.Statistic) -> dp.Plan:
        return self.people.plan(*statistics, epsilon=1)

    def planned_by_keys(self, keys: dp.PrivateKeys) -> dp.Plan:
        return self.people.plan(dp.count().by("city", keys=keys), epsilon=10**10, delta="0.99")

    def planned_of_public(self, statistic: dp.Statistic) -> dp.Plan:
        return self.public.plan(statistic, epsilon=1)

    def priced(self, chain: Any) -> Fraction:
        return (chain >> dp.snapping(epsilon=1)).price

    @staticmethod
    def told(chain: Any) -> Any:
        return chain.output.domain, chain.steps()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("arguments"))


def of_plans(world: World) -> dict[str, Use]:
    """Statistics, and what declares data for them."""
    both = {"first": "age", "second": "y"}
    column_of = {"name", "bounds"}  # the name of a statistic is made of its columns, and theirs are the bounds
    columns = {"first": {"columns", *column_of}, "second": {"columns", *column_of}, "epsilon": {"lower", "upper"}}
    columns_of_fit = {"y": {"x", *column_of}, "x": {"x", *column_of}, "epsilon": {"lower", "upper"}}
    one = {"column": column_of, "epsilon": {"lower", "upper"}, "edges": {"categories", "resolution"}, "resolution": {"edges"}}
    declared = {"dataset": "d", "neighbors": "add-remove", "columns": {"age": dp.integer(0, 9)}}
    toml = {name: {"specification", "[data]"} for name in ("toml", "declaration")}
    missing = {"max_rows_per_unit", "privacy_unit"}
    data = {"data": {"column", "format"}}
    units = {**declared, "unit": "u", "max_rows_per_unit": 2}
    of = world.planned
    public = world.planned_of_public

    def column(made):
        return dp.dataset("d", neighbors="add-remove", columns={"age": made}).plan(dp.count(), epsilon=1)

    ends = {"lower": {"bounds"}, "upper": {"bounds", "lower"}, "keys": {"categories"}, "categories": {"keys"}}
    return {
        "count": Use(dp.count, {}, of),
        "sum": Use(dp.sum, {"column": "age"}, of, one),
        "mean": Use(dp.mean, {"column": "age"}, of, one),
        "variance": Use(dp.variance, {"column": "age"}, public, one),
        "standard_deviation": Use(dp.standard_deviation, {"column": "age"}, public, one),
        "covariance": Use(dp.covariance, both, public, columns),
        "correlation": Use(dp.correlation, both, public, columns),
        "regression": Use(dp.regression, {"y": "age", "x": ["y"]}, public, columns_of_fit),
        "moment": Use(dp.moment, {"column": "age", "order": 2}, public, one),
        "median": Use(dp.median, {"column": "income", "resolution": 1}, of, one),
        "quantiles": Use(dp.quantiles, {"column": "income", "quantiles": [0.5], "resolution": 1}, of, one),
        "histogram": Use(dp.histogram, {"column": "age", "edges": [0, 5, 10]}, of, {**one, "categories": {"edges"}}),
        "distinct": Use(dp.distinct, {"column": "age", "categories": [1, 2]}, of, one),
        "range_count": Use(dp.range_count, {"column": "age", "bounds": [1, 5]}, of, one),
        "top": Use(dp.top, {"column": "age", "k": 1, "categories": [1, 2]}, of, one),
        "private_keys": Use(dp.private_keys, {"epsilon": 1, "delta": "1e-6"}, world.planned_by_keys),
        "Statistic.by": Use(dp.count().by, {"column": "city"}, of, {"column": {"group_by", "keys", "name"}}),
        "integer": Use(dp.integer, {"lower": 0, "upper": 9}, column, ends),
        "real": Use(dp.real, {"lower": 0, "upper": 9}, column, ends),
        "text": Use(dp.text, {"keys": ["a", "b"]}, column, ends),
        "dataset": Use(dp.dataset, declared, lambda made: made.plan(dp.count(), epsilon=1), {"unit": missing, "privacy_unit": missing}),
        "dataset/units": Use(dp.dataset, units, lambda made: made.plan(dp.count(), epsilon=1), {"unit": missing, "privacy_unit": missing}),
        "median/edges": Use(dp.median, {"column": "income", "edges": [0, 5, 10]}, of, {**one, "edges": {"resolution"}}),
        "quantiles/edges": Use(dp.quantiles, {"column": "income", "quantiles": [0.5], "edges": [0, 5, 10]}, of, {**one, "edges": {"resolution"}}),
        "histogram/categories": Use(dp.histogram, {"column": "age", "categories": [0, 5, 10]}, of, {**one, "categories": {"edges"}}),
        "text/categories": Use(dp.text, {"categories": ["a", "b"]}, column, {"categories": {"keys"}}),
        "integer/keys": Use(dp.integer, {"lower": 0, "upper": 9, "keys": [1, 2]}, column, ends),
        "Dataset": Use(dp.Dataset, {"toml": world.people.to_toml()}, also=toml),
        "Dataset.plan": Use(world.people.plan, {"*statistics": dp.count(), "epsilon": 1}, also={"statistics": {"name"}}),
        "Dataset.to_toml": Use(world.people.to_toml),
        "read_dataset": Use(dp.read_dataset, {"path": world.folder / "people.toml"}),
        "plan": Use(dp.plan, {"path": world.folder / "plan.toml"}),
        "Plan": Use(dp.Plan, {"toml": world.plan.to_toml()}, also=toml),
        "Plan.warnings": Use(world.plan.warnings),
        "Plan.to_table": Use(world.plan.to_table),
        "Plan.to_json": Use(world.plan.to_json),
        "Plan.to_dict": Use(world.plan.to_dict),
        "Plan.to_html": Use(world.plan.to_html),
        "Plan.html": Use(world.plan.html, {"path": "page.html"}),
        "Plan.to_toml": Use(world.plan.to_toml),
        "Plan.explain": Use(world.plan.explain),
        "Plan.plot": Use(world.plan.plot),
        "Plan.check": Use(world.plan.check, {"data": world.frame}, also=data),
        "Plan.release": Use(world.plan.release, {"data": world.frame, "ledger": world.ledger}, also=data),
        "Plan.dry_run": Use(world.plan.dry_run, {"data": world.frame, "ledger": world.ledger}, also=data),
        "Check.to_dict": Use(world.plan.check(world.frame).to_dict),
    }


def of_ledgers(world: World) -> dict[str, Use]:
    ledger, report = world.ledger, world.report
    new = (world.folder / f"{number}.ledger" for number in range(10**6))
    return {
        "Ledger": Use(dp.Ledger, {"path": ledger.path}),
        "Ledger.open": Use(dp.Ledger.open, {"path": ledger.path}),
        "Ledger.create": Use(
            lambda **given: dp.Ledger.create(**{"path": next(new), **given}), {"dataset": world.people, "epsilon": 1}
        ),
        "Ledger.entries": Use(ledger.entries),
        "Ledger.entry": Use(ledger.entry, {"release": 1}),
        "Ledger.find": Use(ledger.find, {"label": "first"}),
        "Ledger.specification": Use(ledger.specification, {"release": 1}),
        "Ledger.report": Use(ledger.report, {"release": 1}),
        "Ledger.verify": Use(ledger.verify, {"*anchors": ledger.anchor}),
        "Report.from_json": Use(dp.Report.from_json, {"text": report.to_json()}, str),
        "Report.to_json": Use(report.to_json),
        "Report.to_dict": Use(report.to_dict),
        "Report.to_table": Use(report.to_table),
        "Report.to_html": Use(report.to_html),
        "Report.to_csv": Use(report.to_csv),
        "Report.to_markdown": Use(report.to_markdown),
        "Report.html": Use(report.html, {"path": "report.html"}),
        "Report.csv": Use(report.csv, {"path": "report.csv"}),
        "Report.to_pandas": Use(report.to_pandas),
        "Report.to_polars": Use(report.to_polars),
        "Report.to_arrow": Use(report.to_arrow),
        "Report.plot": Use(report.plot, {"*names": "count"}),
    }


def of_elsewhere(world: World) -> dict[str, Use]:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (age INTEGER)")
    cells = {"rows": {"aggregates"}}  # what is wrong with a cell
    return {
        "sql": Use(dp.sql, {"connection": connection, "table": "people"}, repr),
        "aggregates": Use(dp.aggregates, {"columns": ["n"], "rows": [[1]]}, repr, cells),
        "states": Use(dp.states, {"states": [b"a part"]}, repr),
        "fold": Use(dp.fold, {"plan": world.plan, "data": world.frame}, also={"data": {"column", "format"}}),
        "Plan.sql": Use(world.plan.sql, {"dialect": "duckdb", "table": "people"}),
    }


def of_mechanisms(world: World) -> dict[str, Use]:
    snapping = dp.Snapping(epsilon=1, sensitivity=1, lower=0, upper=100)
    geometric = dp.Geometric(epsilon=1, sensitivity=1)
    asked = {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 8}
    few = {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 8, "grid": "notes"}
    outputs = dp.Snapping(epsilon=1, sensitivity=1).release([0.0] * 200)
    vectors = "".join((root / "tests/data/snap_exact.csv").read_text().splitlines(keepends=True)[:4])
    audit = dp.audit(outputs, outputs)
    ends = {"lower": {"upper"}, "upper": {"lower"}, "noise": {"mode", "grid"}, "epsilon": {"target_accuracy", "upper"}}
    made = {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 100}
    return {
        "Snapping": Use(dp.Snapping, made, lambda made: made.release(4.0), ends),
        "Snapping.release": Use(snapping.release, {"value": 42.0}),
        "Snapping.loss_bound": Use(snapping.loss_bound),
        "Geometric": Use(dp.Geometric, made, lambda made: made.release(4), ends),
        "Geometric.release": Use(geometric.release, {"value": 42}),
        "Geometric.loss_bound": Use(geometric.loss_bound),
        "trace": Use(dp.trace, {"vectors": vectors}),
        "accuracy": Use(dp.accuracy, {"epsilon": 1, "sensitivity": 1}, also={**ends, "target_accuracy": {"epsilon"}}),
        "law": Use(dp.law, few, lambda made: made.svg(), ends),
        "Law.svg": Use(dp.law(**few).svg),
        "bias": Use(dp.bias, asked, also=ends),
        "bound": Use(dp.bound, {"epsilon": 1, "sensitivity": 1, "lower": 0, "upper": 8}, also=ends),
        "certify": Use(dp.certify, few, also=ends),
        "compose": Use(dp.compose, {"epsilons": [0.1, (0.2, 3)], "delta": 1e-6}),
        "audit": Use(dp.audit, {"first": outputs, "second": outputs}),
        "Audit.refutes": Use(audit.refutes, {"epsilon": 1}),
    }


def of_chains(world: World) -> dict[str, Use]:
    numbers, table, noisy, parts = world.numbers, world.table, world.noisy, world.parts
    waiting = dp.clamp(0, 1) >> dp.sum()
    cells = world.cells()

    def after(start, follow=world.priced):
        return lambda step: follow(start >> step)

    def started(rows):
        return rows.domain, rows.metric

    table_of = {"columns": {"x": dp.real()}, "neighbors": "add-remove"}
    claims = {
        "stability": {"relation", "sensitivity", "grid"}, "forward": {"relation"}, "backward": {"relation"},
        "relation": {"sensitivity"}, "totals": {"function"}, "integer": {"function"}, "output": {"function"},
    }  # fmt: skip

    def own(chain):
        return (chain >> dp.snapping(epsilon=1)).release(world.cells(), dp.Budget(1))

    def own_rows(step):
        return own(numbers >> step >> dp.count())

    uses = {
        "rows": Use(dp.rows, table_of, started, {"unit": {"max_rows_per_unit"}, "max_rows_per_unit": {"unit"}}),
        "rows/units": Use(dp.rows, {**table_of, "unit": "u", "max_rows_per_unit": 2}, started, {"*": {"unit"}, "unit": {"max_rows_per_unit"}}),
        "Rows.__getitem__": Use(world.any_table.__getitem__, {"names": "x"}, also={"names": {"columns"}}),
        "clamp": Use(
            dp.clamp, {"lower": 0, "upper": 9}, after(world.rows, lambda chain: world.priced(chain >> dp.sum())),
            {"lower": {"bounds"}, "upper": {"bounds", "sensitivity"}},
        ),
        "impute": Use(dp.impute, {"*values": 0}, after(world.reals, world.told)),
        "drop": Use(dp.drop, {}, after(world.reals, world.told)),
        "parse": Use(dp.parse, {"*types": "real"}, after(world.words, world.told)),
        "cast": Use(dp.cast, {"*types": "integer"}, after(world.reals, world.told)),
        "project": Use(dp.project, {"count": 1}, after(table, world.told)),
        "bins": Use(dp.bins, {"edges": [0, 5, 10]}, after(world.reals, world.told), {"edges": {"categories"}}),
        "bins/categories": Use(dp.bins, {"categories": ["a", "b"]}, after(world.words, world.told), {"edges": {"categories"}}),
        "centered_sum": Use(dp.centered_sum, {}, after(numbers)),
        "hierarchy": Use(dp.hierarchy, {"edges": [0, 5, 10]}, after(numbers)),
        "grouped": Use(dp.grouped, {"inner": dp.count(), "keys": ["Jena", "Ulm"]}, after(world.words), {"edges": {"keys"}}),
        "grouped/edges": Use(dp.grouped, {"inner": dp.count(), "edges": [0, 5, 10]}, after(world.reals), {"edges": {"keys"}}),
        "snapping": Use(dp.snapping, {"epsilon": 1}, lambda step: (numbers >> dp.sum() >> step).price),
        "transformation": Use(dp.transformation, {"function": list, "stability": 1}, own_rows, claims),
        "transformation/relation": Use(dp.transformation, {"function": list, "relation": lambda d, e: e >= d}, own_rows, claims),
        "aggregation": Use(dp.aggregation, {"function": float, "stability": 10}, after(numbers, own), claims),
        "sequential": Use(dp.sequential, {"*measurements": noisy}),
        "Budget": Use(dp.Budget, {"epsilon": 1}),
        "Measurement.release": Use(
            lambda data=None, **given: noisy.release(data, **{"budget": dp.Budget(9), **given}), {"data": cells}
        ),
        "Measurement.quantiles": Use(world.tree.quantiles, {"release": world.grown, "quantiles": [0.5]}),
        "Measurement.mean": Use(parts.mean, {"release": world.released, "bounds": (0, 10)}),
        "Measurement.accuracy": Use(noisy.accuracy),
        "Measurement.bias": Use(noisy.bias),
        "find_counterexample": Use(testing.find_counterexample, {"chain": numbers, "trials": 3}),
        "Accountant.debit": Use(anything),
    }  # fmt: skip
    held = {"Step": waiting, "Rows": world.rows, "Transformation": numbers, "Aggregation": world.total, "Measurement": noisy}
    for name, chain in held.items():
        for method, given in (("stability", {}), ("backward", {"d_out": 1}), ("check", {"d_in": 1, "d_out": 1}), ("steps", {}),
                              ("loss", {}), ("accuracy", {}), ("release", {"data": cells, "budget": dp.Budget(9)}),
                              ("exact", {"data": cells})):  # fmt: skip
            if hasattr(chain, method):
                lacks = method in ("loss", "accuracy", "release") and chain is not noisy
                uses.setdefault(f"{name}.{method}", Use(getattr(chain, method), given, also={"*": {"chain"}} if lacks else {}))
    return uses


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# What may work where these are written in a signature, besides None where that is.
kinds: dict[str, Callable[[object], bool]] = {
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "SupportsIndex": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "float": is_number,
    "str": lambda value: isinstance(value, str),
    "Number": lambda value: is_number(value) or isinstance(value, str),
}


def may_work(parameter: inspect.Parameter, value: object) -> bool:
    kind, _, rest = str(parameter.annotation).partition(" | ")
    return kind not in kinds or rest not in ("", "None") or (value is None and rest == "None") or kinds[kind](value)


# Not called by anybody but the package: their words say which function makes them.
made_by_functions = {"Column", "PrivateKeys", "Statistic", "Rows", "Step", "Transformation", "Aggregation", "Measurement", "Report", "Accountant", "Elsewhere"}


def is_record(item: object) -> bool:
    """What the package gives to be read, and exceptions."""
    return is_dataclass(item) or inspect.isclass(item) and issubclass(item, Exception)


def public() -> set[str]:
    names = {name for name in testing.__all__ if not is_record(getattr(testing, name))}
    for name in dp.__all__:
        item = getattr(dp, name)
        if inspect.ismodule(item):
            continue
        if not inspect.isclass(item):
            names.add(name)
            continue
        if not is_record(item) and name not in made_by_functions:
            names.add(name)
        for member in dir(item):
            of_package = any(member in vars(base) and base.__module__.startswith("snapdp") for base in item.__mro__)
            if not member.startswith("_") and of_package and callable(getattr(item, member)):
                names.add(f"{name}.{member}")
    return names


def uses(world: World) -> dict[str, Use]:
    return {**of_plans(world), **of_ledgers(world), **of_elsewhere(world), **of_mechanisms(world), **of_chains(world)}


def parameters(name: str) -> dict[str, inspect.Parameter]:
    owner, _, member = name.partition("/")[0].partition(".")
    item = getattr(testing if owner == "find_counterexample" else dp, owner)
    if member:
        item = getattr(item, member)
    try:
        found = dict(inspect.signature(item).parameters)
    except ValueError:  # what is not written in Python
        found = {"value": inspect.Parameter("value", inspect.Parameter.POSITIONAL_ONLY)}
    found.pop("self", None)
    return found


def called(use: Use, parameter: inspect.Parameter, value: object) -> Any:
    given = dict(use.given)
    many = [given.pop(name) for name in list(given) if name.startswith("*")]
    if parameter.kind is parameter.VAR_POSITIONAL:
        return use.then(use.call(*many, value, **given))
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return use.then(use.call(value))
    return use.then(use.call(*many, **{**given, parameter.name: value}))


def names_of(use: Use, parameter: str) -> set[str]:
    return {parameter, *use.also.get(parameter, ()), *use.also.get("*", ())}


def test_every_callable_is_tried(world):
    missing = public() - set(uses(world))
    assert missing == set()


def works_or_is_refused_by_name(name: str, use: Use) -> list[str]:
    """What does not."""
    broken = []
    if use.also.get("*") != {"chain"}:  # else it is a chain that is not finished, and refuses whatever it is asked
        given = dict(use.given)
        many = [given.pop(key) for key in list(given) if key.startswith("*")]
        positional = [given.pop("value")] if name.endswith(".release") and "value" in given else []
        use.then(use.call(*many, *positional, **given))
    for parameter in parameters(name).values():
        for words, value in wrong.items():
            try:
                called(use, parameter, value)
                if not may_work(parameter, value):
                    broken.append(f"{name}({parameter.name} = {words}): is taken")
            except dp.Error as error:
                if error.parameter not in names_of(use, parameter.name):
                    broken.append(f"{name}({parameter.name} = {words}): names {error.parameter!r}: {error}")
            except Exception as error:
                broken.append(f"{name}({parameter.name} = {words}): {type(error).__name__}: {error}")
    return [line[:300] for line in broken]


@pytest.mark.parametrize("part", [of_plans, of_ledgers, of_elsewhere, of_mechanisms, of_chains])
def test_any_argument_works_or_is_refused_by_name(world, part, monkeypatch):
    monkeypatch.chdir(world.folder)
    broken = [line for name, use in part(world).items() for line in works_or_is_refused_by_name(name, use)]
    assert not broken, "\n" + "\n".join(broken)
