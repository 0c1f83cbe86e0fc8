"""The same rows give the same bits from every kind of table, as from the tool: the noise of a huge epsilon is below every grid."""

import pytest

import snapdp as dp
from conftest import cities, make_rows

arrow = pytest.importorskip("pyarrow")
huge = "1e12"


def pandas_frame(rows, **options):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(rows, **options)


def with_types(rows):
    return arrow.table(
        {
            "user_id": arrow.array(rows["user_id"], arrow.int64()),
            "age": arrow.array(rows["age"], arrow.int64()),
            "income": arrow.array(rows["income"], arrow.float64()),
            "city": arrow.array(rows["city"], arrow.string()),
        }
    )


def in_pieces(rows):
    table = with_types(rows)
    pieces = [table.slice(start, 777) for start in range(0, table.num_rows, 777)]
    return arrow.concat_tables([table.slice(0, 0), *pieces])


def duckdb_relation(rows):
    duckdb = pytest.importorskip("duckdb")
    table = with_types(rows)
    connection = duckdb.connect()
    connection.register("people", table)
    return connection.sql("select * from people")


def duckdb_enum(rows):
    duckdb = pytest.importorskip("duckdb")
    table = with_types(rows)
    connection = duckdb.connect()
    connection.register("people", table)
    connection.execute("create type cities as enum ('Jena', 'Köln', 'Ulm', 'elsewhere')")
    return connection.sql("select user_id, age, income, city::cities as city from people")


def datafusion_frame(rows):
    datafusion = pytest.importorskip("datafusion")
    return datafusion.SessionContext().from_arrow(with_types(rows))


def adbc_cursor(rows):
    class Cursor:  # what dbapi cursors of ADBC have
        def __init__(self, table):
            self.reader = table.to_reader(max_chunksize=100)

        def fetch_record_batch(self):
            return self.reader

    return Cursor(with_types(rows))


def polars_frame(rows):
    return pytest.importorskip("polars").DataFrame(rows)


tables = {
    "pyarrow": with_types,
    "pyarrow in pieces": in_pieces,
    "pyarrow dictionary": lambda rows: with_types(rows).set_column(
        3, "city", arrow.array(rows["city"], arrow.string()).dictionary_encode()
    ),
    "pyarrow reader": lambda rows: with_types(rows).to_reader(max_chunksize=1000),
    "pyarrow capsule": lambda rows: with_types(rows).__arrow_c_stream__(),
    "pyarrow decimals": lambda rows: with_types(rows).set_column(
        1, "age", with_types(rows)["age"].cast(arrow.decimal128(20, 0))
    ),
    "pandas": pandas_frame,
    "pandas objects": lambda rows: pandas_frame({name: rows[name] for name in rows}, dtype=object),
    "pandas nullable": lambda rows: pandas_frame(rows).convert_dtypes(),
    "pandas arrow": lambda rows: pandas_frame(rows).convert_dtypes(dtype_backend="pyarrow"),
    "pandas category": lambda rows: pandas_frame(rows).astype({"city": "category"}),
    "polars": polars_frame,
    "polars lazy": lambda rows: polars_frame(rows).lazy(),
    "polars category": lambda rows: polars_frame(rows).cast({"city": pytest.importorskip("polars").Categorical}),
    "duckdb": duckdb_relation,
    "duckdb enum": duckdb_enum,
    "datafusion": datafusion_frame,
    "adbc": adbc_cursor,
    "dict of lists": dict,
    "dict of series": lambda rows: {name: pandas_frame(rows)[name] for name in rows},
    "dict of object series": lambda rows: {name: pandas_frame(rows, dtype=object)[name] for name in rows},
    "dict of polars series": lambda rows: {name: polars_frame(rows)[name] for name in rows},
    "dict of arrays": lambda rows: {name: with_types(rows)[name] for name in rows},
}

people = dp.dataset(
    "people",
    neighbors="add-remove",
    unit="user_id",
    max_rows_per_unit=2,
    expected_size=5000,
    where="income < 550000",
    columns={"age": dp.integer(0, 100), "income": dp.real(0, 500_000), "city": dp.text(keys=cities)},
)
# With a grid above the noise, what is released is the exact statistic, rounded to it, whatever is drawn. What is computed
# from parts has grids of its own: there the noise is below a millionth of what one row changes.
question = [
    dp.count(),
    dp.sum("age"),
    dp.sum("income", grid="2^-4"),
    dp.mean("income"),
    dp.variance("age"),
    dp.covariance("age", "income"),
    dp.mean("age").by("city", max_groups_per_unit=2, max_rows_per_group_per_unit=1),
    dp.median("income", resolution=1000),
    dp.histogram("city"),
    dp.distinct("city"),
    dp.range_count("age", bounds=(18, 65)),
]
plan = people.plan(*question, epsilon=huge)


