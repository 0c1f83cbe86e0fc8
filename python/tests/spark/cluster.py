"""A standalone cluster of Spark on loopback: a master and two workers, processes that are killed at the end."""

from __future__ import annotations

import os
import pathlib
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pyspark

home = pathlib.Path(pyspark.__file__).parent


class Cluster:
    """`master` is the address; workers are told apart by their place."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.start("master", "org.apache.spark.deploy.master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.master = self.told("master", r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        for i in (1, 2):
            self.start(
                f"worker-{i}", "org.apache.spark.deploy.worker.Worker", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0",
                "--cores", "1", "--memory", os.environ.get("SNAPDP_SPARK_MEMORY", "1g"),
                "--work-dir", str(folder / f"work-{i}"), self.master,
            )  # fmt: skip
            self.told(f"worker-{i}", r"(Successfully registered with master)")

    def start(self, name: str, *command: str) -> None:
        environment = {
            **os.environ,
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_JAVA_OPTS": "-Djava.net.preferIPv4Stack=true",
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
        }
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append(
                subprocess.Popen(
                    [home / "bin/spark-class", *command], env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
                )
            )

    def told(self, name: str, pattern: str, seconds: int = 120) -> str:
        """What a process says of itself in its log."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            found = re.search(pattern, (self.folder / f"{name}.log").read_text(errors="replace"))
            if found:
                return found[1]
            time.sleep(0.1)
        raise TimeoutError((self.folder / f"{name}.log").read_text(errors="replace")[-3000:])

    def executors(self) -> list[tuple[int, str]]:
        """The processes that run tasks, and what Spark calls each."""
        return [executor for place in (1, 2) for executor in self.executors_of(place)]

    def executors_of(self, place: int) -> list[tuple[int, str]]:
        """Those that a worker has started."""
        found = []
        for path in pathlib.Path(f"/proc/{self.processes[place].pid}/task").glob("*/children"):
            for pid in path.read_text().split():
                words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                if b"--executor-id" in words:
                    found.append((int(pid), words[words.index(b"--executor-id") + 1].decode()))
        return found

    def kill_worker(self, place: int) -> None:
        """With its executor."""
        os.killpg(self.processes[place].pid, signal.SIGKILL)
        self.processes[place].wait()

    def close(self) -> None:
        for process in reversed(self.processes):
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()


@contextmanager
def cluster(folder: pathlib.Path) -> Iterator[Cluster]:
    running = Cluster(folder)
    try:
        yield running
    finally:
        running.close()


# Everything listens on loopback alone, and nothing but the cluster itself is asked.
options = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "4",
    "spark.executor.memory": "512m",
    "spark.task.maxFailures": "8",
    "spark.speculation": "true",
    "spark.speculation.interval": "20ms",
    "spark.speculation.multiplier": "1.01",
    "spark.speculation.quantile": "0.1",
    "spark.speculation.minTaskRuntime": "1ms",
    "spark.executor.extraJavaOptions": "-Djava.net.preferIPv4Stack=true",
    "spark.driver.extraJavaOptions": "-Djava.net.preferIPv4Stack=true",
}
