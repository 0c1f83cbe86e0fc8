#include "core/source.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "snapdp/engines/arrow/arrow_source.h"

namespace snapdp::python {
namespace {

// The stream of __arrow_c_stream__(), which is the source's to take out of its capsule.
ArrowArrayStream* stream_in(nb::handle capsule) {
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
  return stream;
}

// A Python object that may be let go without the interpreter's lock.
std::shared_ptr<nb::object> shared(const nb::object& object) {
  return {new nb::object(object), [](nb::object* held) {
            if (Py_IsInitialized() == 0) return;
            const nb::gil_scoped_acquire locked;
            delete held;
          }};
}

// `again` gives another such capsule of the same rows, where they are read once more.
void take_stream(HeldSource* self, const nb::object& capsule, unsigned threads, const nb::object& again) {
  static_cast<void>(stream_in(capsule));
  const auto first = std::make_shared<std::shared_ptr<nb::object>>(shared(capsule));
  const auto open = [first, again = shared(again)](ArrowArrayStream* stream) {
    const nb::gil_scoped_acquire locked;
    const nb::object opened = *first != nullptr ? **first : (*again)();
    first->reset();
    ArrowArrayStream* const given = stream_in(opened);
    *stream = *given;
    given->release = nullptr;
  };
  new (self) HeldSource(std::make_unique<ArrowSource>(open, ArrowOptions{.threads = threads}));
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
      .def("__init__", &take_stream, nb::arg("stream"), nb::arg("threads"), nb::arg("again"))
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
