"""PyDP (python-dp), OpenMined's binding of Google's C++ library."""

import importlib.metadata

from pydp.algorithms.laplacian import BoundedMean, BoundedSum
from pydp.algorithms.numerical_mechanisms import LaplaceMechanism

import harness as h


def make(epsilon):
    return LaplaceMechanism(epsilon, 1.0).add_noise


def stated(epsilon):
    return LaplaceMechanism(epsilon, 1.0).noise_confidence_interval(1 - h.ALPHA, 0.0).upper_bound


def algorithm(kind, epsilon, lower=h.LOWER):
    return kind(epsilon=epsilon, lower_bound=lower, upper_bound=h.UPPER, dtype="float")


data = h.rows(h.ROWS)
# Noise far below the last place of any sum shows the sum before noise.
silent = 1e20
h.report(
    "PyDP (python-dp)",
    importlib.metadata.version("python-dp"),
    [h.noise("LaplaceMechanism", make, stated=stated)],
    sums={
        "sum_ns": h.nanoseconds_each(lambda: algorithm(BoundedSum, 1.0).quick_result(data), h.ROWS),
        "mean_ns": h.nanoseconds_each(lambda: algorithm(BoundedMean, 1.0).quick_result(data), h.ROWS),
        "how": "BoundedSum and BoundedMean with noise, quick_result of a list",
    },
    shuffles=h.distinct(lambda rows: algorithm(BoundedSum, silent, -h.UPPER).quick_result(rows)),
    package=("python-dp", "pydp"),
)
