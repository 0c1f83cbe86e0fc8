// How a database writes what the queries of this room need. Names and constants never become SQL as they are: names are
// quoted, constants are literals of a known type.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "snapdp/engines/sql/sql_query.h"

namespace snapdp::engines_internal {

class Dialect {
 public:
  virtual ~Dialect() = default;

  // A name of a table or column, to the letter.
  virtual std::string name(const std::string& identifier) const;
  virtual std::string text(const std::string& value) const;
  // The very double.
  virtual std::string real(double value) const;
  std::string integer(std::int64_t value) const;

  // Types of casts.
  virtual std::string real_type() const { return "DOUBLE PRECISION"; }
  virtual std::string integer_type() const { return "BIGINT"; }
  virtual std::string text_type() const { return "VARCHAR"; }

  // `x` is SQL of a double.
  virtual std::string is_nan(const std::string& x) const { return "isnan(" + x + ")"; }
  // Between two literals, and `missing` where it is null or NaN, in as few steps as most rows can go: every dialect compares
  // NaN as greater than all numbers or not at all.
  virtual std::string clamped(const std::string& x, const std::string& lower, const std::string& upper,
                              const std::string& missing, AtomType type) const;
  virtual std::string floor(const std::string& x) const;
  // The floor of a double times a power of two, so many steps of a grid.
  virtual std::string steps(const std::string& x, double steps_per_unit) const;
  // A column of unknown type as a double, and as the 64-bit integer that it is or else null. No row may fail the query, where
  // the database has a cast that does not.
  virtual std::string real_or_null(const std::string& x) const;
  virtual std::string integer_or_null(const std::string& x) const;
  // A number that a cast to a 64-bit integer may not take.
  virtual std::string cast_to_integer(const std::string& x) const;
  // Of a decimal: the nearest double; itself, or null where it is no number; whether a double or decimal lies between the
  // ends of 64-bit integers.
  virtual std::string real_of_decimal(const std::string& x) const;
  virtual std::string known_decimal(const std::string& x) const { return x; }
  virtual std::string in_integer_range(const std::string& x, SqlType type) const;
  // `x` is SQL of an integer that is not negative: its bits from `from` on, `count` of them.
  std::string bits(const std::string& x, unsigned from, unsigned count) const;
  // All of them from `from` on.
  std::string high_bits(const std::string& x, unsigned from) const { return shifted(x, from); }
  virtual std::string remainder(const std::string& x, std::int64_t divisor) const;
  // A text that is compared byte by byte, whatever the column's collation.
  virtual std::string bytes(const std::string& x) const { return x; }
  // A text without the blanks at its ends: spaces at least, and what else the database counts as blank.
  virtual std::string trimmed(const std::string& x) const { return "TRIM(" + x + ")"; }
  // A privacy unit of unknown type as a text: one for equal cells of integers and of texts.
  virtual std::string unit_text(const std::string& x) const;
  // Whether a column that is not known to hold numbers needs to be asked cell by cell, and how.
  virtual std::string is_number(const std::string&) const { return ""; }
  // The sum of an integer column over the rows of a group, 0 for none.
  virtual std::string sum(const std::string& x) const { return "COALESCE(SUM(" + x + "), 0)"; }
  // What ends a subquery whose columns are to be computed once a row, though they are spoken of several times.
  virtual std::string computed_once() const { return ""; }
  // Whether SUM of 64-bit integers has more than 64 bits.
  virtual bool sums_beyond_64_bits() const { return false; }
  // Whether the sums of all rows come from those of the groups, by GROUPING SETS: one reading of the table for both.
  virtual bool groups_with_total() const { return false; }
  // A table (v, p) of many values, texts or integers by their digits, and the place of each, in as few literals as the database
  // has a way for: a tree of comparisons takes it minutes to read. "" where there is none.
  struct PlacedValue {
    std::string value;
    std::int64_t place;
  };
  virtual std::string places(const std::vector<PlacedValue>&, AtomType) const { return ""; }

 private:
  virtual std::string shifted(const std::string& x, unsigned from) const;
  virtual std::string masked(const std::string& x, std::int64_t mask) const;
};

const Dialect& dialect_of(SqlDialect dialect);

// The name of a table, its parts between dots.
std::string quoted_name(const Dialect& dialect, const std::vector<std::string>& name);

// The columns of a table whose columns are known, for checks before a query.
std::vector<SourceColumn> source_columns(const SqlTable& table);

}  // namespace snapdp::engines_internal
