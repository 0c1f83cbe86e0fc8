"""Writes docs/benchmarks.md from the measurements in a folder: report.py FOLDER COMPILER"""

import json
import math
import os
import pathlib
import platform
import sys
import time

import from_python
from from_python import debian, processor, time_of

folder = pathlib.Path(sys.argv[1])
compiler = sys.argv[2]
order = ["snapdp", "opendp", "diffprivlib", "python_dp", "numpy", "smartnoise", "tumult"]
results = {name: json.loads((folder / f"{name}.json").read_text()) for name in order if (folder / f"{name}.json").exists()}
laplace = {"1.0": math.log(20), "0.1": 10 * math.log(20)}


def ratio(x):
    return f"{x:,.0f}" if x >= 100 else f"{x:.2g}"


def table(header, rows, alignment):
    print("| " + " | ".join(header) + " |")
    print("|" + "|".join({"l": "---", "r": "---:"}[a] for a in alignment) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def entry(library, beginning):
    for one in results.get(library, {"noise": []})["noise"]:
        if one["mechanism"].startswith(beginning):
            return one
    return None


own = entry("snapdp", "exact, automatic grid (recommended)")

print("# SnapDP beside other libraries\n")
print("<!-- Written by ./dev bench-peers; do not edit. -->\n")
print(f"Measured on {time.strftime('%-d %B %Y', time.gmtime())} in one run of\n")
print("```sh\n./dev bench-peers\n```\n")
print(f"on one core of: {processor()}; {debian()}; {compiler}; Python {platform.python_version()}.")
print("Times are CPU time, medians of five; the batch is a million values, or what ten seconds allow. SnapDP is called from C++, its")
print("peers from Python as their users do, so that \"one value\" contains a call from Python; in batches that counts only where the")
print("table says so. All noise is for sensitivity 1.\n")

print("## Noise\n")
rows = []
for name, result in results.items():
    for one in result["noise"]:
        note = f"{one['batch']:,} values" + (f", {one['batch_note']}" if one["batch_note"] else "")
        rows.append(
            [
                f"{result['library']} {result['version']}",
                one["mechanism"],
                time_of(one.get("one_ns")),
                time_of(one["batch_ns"]),
                ratio(one["batch_ns"] / own["batch_ns"]),
                note,
            ]
        )
table(["library", "mechanism", "one value", "each of a batch", "over SnapDP", "batch"], rows, "llrrrl")

print("## Accuracy\n")
print("The error that 5 % of the outputs exceed, at a value that is no grid point: as stated by the library for every value, if it")
print("states it, and as measured at this value. Laplace noise without rounding has 2.9957 and 29.957.\n")
rows = []
for name, result in results.items():
    for one in result["noise"]:
        stated = one.get("stated", {})
        cells = [result["library"], one["mechanism"]]
        for epsilon in ("1.0", "0.1"):
            cells.append(f"{stated[epsilon]:.5g}" if epsilon in stated else "")
            cells.append(f"{one['measured'][epsilon]:.4g}")
        rows.append(cells + [f"{one['samples']:,}"])
table(["library", "mechanism", "ε = 1, stated", "measured", "ε = 0.1, stated", "measured", "samples"], rows, "llrrrrr")

print("## Sums and means of ten million doubles\n")
rows = []
for name, result in results.items():
    sums = result["sums"]
    shuffles = result["shuffles"]
    if sums is None and shuffles is None:
        continue
    rows.append(
        [
            result["library"],
            time_of(sums["sum_ns"]) if sums else "",
            time_of(sums["mean_ns"]) if sums else "",
            sums["how"] if sums else "",
            "yes" if shuffles == 1 else f"no: {shuffles} results",
        ]
    )
table(["library", "sum, each row", "mean, each row", "called", "same bits before noise in ten orders"], rows, "lrrll")

sys.stdout.write(from_python.section(folder))
print("## Goals\n")


def goal(what, target, reached, larger_is_better=True):
    if reached is None:
        return [what, target, "not measured", ""]
    limit = float(target.split()[1].replace(",", ""))
    met = reached >= limit if larger_is_better else reached <= limit
    return [what, target, ratio(reached) if larger_is_better else f"{reached:.5f}", "yes" if met else "**no**"]


def speed(library, beginning, mine=own):
    other = entry(library, beginning)
    return other["batch_ns"] / mine["batch_ns"] if other and mine else None


precision = entry("snapdp", "precision 118 (the notes)")
table(
    ["goal", "target", "reached", "met"],
    [
        goal("exact mode in batches, faster than OpenDP", "≥ 1,000", speed("opendp", "make_laplace (recommended)")),
        goal("… than PyDP", "≥ 200", speed("python_dp", "LaplaceMechanism")),
        goal("… than NumPy’s laplace alone, which is not private", "≥ 5", speed("numpy", "Generator.laplace alone")),
        goal("… than diffprivlib’s snapping", "≥ 1,000", speed("diffprivlib", "Snapping")),
        goal("precision mode, faster than plain MPFR", "≥ 300", speed("snapdp", "precision 118, plain MPFR", precision)),
        goal("precision mode’s time over exact mode’s", "≤ 1.5", precision["batch_ns"] / own["batch_ns"], False),
        goal("accuracy at ε = 1 over Laplace’s", "≤ 1.001", own["stated"]["1.0"] / laplace["1.0"], False),
    ],
    "lrrl",
)

remarks = [f"{result['library']}: {remark}." for result in results.values() for remark in result["remarks"]]
busy = os.getloadavg()[1]  # of the last five minutes; this run alone makes 1
if busy > 2:
    remarks.append(f"The machine was busy with other work (load {busy:.1f}), which slows what waits for memory: the sums, and NumPy.")
remarks += [f"{path.stem} is left out: {path.read_text().strip()}" for path in sorted(folder.glob("*.failed"))]
if remarks:
    print("## Remarks\n")
    for remark in remarks:
        print(f"- {remark}")
