"""The mechanism: scalars and batches, on the grid, between the bounds, and never the same twice."""

import array
import copy
import math
import os
import pickle
import threading
from decimal import Decimal
from fractions import Fraction

import pytest

import snapdp as dp

numpy = pytest.importorskip("numpy")
pytest.importorskip("hypothesis")
from hypothesis import given
from hypothesis import strategies as st
from conftest import root


@pytest.fixture
def mechanism():
    return dp.Snapping(epsilon="1/4", sensitivity=1, lower=0, upper=100)


def exact(**options):
    """A mechanism whose noise is far below its grid: outputs are the values, rounded to it."""
    return dp.Snapping(epsilon=2**40, sensitivity=1, grid="2^-10", **options)


def test_one_number(mechanism):
    outputs = [mechanism.release(42.0) for _ in range(200)]
    assert all(type(output) is float and 0 <= output <= 100 for output in outputs)
    assert all(Fraction(output) % mechanism.grid == 0 for output in outputs)
    assert len(set(outputs)) > 100


def test_integers_come_out_whole():
    mechanism = dp.Snapping(epsilon=1, sensitivity=1, integer=True)
    assert type(mechanism.release(3)) is int
    assert abs(mechanism.release(10**30) - 10**30) < 1000
    assert mechanism.release(numpy.array([1, 2, 3])).dtype == numpy.int64
    assert all(type(output) is int for output in mechanism.release([1, 2, 3]))


@pytest.mark.parametrize(
    "value", [42, 42.5, numpy.float64(42.5), numpy.float32(42.5), numpy.int8(42), Fraction(85, 2), Decimal("42.5")]
)
def test_kinds_of_numbers(value):
    assert exact().release(value) == float(value)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "u1", ">f8"])
@pytest.mark.parametrize("shape", [(0,), (7,), (2, 3), (2, 3, 4)])
def test_arrays(dtype, shape):
    values = numpy.arange(math.prod(shape)).astype(dtype).reshape(shape)
    before = values.copy()
    out = exact().release(values)
    assert out.shape == shape and out.dtype == numpy.float64
    numpy.testing.assert_array_equal(out, before)
    numpy.testing.assert_array_equal(values, before)
    assert not numpy.shares_memory(out, values)


def test_strides_and_read_only_arrays():
    values = numpy.arange(20.0)
    values.flags.writeable = False
    numpy.testing.assert_array_equal(exact().release(values[::-3]), values[::-3])


def test_buffers_and_lists():
    values = [1.0, 2.5, 3.0]
    assert exact().release(values) == values
    assert exact().release(tuple(values)) == values
    assert exact().release([1, 2.5, numpy.float64(3)]) == values
    assert exact().release(array.array("d", values)) == array.array("d", values)
    assert exact().release(memoryview(array.array("d", values))[::-1]) == array.array("d", values[::-1])


def test_series_of_frames():
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    numpy.testing.assert_array_equal(exact().release(pandas.Series([1.0, 2.0])), [1, 2])
    numpy.testing.assert_array_equal(exact().release(numpy.asarray(polars.Series([1.0, 2.0]))), [1, 2])


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, -math.inf, "42", None, True, b"4", {}, object(), Fraction(1, 3), [1.0, math.nan], [1, math.nan], [1.0, "2"],
        [1, True], numpy.array([1.0, math.nan]), numpy.array(["a"]), numpy.array([True]), numpy.array([1j]),
        numpy.ma.array([1.0, 2.0], mask=[0, 1]), numpy.ma.masked, array.array("f", [1]), numpy.bool_(True), numpy.array([object()]), [[1.0], [2.0]],
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused(mechanism, value):
    with pytest.raises(dp.InvalidArgument) as refused:
        mechanism.release(value)
    assert refused.value.parameter in ("value", "values")


def test_integers_of_64_bits_are_exact():
    """Whether an array is refused may not depend on what it holds."""
    whole = dp.Snapping(epsilon=2**40, sensitivity=1, integer=True)
    values = numpy.array([[2**60 + 1, -(2**63)], [2**63 - 1, 3]])
    out = whole.release(values)
    assert out.dtype == numpy.int64 and out.shape == values.shape
    numpy.testing.assert_array_equal(out, values)
    assert whole.release(numpy.array([2**64 - 1], dtype="u8")).tolist() == [2.0**64]


@pytest.mark.parametrize("value", [Fraction(12345, 7), Decimal("12345.1"), [Fraction(12345, 7)], 12345j, numpy.array(12345j), math.inf, -math.inf, math.nan])
def test_no_message_holds_a_value(mechanism, value):
    with pytest.raises(dp.InvalidArgument) as refused:
        mechanism.release(value)
    assert "12345" not in str(refused.value) and "= " not in str(refused.value)


@pytest.mark.parametrize("item", [numpy.ma.masked, numpy.array("a"), numpy.longdouble(1), numpy.datetime64(7, "ns"), numpy.bool_(True)])
def test_a_list_is_looked_at_before_any_of_it_is_released(item):
    class Counting(dp.Geometric):
        released = 0

        def release(self, value):
            Counting.released += not isinstance(value, list)
            return super().release(value)

    with pytest.raises(dp.InvalidArgument, match="holds a"):
        Counting(epsilon=1, sensitivity=1).release([1, item])
    assert Counting.released == 0


