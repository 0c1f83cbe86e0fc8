// The mechanisms themselves: scalars, and batches without the interpreter's lock.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <optional>
#include <string>

#include "core/bindings.h"
#include "core/numbers.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/mechanism/trace.h"
#include "snapdp/random/system_generator.h"

namespace snapdp::python {
namespace {

using Values = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Output = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object to_python(bool integer, const Dyadic& released) {
  if (!integer) return nb::float_(released.to_double_nearest());
  return whole_number(released);
}

// One number; what is none goes to snapdp/_batches.py.
template <typename Kind>
nb::object release(nb::handle self, nb::handle value) {
  const auto& mechanism = nb::cast<const Kind&>(self);
  if (PyFloat_Check(value.ptr())) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (!std::isfinite(number)) {  // said without the number, which may be private
      throw Error(ErrorCode::invalid_argument, "value",
                  "value: must be a finite number; impute or drop NaN and clamp infinities first");
    }
    return to_python(mechanism.integer(), mechanism.release(Dyadic(number), thread_generator()));
  }
  if (PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()))
    return to_python(mechanism.integer(), mechanism.release(whole_dyadic(value), thread_generator()));
  return nb::module_::import_("snapdp._batches").attr("release")(self, value);
}

template <typename Kind>
void release_batch(const Kind& mechanism, const Values& values, const Output& out) {
  const nb::gil_scoped_release unlocked;
  mechanism.release({values.data(), values.shape(0)}, {out.data(), out.shape(0)}, thread_generator());
}

// What every mechanism tells, and its releases.
template <typename Kind>
nb::class_<Kind> bind_kind(nb::module_& module, const char* name) {
  return nb::class_<Kind>(module, name)
      .def_prop_ro("_epsilon", [](const Kind& self) { return to_string(self.epsilon()); })
      .def_prop_ro("_sensitivity", [](const Kind& self) { return to_string(self.sensitivity()); })
      .def_prop_ro("_grid", [](const Kind& self) { return to_string(self.grid().spacing()); })
      .def_prop_ro("scale", &Kind::scale,
                   "The scale of the noise: sensitivity / epsilon, rounded up to a double.")
      .def_prop_ro("lower", &Kind::lower, "The lower bound on values and outputs, or None.")
      .def_prop_ro("upper", &Kind::upper, "The upper bound on values and outputs, or None.")
      .def_prop_ro("integer", &Kind::integer, "Whether outputs are integers.")
      .def(
          "_loss_bound",
          [](const Kind& self, const std::optional<std::string>& distance) {
            return to_string(distance ? self.loss_bound(parse_rational(*distance, "distance"))
                                      : self.loss_bound());
          },
          nb::arg("distance").none())
      .def("release", &release<Kind>, nb::arg("value").none(),
           nb::sig("def release(self, value: object) -> object"),
           "A noisy value: of one number a number, of a sequence or an array each for itself. A batch runs "
           "without the interpreter's lock.")
      .def("_release_batch", &release_batch<Kind>, nb::arg("values").noconvert(), nb::arg("out").noconvert());
}

}  // namespace

void bind_mechanism(nb::module_& module) {
  bind_kind<Snapping>(module, "Snapping")
      .def(
          "__init__",
          [](Snapping* self, const std::string& epsilon, const std::string& sensitivity,
             const std::optional<std::string>& lower, const std::optional<std::string>& upper,
             const std::string& grid, bool integer) {
            new (self) Snapping(MechanismOptions{.epsilon = parse_rational(epsilon, "epsilon"),
                                                 .sensitivity = sensitivity_up(sensitivity),
                                                 .lower = bound_down(lower, "lower"),
                                                 .upper = bound_up(upper, "upper"),
                                                 .grid = grid_of(grid),
                                                 .integer = integer});
          },
          nb::arg("epsilon"), nb::arg("sensitivity"), nb::arg("lower").none(), nb::arg("upper").none(),
          nb::arg("grid"), nb::arg("integer"));
  bind_kind<Geometric>(module, "Geometric")
      .def(
          "__init__",
          [](Geometric* self, const std::string& epsilon, const std::string& sensitivity,
             const std::optional<std::string>& lower, const std::optional<std::string>& upper) {
            new (self) Geometric(MechanismOptions{.epsilon = parse_rational(epsilon, "epsilon"),
                                                  .sensitivity = sensitivity_up(sensitivity),
                                                  .lower = bound_down(lower, "lower"),
                                                  .upper = bound_up(upper, "upper")});
          },
          nb::arg("epsilon"), nb::arg("sensitivity"), nb::arg("lower").none(), nb::arg("upper").none());

  module.def(
      "trace",
      [](const std::string& vectors, const std::string& kernel, bool slow) {
        const nb::gil_scoped_release unlocked;
        ReplayOptions options{.kernel = parse_kernel(kernel, "kernel")};
        options.slow_only = slow;
        return trace(vectors, options);
      },
      nb::arg("vectors"), nb::arg("kernel"), nb::arg("slow"));
}

}  // namespace snapdp::python
