"""NumPy: no privacy library, but what hand-made noise and sums cost."""

import importlib.metadata

import numpy as np

import harness as h

generator = np.random.default_rng()


def make(epsilon):
    return lambda value: value + generator.laplace(0.0, 1 / epsilon)


def batch(epsilon):
    values = np.full(h.BATCH, h.VALUE)
    return lambda count: values[:count] + generator.laplace(0.0, 1 / epsilon, count)


def bare(epsilon):
    return lambda count: generator.laplace(h.VALUE, 1 / epsilon, count)


data = np.array(h.rows(h.ROWS))
h.report(
    "NumPy",
    importlib.metadata.version("numpy"),
    [
        h.noise("value + Generator.laplace", make, batch),
        h.noise("Generator.laplace alone", None, bare, only_in_batches=True),
    ],
    sums={
        "sum_ns": h.nanoseconds_each(lambda: np.clip(data, h.LOWER, h.UPPER).sum(), h.ROWS),
        "mean_ns": h.nanoseconds_each(lambda: np.clip(data, h.LOWER, h.UPPER).mean(), h.ROWS),
        "how": "clip, then sum or mean",
    },
    shuffles=h.distinct(lambda rows: np.clip(np.array(rows), -h.UPPER, h.UPPER).sum()),
    remarks=["not private: its generator is not cryptographic and its doubles give the value away"],
)
