"""A cluster of Spark gives the very integers of the rows themselves, also when a worker dies, tasks are tried again and twice."""

from __future__ import annotations

import itertools
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pyarrow
import pyarrow.parquet
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import duckdb
import nasty
from cluster import cluster, options
from pyspark.sql import SparkSession

import snapdp as dp

rows_of_a_file = 45_000


@pytest.fixture(scope="module")
def workers(tmp_path_factory):
    with cluster(tmp_path_factory.mktemp("cluster")) as running:
        yield running


@pytest.fixture(scope="module")
def spark(workers):
    os.environ.update(SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_DIRS=str(workers.folder / "local"))
    builder = SparkSession.builder.master(workers.master).appName("snapdp")
    for name, value in options.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """Eight files, and a column that says whose row it is."""
    folder = tmp_path_factory.mktemp("people")
    base = nasty.ordinary(4000, 5)
    mixed = nasty.mixed(1000, 6)
    for i in range(8):
        table = pyarrow.concat_tables([base.slice(i * 500, 500), mixed] * (rows_of_a_file // 1500))
        units = pyarrow.array([f"unit {(n * 7919 + i) % 50_000}" for n in range(table.num_rows)])
        pyarrow.parquet.write_table(table.append_column("unit", units), folder / f"part-{i}.parquet")
    return folder


def asked(**declared):
    limits = {"max_groups_per_unit": 2, "max_rows_per_group_per_unit": 3} if "unit" in declared else {}
    return nasty.dataset(**declared).plan(
        dp.count(),
        dp.mean("real"),
        dp.variance("real"),
        dp.mean("int"),
        dp.mean("real").by("text", **limits),
        dp.histogram("real", edges=range(-100, 101, 10)),
        dp.quantiles("real", ["0.25", "0.5", "0.75"], resolution=10),
        epsilon=1,
    )


def whole(folder):
    return pyarrow.parquet.read_table(folder)


def running(spark):
    """Executors by name, and how many tasks each is at."""
    executors = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return [(executors.apply(i).id(), executors.apply(i).activeTasks()) for i in range(executors.size())]


@pytest.mark.parametrize("name", nasty.tables)
def test_nasty_tables(spark, name, tmp_path):
    table = nasty.tables[name]()
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    for plan_name, plan in nasty.plans(table.num_rows or 1).items():
        if plan_name != "moments" or table.num_rows > 0:
            assert nasty.states(plan, frame) == nasty.states(plan, table), plan_name
    assert [view.name for view in spark.catalog.listTables()] == []


def test_names_are_names(spark, tmp_path):
    names = [name for name in nasty.names if "${" not in name]
    plan = dp.dataset(
        "names", neighbors="add-remove", expected_size=40, columns={name: dp.integer(-2, 3) for name in names}
    ).plan(*(dp.sum(name) for name in names), epsilon=1)
    table = nasty.named()
    frame = spark.createDataFrame(table)
    assert nasty.states(plan, frame) == nasty.states(plan, table)
    with pytest.raises(dp.InvalidArgument, match="which Spark replaces"):
        dp.fold(nasty.named_plan(), frame)


def test_the_embedded_engine_s_bits(spark, people, tmp_path):
    frame = spark.read.parquet(str(people))
    plan = asked()
    assert nasty.states(plan, frame) == nasty.states(plan, whole(people))
    ledger = dp.Ledger.create(tmp_path / "l.ledger", nasty.dataset(), epsilon=2)
    assert plan.release(frame, ledger)["count"].value > 0 and ledger.spent == plan.epsilon


def test_one_wrong_bit_is_noticed(spark, people):
    """What these tests compare would tell of one: in any cell of the query's result, and of any integer in all its places alike."""
    plan = asked()
    spark.read.parquet(str(people)).createOrReplaceTempView("people_bits")
    try:
        result = spark.sql(plan.sql("spark", "people_bits"))
        names, rows = list(result.columns), [list(row) for row in result.collect()]
    finally:
        spark.catalog.dropTempView("people_bits")
    expected = nasty.states(plan, whole(people))
    assert nasty.states(plan, dp.aggregates(names, rows)) == expected

    def seen(changed):
        try:
            return nasty.states(plan, dp.aggregates(names, changed))
        except dp.BadData:
            return "refused"

    part, first_sum = names.index("part"), names.index("n_0")
    total = next(row for row in rows if row[part] == 0)
    group = max((row for row in rows if row[part] != 0), key=lambda row: sum(cell != 0 for cell in row))
    told = []
    for column in range(len(names)):
        for row in (total, group):
            changed = [[*other[:column], other[column] ^ 1, *other[column + 1 :]] if other is row else other for other in rows]
            assert seen(changed) != expected, names[column]
        if column > first_sum:  # one more in a group and in the total, as one row too many would have it
            changed = [[*row[:column], row[column] + (row in (total, group)), *row[column + 1 :]] for row in rows]
            told.append(seen(changed))
    assert any(state not in ("refused", expected) for state in told)


def test_units(spark, people):
    """Other rows of a unit may count than those that the embedded engine keeps: those of every other database."""
    plan = asked(unit="unit", max_rows_per_unit=7)
    connection = duckdb.connect()
    connection.execute(f"create view people as from read_parquet('{people}/*.parquet')")
    frame = spark.read.parquet(str(people))
    assert nasty.states(plan, frame, True) == nasty.states(plan, dp.sql(connection, "people"), True)


def test_parts_by_map_in_arrow(spark, people):
    plan = asked()

    def folded(batches):
        first = next(batches, None)
        if first is None:
            return
        rows = pyarrow.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches))
        yield pyarrow.RecordBatch.from_pydict({"state": pyarrow.array([dp.fold(plan, rows)], pyarrow.binary())})

    frame = spark.read.parquet(str(people)).select(*plan.columns)
    parts = [bytes(row.state) for row in frame.mapInArrow(folded, "state binary").collect()]
    assert len(parts) > 1
    assert nasty.states(plan, dp.states(parts)) == nasty.states(plan, whole(people))


