// The row-wise transformations of transformation.h: clamp, impute, drop and parse.
#include <algorithm>
#include <array>
#include <charconv>
#include <clocale>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>

#include "framework/row_by_row.h"
#include "framework/shared/row_language.h"
#include "numeric/shared/float_environment.h"
#include "numeric/shared/row_kernels.h"
#include "snapdp/error.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {

using namespace numeric_internal;
using namespace framework_internal;

namespace {

std::string listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : " and ") + item;
  return text;
}

// The values of a column are now those of the buffer, none of them null.
void point_at(Column& column, const Scratch::Buffer& buffer) {
  column = {column.type, buffer.values};
}

// Moves the values of the rows with keeps[row] = 1 to the front of the buffer and returns how many there are.
template <typename Value>
std::size_t compact(const Value* in, std::size_t rows, const std::uint8_t* keeps, Value* out) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    out[kept] = in[row];
    kept += keeps[row];
  }
  return kept;
}
std::size_t compact(const Column& column, std::size_t rows, const std::uint8_t* keeps,
                    Scratch::Buffer& buffer) {
  switch (column.type) {
    case AtomType::real:
      return compact(column.reals(), rows, keeps, buffer.reals());
    case AtomType::integer:
      return compact(column.integers(), rows, keeps, buffer.integers());
    case AtomType::text:
      break;
  }
  return compact(column.texts(), rows, keeps, buffer.texts());
}

class ClampRows final : public CellFunction {
 public:
  explicit ClampRows(std::vector<Bounds> bounds) : bounds_(std::move(bounds)) {
    for (const Bounds& bound : bounds_) {
      ends_.push_back({bound.lower().to_double_nearest(), bound.upper().to_double_nearest(),
                       bound.lower().is_int64() ? bound.lower().to_int64() : 0,
                       bound.upper().is_int64() ? bound.upper().to_int64() : 0});
    }
  }

  void transform(Chunk& rows, Scratch& scratch) const override {
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      Scratch::Buffer& buffer = scratch.buffer(i);
      if (column.type == AtomType::real) {
        clamp_doubles(column.reals(), buffer.reals(), rows.length, ends_[i].lower, ends_[i].upper);
      } else {
        clamp_integers(column.integers(), buffer.integers(), rows.length, ends_[i].integer_lower,
                       ends_[i].integer_upper);
      }
      point_at(column, buffer);
    }
  }

  std::string description() const override {
    std::vector<std::string> items;
    for (const Bounds& bound : bounds_) items.push_back(to_string(bound));
    return "clamp to " + listed(items);
  }
  void tell(RowLanguage& language) const override { language.clamp(bounds_); }

 private:
  struct Ends {
    double lower, upper;
    std::int64_t integer_lower, integer_upper;
  };
  std::vector<Bounds> bounds_;
  std::vector<Ends> ends_;
};

class ImputeRows final : public CellFunction {
 public:
  explicit ImputeRows(std::vector<Dyadic> values) : values_(std::move(values)) {
    for (const Dyadic& value : values_) {
      constants_.push_back({value.to_double_nearest(), value.is_int64() ? value.to_int64() : 0});
    }
  }

  void transform(Chunk& rows, Scratch& scratch) const override {
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      Scratch::Buffer& buffer = scratch.buffer(i);
      if (column.type == AtomType::real) {
        impute_doubles(column.reals(), column.validity, column.validity_offset, buffer.reals(), rows.length,
                       constants_[i].real);
      } else {
        impute_integers(column.integers(), column.validity, column.validity_offset, buffer.integers(),
                        rows.length, constants_[i].integer);
      }
      point_at(column, buffer);
    }
  }

  std::string description() const override {
    std::vector<std::string> items;
    for (const Dyadic& value : values_) items.push_back(to_string(value));
    return "impute " + listed(items);
  }
  void tell(RowLanguage& language) const override { language.impute(values_); }

 private:
  struct Constant {
    double real;
    std::int64_t integer;
  };
  std::vector<Dyadic> values_;
  std::vector<Constant> constants_;
};

