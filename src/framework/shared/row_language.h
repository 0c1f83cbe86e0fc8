// What row functions and folds compute, told step by step, for engines that cannot run them and write them in a language
// of their own (SQL).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "snapdp/framework/aggregation.h"
#include "snapdp/numeric/grid.h"

namespace snapdp::framework_internal {

// Where a cell goes among `count` public places: 0 to count - 1, or none.
struct Places {
  AtomType type = AtomType::real;
  std::size_t count = 0;
  // Where cells go that are null, NaN, or none of the values; `count` when that is nowhere.
  std::size_t elsewhere = 0;
  // Between cuts: place_of[i] is for cells with i cuts at or below them, `count` for nowhere. Otherwise for cells equal to
  // value i.
  bool cuts = false;
  // Ascending, of the type; texts by their bytes.
  std::vector<double> reals = {};
  std::vector<std::int64_t> integers = {};
  std::vector<std::string> texts = {};
  std::vector<std::size_t> place_of = {};
};

// The parts of a chain call one of these each, in their order.
class RowLanguage {
 public:
  virtual ~RowLanguage() = default;
  // Row functions, of the columns as they then are.
  virtual void clamp(const std::vector<Bounds>& bounds) = 0;
  virtual void impute(const std::vector<Dyadic>& values) = 0;
  virtual void drop() = 0;
  virtual void select(const Predicate& condition) = 0;
  virtual void project(std::size_t columns) = 0;
  virtual void grid_rows(const std::vector<Grid>& grids) = 0;
  // Folds. Totals without values.
  virtual void count() = 0;
  // Of one bounded column x: totals {sum of x, ..., sum of x^degree}.
  virtual void power_sums(std::size_t degree) = 0;
  // Of two bounded columns: totals {sum of x, sum of y, sum of x y}.
  virtual void products() = 0;
  // Of one column: totals {count of place 0, count of place 1, ...}.
  virtual void count_places(const Places& places) = 0;
  // By the first column, the others being `inner`'s rows: totals {rows of group 0, its totals, rows of group 1, ...}.
  virtual void groups(const Places& places, const Aggregation& inner) = 0;
  // A part that cannot be told.
  virtual void unknown(const std::string& description) = 0;
};

// The same for conditions: each part becomes a text, and parts of parts are told first. Every comparison is false for a
// cell that is null or NaN.
class ConditionLanguage {
 public:
  virtual ~ConditionLanguage() = default;
  virtual std::string compare(std::size_t column, Comparison comparison, double number) = 0;
  virtual std::string compare(std::size_t column, Comparison comparison, std::int64_t number) = 0;
  virtual std::string compare(std::size_t column, Comparison comparison, const std::string& text) = 0;
  // Of an integer column: true of every cell that is not null, or of none.
  virtual std::string decided(std::size_t column, bool holds) = 0;
  virtual std::string joined(bool all, const std::vector<std::string>& parts) = 0;
  virtual std::string negated(const std::string& part) = 0;
};

// Tells the row functions of an aggregation and then its fold.
inline void tell(const Aggregation& aggregation, RowLanguage& language) {
  for (const auto& function : aggregation.functions()) function->tell(language);
  aggregation.fold().tell(language);
}

}  // namespace snapdp::framework_internal
