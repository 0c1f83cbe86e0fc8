// A RowSelection over a table as SQL. All names and constants in it are ours: columns go by their place, and what the
// user's condition says is evaluated by the library.
//
// Where units are limited, select() reads the rows and keeps those that the limit leaves; otherwise the query over from()
// reads them. Rows are read once, unless those to be kept take too much memory: then the query over from() reads them again.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engines/duckdb/row_filter_function.h"
#include "engines/duckdb/table.h"
#include "engines/duckdb/unit_rows.h"
#include "snapdp/framework/source.h"

namespace snapdp::engines_internal {

class RowQuery {
 public:
  // Throws invalid_argument for limits of nothing or groups without a unit, mismatch for a condition that does not fit
  // its columns, and bad_data for columns that the table lacks or cannot give.
  RowQuery(const Connection& connection, const Table& table, const RowSelection& selection,
           std::span<const FoldRequest> requests, std::size_t most_bytes);

  // The input as a column of the rows that from() gives. Every input must be announced before select() is called.
  CellInput input(CellInput of_table);
  // How a query is run over rows that are being read.
  using Run = std::function<void(const std::string& sql)>;
  void select(const Scan& scan, const Run& run);
  // Whether from() takes another scan than select() did. There is one query then, and a second one over ties() when it has
  // run, if there are any.
  bool reads_again() const { return rows_ && rows_->reads_again(); }
  std::optional<std::string> ties();
  // What comes after FROM, for one query: the selected rows, those in few enough groups where a group limit is given.
  std::string from(const Scan& scan, const std::optional<FoldRequest::GroupLimit>& groups);

  // How many raw rows there were, where the selection counts them. Throws io when they were not as many the second time.
  std::optional<std::uint64_t> raw_rows() const;
  // Rethrows what the selection threw during a query, if it did.
  void rethrow() const;

 private:
  // The column of the rows that `of_table` becomes.
  CellInput column(const CellInput& of_table);
  CellInput exact_column(const std::string& name) { return column(exact_cell_input(table_, name)); }
  // The rows that the filter lets pass, with columns for all cells.
  std::string filtered(const Scan& scan);
  // Those of them that units keep, by reading them again.
  std::string chosen(const Scan& scan);

  const Connection& connection_;
  const Table& table_;
  std::optional<RowSelection::UnitLimit> unit_;
  std::size_t most_bytes_;             // that the rows kept may take
  std::vector<std::string> content_;   // the columns read, sorted, without repetition
  std::vector<CellInput> cells_;       // of the table, as they are stored; the rows name them x0, x1 ...
  std::vector<CellInput> kept_cells_;  // of the rows that units keep
  std::unique_ptr<RowFilterFunction> filter_;  // none when all rows are selected
  std::unique_ptr<UnitRows> rows_;             // those that units keep, once select() has been called
  std::vector<RegisteredFunction> of_rows_;    // what else is registered of them
  std::uint64_t raw_rows_ = 0;                 // of the first reading, once there is another
};

}  // namespace snapdp::engines_internal
