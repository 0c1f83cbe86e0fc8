"""Tumult Core. Its sums run in Spark and are not measured here."""

import importlib.metadata

import numpy as np
import pandas as pd
from tmlt.core.domains.numpy_domains import NumpyFloatDomain
from tmlt.core.measurements.noise_mechanisms import AddLaplaceNoise
from tmlt.core.measurements.pandas_measurements.series import AddNoiseToSeries

import harness as h


def mechanism(epsilon):
    return AddLaplaceNoise(NumpyFloatDomain(), scale="1" if epsilon == 1.0 else "10")


def make(epsilon):
    noise = mechanism(epsilon)
    return lambda value: noise(np.float64(value))


def batch(epsilon):
    noise = AddNoiseToSeries(mechanism(epsilon))
    values = pd.Series(np.full(h.BATCH, h.VALUE))
    return lambda count: noise(values[:count])


h.report(
    "Tumult Core",
    importlib.metadata.version("tmlt-core"),
    [h.noise("AddLaplaceNoise (recommended)", make, batch)],
    remarks=["sums run in Spark and are not measured"],
)
