"""What `import snapdp` gives: documented, typed, and light."""

import inspect
import pickle
import re
import subprocess
import sys

import pytest

import snapdp as dp


def test_every_name_is_there():
    assert set(dp.__all__) <= set(dir(dp))
    for name in dp.__all__:
        assert getattr(dp, name) is getattr(dp, name)
    with pytest.raises(AttributeError):
        dp.no_such_name
    assert dp.__version__.count(".") == 2


def public():
    for name in dp.__all__:
        item = getattr(dp, name)
        yield name, item
        if inspect.isclass(item):
            for member, value in vars(item).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                    yield f"{name}.{member}", value


# Attributes that their class's own words describe.
told_by_their_class = {
    "Plan.epsilon", "Plan.budget", "Plan.unpaid", "Plan.affordable", "Report.release", "Report.reprinted", "Report.not_stored",
}  # fmt: skip


def test_everything_has_words():
    missing = [name for name, item in public() if not inspect.getdoc(item) and name not in told_by_their_class]
    assert missing == []


def test_every_parameter_has_words():
    functions = [(name, getattr(dp, name)) for name in dp.__all__ if inspect.isfunction(getattr(dp, name))]
    assert len(functions) > 25
    for name, function in functions:
        words = inspect.getdoc(function)
        for parameter in inspect.signature(function).parameters:
            assert re.search(rf"\b{parameter}\b", words), f"{name}: {parameter}"


def test_importing_takes_nothing_else_along():
    heavy = ["numpy", "pandas", "polars", "pyarrow", "duckdb", "dataclasses", "fractions", "json", "snapdp._duckdb"]
    code = f"import sys, snapdp; print([name for name in {heavy!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-S", "-c", f"import sys; sys.path = {sys.path!r}; {code}"], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


def test_errors():
    kinds = {dp.InvalidArgument: "invalid_argument", dp.Mismatch: "mismatch", dp.BudgetRefused: "budget_refused", dp.BadData: "bad_data", dp.IoError: "io"}
    for kind, code in kinds.items():
        error = kind("message", "parameter")
        assert isinstance(error, dp.Error) and error.code == code
        twin = pickle.loads(pickle.dumps(error))
        assert (type(twin), str(twin), twin.parameter) == (kind, "message", "parameter")
    assert issubclass(dp.InvalidArgument, ValueError)
    from snapdp._errors import from_code

    assert [type(from_code(code, "p", "m")) for code in kinds.values()] == list(kinds)


def test_errors_show_no_innards():
    with pytest.raises(dp.Error) as refused:
        dp.Snapping(epsilon="x", sensitivity=1)
    assert "snapdp::" not in str(refused.value) and "std::" not in str(refused.value)


def test_arguments_of_other_types_are_python_s_own_errors():
    with pytest.raises(TypeError):
        dp.Snapping(1)
    with pytest.raises(TypeError):
        dp.count("age")
    with pytest.raises(TypeError):
        dp.median()
