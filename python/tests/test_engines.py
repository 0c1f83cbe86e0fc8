"""Rows that stay where they are give, engine by engine, the very states of the rows themselves; and what they are asked can be
refused at no cost."""

from __future__ import annotations

import datetime
import itertools
import pickle
import sqlite3
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nasty
import snapdp as dp

arrow = pytest.importorskip("pyarrow")


def plain(cell):
    """As SQLite has cells: no decimals."""
    return float(cell) if isinstance(cell, Decimal) else cell


def filled(connection, table):
    names = ", ".join('"' + name.replace('"', '""') + '"' for name in table.column_names)
    connection.execute(f"create table people ({names})")
    marks = ", ".join("?" * table.num_columns)
    rows = zip(*(map(plain, column.to_pylist()) for column in table.columns), strict=True)
    connection.executemany(f"insert into people values ({marks})", rows)
    connection.commit()
    return connection


def of_sqlite(table, folder):
    return dp.sql(filled(sqlite3.connect(":memory:"), table), "people")


def of_adbc(table, folder):
    driver = pytest.importorskip("adbc_driver_sqlite.dbapi")
    path = folder / "people.sqlite"
    path.unlink(missing_ok=True)
    filled(sqlite3.connect(path), table).close()
    return dp.sql(driver.connect(f"file:{path}"), "people")


def of_duckdb(table, folder):
    connection = pytest.importorskip("duckdb").connect()
    connection.register("people", table)
    return dp.sql(connection, "people")


def of_datafusion(table, folder):
    context = pytest.importorskip("datafusion").SessionContext()
    context.register_record_batches("people", [table.to_batches() or [arrow.RecordBatch.from_pylist([], table.schema)]])
    return dp.sql(context, "people")


engines = {"duckdb": of_duckdb, "sqlite": of_sqlite, "adbc": of_adbc, "datafusion": of_datafusion}


def in_engine(name, table, folder):
    held = engines[name](table, folder)
    yield held
    connection = held._driver.__dict__.get("_connection")
    if connection is not None:
        connection.close()


@pytest.fixture(params=[(engine, name) for engine in engines for name in nasty.tables], ids=" ".join)
def held(request, tmp_path):
    """A table, in memory and in an engine."""
    engine, name = request.param
    table = nasty.tables[name]()
    for data in in_engine(engine, table, tmp_path):
        yield table, data


def test_the_same_states(held):
    table, data = held
    for name, plan in nasty.plans(table.num_rows or 1).items():
        if name == "moments" and table.num_rows == 0:
            continue  # a size is at least 1
        assert nasty.states(plan, data) == nasty.states(plan, table), name


@pytest.fixture(params=engines)
def engine(request):
    return request.param


def test_names_are_names(engine, tmp_path):
    table = nasty.named()
    for data in in_engine(engine, table, tmp_path):
        assert nasty.states(nasty.named_plan(), data) == nasty.states(nasty.named_plan(), table)


def test_the_same_report(engine, tmp_path):
    """Of a huge epsilon, whose noise is nothing."""

    def values(data):
        report = plan.release(data, ledger)
        return [estimate.value for released in report.values() for estimate in released.estimates]

    table = nasty.tables["ordinary"]()
    plan = nasty.dataset().plan(dp.count(), dp.mean("real"), dp.mean("int").by("small"), dp.median("int", resolution=5), epsilon="1e12")
    ledger = dp.Ledger.create(tmp_path / "l.ledger", nasty.dataset(), epsilon="1e13")
    for data in in_engine(engine, table, tmp_path):
        assert values(data) == pytest.approx(values(table), rel=1e-6)
        plan.dry_run(data, ledger)
        assert ledger.spent == 2 * plan.epsilon


# Units: the rows of a unit that count are those that come first by a public number of what the statistics see of them.


def kept_rows(rows, cells_of, most, key_of=None, most_groups=0, most_in_group=0):
    """As src/engines/sql/sql_query.cpp orders them. Cells that are missing are None."""
    prime, units = 2**31 - 1, {}

    def rank(row):
        cells = [-3 if cell is None else cell for cell in cells_of(row)]
        number = 1
        for cell in cells:
            number = (number + (cell + 3) % prime) * 48271 % prime
        return number, cells

    for row in rows:
        if row["unit"] is not None and str(row["unit"]).strip(" "):
            units.setdefault(row["unit"], []).append(row)
    kept = []
    for members in units.values():
        few = sorted(members, key=rank)[:most]
        if key_of is not None:
            groups = {}
            for row in few:
                if key_of(row) >= 0:
                    groups.setdefault(key_of(row), []).append(row)
            few = [row for members in list(groups.values())[:most_groups] for row in members[:most_in_group]]
        kept += few
    return kept


