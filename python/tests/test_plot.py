"""Pictures of plans and reports with matplotlib, and of laws without."""

import sys
import xml.etree.ElementTree as xml

import pytest

import snapdp as dp
from conftest import cities

to_rgba = pytest.importorskip("matplotlib.colors").to_rgba


@pytest.fixture(scope="module")
def people():
    columns = {"age": dp.integer(0, 100, unit="$ of years"), "income": dp.real(0, 500_000), "city": dp.text(keys=cities)}
    return dp.dataset("people", neighbors="add-remove", expected_size=5000, columns=columns)


@pytest.fixture(scope="module")
def plan(people):
    return people.plan(
        dp.count(title="How many cost $1 or $2?"),
        dp.mean("age"),
        dp.quantiles("income", ["1/4", 0.75], resolution=5000),
        dp.histogram("city"),
        dp.mean("income").by("city"),
        dp.histogram("age", edges=[0, 50, 100]).by("city"),
        dp.median("income", resolution=5000).by("city"),
        epsilon=10,
    )


@pytest.fixture(scope="module")
def report(rows, plan, people, tmp_path_factory):
    return plan.release(rows, dp.Ledger.create(tmp_path_factory.mktemp("plot") / "l", people, epsilon=10))


def labels(chart):
    return [label.get_text() for label in chart.get_yticklabels()]


def test_a_chart_a_statistic_a_row_a_number(report):
    charts = report.plot().axes
    assert len(charts) == len(report)
    assert labels(charts[0]) == [""]
    assert labels(charts[2]) == ["1/4", "3/4"]
    assert labels(charts[3]) == cities
    assert labels(charts[5])[:2] == ["Jena, [0, 50)", "Jena, [50, 100]"]
    for chart, statistic in zip(charts, report.values()):
        assert len(labels(chart)) == len(statistic.estimates)


def test_bars_are_intervals_and_ticks_are_values(report):
    chart = report.plot("histogram city").axes[0]
    pale = [bar for bar in chart.patches if bar.get_facecolor() == to_rgba("#a9cbe3")]
    drawn = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in pale]
    estimates = report["histogram city"].estimates
    assert drawn == [pytest.approx(one.interval) for one in estimates]
    solid = [bar.get_width() for bar in chart.patches if bar not in pale]
    assert solid == [pytest.approx(max(0, one.interval[0])) for one in estimates]
    ticks = [line.get_segments()[0][0][0] for line in chart.collections]
    assert ticks == [float(one.value) for one in estimates]
    lower, upper = chart.get_xlim()
    assert lower <= 0 <= upper


def test_words_are_no_formulas(report):
    chart = report.plot("count", "mean age").axes[0]
    assert chart.get_title(loc="left") == r"How many cost \$1 or \$2?"
    assert xml.fromstring(report.plot("count")._repr_svg_()).tag.endswith("svg")


def test_the_promise_is_under_each_chart(report):
    """The same as the report's own table says."""
    words = {name: report.plot(name).axes[0].get_xlabel() for name in report}
    table = report.to_table()
    assert "bar: the exact number lies in it 95 times in 100" in words["count"]
    for name in list(report)[2:]:
        head = next(line for line in table.splitlines() if line.startswith(name))
        together = "all intervals at once" in head
        assert together or "each interval alone" in head
        assert ("all the exact numbers lie in theirs at once 95 times in 100" in words[name]) == together, name
        assert ("each exact number lies in its own, one by one, 95 times in 100" in words[name]) != together, name


def test_unknown_names_are_refused(report):
    with pytest.raises(dp.InvalidArgument, match="no \"mean\"; give some of count, ") as refused:
        report.plot("count", "mean")
    assert refused.value.parameter == "names"


def test_a_plan_shows_cost_and_accuracy(plan):
    (chart,) = plan.plot().axes
    assert labels(chart) == [statistic.name for statistic in plan.statistics]
    assert [bar.get_width() for bar in chart.patches] == [pytest.approx(float(one.epsilon)) for one in plan.statistics]
    assert all(bar.get_hatch() for bar in chart.patches), "what is planned is hatched"
    words = [text.get_text() for text in chart.texts]
    assert len(words) == len(plan.statistics)
    assert all("\N{PLUS-MINUS SIGN}" in text or "told with the release" in text for text in words)
    assert "rows" in words[2] and "all at once" in words[3]


def test_stated_accuracies_are_no_better_than_they_are():
    from snapdp._numbers import round_up

    for number in (0.249, 9.96, 30.01, 99.1, 1234.5, 5e22, 1e-12, 0.1 + 0.2):
        assert float(round_up(number).replace(",", "")) >= number
        assert float(round_up(number).replace(",", "")) <= number * 1.1
    assert (round_up(0.0), round_up(float("inf"))) == ("0", "no bound")


def test_files_and_notebooks(report, plan, tmp_path):
    for plot in (report.plot, plan.plot):
        picture = plot(width=5)
        picture.savefig(tmp_path / "picture.png")
        assert picture.get_size_inches()[0] == 5
        assert plot()._repr_svg_() == plot()._repr_svg_(), "the same numbers give the same text"
    assert "matplotlib.pyplot" not in sys.modules, "no window, and nothing of the caller's is touched"


def test_without_matplotlib_the_next_step_is_told(report, plan, monkeypatch):
    monkeypatch.delitem(sys.modules, "snapdp._plot", raising=False)
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for plot in (report.plot, plan.plot):
        with pytest.raises(dp.NotInstalled, match=r"pip install matplotlib, or .*report\.html") as refused:
            plot()
        assert isinstance(refused.value, ImportError)
        assert (refused.value.code, refused.value.parameter) == ("not_installed", "matplotlib")


def test_a_law_is_the_picture_of_the_tool(tool, tmp_path):
    law = dp.law(epsilon=1, sensitivity=1, grid="notes", value="0.3")
    place = tmp_path / "law.svg"
    tool("plot", "law", "--epsilon", 1, "--sensitivity", 1, "--grid", "notes", "--value", "0.3", "--output", place)
    assert law.svg() == law._repr_svg_() == place.read_text()
    xml.fromstring(law.svg())


def test_a_law_without_a_picture():
    law = dp.law(epsilon=1, sensitivity="1e308", most=1)
    with pytest.raises(dp.InvalidArgument, match="^epsilon: the numbers to draw are too large, too small or too near") as refused:
        law.svg()
    assert refused.value.parameter == "epsilon"
    assert law._repr_svg_() is None
    assert "variance" in law._repr_html_() and "_asked" not in law._repr_html_(), "numbers instead"
    with pytest.raises(dp.InvalidArgument, match="make it with law"):
        dp.Law(0, 0, 1, (), 0, 0, 0).svg()
