// Metrics: how far apart two datasets, or two statistics, are.
#pragma once

#include <string>

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

// Throw mismatch naming "metric" unless it is a metric of rows, or of statistics; `what` is the constructor that asks.
void require_dataset_metric(Metric metric, const std::string& what);
void require_statistic_metric(Metric metric, const std::string& what);

}  // namespace snapdp
