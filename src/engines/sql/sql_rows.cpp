#include "engines/sql/sql_rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "snapdp/error.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

namespace {

[[noreturn]] void refuse_column(const std::string& name, const std::string& problem) {
  throw Error(ErrorCode::invalid_argument, "columns", "columns: " + quoted_text(name) + " " + problem);
}

SqlType type_of(const SqlTable& table, const std::string& name) {
  for (const SqlColumn& column : table.columns) {
    if (column.name == name) return column.type;
  }
  return SqlType::unknown;
}

std::string cast(const std::string& x, const std::string& type) {
  return "CAST(" + x + " AS " + type + ")";
}

std::string if_else(const std::string& condition, const std::string& yes, const std::string& no) {
  return "CASE WHEN " + condition + " THEN " + yes + " ELSE " + no + " END";
}

std::string clamped(const std::string& x, const std::string& lower, const std::string& upper) {
  return "CASE WHEN " + x + " < " + lower + " THEN " + lower + " WHEN " + x + " > " + upper + " THEN " +
         upper + " ELSE " + x + " END";
}

// true is 1, false is 0, null stays null.
std::string of_boolean(const std::string& x, const std::string& one, const std::string& zero) {
  return "CASE WHEN " + x + " THEN " + one + " WHEN NOT " + x + " THEN " + zero + " END";
}

// A whole number of at most 64 bits, or null.
std::string as_integer(const Dialect& dialect, const std::string& x, SqlType type) {
  if (type == SqlType::integer) return cast(x, dialect.integer_type());
  if (type == SqlType::unknown) return dialect.integer_or_null(x);
  return "CASE WHEN " + dialect.in_integer_range(x, type) + " AND " + x + " = FLOOR(" + x + ") THEN " +
         dialect.cast_to_integer(x) + " END";
}

std::string read_number(const Dialect& dialect, const std::string& x, SqlType type, AtomType wanted) {
  if (type == SqlType::boolean) {
    return wanted == AtomType::integer ? cast(of_boolean(x, "1", "0"), dialect.integer_type())
                                       : of_boolean(x, dialect.real(1), dialect.real(0));
  }
  const std::string number = wanted == AtomType::integer ? as_integer(dialect, x, type)
                             : type == SqlType::real     ? x
                             : type == SqlType::decimal  ? dialect.real_of_decimal(x)
                             : type == SqlType::unknown  ? dialect.real_or_null(x)
                                                         : cast(x, dialect.real_type());
  const std::string is_number = dialect.is_number(x);
  return is_number.empty() ? number : "CASE WHEN " + is_number + " THEN " + number + " END";
}

// The tree of comparisons that finds a place between `first` and `last`: split(i) holds from place i on.
template <typename Leaf, typename Split>
std::string search_tree(std::size_t first, std::size_t last, const Leaf& leaf, const Split& split) {
  if (first == last) return leaf(first);
  const std::size_t middle = first + (last - first + 1) / 2;
  return if_else(split(middle), search_tree(middle, last, leaf, split),
                 search_tree(first, middle - 1, leaf, split));
}

}  // namespace

// A condition on the cells that `rows` has.
class SqlCondition final : public ConditionLanguage {
 public:
  explicit SqlCondition(const SqlRows& rows) : rows_(rows) {}

  std::string compare(std::size_t column, Comparison comparison, double number) override {
    return compared(column, comparison, rows_.dialect_->real(number));
  }
  std::string compare(std::size_t column, Comparison comparison, std::int64_t number) override {
    return compared(column, comparison, rows_.dialect_->integer(number));
  }
  std::string compare(std::size_t column, Comparison comparison, const std::string& text) override {
    return compared(column, comparison, rows_.dialect_->text(text));
  }
  std::string decided(std::size_t column, bool holds) override {
    return holds ? rows_.is_present(rows_.cells_[column]) : "(1 = 0)";
  }
  std::string joined(bool all, const std::vector<std::string>& parts) override {
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "(" : all ? " AND " : " OR ") + part;
    return text + ")";
  }
  std::string negated(const std::string& part) override { return "(NOT " + part + ")"; }

 private:
  std::string compared(std::size_t column, Comparison comparison, const std::string& constant) const {
    const SqlRows::Cell& cell = rows_.cells_[column];
    const std::string sign = comparison == Comparison::not_equal ? "<>" : to_string(comparison);
    const std::string holds = cell.sql + " " + sign + " " + constant;
    return cell.complete ? "(" + holds + ")" : "(" + rows_.is_present(cell) + " AND " + holds + ")";
  }

  const SqlRows& rows_;
};

