"""What every library is asked, and how time is taken: CPU time of this process, which is given one core. The scripts
print JSON.

Noise: Laplace noise for sensitivity 1 on the value 41.73, at epsilon 1 and 0.1.
Sums: ten million doubles in [0, 100], clamped to [0, 100].
Shuffles: the sum, before noise, of the same hundred thousand doubles in [-100, 100] in ten orders.
"""

import importlib.metadata
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

VALUE = 41.73
LOWER, UPPER = 0.0, 100.0  # of the sums; shuffled rows lie in [-UPPER, UPPER]
ALPHA = 0.05
EPSILONS = (1.0, 0.1)
ROWS = 10_000_000
SHUFFLED_ROWS = 100_000
ORDERS = 10
BATCH = 1_000_000
PATIENCE = 10  # seconds that one batch may take; slower libraries get a smaller one


def seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start


def nanoseconds_each(call, each=1):
    """The median of five runs of at least a fifth of a second (or one call), a warm-up aside. `each` is what one call makes."""
    first = seconds(call)
    calls = max(1, int(0.2 / max(first, 1e-9)))
    if first > PATIENCE / 5:
        return first / each * 1e9
    runs = []
    for _ in range(5):
        start = time.process_time()
        for _ in range(calls):
            call()
        runs.append((time.process_time() - start) / (calls * each))
    return statistics.median(runs) * 1e9


def batch_size(one_nanoseconds):
    """A million, or as many as a patient reader waits for."""
    return min(BATCH, max(1000, int(PATIENCE / one_nanoseconds * 1e9)))


def rows(count, signed=False):
    """Log-normal doubles up to UPPER, so that large and small ones meet in a sum; of either sign if `signed`."""
    generator = random.Random(1)
    values = [min(UPPER, generator.lognormvariate(1.0, 2.0)) for _ in range(count)]
    if signed:
        values = [value if generator.random() < 0.5 else -value for value in values]
    return values


def orders():
    """The same rows in ten orders."""
    generator = random.Random(2)
    data = rows(SHUFFLED_ROWS, signed=True)
    for _ in range(ORDERS):
        generator.shuffle(data)
        yield list(data)


def distinct(exact_statistic):
    """How many different doubles the statistic takes over the ten orders."""
    return len({float(exact_statistic(data)).hex() for data in orders()})


def quantile_of_errors(outputs, value=VALUE):
    """The error that a share ALPHA of the outputs exceeds."""
    errors = sorted(abs(float(output) - value) for output in outputs)
    return errors[min(len(errors) - 1, int(len(errors) * (1 - ALPHA)))]


def noise(name, make, batch=None, stated=None, batch_note="", only_in_batches=False):
    """The entry of one mechanism.

    make(epsilon) gives a function of a value; batch(epsilon), if the library has one, a function of a list length that
    returns as many noisy copies of VALUE; stated(epsilon), if the library has one, the accuracy that it states itself.
    """
    entry = {"mechanism": name, "batch_note": batch_note or ("" if batch else "one call a value")}
    one = None
    if not only_in_batches:
        single = make(1.0)
        one = nanoseconds_each(lambda: single(VALUE))
        entry["one_ns"] = one
    if batch is None:

        def batch(epsilon):
            mechanism = make(epsilon)
            return lambda count: [mechanism(VALUE) for _ in range(count)]

    run = batch(1.0)
    warm_up = 1000
    estimate = seconds(lambda: run(warm_up)) / warm_up * 1e9
    count = batch_size(estimate)
    entry["batch"] = count
    entry["batch_ns"] = nanoseconds_each(lambda: run(count), count)
    entry["measured"] = {}
    entry["samples"] = count
    for epsilon in EPSILONS:
        entry["measured"][str(epsilon)] = quantile_of_errors(batch(epsilon)(count))
    if stated:
        entry["stated"] = {str(epsilon): float(stated(epsilon)) for epsilon in EPSILONS}
    return entry


def import_seconds(module):
    """What a program waits for that imports it: the median of nine interpreters, less that of nine that import nothing."""

    def median(statement):
        runs = []
        for _ in range(9):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True, stdout=subprocess.DEVNULL)
            runs.append(time.perf_counter() - start)
        return statistics.median(runs)

    median(f"import {module}")  # its files are read and compiled
    return median(f"import {module}") - median("pass")


def installed_bytes(distribution, seen=None):
    """The files of a distribution and of what it needs, without what is optional."""
    seen = set() if seen is None else seen
    name = re.split(r"[^A-Za-z0-9._-]", distribution)[0].lower().replace("_", "-")
    if name in seen:
        return 0
    seen.add(name)
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        return 0
    sizes = [pathlib.Path(file.locate()) for file in found.files or () if "__pycache__" not in file.parts]
    needs = [need for need in found.requires or () if "extra ==" not in need]
    return sum(path.stat().st_size for path in sizes if path.exists()) + sum(installed_bytes(need, seen) for need in needs)


def report(library, version, noises, sums=None, shuffles=None, remarks=(), package=None):
    """`package`: the distribution and the module, where they are measured as well."""
    facts = {"library": library, "version": version, "noise": noises, "sums": sums, "shuffles": shuffles, "remarks": list(remarks)}
    if package:
        facts["package"] = {"import_ns": import_seconds(package[1]) * 1e9, "bytes": installed_bytes(package[0])}
    json.dump(facts, sys.stdout, indent=1)
    print()
