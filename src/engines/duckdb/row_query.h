// A RowSelection over a table as SQL. All names and constants in it are ours: columns go by their place, and what the
// user's condition says is evaluated by the library.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/duckdb/row_filter_function.h"
#include "engines/duckdb/table.h"
#include "engines/duckdb/unit_limit_function.h"
#include "snapdp/release/source.h"

namespace snapdp::engine {

class RowQuery {
 public:
  // Throws invalid_argument for limits of nothing or groups without a unit, mismatch for a condition that does not fit
  // its columns, and bad_data for columns that the table lacks or cannot give.
  RowQuery(const Connection& connection, const Table& table, const RowSelection& selection,
           std::span<const FoldRequest> requests);

  // The input as a column of the rows that from() gives. Every input must be announced before from() is called.
  CellInput input(CellInput of_table);
  // What comes after FROM: the selected rows, those in few enough groups where a group limit is given.
  std::string from(const std::string& scan, const std::optional<FoldRequest::GroupLimit>& groups);

  // How many raw rows the last query read, where the selection counts them.
  std::optional<std::uint64_t> take_raw_rows();
  // Rethrows what the selection threw during the query, if it did.
  void rethrow() const;

 private:
  // The column of the rows that `of_table` becomes.
  CellInput column(const CellInput& of_table);

  const Connection& connection_;
  const Table& table_;
  std::optional<RowSelection::UnitLimit> unit_;
  std::vector<std::string> content_;  // the columns read, sorted, without repetition
  std::vector<CellInput> cells_;      // of the table, as their types are; the rows name them x0, x1 ...
  std::unique_ptr<RowFilterFunction> filter_;  // none when all rows are selected
  std::unique_ptr<UnitLimitFunction> limit_;   // of the last from()
};

}  // namespace snapdp::engine