def test_a_sensitivity_is_never_rounded_down():
    more = numpy.longdouble(1) + numpy.finfo(numpy.longdouble).eps
    assert more > 1 == float(more)
    with pytest.raises(dp.InvalidArgument, match="sensitivity"):
        dp.Snapping(epsilon=1, sensitivity=more)
    assert dp.Snapping(epsilon=1, sensitivity=numpy.longdouble(1.5)).sensitivity == Fraction(3, 2)
    assert dp.Snapping(epsilon=1, sensitivity=numpy.array(1.5)).sensitivity == Fraction(3, 2)


def test_a_generator_is_refused_before_it_is_read(mechanism):
    values = (float(i) for i in range(3))
    with pytest.raises(dp.InvalidArgument, match="generator"):
        mechanism.release(values)
    assert list(values) == [0, 1, 2]


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"epsilon": 1, "sensitivity": 0}, "sensitivity"),
        ({"epsilon": 1, "sensitivity": -1}, "sensitivity"),
        ({"epsilon": 1, "sensitivity": 1, "lower": 1, "upper": 0}, "lower"),
        ({"epsilon": 1, "sensitivity": 1, "lower": "1e400"}, "lower"),
        ({"epsilon": 1, "sensitivity": 1, "grid": 3}, "grid"),
        ({"epsilon": 1, "sensitivity": 1, "grid": "fine"}, "grid"),
        ({"epsilon": 1, "sensitivity": 1, "grid": "2^-3", "integer": True}, "grid"),
    ],
)
def test_options_that_break_a_rule(options, parameter):
    with pytest.raises(dp.InvalidArgument) as refused:
        dp.Snapping(**options)
    assert refused.value.parameter == parameter


def test_grids_are_powers_of_two_in_any_writing():
    for grid in ("2^-3", 0.125, "1/8", "0.125", Fraction(1, 8)):
        assert dp.Snapping(epsilon=1, sensitivity=1, grid=grid).grid == Fraction(1, 8)


def test_losses(mechanism):
    assert mechanism.loss_bound() <= Fraction(1, 4)
    assert mechanism.loss_bound(2) == 2 * mechanism.loss_bound()
    with pytest.raises(dp.InvalidArgument, match="distance"):
        mechanism.loss_bound(-1)


def test_geometric_noise():
    mechanism = dp.Geometric(epsilon=1, sensitivity=1, lower=0)
    assert (mechanism.integer, mechanism.lower, mechanism.upper, mechanism.grid) == (True, 0, None, 1)
    assert mechanism.loss_bound() <= 1 == mechanism.sensitivity
    outputs = mechanism.release([5] * 2000)
    assert all(type(output) is int and output >= 0 for output in outputs) and len(set(outputs)) > 5
    assert mechanism.release(numpy.arange(4)).dtype == numpy.int64
    # 0.462 of the outputs are the value: of 10^6, within 6.2 sigma.
    hits = int(numpy.count_nonzero(mechanism.release(numpy.full(1_000_000, 50.0)) == 50))
    assert abs(hits - 462_117) < 6.2 * 500
    twin = pickle.loads(pickle.dumps(mechanism))
    assert repr(twin) == repr(mechanism) and twin.lower == 0
    for wrong in (0.5, math.nan, "5"):
        with pytest.raises(dp.InvalidArgument):
            mechanism.release(wrong)
    with pytest.raises(dp.InvalidArgument, match="sensitivity"):
        dp.Geometric(epsilon=1, sensitivity=0.5)


def test_copies_are_the_same_mechanism(mechanism):
    for twin in (pickle.loads(pickle.dumps(mechanism)), copy.deepcopy(mechanism)):
        assert repr(twin) == repr(mechanism)
        assert (twin.lower, twin.upper, twin.scale) == (mechanism.lower, mechanism.upper, mechanism.scale)


def test_threads_share_a_mechanism(mechanism):
    outputs = []
    values = numpy.full(20_000, 50.0)
    threads = [threading.Thread(target=lambda: outputs.append(mechanism.release(values))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({out.tobytes() for out in outputs}) == 8


def test_a_child_process_has_noise_of_its_own(mechanism):
    mechanism.release(50.0)  # the generator's buffer is full
    readers = []
    for _ in range(2):
        reader, writer = os.pipe()
        if os.fork() == 0:
            os.write(writer, repr([mechanism.release(50.0) for _ in range(50)]).encode())
            os._exit(0)
        os.wait()
        readers.append(os.read(reader, 1 << 16))
        os.close(reader), os.close(writer)
    ours = repr([mechanism.release(50.0) for _ in range(50)]).encode()
    assert len({*readers, ours}) == 3


@given(st.floats(-1e6, 1e6))
def test_what_comes_out_is_the_nearest_point_of_the_grid(value):
    grid = Fraction(1, 1024)
    assert abs(Fraction(exact().release(value)) - Fraction(value)) <= grid / 2 + Fraction(1, 2**30)


def test_the_law_of_a_batch():
    """The share of outputs above the value is 1/2: of 10^6 it is off by 6.2 sigma with probability below 10^-9."""
    out = dp.Snapping(epsilon=1, sensitivity=1, grid="2^-20").release(numpy.zeros(1_000_000))
    above = int(numpy.count_nonzero(out > 0)) + int(numpy.count_nonzero(out == 0)) / 2
    assert abs(above - 500_000) < 6.2 * 500


def test_recorded_bits_give_recorded_values():
    vectors = (root / "tests/data/snap_exact.csv").read_text()
    assert dp.trace(vectors) == vectors
    head = "\n".join(vectors.split("\n")[:50]) + "\n"
    assert dp.trace(head, slow=True, kernel="portable") == head
    with pytest.raises(dp.BadData):
        dp.trace("nonsense\n")
    with pytest.raises(dp.InvalidArgument, match="kernel"):
        dp.trace(head, kernel="abacus")
