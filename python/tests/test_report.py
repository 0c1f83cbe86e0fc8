"""Reports: the numbers and intervals of the record and of its lines."""

import csv
import io
import json
import pickle
from fractions import Fraction

import pytest

import snapdp as dp
from conftest import cities


@pytest.fixture(scope="module")
def report(rows, tmp_path_factory):
    people = dp.dataset(
        "people",
        neighbors="add-remove",
        expected_size=5000,
        population=True,
        columns={"age": dp.integer(0, 100), "income": dp.real(0, 500_000), "city": dp.text(keys=cities)},
    )
    plan = people.plan(
        dp.count(),
        dp.mean("age"),
        dp.median("income", resolution=5000),
        dp.quantiles("income", ["1/4", 0.75], resolution=5000),
        dp.histogram("city"),
        dp.mean("income").by("city", differences=[("Köln", "Ulm")]),
        dp.histogram("age", edges=[0, 50, 100]).by("city"),
        dp.regression("income", ["age"]),
        dp.regression("income", ["age"], weight=2).by("city"),
        epsilon=10,
    )
    return plan.release(rows, dp.Ledger.create(tmp_path_factory.mktemp("report") / "l", people, epsilon=10))


def test_it_is_a_mapping(report):
    assert list(report) == [entry["name"] for entry in report.to_dict()["statistics"]]
    assert len(report) == 10 and "mean age" in report and "no" not in report
    assert report.get("no") is None
    with pytest.raises(KeyError):
        report["no"]


def test_one_number(report):
    count, mean = report["count"], report["mean age"]
    assert type(count.value) is int and type(mean.value) is float
    lower, upper = mean.interval
    assert lower <= mean.value <= upper and float(mean) == mean.value
    assert mean.alpha == Fraction(1, 20) and type(mean.epsilon) is Fraction
    assert mean.population[0] <= lower <= upper <= mean.population[1]
    assert count.population is None
    lower, upper = report["median income"].interval
    assert lower <= report["median income"].value <= upper


def test_several_numbers(report):
    bins = report["histogram city"]
    assert list(bins.bins) == cities
    assert bins["Ulm"] is bins.bins["Ulm"] and type(bins["Ulm"].value) is int
    with pytest.raises(dp.InvalidArgument, match=r"\.bins"):
        bins.value
    quantiles = report["quantiles income"]
    assert list(quantiles.quantiles) == [Fraction(1, 4), Fraction(3, 4)]
    assert quantiles[0.25] == quantiles["1/4"] == quantiles[Fraction(1, 4)]
    groups = report["mean income by city"]
    assert list(groups.groups) == cities
    assert groups["Köln"].interval[0] <= groups["Köln"].value
    with pytest.raises(dp.InvalidArgument, match=r"\.groups"):
        groups.interval
    difference = report["mean income by city: Köln - Ulm"]
    assert difference.kind == "difference" and difference.epsilon == 0
    assert difference.value == pytest.approx(groups["Köln"].value - groups["Ulm"].value)
    assert difference.interval[0] <= difference.value <= difference.interval[1]
    assert difference.population[0] <= difference.interval[0]
    both = report["histogram age by city"]
    assert list(both["Ulm"].bins) == ["[0, 50)", "[50, 100]"]
    assert len(both.estimates) == 6
    fit = report["regression income age"]
    assert list(fit.coefficients) == ["intercept", "age"]
    assert fit["age"] is fit.coefficients["age"] and fit.alpha == Fraction(1, 20)
    for one in fit.coefficients.values():
        assert one.interval == (None, None) or one.interval[0] <= one.value <= one.interval[1]
    with pytest.raises(dp.InvalidArgument, match=r"\.coefficients"):
        fit.value
    assert pickle.loads(pickle.dumps(fit)) == fit
    assert "intercept" in repr(fit) and "intercept" in repr(report["regression income age by city"])
    assert list(report["regression income age by city"]["Ulm"].coefficients) == ["intercept", "age"]


def test_every_line_is_an_estimate(report):
    lines = list(csv.DictReader(io.StringIO(report.to_csv())))
    estimates = [estimate for released in report.values() for estimate in released.estimates]
    assert len(lines) == len(estimates)
    for line, estimate in zip(lines, estimates):
        assert float(estimate.value) == float(line["value"])
        assert estimate.interval == tuple(float(line[end]) if line[end] else None for end in ("lower", "upper"))


