"""The same statistics of the same rows, engine by engine, beside what each engine has of its own: ./dev bench engines.

One table of one run: count, mean and variance of a real column and its mean by twelve groups, as exact statistics and as the
engine's own aggregates of the same columns. Each engine is a process of its own, each figure the least of some runs. `CPU` counts the
processor time of all processes at work, servers and workers too, which other programs on the machine disturb least; `ratio`
compares it. `MB` is what the process that asks grows by while it asks. Before the first figure of an engine its states are compared
with those of the engine before, bit for bit.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

checkout = pathlib.Path(__file__).resolve().parents[1]
tool = checkout / "build/release/snapdp"
engines = ("arrow", "embedded", "sqlite", "postgresql", "spark", "states")
parts = 64
groups = 12


class Skipped(Exception):
    """Why an engine is left out."""


# ---- What is asked ----


def asked_of(rows: int) -> tuple[object, object]:
    """The dataset and the plan."""
    import snapdp

    delays = snapdp.dataset(
        "delays",
        neighbors="add-remove",
        expected_size=rows,
        row_grid="auto",
        columns={"delay": snapdp.real(-60, 300), "month": snapdp.integer(keys=range(1, groups + 1))},
    )
    mean = snapdp.mean("delay")
    return delays, delays.plan(snapdp.count(), mean, snapdp.variance("delay"), mean.by("month"), epsilon=1)


own_all = "SELECT COUNT(*), AVG(delay), VAR_SAMP(delay) FROM {}"
own_groups = "SELECT month, AVG(delay) FROM {} GROUP BY month"


def make_rows(path: pathlib.Path, rows: int) -> None:
    import numpy
    import pyarrow
    import pyarrow.parquet

    source = numpy.random.default_rng(1)
    schema = pyarrow.schema([("delay", pyarrow.float64()), ("month", pyarrow.int64())])
    with pyarrow.parquet.ParquetWriter(path, schema) as file:
        for start in range(0, rows, 500_000):
            count = min(500_000, rows - start)
            delay = source.normal(7, 35, count)
            columns = [pyarrow.array(delay, mask=source.random(count) < 0.01), source.integers(1, groups + 1, count)]
            file.write_table(pyarrow.table(columns, schema=schema))


# ---- Measuring ----


def seconds_of(process: int) -> float:
    """Processor time of a process, of those that it has waited for, and of all that it has started and that still run."""
    try:
        fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
        children = [path.read_text().split() for path in pathlib.Path(f"/proc/{process}/task").glob("*/children")]
    except (OSError, IndexError):
        return 0.0
    own = sum(int(fields[i]) for i in (11, 12, 13, 14)) / os.sysconf("SC_CLK_TCK")
    return own + sum(seconds_of(int(child)) for some in children for child in some)


def memory(name: str) -> float:
    line = next(line for line in pathlib.Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) / 1024


def measured(work: Callable[[], object], repeat: int, others: tuple[int, ...] = ()) -> dict[str, float]:
    found = []
    for _ in range(repeat):
        pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
        before, children = memory("VmRSS"), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        processor = sum(map(seconds_of, (os.getpid(), *others)))
        started = time.monotonic()
        work()
        wall = time.monotonic() - started
        time.sleep(0.05)  # workers are waited for
        processor = sum(map(seconds_of, (os.getpid(), *others))) - processor
        grown = max(memory("VmHWM") - before, 0)
        later = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        found.append({"wall": wall, "cpu": processor, "memory": max(grown, later / 1024 if later > children else 0)})
    return {name: min(one[name] for one in found) for name in found[0]} | {"memory": max(one["memory"] for one in found)}


class Measurement:
    """Of one engine: its rows, how its exact statistics are taken, and its own aggregates if it has them."""

    def __init__(self, folder: pathlib.Path, rows: int) -> None:
        self.folder = folder
        self.file = folder / "rows.parquet"
        self.dataset, self.plan = asked_of(rows)
        self.rows = rows

    def states(self) -> object:
        """What the statistics are taken of, for the comparison of bits."""
        raise NotImplementedError

    def exact(self) -> object:
        import snapdp

        return snapdp.fold(self.plan, self.states())

    own: Callable[[], object] | None = None
    others: tuple[int, ...] = ()

    def close(self) -> None:
        pass


class Arrow(Measurement):
    def __init__(self, folder: pathlib.Path, rows: int) -> None:
        import pyarrow.parquet

        super().__init__(folder, rows)
        self.table = pyarrow.parquet.read_table(self.file)

    def states(self) -> object:
        return self.table

    def own(self) -> object:
        import pyarrow.compute

        delay = self.table["delay"]
        return (
            len(delay),
            pyarrow.compute.mean(delay),
            pyarrow.compute.variance(delay, ddof=1),
            self.table.group_by("month").aggregate([("delay", "mean")]),
        )


class Embedded(Measurement):
    def __init__(self, folder: pathlib.Path, rows: int) -> None:
        import duckdb

        super().__init__(folder, rows)
        self.duckdb = duckdb.connect()

    def states(self) -> object:
        return self.file

    def own(self) -> object:
        table = f"read_parquet('{self.file}')"
        return self.duckdb.execute(own_all.format(table)).fetchall(), self.duckdb.execute(own_groups.format(table)).fetchall()


class Sqlite(Measurement):
    def __init__(self, folder: pathlib.Path, rows: int) -> None:
        import pyarrow.parquet

        super().__init__(folder, rows)
        self.connection = sqlite3.connect(folder / "rows.sqlite")
        self.connection.execute("CREATE TABLE delays (delay REAL, month INTEGER)")
        for batch in pyarrow.parquet.ParquetFile(self.file).iter_batches():
            self.connection.executemany("INSERT INTO delays VALUES (?, ?)", zip(*(column.to_pylist() for column in batch.columns)))
        self.connection.commit()

    def states(self) -> object:
        import snapdp

        return snapdp.sql(self.connection, "delays")

    def own(self) -> object:
        """SQLite has no variance: the sum of squares that others make it of."""
        return (
            self.connection.execute("SELECT COUNT(*), AVG(delay), SUM(delay * delay) FROM delays").fetchall(),
            self.connection.execute(own_groups.format("delays")).fetchall(),
        )


class Postgresql(Measurement):
    """By the tool, noise and ledger included; two parallel workers, as a server has them unless told otherwise."""

    def __init__(self, folder: pathlib.Path, rows: int) -> None:
        import pyarrow.csv
        import pyarrow.parquet

        import snapdp

        super().__init__(folder, rows)
        programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        if not programs or shutil.which("psql") is None:
            raise Skipped("no PostgreSQL server: apt-get install postgresql-15")
        if not tool.exists():
            raise Skipped("no build/release/snapdp: ./dev build")
        self.programs = programs[-1].parent
        self.as_server = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self.server = pathlib.Path(tempfile.mkdtemp(prefix="snapdp_pg_", dir="/tmp"))  # a socket's path is short
        if self.as_server:
            shutil.chown(self.server, "postgres")
        self.run(self.programs / "initdb", "-D", self.server / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8")
        settings = f"-c listen_addresses= -c unix_socket_directories={self.server} -c fsync=off"
        self.run(self.programs / "pg_ctl", "-D", self.server / "data", "-w", "-l", self.server / "log", "-o", settings, "start")
        self.others = (int((self.server / "data/postmaster.pid").read_text().split()[0]),)
        pyarrow.csv.write_csv(
            pyarrow.parquet.read_table(self.file), folder / "rows.csv", pyarrow.csv.WriteOptions(include_header=False)
        )
        self.ask("CREATE TABLE delays (delay double precision, month bigint)", f"\\copy delays FROM '{folder}/rows.csv' CSV",
                 "VACUUM ANALYZE delays")  # fmt: skip
        snapdp.Ledger.create(folder / "postgresql.ledger", self.dataset, epsilon=1000)
        (folder / "delays.toml").write_text(self.plan.to_toml())

    releases = 0

    def run(self, *command: object) -> None:
        subprocess.run([*self.as_server, *map(str, command)], check=True, stdout=subprocess.DEVNULL, cwd="/")

    def ask(self, *statements: str) -> str:
        options = [word for statement in statements for word in ("-c", statement)]
        asked = ["psql", "-h", self.server, "-U", "postgres", "-X", "-q", "--csv", *options]
        return subprocess.run(asked, check=True, capture_output=True, text=True).stdout

    def states(self) -> object:
        import snapdp

        header, *rows = (line.split(",") for line in self.ask(self.plan.sql("postgresql", "delays")).splitlines())
        return snapdp.aggregates(header, rows)

    def exact(self) -> object:
        self.releases += 1  # of one label each, for equal releases are not paid twice
        connection = f"host={self.server} user=postgres dbname=postgres"
        asked = [tool, "release", self.folder / "delays.toml", "--ledger", self.folder / "postgresql.ledger", "--postgres", connection,
                 "--table", "delays", "--yes", "--label", f"bench {self.releases}"]  # fmt: skip
        return subprocess.run(asked, check=True, capture_output=True)

    def own(self) -> object:
        return self.ask(own_all.format("delays"), own_groups.format("delays"))

    def close(self) -> None:
        self.run(self.programs / "pg_ctl", "-D", self.server / "data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(self.server)


class Spark(Measurement):
    """Spark in one process with a thread a core, over the Parquet file."""

    def __init__(self, folder: pathlib.Path, rows: int) -> None:
        super().__init__(folder, rows)
        if shutil.which("java") is None:
            raise Skipped("no Java: apt-get install openjdk-17-jre-headless")
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            raise Skipped("no pyspark: tools/spark-environment installs it") from None
        os.environ.update(SPARK_LOCAL_IP="127.0.0.1", SPARK_LOCAL_DIRS=str(folder))
        options = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
                   "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4",
                   "spark.sql.warehouse.dir": str(folder)}  # fmt: skip
        builder = SparkSession.builder.master(f"local[{os.cpu_count()}]").appName("bench")
        for name, value in options.items():
            builder = builder.config(name, value)
        self.session = builder.getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")
        self.frame = self.session.read.parquet(str(self.file))
        self.frame.createOrReplaceTempView("delays")
        for _ in range(2):  # Java compiles what runs often
            self.exact(), self.own()

    def states(self) -> object:
        return self.frame

    def own(self) -> object:
        return self.session.sql(own_all.format("delays")).collect(), self.session.sql(own_groups.format("delays")).collect()

    def close(self) -> None:
        self.session.stop()


class States(Arrow):
    """Parts that are folded apart and then merged."""

    def states(self) -> object:
        import snapdp

        size = -(-self.rows // parts)
        return snapdp.states(snapdp.fold(self.plan, self.table.slice(start, size)) for start in range(0, self.rows, size))

    own = None


kinds: dict[str, type[Measurement]] = {
    "arrow": Arrow, "embedded": Embedded, "sqlite": Sqlite, "postgresql": Postgresql, "spark": Spark, "states": States,
}  # fmt: skip


def bits(plan: object, data: object) -> bytes:
    sys.path.insert(0, str(checkout / "python/tests"))
    import nasty

    return nasty.states(plan, data)


def one(engine: str, folder: pathlib.Path, rows: int, repeat: int) -> dict[str, object]:
    """In a process of its own."""
    try:
        measurement = kinds[engine](folder, rows)
    except Skipped as reason:
        return {"engine": engine, "skipped": str(reason)}
    try:
        found: dict[str, object] = {"engine": engine}
        told = folder / "bits"
        found_bits = bits(measurement.plan, measurement.states())
        if not told.exists():
            told.write_bytes(found_bits)
        if found_bits != told.read_bytes():
            raise SystemExit(f"bench: {engine} gives other bits than the engine before it")
        found["exact"] = measured(measurement.exact, repeat, measurement.others)
        if measurement.own is not None:
            found["own"] = measured(measurement.own, repeat, measurement.others)
        return found
    finally:
        measurement.close()


# ---- The table ----


def lines(found: list[dict], rows: int) -> Iterator[str]:
    yield f"count, mean, variance, mean by {groups} groups of {rows:,} rows; {os.cpu_count()} cores; least of each"
    yield f"{'':12} {'exact statistics':^25} {'its own aggregates':^18}"
    yield f"{'engine':12} {'wall s':>8} {'CPU s':>8} {'MB':>7} {'wall s':>9} {'CPU s':>8} {'ratio':>7}"
    for engine in found:
        if "skipped" in engine:
            yield f"{engine['engine']:12} skipped: {engine['skipped']}"
            continue
        exact, own = engine["exact"], engine.get("own")
        line = f"{engine['engine']:12} {exact['wall']:8.2f} {exact['cpu']:8.2f} {exact['memory']:7.0f}"
        yield line + (f" {own['wall']:9.2f} {own['cpu']:8.2f} {exact['cpu'] / max(own['cpu'], 0.01):7.2f}" if own else "")


def main() -> None:
    arguments = argparse.ArgumentParser(prog="./dev bench engines", description=__doc__.split("\n\n")[0])
    arguments.add_argument("--rows", type=int, default=1_000_000, help="of the table (1,000,000)")
    arguments.add_argument("--repeat", type=int, default=3, help="runs of each, of which the least counts (3)")
    arguments.add_argument("--json", metavar="FILE", help="the figures, for programs")
    arguments.add_argument("--one", choices=engines, help=argparse.SUPPRESS)
    arguments.add_argument("--folder", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments.add_argument("engines", nargs="*", metavar="ENGINE", help=f"some of {', '.join(engines)} (all)")
    asked = arguments.parse_args()
    if asked.rows < parts or asked.repeat < 1 or not set(asked.engines) <= set(engines):
        arguments.error(f"--rows is at least {parts}, --repeat at least 1, and ENGINE one of {', '.join(engines)}")
    if asked.one:
        print(json.dumps(one(asked.one, asked.folder, asked.rows, asked.repeat)))
        return
    with tempfile.TemporaryDirectory(prefix="snapdp_bench_") as folder:
        make_rows(pathlib.Path(folder) / "rows.parquet", asked.rows)
        os.chmod(folder, 0o755)  # psql reads as it is, the server as another
        found = []
        for engine in asked.engines or engines:
            command = [sys.executable, __file__, "--one", engine, "--folder", folder, "--rows", str(asked.rows), "--repeat", str(asked.repeat)]
            result = subprocess.run(command, capture_output=True, text=True)
            if result.returncode != 0:
                raise SystemExit(f"bench: {engine} failed:\n{result.stderr[-3000:]}")
            found.append(json.loads(result.stdout.splitlines()[-1]))
    print("\n".join(lines(found, asked.rows)))
    if asked.json:
        pathlib.Path(asked.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
