// The rows that a limit on privacy units keeps, as two functions of DuckDB: an aggregate that takes in all rows, and a table
// of those that are kept.
//
//   UnitRows kept(connection, {.cells = {...}, ...});
//   connection.run("SELECT " + kept.keep() + " FROM ...");
//   RegisteredFunction rows = kept.rows(groups);
//   connection.run("SELECT ... FROM " + rows.call());
//
// They are held in memory, in the order of FirstRows (src/framework/shared/first_rows.h): whatever the order in which rows
// come, no more than it says. Where that is more than `most_bytes`, hashes are held, and all rows must be read again:
//
//   if (kept.reads_again()) {
//     kept.settle();
//     connection.run("SELECT ... FROM ... WHERE " + kept.choose().call());
//     if (kept.has_ties()) connection.run("SELECT ... FROM " + kept.rows({}).call());   // they are kept as well
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/registered_function.h"
#include "snapdp/framework/source.h"

namespace snapdp::engines_internal {

struct UnitLimits {
  // What the rows have, as it is stored. The first `content_cells` say which rows are kept; the others are functions of
  // these.
  std::vector<CellInput> cells;
  std::size_t content_cells = 0;
  std::size_t unit = 0;  // the number of the unit's cell, one of these
  std::uint64_t max_rows = 1;
  std::size_t most_bytes = ~std::size_t{0};
};

// Of the rows of each unit, those that a GroupLimit keeps.
struct GroupLimits {
  std::size_t group = 0;  // the number of the group's cell
  GroupLimit limit = {};
};

class UnitRows {
 public:
  UnitRows(const Connection& connection, UnitLimits limits);
  // Lets go of the rows: no query with them may be under way.
  ~UnitRows();
  UnitRows(const UnitRows&) = delete;
  UnitRows& operator=(const UnitRows&) = delete;

  // The call keeps rows; its value says nothing. For one query.
  const RegisteredFunction& keep() const { return keep_; }
  // The rows kept, with columns by the names of the cells. Cells are as row_content() has them: -0 is 0. For one query.
  RegisteredFunction rows(const std::optional<GroupLimits>& groups) const;

  bool reads_again() const;
  void settle();
  // The call says for each row whether it is kept. It throws io where the rows are not those that keep() was given.
  RegisteredFunction choose() const;
  // Whether there may be rows to be had in rows().
  bool has_ties() const;
  // The memory that they take.
  std::size_t bytes() const;

  class Store;

 private:
  UnitRows(const Connection& connection, std::shared_ptr<Store> store);

  const Connection& connection_;
  std::shared_ptr<Store> store_;
  RegisteredFunction keep_;
};

}  // namespace snapdp::engines_internal
