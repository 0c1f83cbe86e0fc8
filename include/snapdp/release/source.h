// Where rows come from. A Source reads a table and folds aggregations over it; engines implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "snapdp/framework/aggregation.h"

namespace snapdp {

// A column as the header or schema declares it, never as its cells look.
struct SourceColumn {
  std::string name;
  // The type the schema gives; absent when cells are text whose type the specification declares (CSV).
  std::optional<AtomType> type;
  // Why the column cannot be used ("a date", "a list"), in words; empty when it can.
  std::string unusable;
};

// One aggregation over the named columns, in their order. The aggregation's input domain is untrusted_domain() of the
// types wanted; the source converts cells to these types (text by make_parse; an integer column wanted as real
// becomes the nearest double).
struct FoldRequest {
  std::vector<std::string> columns;
  const Aggregation* aggregation;
};

struct FoldResult {
  std::vector<AggregateState> states;  // one a request
  std::uint64_t rows = 0;              // raw rows, before any null handling
};

// Called with a percentage 0 to 100 from the folding thread; may be empty. It never learns a row count.
using Progress = std::function<void(double percent)>;

class Source {
 public:
  virtual ~Source() = default;
  // Reads the header or schema only. Throws io when the file cannot be read, bad_data when it is malformed (duplicate
  // or empty column names included).
  virtual std::vector<SourceColumn> columns() = 0;
  // One pass over the rows for all requests. Errors carry no cell text and no row count.
  virtual FoldResult fold(std::span<const FoldRequest> requests, const Progress& progress) = 0;
};

}  // namespace snapdp