def values(report) -> list:
    """All numbers of a report, those of parts to a millionth."""
    if isinstance(report, str):
        report = dp.Report.from_json(report)
    return [
        (name, estimate.value if len(plan[name].parts) == 1 else pytest.approx(estimate.value, rel=1e-6))
        for name, released in report.items()
        for estimate in released.estimates
    ]


def release(table, folder, plan=plan, dataset=people):
    ledger = dp.Ledger.create(folder / "frames.ledger", dataset, epsilon=huge)
    report = plan.release(table, ledger)
    assert ledger.spent == plan.epsilon
    return [(name, estimate.value) for name, released in report.items() for estimate in released.estimates]


def as_texts(rows):
    """Of objects: which rows of a unit count follows from the cells as they are stored, and objects are stored as texts."""
    return arrow.table(
        {name: arrow.array([None if cell is None else str(cell) for cell in cells], arrow.string()) for name, cells in rows.items()}
    )


stored = {"pandas objects": as_texts, "dict of object series": as_texts, "dict of lists": as_texts, "pyarrow decimals": tables["pyarrow decimals"]}


@pytest.fixture(scope="module")
def by_tool(tool, rows, tmp_path_factory):
    """What the tool releases of the same rows in a Parquet file."""
    from pyarrow import parquet

    known = {}

    def run(make):
        if make not in known:
            folder = tmp_path_factory.mktemp("tool")
            parquet.write_table(make(rows), folder / "people.parquet")
            (folder / "plan.toml").write_text(plan.to_toml())
            tool("ledger", "create", folder / "people.ledger", folder / "plan.toml", "--epsilon", huge)
            arguments = ["--ledger", folder / "people.ledger", "--data", folder / "people.parquet", "--yes", "--json"]
            known[make] = values(tool("release", folder / "plan.toml", *arguments))
        return known[make]

    return run


@pytest.fixture
def expected(by_tool):
    return by_tool(with_types)


def test_noise_is_below_every_grid(expected):
    """Else the comparisons below would say little, or fail now and then."""
    for planned in plan.statistics:
        for part in planned.parts:
            assert 100 * part.scale < (part.grid if len(planned.parts) == 1 else part.sensitivity / 10**6)
    assert len(expected) == 15


@pytest.mark.parametrize("kind", tables)
def test_tables(kind, rows, by_tool, tmp_path):
    assert release(tables[kind](rows), tmp_path) == by_tool(stored.get(kind, with_types))


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_files(ending, rows, expected, tmp_path):
    pytest.importorskip("snapdp._duckdb")
    from pyarrow import csv, parquet

    write = csv.write_csv if ending == ".csv" else parquet.write_table
    write(with_types(rows), str(tmp_path / f"people{ending}"))
    ours = release(tmp_path / f"people{ending}", tmp_path)
    # Units are compared as they are stored, and rows chosen by their content: of CSV both are texts.
    assert ours == expected if ending == ".parquet" else [name for name, _ in ours] == [name for name, _ in expected]


def test_the_file_of_the_declaration(rows, expected, tmp_path, monkeypatch):
    pytest.importorskip("snapdp._duckdb")
    from pyarrow import parquet

    parquet.write_table(with_types(rows), tmp_path / "people.parquet")
    monkeypatch.chdir(tmp_path)
    declared = dp.Dataset(people.to_toml().replace("[data]\n", '[data]\npath = "people.parquet"\n'))
    assert release(None, tmp_path, declared.plan(*question, epsilon=huge), declared) == expected


def test_a_public_size_is_checked(rows, tmp_path):
    dataset = dp.dataset("d", neighbors="change-one", size=5000, columns={"age": dp.integer(0, 100)})
    ledger = dp.Ledger.create(tmp_path / "l", dataset, epsilon="1e13")
    asked = dataset.plan(dp.count(), dp.mean("age", grid="2^0"), epsilon=huge)
    assert asked.release(rows, ledger)["count"].value == 5000
    with pytest.raises(dp.BadData, match="size = 5000") as refused:
        asked.release(make_rows(4999), ledger)
    assert "4999" not in str(refused.value)
    assert len(ledger.entries()) == 1