def both_executors(spark, workers):
    """Whose process is there and known to the driver, which takes a new one some seconds."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        found = workers.executors()
        if len(found) == 2 and {name for _, name in found} <= {name for name, _ in running(spark)}:
            return found
        time.sleep(0.1)
    raise TimeoutError(f"{workers.executors()} of {running(spark)}")


def during(spark, executor, action, query):
    """What `query` gives, while `action` is done as soon as this executor has a task: asked again, if it was over before."""
    done = []
    over = threading.Event()

    def wait():
        while not done and not over.is_set():
            if any(name == executor and tasks > 0 for name, tasks in running(spark)):
                action()
                done.append(True)
            time.sleep(0.005)

    watcher = threading.Thread(target=wait)
    watcher.start()
    try:
        for _ in range(10):
            result = query()
            if done:
                return result
    finally:
        over.set()
        watcher.join()
    raise AssertionError(f"executor {executor} had no task in ten queries")


def test_a_task_that_is_tried_again(spark, workers, people):
    """Its executor is killed, and the worker starts another."""
    plan = asked()
    frame = spark.read.parquet(str(people))
    victim, name = both_executors(spark, workers)[0]
    found = during(spark, name, lambda: os.kill(victim, signal.SIGKILL), lambda: nasty.states(plan, frame))
    assert found == nasty.states(plan, whole(people))
    assert name not in [other for _, other in both_executors(spark, workers)]


def test_a_task_that_runs_twice(spark, workers, people):
    """One executor stands still for some seconds, in which the other does its tasks, speculatively."""
    plan = asked()
    frame = spark.read.parquet(str(people))
    victim, name = both_executors(spark, workers)[0]
    resumed = threading.Timer(5, os.kill, (victim, signal.SIGCONT))

    def pause():
        os.kill(victim, signal.SIGSTOP)
        resumed.start()

    found = during(spark, name, pause, lambda: nasty.states(plan, frame))
    resumed.join()
    assert found == nasty.states(plan, whole(people))


def test_nothing_listens_elsewhere(workers, spark):
    ours = {process.pid for process in workers.processes} | {pid for pid, _ in workers.executors()}
    ours.add(spark.sparkContext._gateway.proc.pid)
    sockets = set()
    for pid in ours:
        for link in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            try:
                sockets.add(os.readlink(link))
            except OSError:
                continue
    listening = []
    for kind in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and f"socket:[{cells[9]}]" in sockets:
                listening.append(cells[1].split(":")[0])
    assert len(listening) >= 4
    assert set(listening) <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_a_worker_that_dies(spark, workers, people, tmp_path):
    """Last: it stays dead."""
    plan = asked()
    frame = spark.read.parquet(str(people))
    both_executors(spark, workers)
    name = workers.executors_of(1)[0][1]
    found = during(spark, name, lambda: workers.kill_worker(1), lambda: nasty.states(plan, frame))
    assert found == nasty.states(plan, whole(people))


def test_a_query_that_fails_costs_nothing(spark, tmp_path):
    ledger = dp.Ledger.create(tmp_path / "l.ledger", nasty.dataset(), epsilon=2)
    table = nasty.tables["ordinary"]()
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    frame = spark.read.parquet(str(tmp_path / "t.parquet"))
    (tmp_path / "t.parquet").unlink()
    with pytest.raises(dp.IoError) as refused:
        asked().release(frame, ledger)
    assert refused.value.__context__ is None and "parquet" not in str(refused.value) and ledger.spent == 0
    with pytest.raises(dp.BadData, match="int"):
        asked().release(frame.drop("int"), ledger)
    assert ledger.spent == 0 and spark.catalog.listTables() == []


def test_connect(tmp_path):
    """A frame of Spark Connect, in a process of its own."""
    pytest.importorskip("grpc")
    program = f"""
import sys; sys.path.insert(0, {str(pathlib.Path(nasty.__file__).parent)!r})
import nasty, pyarrow.parquet
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote("local[1]").config("spark.ui.enabled", "false").config("spark.driver.bindAddress", "127.0.0.1") \\
    .config("spark.driver.host", "127.0.0.1").config("spark.connect.grpc.binding.address", "127.0.0.1").getOrCreate()
table = nasty.tables["mixed"]()
pyarrow.parquet.write_table(table, {str(tmp_path / "t.parquet")!r})
frame = spark.read.parquet({str(tmp_path / "t.parquet")!r})
assert "connect" in type(frame).__module__
plan = nasty.plans(table.num_rows)["groups"]
print(nasty.states(plan, frame) == nasty.states(plan, table), spark.catalog.listTables())
spark.stop()
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert result.stdout.strip().endswith("True []"), result.stderr[-3000:]
