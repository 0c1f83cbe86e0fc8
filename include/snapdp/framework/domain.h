// Domains: which values may occur. A part of a chain promises its output domain for every input in its input
// domain.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"

namespace snapdp {

enum class Metric {
  symmetric_distance,  // rows added or removed between two multisets (add/remove neighbors are at distance 1)
  change_one,          // rows replaced between two multisets of the same size
  unit_distance,       // privacy units added or removed, each with all its rows
  hamming,             // places where two vectors of the same length differ
  absolute_distance,   // |y - y'| of two scalars
  l1_distance,         // sum of |y_i - y'_i| of two vectors of scalars
};

std::string to_string(Metric metric);

constexpr Metric symmetric_distance() {
  return Metric::symmetric_distance;
}
constexpr Metric change_one() {
  return Metric::change_one;
}
constexpr Metric hamming() {
  return Metric::hamming;
}

// change_one and hamming: two neighbors have the same, public, number of rows.
constexpr bool preserves_size(Metric metric) {
  return metric == Metric::change_one || metric == Metric::hamming;
}
constexpr bool is_dataset_metric(Metric metric) {
  return metric == Metric::symmetric_distance || preserves_size(metric);
}
constexpr bool is_statistic_metric(Metric metric) {
  return metric == Metric::absolute_distance || metric == Metric::l1_distance;
}

// Which two datasets an observer must not be able to tell apart.
enum class Neighbors {
  change_one,  // one row is replaced; the number of rows is public
  add_remove,  // one row is added or removed; the number of rows is private
};

// "change-one", "add-remove".
std::string to_string(Neighbors neighbors);
// Distance 1 of this metric is what makes two datasets neighbors.
Metric metric_of(Neighbors neighbors);

// Throw mismatch naming "metric" unless it is a metric of rows, or of statistics; `what` is the constructor
// that asks.
void require_dataset_metric(Metric metric, const std::string& what);
void require_statistic_metric(Metric metric, const std::string& what);

// A closed interval with lower <= upper, both finite.
class Bounds {
 public:
  // Throws invalid_argument naming "bounds" when lower > upper; equal ends are allowed here. NaN and
  // infinities never reach this point: a Dyadic cannot hold them.
  Bounds(Dyadic lower, Dyadic upper);
  const Dyadic& lower() const { return lower_; }
  const Dyadic& upper() const { return upper_; }
  Dyadic width() const { return upper_ - lower_; }
  Dyadic middle() const { return scale_by_power_of_two(lower_ + upper_, -1); }
  friend bool operator==(const Bounds&, const Bounds&) = default;

 private:
  Dyadic lower_;
  Dyadic upper_;
};

std::string to_string(const Bounds& bounds);

// The values one cell may take.
struct AtomDomain {
  AtomType type = AtomType::real;
  bool nullable = false;
  bool nan = false;              // reals only; infinities are ordinary reals until a clamp
  std::optional<Bounds> bounds;  // of doubles for reals, of 64-bit integers for integers

  friend bool operator==(const AtomDomain&, const AtomDomain&) = default;
};

// Vectors of rows, each row one cell a column; the size is public or not. Rows without columns can be
// counted.
class VectorDomain {
 public:
  explicit VectorDomain(std::vector<AtomDomain> columns);
  VectorDomain of_size(std::uint64_t size) const;
  VectorDomain of_unknown_size() const;

  const std::vector<AtomDomain>& columns() const { return columns_; }
  const std::optional<std::uint64_t>& size() const { return size_; }
  // True when every row of `rows` is a member; for the untrusted edges and for tests. The size is checked
  // too.
  bool contains(const Chunk& rows) const;
  friend bool operator==(const VectorDomain&, const VectorDomain&) = default;

 private:
  std::vector<AtomDomain> columns_;
  std::optional<std::uint64_t> size_;
};

// vector_domain<double>(), vector_domain<double, bool>(), vector_domain<std::string_view>(): NaN-free reals,
// integers and text without nulls. Narrower types are carried widened, which is exact: float as real; bool
// and integers of 8, 16 and 32 bits as integer, within the bounds of their type, which membership checks.
// Data as they come from a file are untrusted_domain(types): anything may occur.
template <typename... Values>
VectorDomain vector_domain();
VectorDomain untrusted_domain(const std::vector<AtomType>& types);

// Exact statistics: `dimension` multiples of a public grid.
struct StatisticDomain {
  std::size_t dimension = 1;
  Grid grid{0};
  // Only integers occur, so releases come out as integers too.
  bool integer = false;
  // The public range of the statistic before it is rounded to the grid, both ends finite; absent when the
  // range depends on private data. The mechanism clamps to it.
  std::optional<Bounds> range;

  friend bool operator==(const StatisticDomain&, const StatisticDomain&) = default;
};

// Why `statistic` is no member of the domain, in words that tell nothing of its values; empty when it is one.
std::string misfit(const StatisticDomain& domain, const std::vector<Dyadic>& statistic);

using Domain = std::variant<VectorDomain, StatisticDomain>;

// Plain words for error messages and explanations: "vectors of 10000 rows (real in [0, 100])".
std::string describe(const AtomDomain& domain);
std::string describe(const Domain& domain);

template <typename Value>
AtomDomain atom_domain() {
  if constexpr (std::is_same_v<Value, double> || std::is_same_v<Value, float>) {
    return {AtomType::real, false, false, std::nullopt};
  } else if constexpr (std::is_same_v<Value, std::int64_t>) {
    return {AtomType::integer, false, false, std::nullopt};
  } else if constexpr (std::is_integral_v<Value> && sizeof(Value) < sizeof(std::int64_t)) {
    using Limits = std::numeric_limits<Value>;
    return {AtomType::integer, false, false,
            Bounds(std::int64_t{Limits::min()}, std::int64_t{Limits::max()})};
  } else {
    static_assert(std::is_same_v<Value, std::string_view>,
                  "cells are double, float, integers of up to 64 bits with a sign, bool or std::string_view");
    return {AtomType::text, false, false, std::nullopt};
  }
}

template <typename... Values>
VectorDomain vector_domain() {
  return VectorDomain({atom_domain<Values>()...});
}

}  // namespace snapdp
