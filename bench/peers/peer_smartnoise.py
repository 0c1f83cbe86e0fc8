"""SmartNoise Core, deprecated, which has a snapping mechanism after Covington's notes. It has no way to run a mechanism
alone: every call builds, checks and runs an analysis of a CSV file; a batch is one analysis with a thousand mechanisms."""

import importlib.metadata
import os
import tempfile

import opendp.smartnoise.core as sn

import harness as h

folder = tempfile.TemporaryDirectory()


def csv(name, data):
    path = os.path.join(folder.name, name)
    with open(path, "w", encoding="ascii") as file:
        file.write("x\n")
        file.writelines(f"{value!r}\n" for value in data)
    return path


ten = csv("ten.csv", [h.VALUE] * 10)


def analysis(kind, epsilon, count):
    usage = {"epsilon": epsilon}
    with sn.Analysis(protect_floating_point=kind == "snapping", protect_sensitivity=False) as run:
        column = sn.to_float(sn.Dataset(path=ten, column_names=["x"])["x"])
        mean = sn.mean(column, data_lower=h.LOWER, data_upper=h.UPPER, data_rows=10)
        if kind == "snapping":
            outputs = [
                sn.snapping_mechanism(
                    mean,
                    lower=[-1000.0],
                    upper=[1000.0],
                    binding_probability=0.01,
                    sensitivity=[1.0],
                    privacy_usage=usage,
                )
                for _ in range(count)
            ]
        else:
            outputs = [sn.laplace_mechanism(mean, sensitivity=[1.0], privacy_usage=usage) for _ in range(count)]
    run.release()
    return [output.value for output in outputs]


def make(kind):
    return lambda epsilon: lambda _: analysis(kind, epsilon, 1)


def batch(kind):
    def of(epsilon):
        def run(count):
            outputs = []
            while len(outputs) < count:
                outputs += analysis(kind, epsilon, min(100, count - len(outputs)))
            return outputs

        return run

    return of


def silent_sum(data):
    path = csv("shuffled.csv", data)
    with sn.Analysis(protect_floating_point=False) as run:
        column = sn.to_float(sn.Dataset(path=path, column_names=["x"])["x"])
        total = sn.dp_sum(
            data=column,
            mechanism="Laplace",
            privacy_usage={"epsilon": 1e20},
            data_lower=-h.UPPER,
            data_upper=h.UPPER,
            data_rows=len(data),
        )
    run.release()
    return total.value


note = "analyses of 100 mechanisms"
h.report(
    "SmartNoise Core",
    importlib.metadata.version("opendp-smartnoise-core"),
    [
        h.noise("snapping_mechanism (recommended)", make("snapping"), batch("snapping"), batch_note=note),
        h.noise("laplace_mechanism, unprotected", make("laplace"), batch("laplace"), batch_note=note),
    ],
    shuffles=h.distinct(silent_sum),
    remarks=["deprecated since 2021; sums are not measured, as it reads them from CSV text"],
)