SqlRows::SqlRows(const Dialect& dialect, const std::vector<std::string>& cells,
                 const std::vector<AtomType>& types)
    : dialect_(&dialect) {
  for (std::size_t i = 0; i < cells.size(); ++i) cells_.push_back({types[i], cells[i]});
}

std::string SqlRows::constant(const Cell& cell, const Dyadic& value) const {
  return cell.type == AtomType::integer ? dialect_->integer(value.to_int64())
                                        : dialect_->real(value.to_double_nearest());
}

std::string SqlRows::is_missing(const Cell& cell) const {
  if (cell.type != AtomType::real) return cell.sql + " IS NULL";
  return "(" + cell.sql + " IS NULL OR " + dialect_->is_nan(cell.sql) + ")";
}

std::string SqlRows::is_present(const Cell& cell) const {
  if (cell.type != AtomType::real) return cell.sql + " IS NOT NULL";
  return "(" + cell.sql + " IS NOT NULL AND NOT " + dialect_->is_nan(cell.sql) + ")";
}

std::string SqlRows::kept() const {
  return kept_besides("");
}

std::string SqlRows::kept_besides(const std::string& other) const {
  std::string all;
  for (const std::string& condition : kept_) {
    if (condition == other) continue;
    if (!all.empty()) all += " AND ";
    all += condition;
  }
  return all;
}

void SqlRows::take_off_grid() {
  for (Cell& cell : cells_) {
    if (!cell.grid) continue;
    cell.sql = "((" + cast(cell.sql, dialect_->real_type()) + " + " + dialect_->real(0.5) + ") * " +
               dialect_->real(cell.grid->spacing().to_double_nearest()) + ")";
    cell.grid.reset();
    cell.off_grid.clear();
  }
}

void SqlRows::clamp(const std::vector<Bounds>& bounds) {
  take_off_grid();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Cell& cell = cells_[i];
    const std::string lower = constant(cell, bounds[i].lower());
    const std::string upper = constant(cell, bounds[i].upper());
    if (cell.raw.empty()) {
      cell.sql = clamped(cell.sql, lower, upper);
    } else if (cell.missing.empty()) {
      cell.null_unless = is_present({cell.type, cell.raw});
      cell.sql = dialect_->clamped(cell.raw, lower, upper, "NULL", cell.type);
    } else {
      cell.sql = dialect_->clamped(cell.raw, lower, upper, clamped(cell.missing, lower, upper), cell.type);
    }
    cell.raw.clear();
    cell.bounds = bounds[i];
  }
}

void SqlRows::impute(const std::vector<Dyadic>& values) {
  take_off_grid();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    Cell& cell = cells_[i];
    if (!cell.complete) {
      cell.raw = cell.sql;
      cell.missing = constant(cell, values[i]);
      cell.sql = if_else(is_missing(cell), cell.missing, cell.sql);
    }
    cell.complete = true;
  }
}

void SqlRows::drop() {
  for (Cell& cell : cells_) {
    if (!cell.complete) {
      cell.raw = cell.sql;
      kept_.insert(is_present(cell));
    }
    cell.complete = true;
  }
}

void SqlRows::select(const Predicate& condition) {
  take_off_grid();
  SqlCondition language(*this);
  kept_.insert(condition.told(language));
}

void SqlRows::project(std::size_t columns) {
  cells_.resize(columns);
}

