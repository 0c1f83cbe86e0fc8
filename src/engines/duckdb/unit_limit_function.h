// The limits of a privacy unit's rows and groups as one aggregate function of DuckDB: of each unit's rows it keeps those
// that make_unit_limit() keeps, in room for at most twice as many, and gives them as a list.
//
//   UnitLimitFunction kept(connection, {.cells = {...}, ...});
//   connection.run("SELECT unnest(kept, recursive := true) FROM "
//                  "(SELECT " + kept.call() + " AS kept FROM ... GROUP BY <the unit's cell>)");
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engines/duckdb/cells.h"
#include "engines/duckdb/registered_function.h"

namespace snapdp::engine {

struct UnitLimits {
  // What the rows have. The first `content_cells` say which rows are kept; the others are functions of these.
  std::vector<CellInput> cells;
  std::size_t content_cells = 0;
  std::uint64_t max_rows = 1;
  // Of the rows kept, those in the max_groups groups that come first by hash and content.
  struct Groups {
    std::size_t unit = 0;   // the number of the unit's cell
    std::size_t group = 0;  // and of the group's
    std::uint64_t max_groups = 1;
  };
  std::optional<Groups> groups = {};
};

// The call's value is a list of structures with the cells, by the names of what they were computed from. Cells are as
// row_content() has them: -0 is 0.
class UnitLimitFunction : public RegisteredFunction {
 public:
  UnitLimitFunction(const Connection& connection, UnitLimits limits);
  // Lets go of the rows that it kept: no query with it may be under way.
  ~UnitLimitFunction();
  UnitLimitFunction(const UnitLimitFunction&) = delete;
  UnitLimitFunction& operator=(const UnitLimitFunction&) = delete;

  class Calls;

 private:
  UnitLimitFunction(const Connection& connection, std::shared_ptr<Calls> calls);

  std::shared_ptr<Calls> calls_;
};

}  // namespace snapdp::engine