def test_frames(report):
    pandas, polars, arrow = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    table = report.to_arrow()
    assert table.num_rows == sum(len(released.estimates) for released in report.values())
    assert report.to_polars().to_arrow().to_pydict() == table.to_pydict()
    frame = report.to_pandas()
    assert list(frame.columns) == table.column_names
    assert frame["value"].tolist() == table["value"].to_pylist()
    assert str(frame["population_lower"].dtype) == "float64"
    row = table.filter(arrow.compute.equal(table["statistic"], "mean age")).to_pylist()[0]
    assert (row["value"], row["lower"], row["upper"]) == (report["mean age"].value, *report["mean age"].interval)


def test_views(report, tmp_path):
    report.html(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == report.to_html()
    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o600
    report.csv(tmp_path / "report.csv")
    assert (tmp_path / "report.csv").read_bytes().decode() == report.to_csv()
    assert list(tmp_path.iterdir()) == [tmp_path / "report.html", tmp_path / "report.csv"] or len(list(tmp_path.iterdir())) == 2
    assert report._repr_html_().startswith('<iframe sandbox="allow-same-origin" srcdoc="')
    assert "count" in str(report) and report.to_markdown().startswith("#")
    with pytest.raises(dp.IoError):
        report.html(tmp_path / "no such folder" / "report.html")


def test_the_record_is_enough(report):
    for twin in (dp.Report.from_json(report.to_json()), pickle.loads(pickle.dumps(report))):
        assert twin.to_json() == report.to_json() and dict(twin) == dict(report)
        assert twin.release == report.release == 1
    assert json.loads(report.to_json()) == report.to_dict()
    with pytest.raises(dp.BadData):
        dp.Report.from_json("{}")


def test_a_released_statistic_can_be_kept(report):
    import copy

    for released in report.values():
        for twin in (pickle.loads(pickle.dumps(released)), copy.copy(released), copy.deepcopy(released)):
            assert twin == released
        with pytest.raises(TypeError):
            released.bins["other"] = released.estimates[0]


def test_what_the_ledger_cannot_keep_lies_beside_it(rows, tmp_path):
    """The second commit of the connection fails: the report's, after the debit's."""
    import ctypes
    import sqlite3

    library = ctypes.CDLL("libsqlite3.so.0")
    if library.sqlite3_libversion_number() != int("{}{:03}{:03}".format(*sqlite3.sqlite_version_info)):
        pytest.skip("another SQLite than the package's")
    commits = []
    opened = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def refuse_second(_):
        commits.append(None)
        return len(commits) == 2

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    def watch(database, _, __):
        opened.append(None)
        library.sqlite3_commit_hook(ctypes.c_void_p(database), refuse_second, None)
        return 0

    dataset = dp.dataset("d", neighbors="add-remove")
    dp.Ledger.create(tmp_path / "d.ledger", dataset, epsilon=1)
    library.sqlite3_auto_extension(watch)
    try:
        ledger = dp.Ledger(tmp_path / "d.ledger")
    finally:
        library.sqlite3_cancel_auto_extension(watch)
    if not opened:
        pytest.skip("the package has an SQLite of its own inside, as wheels have")
    report = dataset.plan(dp.count(), epsilon=1).release(rows, ledger)
    assert ledger.spent == 1 and not ledger.entry(1).reported
    (kept,) = tmp_path.glob("d.ledger.release-1-*.json")
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.read_text() == report.to_json()
    assert dp.Report.from_json(kept.read_text())["count"].value == report["count"].value
    for first in (str(report), str(pickle.loads(pickle.dumps(report))), report._repr_html_()):
        assert "Release 1 is paid for" in first.split("</p>")[0].split("\n")[0] and kept.name in first
        assert first.index(kept.name) < first.index("count")


def test_constants_cost_nothing(rows, tmp_path):
    dataset = dp.dataset("d", neighbors="change-one", size=5000)
    ledger = dp.Ledger.create(tmp_path / "l", dataset, epsilon=1)
    report = dataset.plan(dp.count(), epsilon=1).release(rows, ledger)
    assert report["count"].value == 5000 and report.release is None and ledger.spent == 0
    assert report["count"].interval in ((5000, 5000), (None, None))


def test_numbers_that_no_float_is():
    from snapdp._report import _value

    assert _value("123456789012345678901234567890") == 123456789012345678901234567890
    assert _value("1/3") == Fraction(1, 3)
    assert _value(2.5) == 2.5