void SqlRows::grid_rows(const std::vector<Grid>& grids) {
  take_off_grid();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Dyadic steps(Integer(1), -grids[i].exponent());
    cells_[i].off_grid =
        std::exchange(cells_[i].sql, dialect_->steps(cells_[i].sql, steps.to_double_nearest()));
    cells_[i].grid = grids[i];
    cells_[i].raw.clear();
  }
}

SqlRows SqlRows::rest() const {
  SqlRows rows = *this;
  rows.cells_.erase(rows.cells_.begin());
  return rows;
}

std::string SqlRows::of_kept(const std::string& value, const std::string& otherwise) const {
  return kept_.empty() ? value : if_else(kept(), value, otherwise);
}

void SharedGrids::add(const std::string& sql, const Grid& grid) {
  const auto [found, is_new] = ranges_.insert({sql, {grid.exponent(), grid.exponent()}});
  found->second.finest = std::min(found->second.finest, grid.exponent());
  found->second.coarsest = std::max(found->second.coarsest, grid.exponent());
}

SharedGrids::Range SharedGrids::of(const std::string& sql, const Grid& grid) const {
  const auto found = ranges_.find(sql);
  // Products with a power of two below 1 are rounded where they underflow, and lowest bits are to be few.
  constexpr long most_apart = 20;
  if (found == ranges_.end() || found->second.coarsest > 0 ||
      found->second.coarsest - found->second.finest > most_apart)
    return {grid.exponent(), grid.exponent()};
  return found->second;
}

void SqlRows::add_grid(std::size_t column, SharedGrids& grids) const {
  const Cell& cell = cells_[column];
  if (cell.grid) grids.add(cell.off_grid, *cell.grid);
}

WholeNumber SqlRows::whole(std::size_t column, const SharedGrids& grids) const {
  const Cell& cell = cells_[column];
  if (!cell.bounds)
    throw Error(ErrorCode::invalid_argument, "bounds", "bounds: a sum needs a clamp before it");
  if (cell.type == AtomType::real && !cell.grid) {
    throw Error(
        ErrorCode::invalid_argument, "row_grid",
        "row_grid: a database sums reals exactly only when they are on a grid; say row_grid = \"auto\" "
        "in [data], or put make_grid_rows after make_clamp");
  }
  std::int64_t least = 0;
  std::int64_t most = 0;
  std::int64_t offset = 0;  // of what the database computes
  unsigned shift = 0;
  std::string number = cell.sql;
  Dyadic origin = cell.bounds->lower();
  Dyadic unit(1);
  if (cell.grid) {
    // As the database computes them.
    const auto place = [](const Dyadic& x, long exponent) {
      return static_cast<std::int64_t>(
          std::floor(x.to_double_nearest() * Dyadic(Integer(1), -exponent).to_double_nearest()));
    };
    const SharedGrids::Range range = grids.of(cell.off_grid, *cell.grid);
    // All places on the coarsest grid begin where one on the finest does.
    const auto bits = [](long more, long less) { return static_cast<unsigned>(more - less); };
    shift = bits(cell.grid->exponent(), range.finest);
    offset =
        place(cell.bounds->lower(), range.coarsest) * (std::int64_t{1} << bits(range.coarsest, range.finest));
    least = offset / (std::int64_t{1} << shift);  // exactly
    most = place(cell.bounds->upper(), cell.grid->exponent());
    if (shift > 0)
      number = dialect_->steps(cell.off_grid, Dyadic(Integer(1), -range.finest).to_double_nearest());
    unit = cell.grid->spacing();
    origin = (Dyadic(least) + Dyadic(Integer(1), -1)) * unit;
  } else {
    least = cell.bounds->lower().to_int64();
    most = cell.bounds->upper().to_int64();
    offset = least;
  }
  const Integer width = (Dyadic(most) - Dyadic(least)).rational().get_num();
  if (width >= Integer(1) << 62U) {
    throw Error(
        ErrorCode::invalid_argument, "bounds",
        "bounds = " + to_string(*cell.bounds) +
            ": are 2^62 or more apart, too far for a database to sum what lies between; declare tighter "
            "bounds");
  }
  number = "((" + number + ") - " + dialect_->integer(offset) + ")";
  const std::string others = kept_besides(cell.null_unless);
  if (!others.empty()) number = if_else(others, number, "NULL");
  return {number, width, origin, unit, shift};
}

