// make_cast: numbers of one type as numbers of the other.
#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/row_by_row.h"

namespace snapdp {

using namespace framework_internal;

namespace {

std::string name_of(AtomType type) {
  return describe(AtomDomain{type, false, false, std::nullopt});
}

// A double of at least 2^63 in magnitude is beyond the 64-bit integers; -2^63 is one.
constexpr double first_beyond = 0x1p63;

bool is_int64(double value) {
  return value >= -first_beyond && value < first_beyond && std::trunc(value) == value;
}

// The nearest 64-bit integer, ties upward; infinities and what lies beyond become the last ones. Not for NaN.
std::int64_t nearest_integer(double value) {
  // Above 2^52 every double is whole, and below it value + 0.5 could round up: split first.
  const double whole = std::floor(value);
  const double rounded = value - whole >= 0.5 ? whole + 1 : whole;
  if (rounded >= first_beyond) return std::numeric_limits<std::int64_t>::max();
  if (rounded < -first_beyond) return std::numeric_limits<std::int64_t>::min();
  return static_cast<std::int64_t>(rounded);
}

class CastRows final : public CellFunction {
 public:
  CastRows(std::vector<AtomType> types, CastFailure failure) : types_(std::move(types)), failure_(failure) {}

  void transform(Chunk& rows, Scratch& scratch) const override {
    for (std::size_t i = 0; i < rows.column_count; ++i) {
      Column& column = rows.column[i];
      if (column.type == types_[i]) continue;
      Scratch::Buffer& buffer = scratch.buffer(i);
      // The bitmap may be the buffer's own, so it is built beside it.
      std::array<std::uint8_t, block_rows / 8> validity{};
      if (types_[i] == AtomType::integer) {
        for (std::size_t row = 0; row < rows.length; ++row) {
          const double value = column.reals()[row];
          const bool cast = column.valid(row) && !std::isnan(value) &&
                            (failure_ == CastFailure::nearest || is_int64(value));
          buffer.integers()[row] = cast ? nearest_integer(value) : 0;
          set_valid(validity.data(), row, cast);
        }
      } else {
        for (std::size_t row = 0; row < rows.length; ++row) {
          buffer.reals()[row] = static_cast<double>(column.integers()[row]);
          set_valid(validity.data(), row, column.valid(row));
        }
      }
      std::copy(validity.begin(), validity.end(), buffer.validity);
      column = {types_[i], buffer.values, buffer.validity, 0};
    }
  }

  std::string description() const override {
    std::string text = "cast to";
    for (const AtomType type : types_)
      text += (type == types_.front() && text == "cast to" ? " " : " and ") + name_of(type);
    return text + (failure_ == CastFailure::null ? ", else null" : ", to the nearest");
  }

 private:
  std::vector<AtomType> types_;
  CastFailure failure_;
};

}  // namespace

Transformation make_cast(const VectorDomain& domain, Metric metric, const std::vector<AtomType>& types,
                         CastFailure failure) {
  require_dataset_metric(metric, "make_cast");
  require_one_each(domain, types.size(), "types");
  std::vector<AtomDomain> columns = domain.columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    AtomDomain& column = columns[i];
    if (column.type == types[i]) continue;
    if (column.type == AtomType::text || types[i] == AtomType::text) {
      refuse_rows("types", "numbers are cast to numbers, not " + name_of(column.type) + " to " +
                               name_of(types[i]) +
                               (column.type == AtomType::text ? "; read text with make_parse" : ""));
    }
    // Integers always have a nearest double; doubles may be NaN or, under CastFailure::null, no integer.
    const bool fails = types[i] == AtomType::integer && (column.nan || failure == CastFailure::null);
    column = {types[i], column.nullable || fails, false, std::nullopt};
  }
  return {row_by_row(domain, std::move(columns), metric), std::make_shared<CastRows>(types, failure)};
}

}  // namespace snapdp