class DropRows final : public RowFunction {
 public:
  void transform(Chunk& rows, Scratch& scratch) const override {
    if (rows.column_count == 1 && rows.column[0].type != AtomType::text) {
      Column& column = rows.column[0];
      Scratch::Buffer& buffer = scratch.buffer(0);
      if (column.type == AtomType::integer &&
          !has_nulls(column.validity, column.validity_offset, rows.length)) {
        column.validity = nullptr;
        return;
      }
      rows.length = column.type == AtomType::real
                        ? drop_doubles(column.reals(), column.validity, column.validity_offset,
                                       buffer.reals(), rows.length)
                        : drop_integers(column.integers(), column.validity, column.validity_offset,
                                        buffer.integers(), rows.length);
      point_at(column, buffer);
      return;
    }
    std::array<std::uint8_t, block_rows> keeps;
    const bool all = kept(rows, keeps.data()) == KeptRows::all;
    std::size_t length = rows.length;
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      if (all) {
        column.validity = nullptr;
        continue;
      }
      length = compact(column, rows.length, keeps.data(), scratch.buffer(i));
      point_at(column, scratch.buffer(i));
    }
    rows.length = length;
  }

  // A row goes when any of its cells is missing.
  KeptRows kept(const Chunk& block, std::uint8_t* keeps) const override {
    std::fill_n(keeps, block.length, std::uint8_t{1});
    std::size_t missing = 0;
    for (const Column& column : block.columns()) {
      missing += column.type == AtomType::real
                     ? mark_missing_doubles(column.reals(), column.validity, column.validity_offset,
                                            block.length, keeps)
                     : mark_nulls(column.validity, column.validity_offset, block.length, keeps);
    }
    return missing == 0 ? KeptRows::all : KeptRows::some;
  }

  std::string description() const override { return "drop null and NaN"; }
  void tell(RowLanguage& language) const override { language.drop(); }
};

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-' && text[1] != '+') text.remove_prefix(1);
  return text;
}

std::optional<double> parse_real(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size() || text.empty()) return std::nullopt;
  if (status == std::errc::result_out_of_range) {
    // Too small or too large for a double: only the second is null. strtod tells which, in the C locale.
    static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
    value = strtod_l(std::string(text).c_str(), nullptr, c_locale);
    if (std::isinf(value)) return std::nullopt;
  } else if (status != std::errc() || std::isnan(value)) {
    return std::nullopt;
  }
  return value;
}

