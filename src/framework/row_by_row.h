// What the constructors of row-wise transformations share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::framework_internal {

[[noreturn]] inline void refuse_rows(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, std::string(parameter) + ": " + message);
}

inline void require_one_each(const VectorDomain& domain, std::size_t given, const char* parameter) {
  if (given != domain.columns().size()) {
    refuse_rows(parameter, std::to_string(given) + " given for " + std::to_string(domain.columns().size()) +
                               " columns; give one for each");
  }
}

// A row function under which every row becomes one row.
class CellFunction : public RowFunction {
 public:
  KeptRows kept(const Chunk&, std::uint8_t*) const final { return KeptRows::all; }
};

// A row-wise function that maps every row to one row is 1-stable under each dataset metric.
inline Signature<VectorDomain, VectorDomain> row_by_row(const VectorDomain& domain,
                                                        std::vector<AtomDomain> columns, Metric metric) {
  VectorDomain output(std::move(columns));
  if (domain.size()) output = output.of_size(*domain.size());
  return {domain, output, metric, metric, Relation::stable(1)};
}

// Bitmaps in buffers start as zeros.
inline void set_valid(std::uint8_t* validity, std::size_t row, bool valid) {
  validity[row / 8] =
      static_cast<std::uint8_t>(validity[row / 8] | (static_cast<unsigned>(valid) << (row % 8)));
}

}  // namespace snapdp::framework_internal
