"""Ctrl-C: before the debit it ends a release that has cost nothing; from the debit on it waits for the report."""

import subprocess
import sys
import textwrap

import pytest

import snapdp as dp

pytest.importorskip("pyarrow")


def run(tmp_path, body):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, signal, sys, time
            signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
            import pyarrow, snapdp as dp
            people = dp.dataset("d", neighbors="add-remove", columns={"age": dp.integer(0, 100)})
            ledger = dp.Ledger.create("d.ledger", people, epsilon=1)
            plan = people.plan(dp.count(), epsilon=1)
            batch = pyarrow.record_batch({"age": [1, 2, 3]})
            """
        )
        + textwrap.dedent(body)
    )
    return subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120)


def test_while_rows_are_read(tmp_path):
    result = run(
        tmp_path,
        """
        def batches():
            yield batch
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                time.sleep(0.01)
                yield batch
        reader = pyarrow.RecordBatchReader.from_batches(batch.schema, batches())
        try:
            plan.release(reader, ledger)
        except (KeyboardInterrupt, dp.IoError):
            print("interrupted")
        """,
    )
    ledger = dp.Ledger(tmp_path / "d.ledger")
    assert ledger.spent == 0 and ledger.entries() == ()
    # A producer that is Python may meet the signal itself; then its failure ends the release.
    assert result.stdout == "interrupted\n", result.stderr


def test_in_a_progress_function(tmp_path):
    result = run(
        tmp_path,
        """
        def progress(percent):
            os.kill(os.getpid(), signal.SIGINT)
        try:
            plan.release(pyarrow.Table.from_batches([batch] * 3), ledger, progress=progress)
        except KeyboardInterrupt:
            print("interrupted")
        """,
    )
    assert result.stdout == "interrupted\n", result.stderr
    assert dp.Ledger(tmp_path / "d.ledger").spent == 0


def test_a_process_that_dies_in_the_fold_has_paid_nothing(tmp_path):
    result = run(
        tmp_path,
        """
        plan.release(pyarrow.Table.from_batches([batch] * 3), ledger, progress=lambda percent: os._exit(7))
        """,
    )
    assert result.returncode == 7
    ledger = dp.Ledger(tmp_path / "d.ledger")
    assert ledger.spent == 0
    ledger.verify()
