// Chains as Python holds them: the library's own parts, which do the work.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bindings.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::python {

// Where a chain starts, or where one of its transformations leads.
struct HeldRows {
  VectorDomain domain;
  Metric metric;
};

// One measurement or several as one release. `parts` are the measurements inside, each on its columns of a table; of rows
// that are no table there are no names.
struct HeldMeasurement {
  Composition composition;
  std::vector<TablePart> parts;
  RowSelection selection = {};
  bool table = false;
};

// A Python function that the library may copy, call and drop on any thread, with or without the interpreter's lock. It is the
// typed side that owns it, where Python's garbage collector sees it: this is a weak reference.
class PythonFunction {
 public:
  explicit PythonFunction(const nb::object& function)
      : function_(new nb::object(nb::steal(PyWeakref_NewRef(function.ptr(), nullptr))), &drop) {
    if (!function_->is_valid()) throw nb::python_error();
  }
  // With the interpreter's lock.
  template <typename... Arguments>
  nb::object operator()(Arguments&&... arguments) const {
    return (*function_)()(std::forward<Arguments>(arguments)...);
  }

 private:
  static void drop(nb::object* function) {
    if (Py_IsInitialized() == 0) return;
    const nb::gil_scoped_acquire locked;
    delete function;
  }
  std::shared_ptr<nb::object> function_;
};

AtomType type_of(const std::string& name);
// Bounds of a column, rounded outward to numbers of its type.
Bounds outward(const std::string& lower, const std::string& upper, AtomType type);
// Exact numbers of Python's, as texts.
std::vector<Dyadic> dyadics(const std::vector<std::string>& texts, const char* parameter);

void bind_functions(nb::module_& module);
void bind_neighbors(nb::module_& module);
void bind_payments(nb::module_& module);

}  // namespace snapdp::python
