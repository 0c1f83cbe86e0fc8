"""SnapDP's own Python package, asked as its peers are. What snapdp.cpp measures is the library without Python."""

import importlib.metadata
import tempfile

import numpy as np
import snapdp

import harness as h


def make(epsilon):
    return snapdp.Snapping(epsilon=epsilon, sensitivity=1).release


def batch(epsilon):
    release = make(epsilon)
    values = np.full(h.BATCH, h.VALUE)
    return lambda count: release(values[:count])


def stated(epsilon):
    return snapdp.accuracy(epsilon=epsilon, sensitivity=1).tight


def release(kind, size, lower=h.LOWER):
    """A whole release of one statistic: the plan is made before, the ledger is debited on disk in it."""
    data = snapdp.dataset("rows", neighbors="change-one", size=size, columns={"x": snapdp.real(lower, h.UPPER)})
    plan = data.plan(kind("x"), epsilon=1)
    ledger = snapdp.Ledger.create(f"{folder}/{kind.__name__}-{size}-{lower}.ledger", data, epsilon=1000)
    return lambda rows: plan.release({"x": rows}, ledger)[f"{kind.__name__} x"].value


folder = tempfile.mkdtemp()
data = np.array(h.rows(h.ROWS))
total, mean = release(snapdp.sum, h.ROWS), release(snapdp.mean, h.ROWS)
h.report(
    "SnapDP in Python",
    importlib.metadata.version("snapdp"),
    [h.noise("Snapping (recommended)", make, batch, stated)],
    sums={
        "sum_ns": h.nanoseconds_each(lambda: total(data), h.ROWS),
        "mean_ns": h.nanoseconds_each(lambda: mean(data), h.ROWS),
        "how": "Plan.release of an array: a whole release with its debit on disk and its report",
    },
    package=("snapdp", "snapdp"),
)