// [sign] digits [. digits] [e exponent], exactly, when it is a whole number of at most 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  const char* const end = text.data() + text.size();
  std::int64_t value = 0;
  const auto [plain_end, status] = std::from_chars(text.data(), end, value);
  if (plain_end == end && status == std::errc()) return value;
  if (text.empty()) return std::nullopt;

  std::string digits;  // of the magnitude, with the sign in front
  long exponent = 0;
  std::size_t i = 0;
  if (text[0] == '-') digits += text[i++];
  const std::size_t sign_length = digits.size();
  bool point = false;
  bool any = false;
  for (; i < text.size() && ((text[i] >= '0' && text[i] <= '9') || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    any = true;
    if (point) --exponent;
    if (digits.size() > sign_length || text[i] != '0') digits += text[i];
  }
  if (!any) return std::nullopt;
  if (i < text.size()) {
    if (text[i] != 'e' && text[i] != 'E') return std::nullopt;
    ++i;
    if (i + 1 < text.size() && text[i] == '+' && text[i + 1] != '-') ++i;
    long written = 0;
    const auto [exponent_end, exponent_status] = std::from_chars(text.data() + i, end, written);
    if (exponent_end != end || exponent_status != std::errc() || std::abs(written) > 1'000'000)
      return std::nullopt;
    exponent += written;
  }
  if (digits.size() == sign_length) return 0;
  while (exponent < 0 && digits.back() == '0') {
    digits.pop_back();
    ++exponent;
  }
  if (exponent < 0 || exponent > 18) return std::nullopt;
  digits.append(static_cast<std::size_t>(exponent), '0');
  const auto [whole_end, whole_status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (whole_status != std::errc() || whole_end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

// values[row] and its bit, for every row; what cannot be read is null.
template <typename Value>
void parse_column(const Column& column, std::size_t rows, std::optional<Value> (*parse)(std::string_view),
                  Value* values, std::uint8_t* validity) {
  const FloatEnvironment environment;  // from_chars multiplies and divides doubles
  for (std::size_t row = 0; row < rows; ++row) {
    const std::optional<Value> value = column.valid(row) ? parse(column.texts()[row]) : std::nullopt;
    values[row] = value.value_or(Value{});
    set_valid(validity, row, value.has_value());
  }
}

class ParseRows final : public CellFunction {
 public:
  explicit ParseRows(std::vector<AtomType> types) : types_(std::move(types)) {}

  void transform(Chunk& rows, Scratch& scratch) const override {
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      if (column.type == types_[i]) continue;
      Scratch::Buffer& buffer = scratch.buffer(i);
      std::fill(std::begin(buffer.validity), std::end(buffer.validity), std::uint8_t{0});
      if (types_[i] == AtomType::real) {
        parse_column(column, rows.length, parse_real, buffer.reals(), buffer.validity);
      } else {
        parse_column(column, rows.length, parse_integer, buffer.integers(), buffer.validity);
      }
      column = {types_[i], buffer.values, buffer.validity, 0};
    }
  }

  std::string description() const override {
    std::vector<std::string> items;
    for (const AtomType type : types_)
      items.push_back(describe(AtomDomain{type, false, false, std::nullopt}));
    return "read text as " + listed(items);
  }

 private:
  std::vector<AtomType> types_;
};

class SelectRows final : public RowFunction {
 public:
  explicit SelectRows(Predicate predicate) : predicate_(std::move(predicate)) {}

  void transform(Chunk& rows, Scratch& scratch) const override {
    std::array<std::uint8_t, block_rows> holds;
    predicate_.evaluate(rows, holds.data());
    std::size_t length = rows.length;
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      Scratch::Buffer& buffer = scratch.buffer(i);
      length = compact(column, rows.length, holds.data(), buffer);
      const Column before = column;
      point_at(column, buffer);
      if (before.validity == nullptr) continue;
      // The bitmap may be the buffer's own, so it is built beside it.
      std::array<std::uint8_t, block_rows / 8> validity{};
      std::size_t place = 0;
      for (std::size_t row = 0; row < rows.length; ++row) {
        if (holds[row] != 0) set_valid(validity.data(), place++, before.valid(row));
      }
      std::copy(validity.begin(), validity.end(), buffer.validity);
      column.validity = buffer.validity;
    }
    rows.length = length;
  }

  KeptRows kept(const Chunk& block, std::uint8_t* keeps) const override {
    predicate_.evaluate(block, keeps);
    return KeptRows::some;
  }

  std::string description() const override { return "select " + predicate_.description(); }
  void tell(RowLanguage& language) const override { language.select(predicate_); }

 private:
  Predicate predicate_;
};

class ProjectRows final : public CellFunction {
 public:
  explicit ProjectRows(std::size_t count) : count_(count) {}
  void transform(Chunk& rows, Scratch&) const override { rows.column_count = count_; }
  std::string description() const override { return "keep the first " + std::to_string(count_) + " columns"; }
  void tell(RowLanguage& language) const override { language.project(count_); }

 private:
  std::size_t count_;
};

class GridRows final : public CellFunction {
 public:
  explicit GridRows(std::vector<Grid> grids) : grids_(std::move(grids)) {}

  // The product may be rounded, where x is tiny beside the spacing; multiplying is how databases do it.
  static double on_grid(double x, Grid grid) {
    const double steps = std::floor(x * Dyadic(Integer(1), -grid.exponent()).to_double_nearest());
    return (steps + 0.5) * grid.spacing().to_double_nearest();
  }

  void transform(Chunk& rows, Scratch& scratch) const override {
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      Scratch::Buffer& buffer = scratch.buffer(i);
      const double steps = Dyadic(Integer(1), -grids_[i].exponent()).to_double_nearest();
      const double spacing = grids_[i].spacing().to_double_nearest();
      for (std::size_t row = 0; row < rows.length; ++row)
        buffer.reals()[row] = (std::floor(column.reals()[row] * steps) + 0.5) * spacing;
      point_at(column, buffer);
    }
  }

  std::string description() const override {
    std::vector<std::string> items;
    for (const Grid grid : grids_) items.push_back(to_string(grid));
    return "middles of steps of " + listed(items);
  }
  void tell(RowLanguage& language) const override { language.grid_rows(grids_); }

 private:
  std::vector<Grid> grids_;
};