unit_types = {"unit": arrow.string(), "int": arrow.int64(), "real": arrow.float64(), "small": arrow.int64()}
row_of_units = st.fixed_dictionaries(
    {
        "unit": st.sampled_from(["a", "A", "b", "", "  ", None]),
        "int": st.sampled_from([-200, -1, 0, 1, 5, 200, None]),
        "real": st.sampled_from([-3.0, -0.0, 0.3, 0.30000000000000004, 7.25, float("nan"), float("inf"), None]),
        "small": st.sampled_from([-3, 0, 3, 4, None]),
    }
)


def units(**options):
    return dp.dataset(
        "units",
        neighbors="add-remove",
        expected_size=20,
        columns={"int": dp.integer(-100, 100), "real": dp.real(-2, 5), "small": dp.integer(keys=[3, -3])},
        **options,
    )


def place(row):
    return {3: 0, -3: 1}.get(row["small"], -1)


def as_table(rows):
    return arrow.Table.from_pylist(rows, arrow.schema(unit_types))


@given(st.lists(row_of_units, max_size=25), st.integers(1, 3))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", ["duckdb", "sqlite", "datafusion"])
def test_rows_of_units(name, rows, most):
    def asked(people):
        return people.plan(dp.sum("int"), dp.mean("real", row_grid="2^-3"), dp.histogram("small", categories=[3, -3]), epsilon=1)

    def cells_of(row):
        real = row["real"]
        on_grid = None if real is None or real != real else int(min(max(real, -2.0), 5.0) * 8 // 1) + 16
        whole = None if row["int"] is None else min(max(row["int"], -100), 100) + 100
        return [whole, on_grid, place(row)]

    for data in in_engine(name, as_table(rows), None):
        found = dp.fold(asked(units(unit="unit", max_rows_per_unit=most)), data, whole_units=True)
    expected = dp.fold(asked(units()), as_table(kept_rows(rows, cells_of, most)))
    assert found[69:-32] == expected[69:-32]


@given(st.lists(row_of_units, max_size=25), st.integers(1, 2), st.integers(1, 2))
@settings(max_examples=60, deadline=None)
@pytest.mark.parametrize("name", ["duckdb", "sqlite"])
def test_groups_of_units(name, rows, most_groups, most_in_group):
    def cells_of(row):
        there = row["int"] is not None
        return [place(row), min(max(row["int"], -100), 100) + 100 if there else None]

    limits = {"max_groups_per_unit": most_groups, "max_rows_per_group_per_unit": most_in_group}
    limited = units(unit="unit", max_rows_per_unit=4).plan(dp.mean("int").by("small", **limits), epsilon=1)
    kept = kept_rows(rows, cells_of, 4, place, most_groups, most_in_group)
    for data in in_engine(name, as_table(rows), None):
        found = dp.fold(limited, data, whole_units=True)
    expected = dp.fold(units().plan(dp.mean("int").by("small"), epsilon=1), as_table(kept))
    assert found[69:-32] == expected[69:-32]


# Refusals. Each leaves the ledger as it was.


@pytest.fixture
def paid(tmp_path):
    """A ledger from which nothing may be debited."""
    ledger = dp.Ledger.create(tmp_path / "nothing.ledger", nasty.dataset(), epsilon=10)
    yield ledger
    assert ledger.spent == 0 and len(ledger.entries()) == 0


def refused(kind, parameter, action, *arguments):
    with pytest.raises(kind) as caught:
        action(*arguments)
    error = caught.value
    assert type(error) is kind and error.parameter == parameter, (type(error), error.parameter, str(error))
    for other in (error.__cause__, error.__context__):  # no driver's, which may quote cells
        assert other is None or isinstance(other, dp.Error)
    return str(error)


@pytest.fixture
def plan():
    return nasty.dataset().plan(dp.count(), dp.mean("real"), dp.mean("int").by("small"), epsilon=1)


@pytest.fixture
def connection():
    connection = filled(sqlite3.connect(":memory:"), nasty.tables["ordinary"]())
    yield connection
    connection.close()


def test_tables_and_columns_that_are_missing(plan, paid, connection):
    for missing in ("peeple", "main.peeple", 'x"; drop table people; --"'):
        words = refused(dp.IoError, "table", plan.release, dp.sql(connection, missing), paid)
        assert "check the name" in words
    connection.execute("create view no_real as select int, small from people")
    connection.execute('create view other as select real as "Real", int, small from people')
    assert '"real"' in refused(dp.BadData, "column", plan.release, dp.sql(connection, "no_real"), paid)
    assert '"Real"' in refused(dp.BadData, "column", plan.release, dp.sql(connection, "other"), paid)
    assert '"real"' in refused(dp.BadData, "column", dp.fold, plan, dp.sql(connection, "no_real"))
    for name in ("", ".", 'a"b', "a..b"):
        refused(dp.InvalidArgument, "table", dp.sql, connection, name)
    assert connection.execute("select count(*) from people").fetchone() == (3000,)


def test_a_connection_that_is_closed(plan, paid, connection):
    data = dp.sql(connection, "people")
    connection.close()
    refused(dp.IoError, "table", plan.release, data, paid)


class Driver:
    """A connection that breaks, or answers what it likes."""

    __module__ = "sqlite3"

    def __init__(self, connection, answer):
        self.connection, self.answer, self.queries = connection, answer, []

    def cursor(self):
        return self

    def execute(self, query):
        self.queries.append(query)
        self.result = self.connection.execute(query)
        self.description = self.result.description

    def fetchall(self):
        return self.answer(self.result.fetchall())

    def close(self):
        pass


def test_what_a_driver_says_is_not_told(plan, paid, connection):
    def broken(rows):
        raise RuntimeError("the cell 'Erika Mustermann' is no number")

    words = refused(dp.IoError, "data", plan.release, dp.sql(Driver(connection, broken), "people"), paid)
    assert "Mustermann" not in words and "plan.sql" in words


def test_one_query(plan, tmp_path, connection):
    driver = Driver(connection, list)
    ledger = dp.Ledger.create(tmp_path / "l.ledger", nasty.dataset(), epsilon=10)
    plan.release(dp.sql(driver, "people"), ledger, label="once")
    assert len(driver.queries) == 2 and driver.queries[0].endswith("`people` WHERE 1 = 0")
    assert plan.release(dp.sql(driver, "people"), ledger, label="once").reprinted and len(driver.queries) == 2


def edits():
    def edit(change):
        def edited(names, rows):
            change(rows)
            return names, rows

        return edited

    def cell(row, column, value):
        return edit(lambda rows: rows[row].__setitem__(column, value))

    return {
        "negative": cell(0, 4, -1),
        "a row more": cell(0, 4, 3001),
        "beyond 2^40": cell(0, 4, 2**41),
        "beyond all bounds": cell(0, 5, 2**200),
        "no sum of so many rows": cell(0, 6, 10**14),
        "doubled": edit(lambda rows: rows.append(list(rows[0]))),
        "a group is missing": edit(lambda rows: rows.pop()),
        "a group moved": cell(2, 2, 17),
        "a part too many": cell(2, 1, 9),
        "an extra row": edit(lambda rows: rows.append([*rows[0][:1], 1, 2, 0, *rows[0][4:]])),
        "a fraction": cell(0, 5, "1.5"),
        "a fraction, decimal": cell(0, 5, Decimal("1.5")),
        "a text": cell(0, 5, "many"),
        "a cell of another row": cell(0, 5, "٣"),
        "a float": cell(0, 5, 1.0),
        "a flag": cell(0, 5, True),
        "null": cell(0, 5, None),
        "infinite": cell(0, 5, Decimal("inf")),
        "not a number": cell(0, 5, Decimal("nan")),
        "a huge exponent": cell(0, 5, Decimal("1e999999999")),
        "a date": cell(0, 5, datetime.date(2026, 1, 1)),
        "a cell too few": edit(lambda rows: rows[0].pop()),
        "a cell too many": edit(lambda rows: rows[0].append(0)),
        "no rows": edit(lambda rows: rows.clear()),
        "a column is missing": lambda names, rows: (names[:-1], [row[:-1] for row in rows]),
        "a column too many": lambda names, rows: ([*names, "x"], [[*row, 0] for row in rows]),
        "a column twice": lambda names, rows: ([*names[:-1], names[-2]], rows),
        "another plan's": cell(0, 0, 12345),
    }  # fmt: skip


@pytest.fixture
def answered(plan, connection):
    result = connection.execute(plan.sql("sqlite", "people"))
    return [column[0] for column in result.description], [list(row) for row in result.fetchall()]


@pytest.mark.parametrize("name", edits())
def test_edited_results(name, plan, paid, connection, answered):
    names, rows = edits()[name](*answered)
    assert "hand over" in refused(dp.BadData, "aggregates", lambda: plan.release(dp.aggregates(names, rows), paid))
    if names is answered[0]:
        driver = Driver(connection, lambda _: rows)
        refused(dp.BadData, "aggregates", plan.release, dp.sql(driver, "people"), paid)


def test_results_fetched_by_hand(plan, answered, tmp_path):
    names, rows = answered
    source = nasty.states(plan, nasty.tables["ordinary"]())
    mixed = [[(int, str, Decimal, lambda n: Decimal(n).scaleb(0))[i % 4](cell) for i, cell in enumerate(row)] for row in rows]
    turned = [row[::-1] for row in rows[::-1]]
    for result in (
        dp.aggregates(names, rows),
        dp.aggregates([name.upper() for name in names], mixed),
        dp.aggregates(iter(names[::-1]), iter(turned)),
    ):
        assert nasty.states(plan, result) == source
    numpy = pytest.importorskip("numpy")
    assert nasty.states(plan, dp.aggregates(names, list(numpy.array(rows)))) == source


def test_another_plan_s_result(paid, plan, answered):
    other = nasty.dataset(where="int > 3").plan(dp.count(), dp.mean("real"), dp.mean("int").by("small"), epsilon=1)
    refused(dp.BadData, "aggregates", dp.fold, other, dp.aggregates(*answered))


def test_arguments(plan, paid, connection):
    refused(dp.InvalidArgument, "connection", dp.sql, "people.sqlite", "people")
    refused(dp.InvalidArgument, "dialect", dp.sql, connection, "people", "mysql")
    refused(dp.InvalidArgument, "dialect", plan.sql, "mysql", "people")
    refused(dp.InvalidArgument, "table", plan.sql, "sqlite", "")
    refused(dp.InvalidArgument, "table", dp.sql, connection, 3)
    refused(dp.InvalidArgument, "columns", dp.aggregates, "n_0", [])
    for cell in (True, 1.0, None, b"1", Decimal("1e100"), 10**80, "٣", datetime.date(2026, 1, 1)):
        refused(dp.BadData, "aggregates", dp.aggregates, ["n_0"], [[cell]])
    refused(dp.InvalidArgument, "states", dp.states, b"")
    refused(dp.InvalidArgument, "states", dp.states, ["text"])
    refused(dp.InvalidArgument, "states", plan.release, dp.states([]), paid)
    refused(dp.InvalidArgument, "plan", dp.fold, nasty.dataset(), connection)

    class Connection:
        def cursor(self):
            raise AssertionError

    assert "test_engines" in refused(dp.InvalidArgument, "dialect", dp.sql, Connection(), "people")
    with pytest.warns(UserWarning, match="never run"):
        assert "FROM `people`" in plan.sql("bigquery", "people")


def test_reals_need_a_grid(paid, connection):
    people = dp.dataset("nasty", neighbors="add-remove", expected_size=1000, columns={"real": dp.real(0, 1)})
    assert "row_grid" in refused(dp.InvalidArgument, "row_grid", people.plan(dp.mean("real"), epsilon=1).sql, "duckdb", "t")
    one = people.plan(dp.mean("real", row_grid="2^-20"), epsilon=1)
    assert 'row_grid = "2^-20"' in one.to_toml() and "SELECT" in one.sql("duckdb", "t")
    assert "row_grid" in refused(dp.InvalidArgument, "row_grid", lambda: people.plan(dp.mean("real", row_grid="2^-k"), epsilon=1))
    refused(dp.InvalidArgument, "row_grid", lambda: dp.dataset("d", neighbors="add-remove", row_grid="2^-3"))


@pytest.mark.parametrize(
    "kind", [dp.sum, dp.mean, dp.variance, dp.standard_deviation, dp.covariance, dp.correlation, dp.moment], ids=lambda kind: kind.__name__
)
def test_row_grids_are_written(kind, tmp_path):
    columns = ["x", "y"] if kind in (dp.covariance, dp.correlation) else ["x"]
    order = {"order": 2} if kind is dp.moment else {}
    people = dp.dataset(
        "d", neighbors="change-one", size=9, nulls={"impute": 0}, row_grid="auto", columns={name: dp.real(0, 1) for name in columns}
    )
    assert 'row_grid = "auto"' in people.to_toml()
    own = people.plan(kind(*columns, row_grid="2^-5", **order), epsilon=1)
    shared = people.plan(kind(*columns, **order), epsilon=1)
    (tmp_path / "own.toml").write_text(own.to_toml())
    assert dp.plan(tmp_path / "own.toml").to_json() == own.to_json() != shared.to_json()
    assert pickle.loads(pickle.dumps(own)) == own


def test_types_of_columns(plan, paid, connection, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    held = duckdb.connect()
    held.execute("create table people (real varchar, int bigint, small bigint)")
    assert "stores text" in refused(dp.InvalidArgument, "columns", plan.release, dp.sql(held, "people"), paid)
    held.execute("create or replace table people (real date, int bigint, small bigint)")
    refused(dp.BadData, "column", plan.release, dp.sql(held, "people"), paid)
    held.execute("create or replace table people (real bigint[], int bigint, small bigint)")
    refused(dp.BadData, "column", plan.release, dp.sql(held, "people"), paid)


@pytest.mark.parametrize("name", ["duckdb", "datafusion"])
def test_stored_types(name, tmp_path):
    """Every type of numbers, at its ends, read as reals and as integers."""
    ends = {
        "int8": (-(2**7), 2**7 - 1), "uint8": (0, 2**8 - 1), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1),
        "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1), "uint64": (0, 2**64 - 1),
    }  # fmt: skip
    for kind, (least, most) in ends.items():
        table = arrow.table({"x": arrow.array([least, most, 0, 1, None, most - 1], getattr(arrow, kind)())})
        people = dp.dataset("d", neighbors="add-remove", expected_size=6, row_grid="auto")
        plan = people.plan(
            dp.mean("x", type="real", bounds=(-(10**20), 10**20), name="real"),
            dp.mean("x", type="integer", bounds=(-(2**60), 2**60), name="integer"),
            dp.histogram("x", categories=[2**63 - 1, 2**63 - 2, 0, -(2**63)], type="integer", name="ends"),
            epsilon=1,
        )
        for data in in_engine(name, table, tmp_path):
            assert nasty.states(plan, data) == nasty.states(plan, table), kind


def test_a_thousand_statistics(engine, tmp_path):
    """One query, or a refusal that says so."""
    table = nasty.tables["ordinary"]().slice(0, 50)
    people = nasty.dataset()
    plan = people.plan(
        *(dp.mean("int", bounds=(0, 100 + i), name=f"mean {i}") for i in range(980)),
        *(dp.histogram("int", edges=[0, i + 1, 1000], name=f"histogram {i}") for i in range(20)),
        epsilon=1,
    )
    for data in in_engine(engine, table, tmp_path):
        try:
            assert nasty.states(plan, data) == nasty.states(plan, table)
        except dp.IoError as error:
            assert error.parameter == "data" and engine in ("sqlite", "adbc")


# States of parts.


def test_parts(tmp_path):
    table = nasty.tables["ordinary"]()
    for name, plan in nasty.plans(table.num_rows).items():
        plan = pickle.loads(pickle.dumps(plan))
        if name.startswith("where"):
            continue
        parts = [dp.fold(plan, table.slice(start, 47)) for start in range(0, table.num_rows, 47)]
        assert len(parts) == 64
        assert nasty.states(plan, dp.states(iter(parts))) == nasty.states(plan, table), name


def test_a_plan_pickles_small(plan):
    assert len(pickle.dumps(plan)) < 2000


def test_parts_that_are_refused(plan, paid):
    table = nasty.tables["ordinary"]()
    part, other = dp.fold(plan, table), dp.fold(plan, table)
    assert part != other and nasty.states(plan, dp.states([part])) == nasty.states(plan, dp.states([other]))
    another = dp.fold(nasty.dataset().plan(dp.count(), dp.mean("real"), epsilon=1), table)
    for wrong in ([part, part], [part[:-1]], [part[:40]], [b""], [part + b"x"], [another], [part, another], [b"x" * 200]):
        refused(dp.BadData, "states", plan.release, dp.states(wrong), paid)
    for at in (3, 9, 20, 40, 60, 61, 70, len(part) // 2, len(part) - 1):
        altered = bytearray(part)
        altered[at] ^= 1
        refused(dp.BadData, "states", plan.release, dp.states([altered]), paid)


def test_parts_of_units(tmp_path):
    people = units(unit="unit", max_rows_per_unit=2)
    plan = people.plan(dp.count(), dp.sum("int"), epsilon=1)
    rows = [{"unit": str(i % 7), "int": i, "real": 0.0, "small": 3} for i in range(50)]
    table = as_table(rows)
    assert "whole" in refused(dp.InvalidArgument, "whole_units", dp.fold, plan, table)
    by_unit = [dp.fold(plan, as_table([row for row in rows if int(row["unit"]) % 3 == i]), whole_units=True) for i in range(3)]
    assert nasty.states(plan, dp.states(by_unit), True) == nasty.states(plan, table, True)
    ledger = dp.Ledger.create(tmp_path / "l.ledger", people, epsilon=1)
    plan.release(dp.states(by_unit), ledger)
    assert ledger.spent == 1


def test_the_tool_s_files(tmp_path, tool, plan):
    """The query and the parts of the tool and of Python are the same."""
    table = nasty.tables["ordinary"]()
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(table, tmp_path / "part.parquet")
    (tmp_path / "plan.toml").write_text(plan.to_toml())
    query = tool("pushdown", tmp_path / "plan.toml", "--dialect", "duckdb", "--table", "people")
    assert "\n".join(line for line in query.split("\n") if not line.startswith("--")) == plan.sql("duckdb", "people")
    tool("fold", tmp_path / "plan.toml", "--data", tmp_path / "part.parquet", "--output", tmp_path / "part.state")
    part = (tmp_path / "part.state").read_bytes()
    assert nasty.states(plan, dp.states([part])) == nasty.states(plan, table)


def test_chains(tmp_path, connection):
    """What a plan is released from, a chain is too."""
    table = dp.rows({"int": dp.integer(), "small": dp.integer()}, neighbors="add-remove", where="small >= 0")
    chain = table["int"] >> dp.drop() >> dp.clamp(0, 100) >> dp.sum() >> dp.snapping(epsilon="1e12")
    rows = nasty.tables["ordinary"]()
    exact = sum(min(max(i, 0), 100) for i, s in zip(rows["int"].to_pylist(), rows["small"].to_pylist(), strict=True) if s >= 0)
    assert chain.release(dp.sql(connection, "people"), dp.Budget("1e13")).value == exact


def test_checks_read_rows_themselves(plan, connection):
    """A check of rows is no sum: it is told so."""
    with pytest.raises(dp.Error):
        plan.check(dp.sql(connection, "people"))


class Described:
    """A cursor of psycopg: PostgreSQL's numbers of types."""

    __module__ = "psycopg"

    def __init__(self, *codes):
        self.description = [(f"c{code}", code, None, None, None, None, None) for code in codes]

    def cursor(self):
        return self

    def execute(self, query):
        assert query == 'SELECT * FROM "hr"."people" WHERE 1 = 0'

    def close(self):
        pass


def test_types_that_drivers_tell():
    from snapdp import _drivers

    driver = _drivers.driver_of(Described(16, 20, 701, 1700, 25, 1082, 99999), None)
    assert driver.dialect == "postgresql"
    assert [kind for _, kind in driver.header(["hr", "people"])] == [
        "boolean", "integer", "real", "decimal", "text", "unusable", "unknown",
    ]  # fmt: skip
    duckdb = {"INTEGER[]": "unusable", "DECIMAL(38,2)": "decimal", "ENUM('a', 'b]')": "text", "DATE": "unusable", "STRUCT(a INTEGER)": "unusable"}
    assert {name: _drivers.duckdb_type(name) for name in duckdb} == duckdb
    of_arrow = {
        "decimal128(3, 2)": "decimal", "dictionary<values=string, indices=int32, ordered=0>": "text", "list<item: int64>": "unusable",
        "timestamp[us]": "unusable", "date32[day]": "unusable", "null": "unknown", "binary": "unusable",
    }  # fmt: skip
    assert {name: _drivers.arrow_type(name) for name in of_arrow} == of_arrow


def test_interrupts_are_python_s(plan, paid, connection):
    def stopped(rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        plan.release(dp.sql(Driver(connection, stopped), "people"), paid)


def test_every_part_once(plan, tmp_path):
    """mapInArrow's way: batches come one by one, a task folds them into one part."""
    table = nasty.tables["ordinary"]()

    def folded(batches):
        first = next(batches, None)
        if first is not None:
            yield dp.fold(plan, arrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches)))

    tasks = [iter(table.slice(start, 1000).to_batches(max_chunksize=100)) for start in range(0, 3000, 1000)] + [iter([])]
    parts = [part for task in tasks for part in folded(task)]
    assert len(parts) == 3 and nasty.states(plan, dp.states(parts)) == nasty.states(plan, table)