def test_counts_need_no_column(rows, tmp_path):
    dataset = dp.dataset("d", neighbors="add-remove")
    asked = dataset.plan(dp.count(), epsilon=huge)
    ledger = dp.Ledger.create(tmp_path / "l", dataset, epsilon="1e13")
    for table in (rows, pandas_frame(rows), polars_frame(rows), with_types(rows)):
        assert asked.release(table, ledger)["count"].value == 5000
    for table in ({"age": []}, {}, pandas_frame({"age": []}), polars_frame({"age": []}), with_types(rows).slice(0, 0)):
        assert asked.release(table, ledger)["count"].value == 0


def test_cells_of_objects_are_read_one_by_one(tmp_path):
    """A column of Python objects is read cell by cell, so that no row decides how another is read."""
    from decimal import Decimal

    import numpy

    dataset = dp.dataset(
        "d", neighbors="add-remove", columns={"x": dp.real(-10, 10), "i": dp.integer(-10, 10), "t": dp.text(keys=["1", "a", "true"])}
    )
    cells = [1, "2", 2.5, Decimal("0.5"), True, numpy.float64(1), numpy.int8(3), "a", None, float("nan"), b"1", [1], 10**30]
    asked = dataset.plan(
        dp.sum("x", grid="2^-4"), dp.sum("i"), dp.histogram("t"), dp.range_count("x", bounds=(-10, 10)), epsilon=huge
    )
    ledger = dp.Ledger.create(tmp_path / "l", dataset, epsilon="1e13")
    for table in ({"x": cells, "i": cells, "t": cells}, pandas_frame({"x": cells, "i": cells, "t": cells}, dtype=object)):
        report = asked.release(table, ledger)
        assert report["sum x"].value == 1 + 2 + 2.5 + 0.5 + 1 + 1 + 3
        assert report["range_count x" if "range_count x" in report else "range count x"].value == 7
        assert report["sum i"].value == 1 + 2 + 1 + 1 + 3
        assert {key: one.value for key, one in report["histogram t"].bins.items()} == {"1": 1, "a": 1, "true": 1}


def test_what_the_ledger_alone_says_is_read(rows, tmp_path):
    """The declaration in force may select rows by a column that the analyst's plan does not name."""
    declared = dp.dataset("d", neighbors="add-remove", where="city = 'Ulm'", columns={"city": dp.text(keys=cities)})
    (tmp_path / "plan.toml").write_text('[budget]\nepsilon = "1e12"\n[[statistic]]\nname = "count"\nkind = "count"\nweight = 1\n')
    ledger = dp.Ledger.create(tmp_path / "l", declared, epsilon="1e13")
    public = dp.dataset("d", neighbors="add-remove", columns={"city": dp.text(keys=cities)})
    for asked in (dp.plan(tmp_path / "plan.toml", ledger=ledger), dp.plan(tmp_path / "plan.toml", declaration=public)):
        for table in (rows, pandas_frame(rows), pandas_frame(rows, dtype=object), polars_frame(rows), with_types(rows)):
            asked.dry_run(table, ledger)
            assert asked.release(table, ledger)["count"].value == rows["city"].count("Ulm")


def test_what_is_missing_in_numpy_is_missing(tmp_path):
    import numpy

    dataset = dp.dataset("d", neighbors="add-remove", columns={"x": dp.real(-10, 10)})
    asked = dataset.plan(dp.range_count("x", bounds=(-10, 10)), epsilon=huge)
    ledger = dp.Ledger.create(tmp_path / "l", dataset, epsilon="1e13")
    day = numpy.datetime64(7, "ns")
    for cells in (
        [1, day, numpy.timedelta64(7, "ns"), numpy.ma.masked],
        numpy.ma.array([1, 2, 3], mask=[0, 1, 1], dtype=object),
        numpy.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 1]),
        numpy.array([1, day], dtype=object),
    ):
        (counted,) = asked.release({"x": cells}, ledger).values()
        assert counted.value == 1


def test_threads_release_from_one_ledger(rows, tmp_path):
    import threading

    dataset = dp.dataset("d", neighbors="add-remove", columns={"age": dp.integer(0, 100)})
    asked = dataset.plan(dp.count(epsilon="0.1"), epsilon="0.1")
    ledger = dp.Ledger.create(tmp_path / "l", dataset, epsilon=1)
    outcomes = []

    def run():
        try:
            outcomes.append(asked.release(with_types(rows), ledger).release)
        except dp.BudgetRefused:
            outcomes.append(None)

    threads = [threading.Thread(target=run) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome for outcome in outcomes if outcome) == list(range(1, 11))
    assert outcomes.count(None) == 2
    assert ledger.remaining == 0
    ledger.verify()
