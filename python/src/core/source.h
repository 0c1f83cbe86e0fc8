// Rows for a release: an Arrow stream of whatever Python object, or a file through the engine's own module.
#pragma once

#include <memory>
#include <utility>

#include "core/bindings.h"
#include "snapdp/error.h"
#include "snapdp/framework/source.h"

namespace snapdp::python {

// The name of the capsule in which the module _duckdb, of the same build, hands over a Source*.
inline constexpr const char* source_capsule = "snapdp.Source";

// A source that a release takes, once.
class HeldSource {
 public:
  explicit HeldSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  Source& source() const {
    if (source_ == nullptr)
      throw Error(ErrorCode::invalid_argument, "data", "data: was read before; give the data anew");
    return *source_;
  }
  std::unique_ptr<Source> take() {
    static_cast<void>(source());
    return std::move(source_);
  }

 private:
  std::unique_ptr<Source> source_;
};

void bind_source(nb::module_& module);

}  // namespace snapdp::python