// One double for those that the library takes for equal: zeros of both signs, and every NaN.
double as_compared(double value) {
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  return value == 0 ? 0.0 : value;
}

class MapRows final : public CellFunction {
 public:
  MapRows(AtomDomain output, std::function<double(double)> function, std::string name)
      : function_(std::move(function)), name_(std::move(name)) {
    if (output.bounds) {
      lower_ = output.bounds->lower().to_double_nearest();
      upper_ = output.bounds->upper().to_double_nearest();
    }
  }

  void transform(Chunk& rows, Scratch& scratch) const override {
    Column& column = rows.column[0];
    Scratch::Buffer& buffer = scratch.buffer(0);
    std::array<std::uint8_t, block_rows / 8> validity{};
    for (std::size_t row = 0; row < rows.length; ++row) {
      const double result = column.valid(row) ? function_(as_compared(column.reals()[row])) : 0.0;
      set_valid(validity.data(), row, column.valid(row) && result >= lower_ && result <= upper_);
      buffer.reals()[row] = result;
    }
    std::copy(validity.begin(), validity.end(), buffer.validity);
    column = {AtomType::real, buffer.values, buffer.validity, 0};
  }

  std::string description() const override { return "map by " + name_; }

 private:
  std::function<double(double)> function_;
  std::string name_;
  double lower_ = -std::numeric_limits<double>::infinity();
  double upper_ = std::numeric_limits<double>::infinity();
};

}  // namespace

Transformation make_select(const VectorDomain& domain, Metric metric, const Predicate& predicate) {
  require_dataset_metric(metric, "make_select");
  if (preserves_size(metric)) {
    throw Error(ErrorCode::mismatch, "metric",
                "make_select: under the " + to_string(metric) +
                    " a replaced row may enter or leave the selection, and its size is not public; use "
                    "symmetric_distance()");
  }
  predicate.require_fits(domain);
  return {{domain, domain.of_unknown_size(), metric, metric, Relation::stable(1)},
          std::make_shared<SelectRows>(predicate)};
}

Transformation make_project(const VectorDomain& domain, Metric metric, std::size_t count) {
  require_dataset_metric(metric, "make_project");
  if (count == 0 || count > domain.columns().size()) {
    refuse_rows("count", std::to_string(count) + " columns of " + std::to_string(domain.columns().size()) +
                             "; keep at least one and at most all");
  }
  const auto first = domain.columns().begin();
  return {row_by_row(domain, std::vector(first, first + static_cast<std::ptrdiff_t>(count)), metric),
          std::make_shared<ProjectRows>(count)};
}

Transformation make_grid_rows(const VectorDomain& domain, Metric metric, const std::vector<Grid>& grids) {
  const FloatEnvironment environment;
  require_dataset_metric(metric, "make_grid_rows");
  require_one_each(domain, grids.size(), "row_grid");
  std::vector<AtomDomain> columns = domain.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    AtomDomain& column = columns[i];
    if (column.type != AtomType::real || column.nan || column.nullable || !column.bounds) {
      refuse_rows("row_grid", "make_grid_rows takes reals between bounds, not " + describe(column) +
                                  "; use make_impute or make_drop, then make_clamp first");
    }
    constexpr long largest_exponent = 970;  // the spacing, its inverse and 2^52 spacings are doubles
    const Dyadic most = scale_by_power_of_two(Dyadic(1), grids[i].exponent() + 51);
    if (std::abs(grids[i].exponent()) > largest_exponent || abs(column.bounds->lower()) > most ||
        abs(column.bounds->upper()) > most) {
      refuse_rows("row_grid", to_string(grids[i]) + " is too fine for numbers in " +
                                  to_string(*column.bounds) +
                                  ": they must be at most 2^51 spacings from 0; use a coarser grid");
    }
    column.bounds = Bounds(GridRows::on_grid(column.bounds->lower().to_double_nearest(), grids[i]),
                           GridRows::on_grid(column.bounds->upper().to_double_nearest(), grids[i]));
  }
  return {row_by_row(domain, std::move(columns), metric), std::make_shared<GridRows>(grids)};
}

