#include "core/source.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "snapdp/engines/arrow/arrow_source.h"

namespace snapdp::python {
namespace {

// The stream of __arrow_c_stream__(), which the source takes out of its capsule.
void take_stream(HeldSource* self, nb::handle capsule, unsigned threads) {
  auto* const stream =
      static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream"));
  if (stream == nullptr) {
    PyErr_Clear();
    throw Error(ErrorCode::invalid_argument, "data",
                "data: is no Arrow stream, or its __arrow_c_stream__() returned none; give a table");
  }
  if (stream->release == nullptr) {
    throw Error(ErrorCode::invalid_argument, "data",
                "data: is an Arrow stream that was read before; a stream can be read once, so make it anew");
  }
  new (self) HeldSource(std::make_unique<ArrowSource>(stream, ArrowOptions{.threads = threads}));
}

HeldSource* adopt(nb::handle capsule) {
  auto* const source = static_cast<Source*>(PyCapsule_GetPointer(capsule.ptr(), source_capsule));
  if (source == nullptr) throw nb::python_error();
  PyCapsule_SetDestructor(capsule.ptr(), nullptr);
  return new HeldSource(std::unique_ptr<Source>(source));
}

}  // namespace

void bind_source(nb::module_& module) {
  nb::class_<HeldSource>(module, "Source")
      .def("__init__", &take_stream, nb::arg("stream"), nb::arg("threads"))
      // The names of its columns, in order.
      .def_prop_ro("columns", [](HeldSource& self) {
        const nb::gil_scoped_release unlocked;
        std::vector<std::string> names;
        for (const SourceColumn& column : self.source().columns()) names.push_back(column.name);
        return names;
      });
  module.def("adopt_source", &adopt, nb::arg("capsule"), nb::rv_policy::take_ownership);
}

}  // namespace snapdp::python
