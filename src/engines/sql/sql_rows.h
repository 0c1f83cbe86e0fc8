// Rows on their way through a chain, as SQL expressions of a table's columns.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engines/sql/dialect.h"
#include "framework/shared/row_language.h"

namespace snapdp::engines_internal {

// A number as a whole one: x = origin + unit * n with 0 <= n <= most.
struct WholeNumber {
  std::string sql;  // of n, or of more bits, of which n has all but the lowest `shift`
  Integer most;
  Dyadic origin;
  Dyadic unit;
  unsigned shift = 0;
};

// Statistics often put one number on several grids. The finest alone is computed: the place on a coarser one is what is left of
// it without its lowest bits.
class SharedGrids {
 public:
  struct Range {
    long finest;
    long coarsest;
  };
  // Of this number, written as SQL. Asked of all statistics once before it counts.
  void add(const std::string& sql, const Grid& grid);
  Range of(const std::string& sql, const Grid& grid) const;

 private:
  std::map<std::string, Range> ranges_;
};

// Where rows of no place go, and rows that are not there, as places are numbered in queries.
inline constexpr std::int64_t no_place = -1;
inline constexpr std::int64_t no_row = -2;

class SqlRows {
 public:
  // The cells of a row: SQL of values of these types.
  SqlRows(const Dialect& dialect, const std::vector<std::string>& cells, const std::vector<AtomType>& types);

  void clamp(const std::vector<Bounds>& bounds);
  void impute(const std::vector<Dyadic>& values);
  void drop();
  void select(const Predicate& condition);
  void project(std::size_t columns);
  void grid_rows(const std::vector<Grid>& grids);
  // Without the first column.
  SqlRows rest() const;

  // The condition that a row is still there, or "" when every row is. It is never null.
  std::string kept() const;
  // `value` of rows that are there, otherwise `otherwise`.
  std::string of_kept(const std::string& value, const std::string& otherwise) const;
  std::size_t size() const { return cells_.size(); }
  // A cell as a whole number, null of rows that are not there. Throws invalid_argument naming "row_grid" or "bounds".
  WholeNumber whole(std::size_t column, const SharedGrids& grids) const;
  // Tells the grid that a cell is on, if it is.
  void add_grid(std::size_t column, SharedGrids& grids) const;
  // The place of the first cell, or no_place. Of many values it is looked up in a table (v, p), which `join` joins to the rows by
  // the SQL of a cell, under the name that it gives.
  using Join = std::function<std::string(const std::string& table, const std::string& cell)>;
  std::string place(const framework_internal::Places& places, const Join& join);

 private:
  friend class SqlCondition;
  struct Cell {
    AtomType type = AtomType::real;
    std::string sql;
    bool complete = false;  // neither null nor NaN
    std::optional<Bounds> bounds = {};
    std::optional<Grid> grid = {};  // `sql` is then the number of steps
    std::string off_grid = {};      // what was put on it
    // What it was before null and NaN were dropped, or became this constant, if nothing else has happened since.
    std::string raw = {};
    std::string missing = {};
    std::string null_unless = {};  // a condition without which `sql` is null, if there is one
  };

  // Whatever looks at cells that are on a grid, but sums, sees them as the reals that they are.
  void take_off_grid();
  std::string constant(const Cell& cell, const Dyadic& value) const;
  std::string is_missing(const Cell& cell) const;
  std::string is_present(const Cell& cell) const;
  // All conditions but this one.
  std::string kept_besides(const std::string& other) const;

  const Dialect* dialect_;
  std::vector<Cell> cells_;
  std::set<std::string> kept_;  // all of these hold; in one order, so that equal conditions are equal texts
};

// A column of the table, read as this type. Throws invalid_argument naming "columns".
std::string read_cell(const Dialect& dialect, const SqlTable& table, const std::string& name,
                      AtomType wanted);
// A privacy unit's column, as its cells are told apart; null where a row has no unit.
std::string read_unit(const Dialect& dialect, const SqlTable& table, const std::string& column);

}  // namespace snapdp::engines_internal
