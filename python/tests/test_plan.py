"""Plans written in Python are those of the tool, to the byte; every key of the TOML is a keyword of the same name."""

import copy
import inspect
import json
import pathlib
import pickle
import re
from fractions import Fraction

import pytest

import snapdp as dp
from conftest import cities, root

change_one = dp.dataset(
    "households",
    neighbors="change-one",
    size=10_000,
    title="Households of Ulm",
    nulls={"impute": 0},
    columns={
        "age": dp.integer(0, 100, unit="years", description="at the last birthday"),
        "income": dp.real(0, "1e6", labels={"[0, 500)": "little"}),
        "educ": dp.integer(categories=[1, 2, 3], labels={1: "none", 2: "school"}),
    },
)
add_remove = dp.dataset(
    "people",
    neighbors="add-remove",
    unit="user_id",
    max_rows_per_unit=3,
    expected_size=10_000,
    where="age >= 18 and city in ('Ulm', 'Jena')",
    nulls="drop",
    columns={"age": dp.integer(0, 100), "income": dp.real(0, 500_000), "city": dp.text(keys=cities)},
)

plans = {
    "change-one": change_one.plan(
        dp.count(),
        dp.sum("age", epsilon=0.1, noise="geometric", range=(0, None)),
        dp.mean("age", accuracy=0.25, alpha="0.01", title="Mean age"),
        dp.variance("age", epsilon="1/10", grid="notes", guesses=[(200, 1), (300, 2)]),
        dp.standard_deviation("income", weight=2),
        dp.covariance("age", "income", epsilon="0.05", split=None),
        dp.correlation("age", "income", split=[1, 2, 1]),
        dp.regression("income", ["age"], split=[1, 2, 1, 2]),
        dp.moment("age", 3, epsilon="0.1", mode="precision", precision=200),
        dp.median("age", edges=range(0, 101, 5)),
        dp.quantiles("income", [0.25, "1/2", Fraction(3, 4)], resolution=10_000, noise="geometric"),
        dp.histogram("income", edges=[0, 500, 1000, "1e6"], other="bin", nonnegative=True),
        dp.histogram("educ", range={"gamma": 0.01}),
        dp.distinct("educ", range="none"),
        dp.range_count("age", bounds=(18, 65), name="adults"),
        epsilon=3,
        headline="Ages and incomes",
    ),
    "add-remove": add_remove.plan(
        dp.count(range=[0, 50_000], nonnegative=True),
        dp.mean("age", expected_mean=40, split=[2, 1]),
        dp.variance("income", expected_deviation=20_000, expected_mean=30_000),
        dp.covariance("age", "income", expected_deviation=[20, 5000], expected_mean=[40, 30_000], split=[1, 1, 1, 1]),
        dp.regression("income", ["age"], bounds=[(0, "1e5"), (18, 65)]).by("city"),
        dp.mean("income").by("city", max_groups_per_unit=1, max_rows_per_group_per_unit=2, expected_group_size=3000),
        dp.histogram("age", edges=[0, 18, 65, 100], type="integer").by("city", keys=["Ulm", "Jena"]),
        epsilon="2",
        label="2026-Q4",
    ),
}


@pytest.fixture(params=plans, ids=list(plans))
def plan(request):
    return plans[request.param]


