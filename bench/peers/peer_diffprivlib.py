"""diffprivlib, IBM's library."""

import importlib.metadata
import warnings

import diffprivlib
import numpy as np
from diffprivlib.mechanisms import Laplace, Snapping

import harness as h

warnings.simplefilter("ignore")


def laplace(epsilon):
    return Laplace(epsilon=epsilon, sensitivity=1.0).randomise


def snapping(epsilon):
    # Bounds far from the value, so that clamping does not improve the accuracy, and the value no grid point.
    return Snapping(epsilon=epsilon, sensitivity=1.0, lower=-1000, upper=1000).randomise


data = np.array(h.rows(h.ROWS))
bounds = (h.LOWER, h.UPPER)
h.report(
    "diffprivlib",
    importlib.metadata.version("diffprivlib"),
    [h.noise("Laplace (recommended)", laplace), h.noise("Snapping", snapping)],
    sums={
        "sum_ns": h.nanoseconds_each(lambda: diffprivlib.tools.sum(data, epsilon=1.0, bounds=bounds), h.ROWS),
        "mean_ns": h.nanoseconds_each(lambda: diffprivlib.tools.mean(data, epsilon=1.0, bounds=bounds), h.ROWS),
        "how": "tools.sum and tools.mean with noise, on an array",
    },
    # Infinite epsilon: no noise.
    shuffles=h.distinct(
        lambda rows: diffprivlib.tools.sum(np.array(rows), epsilon=float("inf"), bounds=(-h.UPPER, h.UPPER))
    ),
    package=("diffprivlib", "diffprivlib"),
)