std::string SqlRows::place(const Places& places, const Join& join) {
  take_off_grid();
  const Cell& cell = cells_.front();
  const auto number = [&](std::size_t place) {
    return std::to_string(place == places.count ? no_place : static_cast<std::int64_t>(place));
  };
  const std::string elsewhere = number(places.elsewhere);
  const auto value = [&](std::size_t i) {
    if (places.type == AtomType::text) return dialect_->text(places.texts[i]);
    return places.type == AtomType::integer ? dialect_->integer(places.integers[i])
                                            : dialect_->real(places.reals[i]);
  };
  constexpr std::size_t many = 256;
  if (!places.cuts && places.type != AtomType::real && places.place_of.size() > many) {
    std::vector<Dialect::PlacedValue> placed;
    for (std::size_t i = 0; i < places.place_of.size(); ++i) {
      placed.push_back(
          {places.type == AtomType::text ? places.texts[i] : std::to_string(places.integers[i]),
           places.place_of[i] == places.count ? no_place : static_cast<std::int64_t>(places.place_of[i])});
    }
    const std::string table = dialect_->places(placed, places.type);
    // A cell that is null equals no value.
    if (!table.empty()) return "COALESCE(" + join(table, cell.sql) + ".p, " + elsewhere + ")";
  }
  std::string tree;
  if (places.cuts) {
    tree = search_tree(
        0, places.place_of.size() - 1, [&](std::size_t i) { return number(places.place_of[i]); },
        [&](std::size_t i) { return cell.sql + " >= " + value(i - 1); });
  } else if (places.place_of.empty()) {
    tree = elsewhere;
  } else {
    tree = search_tree(
        0, places.place_of.size() - 1,
        [&](std::size_t i) {
          return if_else(cell.sql + " = " + value(i), number(places.place_of[i]), elsewhere);
        },
        [&](std::size_t i) { return cell.sql + " >= " + value(i); });
  }
  return cell.complete ? tree : if_else(is_missing(cell), elsewhere, tree);
}

std::string read_cell(const Dialect& dialect, const SqlTable& table, const std::string& name,
                      AtomType wanted) {
  const std::string x = dialect.name(name);
  const SqlType type = type_of(table, name);
  if (type == SqlType::unusable) {
    refuse_column(name,
                  "is stored as something that is neither a number nor text; make a view of the table "
                  "with a CAST of it");
  }
  if (wanted == AtomType::text) {
    if (type != SqlType::unknown && type != SqlType::text) {
      refuse_column(name,
                    "is wanted as text and stores numbers; declare its type, or make a view of the "
                    "table with a CAST of it");
    }
    return dialect.bytes(cast(x, dialect.text_type()));
  }
  if (type == SqlType::text) {
    refuse_column(name, "is wanted as numbers and stores text; make a view of the table with a CAST of it");
  }
  return read_number(dialect, x, type, wanted);
}

std::string read_unit(const Dialect& dialect, const SqlTable& table, const std::string& column) {
  std::string x = dialect.name(column);
  switch (type_of(table, column)) {
    case SqlType::unusable:
      refuse_column(column,
                    "cannot tell privacy units apart: it is stored as neither a number nor text; make "
                    "a view of the table with a CAST of it");
    case SqlType::real:
      // Zeros of both signs are one unit.
      return "CASE WHEN " + x + " = " + dialect.real(0) + " THEN " + dialect.real(0) + " WHEN NOT " +
             dialect.is_nan(x) + " THEN " + x + " END";
    case SqlType::decimal:
      return dialect.known_decimal(x);
    case SqlType::integer:
    case SqlType::boolean:
      return x;
    case SqlType::text:
    case SqlType::unknown:
      break;
  }
  const std::string text = dialect.unit_text(x);
  return dialect.bytes("CASE WHEN " + dialect.trimmed(text) + " <> '' THEN " + text + " END");
}

}  // namespace snapdp::engines_internal
