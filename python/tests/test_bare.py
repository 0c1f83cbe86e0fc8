"""The package alone: mechanisms and chains work where nothing else can be imported, and what needs more says what."""

import subprocess
import sys
import textwrap

absent = ["numpy", "pandas", "polars", "pyarrow", "duckdb", "matplotlib", "tqdm"]

program = """
import sys
sys.modules.update(dict.fromkeys({absent!r}))  # importing one of them raises ImportError
import snapdp as dp

people = dp.dataset("people", neighbors="add-remove", expected_size=4, columns={{"age": dp.integer(0, 100)}})
plan = people.plan(dp.count(), dp.mean("age"), epsilon=1)
ledger = dp.Ledger.create(sys.argv[1], people, epsilon=2)
try:
    plan.release({{"age": [40, 50, None, 60]}}, ledger)
except dp.InvalidArgument as error:
    print(error, ledger.spent)
try:
    plan.plot()
except dp.NotInstalled as error:
    print(error)
mechanism = dp.Snapping(epsilon=100_000, sensitivity=1, lower=0, upper=100)
print([round(value) for value in mechanism.release([1, 2.5e1])], round(mechanism.release(42.0)))
chain = dp.rows(dp.real(), neighbors="add-remove") >> dp.drop() >> dp.clamp(0, 10) >> dp.sum() >> dp.snapping(epsilon=100_000)
print(round(chain.release([1.0, None, 20.0], dp.Budget(100_000)).value))
"""


def test_without_anything_else(tmp_path):
    code = textwrap.dedent(program.format(absent=absent))
    result = subprocess.run([sys.executable, "-c", code, str(tmp_path / "l")], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    refused, plot, mechanism, chain = result.stdout.splitlines()
    assert "pip install pyarrow" in refused and refused.endswith(" 0")
    assert "pip install matplotlib" in plot
    assert (mechanism, chain) == ("[1, 25] 42", "11")
