"""OpenDP."""

import importlib.metadata

import numpy as np
import opendp.prelude as dp

import harness as h

dp.enable_features("contrib")
real = dp.atom_domain(T=float, nan=False)


def maker(k=None):
    def make(epsilon):
        return dp.m.make_laplace(real, dp.absolute_distance(T=float), scale=1 / epsilon, k=k)

    return make


def batcher(k=None):
    def batch(epsilon):
        values = np.full(h.BATCH, h.VALUE)

        def run(count):
            domain = dp.vector_domain(real, size=count)
            return dp.m.make_laplace(domain, dp.l1_distance(T=float), scale=1 / epsilon, k=k)(values[:count])

        return run

    return batch


def stated(epsilon):
    return dp.laplacian_scale_to_accuracy(1 / epsilon, h.ALPHA)


def clamped(size, lower=h.LOWER):
    domain = dp.vector_domain(real, size=size)
    return dp.t.make_clamp(domain, dp.symmetric_distance(), (lower, h.UPPER))


data = np.array(h.rows(h.ROWS))
total = clamped(h.ROWS) >> dp.t.then_sum()
mean = clamped(h.ROWS) >> dp.t.then_mean()
shuffled_total = clamped(h.SHUFFLED_ROWS, -h.UPPER) >> dp.t.then_sum()
h.report(
    "OpenDP",
    importlib.metadata.version("opendp"),
    [
        h.noise("make_laplace (recommended)", maker(), batcher(), stated),
        h.noise("make_laplace on the grid 2^-10", maker(-10), batcher(-10)),
    ],
    sums={
        "sum_ns": h.nanoseconds_each(lambda: total(data), h.ROWS),
        "mean_ns": h.nanoseconds_each(lambda: mean(data), h.ROWS),
        "how": "make_clamp >> then_sum or then_mean on an array, size known",
    },
    shuffles=h.distinct(lambda rows: shuffled_total(np.array(rows))),
    package=("opendp", "opendp.prelude"),
)
