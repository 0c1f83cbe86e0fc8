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

// Which rows count, chosen once for all requests, before any null handling of theirs. First the condition, then the
// limit.
struct RowSelection {
  // Column i of the predicate is columns[i], of type types[i]: cells are converted as for a FoldRequest.
  struct Condition {
    std::vector<std::string> columns;
    std::vector<AtomType> types;
    Predicate predicate;
  };
  // Rows with equal cells in `column` belong to one privacy unit; of its rows at most max_rows are kept, those that come
  // first by a fixed keyed hash of the row's own content (the columns that this fold reads). Rows whose unit is null,
  // blank or NaN are dropped. Adding or removing all rows of a unit then adds or removes at most max_rows rows.
  struct UnitLimit {
    std::string column;
    std::uint64_t max_rows = 1;
  };
  std::optional<Condition> where;
  std::optional<UnitLimit> unit;
};

// One aggregation over the named columns, in their order. The aggregation's input domain is untrusted_domain() of the
// types wanted; the source converts cells to these types (text by make_parse; an integer column wanted as real
// becomes the nearest double).
struct FoldRequest {
  std::vector<std::string> columns;
  const Aggregation* aggregation;
  // Of the rows that a unit keeps, this request sees those in at most max_groups groups, the groups (equal cells in
  // `column`) that come first by a keyed hash of the unit and the group. Needs a unit limit.
  struct GroupLimit {
    std::string column;
    std::uint64_t max_groups = 1;
    friend bool operator==(const GroupLimit&, const GroupLimit&) = default;
  };
  std::optional<GroupLimit> groups = {};
};

struct FoldResult {
  std::vector<AggregateState> states;  // one a request
  std::uint64_t rows = 0;              // raw rows, before any selection
};

// Called with a percentage 0 to 100 from the folding thread; may be empty. It never learns a row count.
using Progress = std::function<void(double percent)>;

class Source {
 public:
  virtual ~Source() = default;
  // Reads the header or schema only. Throws io when the file cannot be read, bad_data when it is malformed (duplicate
  // or empty column names included).
  virtual std::vector<SourceColumn> columns() = 0;
  // Folds the selected rows for all requests. Errors carry no cell text and no row count.
  virtual FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                          const Progress& progress) = 0;
  // All rows.
  FoldResult fold(std::span<const FoldRequest> requests, const Progress& progress) {
    return fold({}, requests, progress);
  }
};

}  // namespace snapdp
