#include "snapdp/framework/domain.h"

#include <cmath>
#include <limits>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

// Whether every cell of the column that is no null is `inside`.
template <typename Value, typename Inside>
bool all_inside(const Column& column, const Value* values, std::size_t rows, const Inside& inside) {
  for (std::size_t row = 0; row < rows; ++row) {
    if (!inside(values[row]) && column.valid(row)) return false;
  }
  return true;
}

bool contains_column(const AtomDomain& domain, const Column& column, std::size_t rows) {
  if (column.type != domain.type) return false;
  if (!domain.nullable && column.validity != nullptr) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (!column.valid(row)) return false;
    }
  }
  const std::optional<Bounds>& bounds = domain.bounds;
  // Bounds are numbers of the column's type.
  switch (domain.type) {
    case AtomType::real: {
      if (!bounds && domain.nan) return true;
      constexpr double infinity = std::numeric_limits<double>::infinity();
      const double lower = bounds ? bounds->lower().to_double_nearest() : -infinity;
      const double upper = bounds ? bounds->upper().to_double_nearest() : infinity;
      return all_inside(column, column.reals(), rows, [&](double value) {
        return (lower <= value && value <= upper) || (domain.nan && std::isnan(value));
      });
    }
    case AtomType::integer: {
      if (!bounds) return true;
      const std::int64_t lower = bounds->lower().to_int64();
      const std::int64_t upper = bounds->upper().to_int64();
      return all_inside(column, column.integers(), rows,
                        [&](std::int64_t value) { return lower <= value && value <= upper; });
    }
    case AtomType::text:
      break;
  }
  return true;
}

void require_atom(const AtomDomain& atom) {
  const auto refuse = [](const char* rule) { throw Error(ErrorCode::invalid_argument, "domain", rule); };
  if (atom.nan && atom.type != AtomType::real) refuse("domain: only reals can be NaN");
  if (!atom.bounds) return;
  const Bounds& bounds = *atom.bounds;
  if (atom.type == AtomType::text) refuse("domain: text has no bounds");
  if (atom.type == AtomType::real && !(bounds.lower().is_double() && bounds.upper().is_double())) {
    refuse("domain: the bounds of a real column must be doubles; round them outward");
  }
  if (atom.type == AtomType::integer && !(bounds.lower().is_int64() && bounds.upper().is_int64())) {
    refuse("domain: the bounds of an integer column must be 64-bit integers; round them outward");
  }
}

}  // namespace

Bounds::Bounds(Dyadic lower, Dyadic upper) : lower_(std::move(lower)), upper_(std::move(upper)) {
  if (lower_ > upper_) {
    throw Error(ErrorCode::invalid_argument, "bounds",
                "bounds = " + to_string(*this) + ": the lower bound is above the upper one; swap them");
  }
}

std::string to_string(const Bounds& bounds) {
  return "[" + to_string(bounds.lower()) + ", " + to_string(bounds.upper()) + "]";
}

VectorDomain::VectorDomain(std::vector<AtomDomain> columns) : columns_(std::move(columns)) {
  if (columns_.size() > Chunk::max_columns) {
    throw Error(ErrorCode::invalid_argument, "domain",
                "domain: " + std::to_string(columns_.size()) + " columns given; there can be at most " +
                    std::to_string(Chunk::max_columns));
  }
  for (const AtomDomain& atom : columns_) require_atom(atom);
}

VectorDomain VectorDomain::of_size(std::uint64_t size) const {
  VectorDomain result = *this;
  result.size_ = size;
  return result;
}

VectorDomain VectorDomain::of_unknown_size() const {
  VectorDomain result = *this;
  result.size_.reset();
  return result;
}

bool VectorDomain::contains(const Chunk& rows) const {
  const FloatEnvironment environment;
  if (rows.column_count != columns_.size()) return false;
  if (size_ && *size_ != rows.length) return false;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!contains_column(columns_[i], rows.column[i], rows.length)) return false;
  }
  return true;
}

std::string misfit(const StatisticDomain& domain, const std::vector<Dyadic>& statistic) {
  if (statistic.size() != domain.dimension) {
    return "it has " + std::to_string(statistic.size()) + " numbers, the domain " +
           std::to_string(domain.dimension);
  }
  // The range is that of the statistic before it is rounded to the grid, and rounding is monotone.
  std::optional<Bounds> range;
  if (domain.range)
    range = Bounds(domain.grid.round(domain.range->lower()), domain.grid.round(domain.range->upper()));
  for (const Dyadic& value : statistic) {
    const bool on_grid =
        value.sign() == 0 || value.exponent() >= domain.grid.exponent();  // mantissas are odd
    if (!on_grid) return "a number is not a multiple of the grid " + to_string(domain.grid);
    if (domain.integer && !value.is_integer()) return "a number is not an integer";
    if (range && (value < range->lower() || value > range->upper()))
      return "a number is outside the public range " + to_string(*domain.range);
  }
  return {};
}

VectorDomain untrusted_domain(const std::vector<AtomType>& types) {
  std::vector<AtomDomain> columns;
  for (const AtomType type : types) columns.push_back({type, true, type == AtomType::real, std::nullopt});
  return VectorDomain(std::move(columns));
}

std::string to_string(AtomType type) {
  return type == AtomType::real ? "real" : type == AtomType::integer ? "integer" : "text";
}

std::string describe(const AtomDomain& domain) {
  std::string text = to_string(domain.type);
  if (domain.bounds) text += " in " + to_string(*domain.bounds);
  if (domain.nullable && domain.nan) return text + " or NaN or null";
  if (domain.nan) text += " or NaN";
  if (domain.nullable) text += " or null";
  return text;
}

std::string describe(const Domain& domain) {
  if (const auto* rows = std::get_if<VectorDomain>(&domain)) {
    std::string text = "vectors of ";
    text += rows->size() ? std::to_string(*rows->size()) + " rows (" : "any number of rows (";
    for (std::size_t i = 0; i < rows->columns().size(); ++i) {
      if (i > 0) text += ", ";
      text += describe(rows->columns()[i]);
    }
    return text + ")";
  }
  const auto& statistic = std::get<StatisticDomain>(domain);
  std::string text = statistic.dimension == 1
                         ? "a multiple of "
                         : "vectors of " + std::to_string(statistic.dimension) + " multiples of ";
  text += statistic.grid == Grid(0) ? "1" : to_string(statistic.grid);
  if (statistic.range) text += " in " + to_string(*statistic.range);
  return text;
}

}  // namespace snapdp
