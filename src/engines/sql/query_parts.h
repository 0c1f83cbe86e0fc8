// What a query is made of: parts, each one SELECT with its keys and its columns of exact integers.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/sql/sql_rows.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::engines_internal {

// The integers of a result's rows, by part and by the places of the keys.
class ResultRows {
 public:
  static constexpr std::size_t most_keys = 2;
  using Key = std::vector<std::int64_t>;
  using Part = std::map<Key, std::vector<Integer>>;

  explicit ResultRows(std::vector<Part> parts) : parts_(std::move(parts)) {}
  const Part& part(std::size_t part) const { return parts_[part]; }
  // 0 where the result has no such row.
  Integer at(std::size_t part, const Key& key, std::size_t column) const;

 private:
  std::vector<Part> parts_;
};

// A sum that a result tells in several columns: sum of weight * column.
struct ColumnSum {
  struct Term {
    Integer weight;
    std::size_t column;
  };
  std::size_t part = 0;
  std::vector<Term> terms = {};

  Integer of(const ResultRows& rows, const ResultRows::Key& key) const;
};

// One SELECT: rows with equal keys are one row of the result.
class QueryPart {
 public:
  // Its first column counts the rows of each key.
  QueryPart() : columns_{"COUNT(*)"} {}

  std::vector<std::string> keys = {};                  // names of cells
  std::optional<FoldRequest::GroupLimit> groups = {};  // of a unit, by the first key
  // The place of the column with this SQL, which is added if there is none yet.
  std::size_t column(const std::string& sql);
  const std::vector<std::string>& columns() const { return columns_; }

 private:
  std::vector<std::string> columns_;
};

// The parts of a query, the cells that they are computed from, which are integers, and the inputs that these are computed
// from, which are read from the table.
class QueryParts {
 public:
  explicit QueryParts(const Dialect& dialect) : dialect_(&dialect) { parts_.emplace_back(); }

  const std::vector<QueryPart>& parts() const { return parts_; }
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& cells() const { return cells_; }
  // The name of what is read from the table by this SQL, whatever its type.
  std::string input(const std::string& sql);
  // The name of the cell with this SQL.
  std::string cell(const std::string& sql);
  // A table that is joined to the rows by this SQL of a cell.
  struct Lookup {
    std::string table;
    std::string cell;
    friend bool operator==(const Lookup&, const Lookup&) = default;
  };
  const std::vector<Lookup>& lookups() const { return lookups_; }
  // Its name.
  std::string lookup(const Lookup& wanted);
  // The name of a cell that is a place of so many, no_place or no_row.
  std::string key(const std::string& sql, std::size_t places);
  bool is_place(const std::string& key, std::int64_t value) const;
  // That the places of this cell are those of keys that come from the rows, as this input has them.
  void found_key(const std::string& cell, const std::string& input) { found_keys_[cell] = input; }
  // Cells to inputs.
  const std::map<std::string, std::string>& found_keys() const { return found_keys_; }
  // A cell that is null where this condition does not hold, and nowhere else.
  std::string& cell_of_rows(const std::string& condition) { return cells_of_rows_[condition]; }
  // A part with these keys and room for more columns. Part 0 has no keys, and no limit on groups.
  std::size_t part(const std::vector<std::string>& keys,
                   const std::optional<FoldRequest::GroupLimit>& groups);
  std::size_t column(std::size_t part, const std::string& sql) { return parts_[part].column(sql); }
  // How many keys of a part there are, those of no place among them.
  std::size_t places(const QueryPart& part) const;
  // The grids that numbers are put on, and those of all statistics, to be shared.
  SharedGrids& grids_asked() { return grids_asked_; }
  const SharedGrids& grids() const { return grids_; }
  void share(SharedGrids grids) { grids_ = std::move(grids); }
  std::string high_bits(const std::string& sql, unsigned from) const {
    return dialect_->high_bits(sql, from);
  }
  // The sum of the products of whole numbers, of the rows where none of their cells is null. All of them together have at
  // most `largest` as a product.
  ColumnSum sum_of_products(std::size_t part, const std::vector<WholeNumber>& factors);

 private:
  struct Limb {
    std::string sql;
    unsigned shift;
    unsigned bits;
  };
  // A product of limbs, and what it counts for.
  struct LimbProduct {
    Integer weight = 0;
    unsigned bits = 0;
  };
  std::vector<Limb> limbs(const WholeNumber& number, unsigned bits) const;
  // In two sums, where that is possible.
  bool add_product_of_two(const std::vector<WholeNumber>& factors, ColumnSum& sum);
  void add_sum(std::size_t part, const std::string& sql, unsigned bits, const Integer& weight,
               ColumnSum& sum);

  const Dialect* dialect_;
  SharedGrids grids_asked_;
  SharedGrids grids_;
  std::vector<QueryPart> parts_;
  std::vector<std::string> inputs_;
  std::vector<std::string> cells_;
  std::vector<Lookup> lookups_;
  std::map<std::string, std::size_t> places_;  // of cells that are keys
  std::map<std::string, std::string> found_keys_;
  std::map<std::string, std::string> cells_of_rows_;
};

// How many bits a number from 0 to `most` has.
unsigned bits_of(const Integer& most);

}  // namespace snapdp::engines_internal