def test_the_tool_has_the_same_plan(plan, tool, tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(plan.to_toml())
    assert tool("plan", file, "--json") == plan.to_json()
    assert tool("plan", file) == str(plan) == repr(plan)
    assert tool("plan", file, "--utility") == plan.to_table(utility=True)
    assert tool("explain", file) == plan.explain()
    tool("plan", file, "--html", tmp_path / "tool.html")
    plan.html(tmp_path / "ours.html")
    assert (tmp_path / "tool.html").read_text() == (tmp_path / "ours.html").read_text()
    assert (tmp_path / "ours.html").stat().st_mode & 0o777 == 0o600


def test_a_file_is_the_same_plan(plan, tmp_path):
    file = tmp_path / "plan.toml"
    file.write_text(plan.to_toml())
    assert dp.plan(file).to_json() == plan.to_json()


def test_copies_are_the_same_plan(plan):
    for twin in (pickle.loads(pickle.dumps(plan)), copy.deepcopy(plan)):
        assert twin == plan and hash(twin) == hash(plan)
        assert twin.to_json() == plan.to_json()


def test_a_question_without_data_needs_a_declaration(tmp_path):
    (tmp_path / "question.toml").write_text(
        '[budget]\nepsilon = 1\n[[statistic]]\nname = "ages"\nkind = "mean"\ncolumn = "age"\nepsilon = 1\n'
    )
    (tmp_path / "people.toml").write_text(add_remove.to_toml())
    ledger = dp.Ledger.create(tmp_path / "people.ledger", add_remove, epsilon=1)
    of_dataset = dp.plan(tmp_path / "question.toml", declaration=add_remove)
    assert of_dataset.to_json() == dp.plan(tmp_path / "question.toml", declaration=tmp_path / "people.toml").to_json()
    assert of_dataset.to_json() == dp.plan(tmp_path / "question.toml", ledger=ledger).to_json()
    assert pickle.loads(pickle.dumps(of_dataset)) == of_dataset
    with pytest.raises(dp.InvalidArgument, match=r"question\.toml"):
        dp.plan(tmp_path / "question.toml")
    with pytest.raises(dp.InvalidArgument, match="declaration"):
        dp.plan(tmp_path / "question.toml", declaration=add_remove, ledger=ledger)
    with pytest.raises(dp.IoError):
        dp.plan(tmp_path / "no such file.toml")


def test_accessors_say_what_the_json_says(plan):
    facts = plan.to_dict()
    assert plan.epsilon == Fraction(facts["budget"]["planned"])
    assert plan.budget == Fraction(facts["budget"]["epsilon"])
    assert plan.affordable and plan.unpaid == ()
    assert len(plan.statistics) == len(facts["statistics"])
    for ours, theirs in zip(plan.statistics, facts["statistics"]):
        assert plan[ours.name] == ours
        assert (ours.name, ours.kind, list(ours.columns)) == (theirs["name"], theirs["kind"], theirs.get("columns", []))
        assert ours.epsilon == Fraction(theirs["epsilon"])
        assert ours.loss_bound == Fraction(theirs["loss_bound"])
        accuracy = theirs.get("accuracy")
        assert (ours.accuracy is None) == (accuracy is None)
        if accuracy:
            assert ours.accuracy.tight == accuracy["tight"]
            assert ours.accuracy.conservative == accuracy["conservative"]
            assert ours.alpha == Fraction(accuracy["alpha"])
        if len(ours.parts) == 1 and ours.parts[0].part == "":
            assert ours.parts[0].scale == Fraction(theirs["scale"])
            assert ours.parts[0].sensitivity == Fraction(theirs["sensitivity"])
    assert [(w.statistic, w.message) for w in plan.warnings()] == [
        (w.get("statistic", ""), w["message"]) for w in facts["warnings"]
    ]
    with pytest.raises(KeyError):
        plan["no such statistic"]


def test_a_notebook_shows_the_page_in_a_frame(plan):
    shown = plan._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-same-origin" srcdoc="')
    assert "<style" not in shown and "&lt;style" in shown


def test_statistics_share_what_the_others_leave():
    plan = add_remove.plan(dp.count(), dp.sum("age", epsilon="1/2"), dp.sum("income", weight=3), epsilon="9/10")
    assert plan["sum age"].epsilon == Fraction(1, 2)
    assert abs(plan["sum income"].epsilon - 3 * plan["count"].epsilon) < Fraction(1, 2**57)
    assert plan.epsilon <= plan.budget
    nothing_left = add_remove.plan(dp.count(), dp.sum("age", epsilon=1), epsilon=1)
    assert nothing_left.unpaid == ("count",) and not nothing_left.affordable


def test_generators_of_values_are_read_once():
    column = dp.text(keys=(key for key in cities))
    assert dp.dataset("d", neighbors="add-remove", columns={"city": column}).to_toml().endswith(
        'keys = ["Jena", "Köln", "Ulm"]\n'
    )
    statistic = dp.histogram("x", edges=(edge for edge in (0, 1, 2)))
    dataset = dp.dataset("d", neighbors="add-remove")
    assert dataset.plan(statistic, epsilon=1) == dataset.plan(statistic, epsilon=1)
    assert dataset.plan(statistic, epsilon=1)["histogram x"].bins == ("[0, 1)", "[1, 2]")


def test_generators_of_keys_are_read_once():
    grouped = dp.count().by("city", keys=(key for key in cities))
    dataset = dp.dataset("d", neighbors="add-remove")
    assert dataset.plan(grouped, epsilon=1)["count by city"].groups == 3
    assert dataset.plan(grouped, epsilon=1)["count by city"].groups == 3


def test_sets_have_one_order():
    assert dp.dataset("d", neighbors="add-remove", columns={"c": dp.text(keys=set(cities))}) == dp.dataset(
        "d", neighbors="add-remove", columns={"c": dp.text(keys=sorted(cities))}
    )


def test_names_of_any_letters():
    odd = 'a "b"\\c = [x]\u00e4'
    dataset = dp.dataset("d", neighbors="add-remove", columns={odd: dp.integer(0, 1)})
    assert dataset.columns == (odd,)
    assert dataset.plan(dp.sum(odd, name="s"), epsilon=1).columns == (odd,)


def keys_of(heading: str) -> set[str]:
    """The keys in the table below a heading of docs/specification.md."""
    text = (root / "docs/specification.md").read_text()
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^##[# ])", text, re.M | re.S).group(1)
    rows = re.findall(r"^\| ((?:`\w+`(?:, | or )?)+) \|", section, re.M)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def keywords(*functions) -> set[str]:
    return {name for function in functions for name in inspect.signature(function).parameters}


kinds = {
    name: getattr(dp, name)
    for name in dp.__all__
    if callable(getattr(dp, name)) and getattr(getattr(dp, name), "__module__", "") == "snapdp._statistics" and name[0].islower()
}
del kinds["private_keys"]  # of no kind


def test_every_key_is_a_keyword():
    assert len(keys_of("[data]")) == 14
    assert keys_of("[data]") <= keywords(dp.dataset)
    assert len(keys_of("[columns.NAME]")) == 7
    # integer and real have the ends of the bounds, and the type is their own name.
    assert keys_of("[columns.NAME]") - {"bounds", "type"} == keywords(dp.integer) - {"lower", "upper"}
    assert keys_of("[keys.NAME]") == keywords(dp.private_keys)
    asked = keys_of("[[statistic]]")
    assert len(asked) > 25
    # The kind is the function's name, two columns have names of their own, and groups come with .by().
    assert asked - {"kind", "columns", "group_by"} <= keywords(*kinds.values(), dp.Statistic.by)
    assert asked | {"self", "first", "second"} >= keywords(*kinds.values(), dp.Statistic.by)


def test_every_kind_is_a_function():
    text = (root / "docs/specification.md").read_text()
    row = re.search(r"^\| `kind` \| all, required \| (.*?) \|$", text, re.M).group(1)
    assert set(re.findall(r"`(\w+)`", row)) == set(kinds)


def test_a_dataset_is_its_declaration(tool, tmp_path):
    for dataset in (change_one, add_remove):
        (tmp_path / "d.toml").write_text(dataset.to_toml())
        assert dp.read_dataset(tmp_path / "d.toml").plan(dp.count(), epsilon=1).to_json() == dataset.plan(
            dp.count(), epsilon=1
        ).to_json()
        assert pickle.loads(pickle.dumps(dataset)) == dataset
        path = tmp_path / f"{dataset.name}.ledger"
        tool("ledger", "create", path, tmp_path / "d.toml", "--epsilon", 1)
        assert dp.Ledger(path).declaration == dp.Ledger.create(f"{path}2", dataset, epsilon=1).declaration


def test_messages_of_python_have_no_lines():
    with pytest.raises(dp.InvalidArgument) as refused:
        change_one.plan(dp.mean("age", epsilon="1", grid="1024"), dp.mean("age"), epsilon=1)
    assert str(refused.value).startswith('statistic "mean age": grid = "1024"')
    with pytest.raises(dp.InvalidArgument) as refused:
        dp.dataset("d", neighbors="add-remov")
    assert refused.value.parameter == "neighbors"
    assert str(refused.value) == (
        '[data]: neighbors = "add-remov": must be change-one or add-remove; did you mean "add-remove"?'
    )


def test_a_slip_in_a_column_s_name_is_told():
    with pytest.raises(dp.InvalidArgument, match='column "agee" is not declared; did you mean "age"') as refused:
        change_one.plan(dp.mean("agee"), dp.mean("xyz"), dp.mean("age"), epsilon=1)
    assert refused.value.parameter == "bounds" and "xyz" not in str(refused.value).split("\n")[-1]


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: dp.dataset("d", neighbors="change-one"), "size"),
        (lambda: dp.dataset("d", neighbors="change-one", size=-1), "size"),
        (lambda: dp.dataset("d", neighbors="change-one", size=1.5), "size"),
        (lambda: dp.dataset("d", neighbors="change-one", size=True), "size"),
        (lambda: dp.dataset("d", neighbors="add-remove", size=1), "size"),
        (lambda: dp.dataset("d", neighbors="add-remove", unit="u"), "max_rows_per_unit"),
        (lambda: dp.dataset("d", neighbors="add-remove", unit="u", privacy_unit="u"), "privacy_unit"),
        (lambda: dp.dataset("", neighbors="add-remove"), "dataset"),
        (lambda: dp.dataset(7, neighbors="add-remove"), "dataset"),
        (lambda: dp.dataset("d", neighbors="add-remove", columns={"a": int}), "columns"),
        (lambda: dp.dataset("d", neighbors="add-remove", columns={"a": dp.integer(9, 0)}), "bounds"),
        (lambda: dp.dataset("d", neighbors="add-remove", columns={"a": dp.integer(0, float("nan"))}), "bounds"),
        (lambda: dp.integer(0), "upper"),
        (lambda: dp.mean(3), "column"),
        (lambda: change_one.plan(dp.mean("age", accuracy=-1), epsilon=1), "accuracy"),
        (lambda: change_one.plan("mean", epsilon=1), "statistics"),
        (lambda: change_one.plan(dp.mean("age", bounds=object()), epsilon=1), "bounds"),
        (lambda: change_one.plan(dp.mean("age"), epsilon=True), "epsilon"),
        (lambda: change_one.plan(dp.mean("age").by("city"), epsilon=1), "group_by"),
    ],
)
def test_what_breaks_a_rule_is_named(make, parameter):
    with pytest.raises(dp.InvalidArgument) as refused:
        make()
    assert refused.value.parameter == parameter
    assert parameter in str(refused.value)


