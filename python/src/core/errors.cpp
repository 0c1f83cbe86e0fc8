// snapdp::Error as an exception of snapdp/_errors.py.
#include <exception>

#include "core/bindings.h"
#include "snapdp/error.h"

namespace snapdp::python {
namespace {

void raise(const Error& error) {
  const nb::object exception =
      nb::module_::import_("snapdp._errors")
          .attr("from_code")(to_string(error.code()).c_str(), nb::str(error.parameter().c_str()),
                             nb::str(error.what()));
  PyErr_SetObject(exception.type().ptr(), exception.ptr());
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error& error) {
      raise(error);
    }
  });
}

}  // namespace snapdp::python