Transformation make_map(const VectorDomain& domain, Metric metric, const AtomDomain& output,
                        std::function<double(double)> function, std::string name, Trusted) {
  require_dataset_metric(metric, "make_map");
  if (domain.columns().size() != 1 || domain.columns()[0].type != AtomType::real) {
    refuse_rows("domain", "make_map takes one real column, not " + describe(Domain(domain)));
  }
  if (output.type != AtomType::real || !output.nullable || output.nan) {
    refuse_rows("output",
                "make_map gives reals or null, so the output must be real, nullable and without NaN");
  }
  if (!function) refuse_rows("function", "the function is missing");
  return {row_by_row(domain, {output}, metric),
          std::make_shared<MapRows>(output, std::move(function), std::move(name))};
}

Transformation make_clamp(const VectorDomain& domain, Metric metric, const std::vector<Bounds>& bounds) {
  require_dataset_metric(metric, "make_clamp");
  require_one_each(domain, bounds.size(), "bounds");
  std::vector<AtomDomain> columns = domain.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    AtomDomain& column = columns[i];
    if (column.type == AtomType::text) refuse_rows("domain", "text cannot be clamped; use make_parse first");
    if (column.nan || column.nullable) {
      refuse_rows("domain", "it holds " + describe(column) +
                                ", and clamping needs a total order; use make_impute or make_drop first");
    }
    const bool fits = column.type == AtomType::real
                          ? bounds[i].lower().is_double() && bounds[i].upper().is_double()
                          : bounds[i].lower().is_int64() && bounds[i].upper().is_int64();
    if (!fits) {
      refuse_rows("bounds", to_string(bounds[i]) + (column.type == AtomType::real
                                                        ? " are not doubles; round them outward"
                                                        : " are not 64-bit integers; round them outward"));
    }
    column.bounds = bounds[i];
  }
  return {row_by_row(domain, std::move(columns), metric), std::make_shared<ClampRows>(bounds)};
}

Transformation make_clamp(const VectorDomain& domain, Metric metric, const Bounds& bounds) {
  return make_clamp(domain, metric, std::vector<Bounds>{bounds});
}

Transformation make_impute(const VectorDomain& domain, Metric metric, const std::vector<Dyadic>& values) {
  require_dataset_metric(metric, "make_impute");
  require_one_each(domain, values.size(), "impute");
  std::vector<AtomDomain> columns = domain.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    AtomDomain& column = columns[i];
    if (column.type == AtomType::text) refuse_rows("domain", "text is not imputed; use make_parse first");
    if (!(column.type == AtomType::real ? values[i].is_double() : values[i].is_int64())) {
      refuse_rows("impute",
                  to_string(values[i]) +
                      (column.type == AtomType::real ? " is not a double" : " is not a 64-bit integer"));
    }
    if (column.bounds && !(column.bounds->lower() <= values[i] && values[i] <= column.bounds->upper())) {
      refuse_rows("impute",
                  to_string(values[i]) + " lies outside the column's bounds " + to_string(*column.bounds));
    }
    column.nan = false;
    column.nullable = false;
  }
  return {row_by_row(domain, std::move(columns), metric), std::make_shared<ImputeRows>(values)};
}

Transformation make_drop(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_drop");
  if (preserves_size(metric)) {
    throw Error(
        ErrorCode::mismatch, "metric",
        "make_drop: under the " + to_string(metric) +
            " the number of rows is public, and dropping would reveal how many are missing; use make_impute");
  }
  std::vector<AtomDomain> columns = domain.columns();
  for (AtomDomain& column : columns) {
    column.nan = false;
    column.nullable = false;
  }
  return {{domain, VectorDomain(std::move(columns)), metric, metric, Relation::stable(1)},
          std::make_shared<DropRows>()};
}

Transformation make_parse(const VectorDomain& domain, Metric metric, const std::vector<AtomType>& types) {
  require_dataset_metric(metric, "make_parse");
  require_one_each(domain, types.size(), "types");
  std::vector<AtomDomain> columns = domain.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].type == types[i]) continue;
    if (columns[i].type != AtomType::text) {
      refuse_rows("types", "only text is read as another type, not " + describe(columns[i]));
    }
    columns[i] = untrusted_domain({types[i]}).columns().front();
  }
  return {row_by_row(domain, std::move(columns), metric), std::make_shared<ParseRows>(types)};
}

}  // namespace snapdp
