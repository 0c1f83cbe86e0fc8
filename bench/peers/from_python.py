"""The section of docs/benchmarks.md that compares Python packages: from_python.py FOLDER PAGE puts it into the page anew."""

import json
import os
import pathlib
import platform
import sys
import time

ROWS = 10_000_000  # as of harness.py
libraries = ("snapdp_python", "opendp", "python_dp", "diffprivlib")


def processor():
    model, flags, cores = "unknown", "", 0
    for line in open("/proc/cpuinfo", encoding="ascii", errors="replace"):
        key, _, value = line.partition(":")
        cores += key.strip() == "processor"
        if key.strip() == "model name":
            model = value.strip()
        if key.strip() == "flags":
            flags = value.split()
    sets = [name for flag, name in (("avx2", "AVX2"), ("avx512dq", "AVX-512")) if flag in flags]
    return f"{model}{' with ' + ' and '.join(sets) if sets else ''}, {cores} cores"


def debian():
    try:
        return "Debian " + open("/etc/debian_version", encoding="ascii").read().strip()
    except OSError:
        return platform.system()


def time_of(nanoseconds):
    if nanoseconds is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def row(path):
    result = json.loads(path.read_text())
    recommended = next((one for one in result["noise"] if "recommended" in one["mechanism"]), result["noise"][0])
    cells = [
        f"{result['library']} {result['version']}",
        recommended["mechanism"].removesuffix(" (recommended)"),
        time_of(recommended["one_ns"]),
        time_of(recommended["batch_ns"]),
        time_of(result["sums"]["mean_ns"] * ROWS),
        time_of(result["package"]["import_ns"]),
        f"{result['package']['bytes'] / 1e6:,.0f} MB",
    ]
    return "| " + " | ".join(cells) + " |\n"


def section(folder):
    """Nothing where the Python package was not measured."""
    paths = [path for path in (folder / f"{library}.json" for library in libraries) if path.exists()]
    if not (folder / "snapdp_python.json").exists():
        return ""
    busy = os.getloadavg()[1]  # of the last five minutes; this run alone makes 1
    load = f" The machine was busy with other work (load {busy:.1f}): take these numbers for their magnitude." if busy > 2 else ""
    return f"""## From Python

The Python packages beside each other, measured on {time.strftime("%-d %B %Y", time.gmtime())} by `tools/bench-peers --python`, a part of the whole run,
on one core of: {processor()}; Python {platform.python_version()}.{load}
The mean is of an array of ten million doubles (a list for PyDP): of SnapDP a whole release, with its debit on disk and its report, of the
others the one number. An import is what a program waits for, by the clock. Installed is the package with what it needs; for
SnapDP without DuckDB, which reads files and lies in the checkout.

| library | mechanism | one value | each of a batch | a mean of ten million | import | installed |
|---|---|---:|---:|---:|---:|---:|
{"".join(map(row, paths))}
"""


if __name__ == "__main__":
    folder, page = map(pathlib.Path, sys.argv[1:])
    text = page.read_text()
    before, rest = text.split("## From Python\n", 1) if "## From Python\n" in text else text.split("## Goals\n", 1)
    page.write_text(before + section(folder) + "## Goals\n" + rest.split("## Goals\n", 1)[-1])