def test_what_is_declared_stays_as_it_was():
    """Neither a list that grows later nor an array that is filled anew changes what was said."""
    bounds, edges, labels = [0, 100], [0, 50, 100], {"Ulm": "Ulm"}
    column = dp.text(keys=["Ulm"], labels=labels)
    statistics = [dp.mean("age", bounds=bounds, type="integer", range=bounds), dp.histogram("age", edges=edges)]
    before = [column._table(), *(statistic._table() for statistic in statistics)]
    bounds[1], edges[1] = 10, 60
    labels["Jena"] = "Jena"
    assert [column._table(), *(statistic._table() for statistic in statistics)] == before


def test_what_is_equal_hashes_alike():
    assert dp.integer(0, 100) != dp.integer(0.0, 100.0)
    assert dp.mean("a", bounds=(0, 1)) != dp.mean("a", bounds=(0.0, 1.0))
    for one, other in (
        (dp.integer(0, 100), dp.integer(0, 100)),
        (dp.text(keys={"a", "b", "c"}), dp.text(keys={"c", "b", "a"})),
        (dp.integer(categories=(1, 2)), dp.integer(categories=[1, 2])),
        (dp.mean("a", bounds=(0, 1)), dp.mean("a", bounds=[0, 1])),
    ):
        assert one == other and hash(one) == hash(other)
