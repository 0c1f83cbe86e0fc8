#include "snapdp/error.h"
#include "snapdp/framework/domain.h"

namespace snapdp {

std::string to_string(Metric metric) {
  switch (metric) {
    case Metric::symmetric_distance:
      return "symmetric distance";
    case Metric::change_one:
      return "change-one distance";
    case Metric::unit_distance:
      return "distance in privacy units";
    case Metric::hamming:
      return "Hamming distance";
    case Metric::absolute_distance:
      return "absolute distance";
    case Metric::l1_distance:
      break;
  }
  return "L1 distance";
}

std::string to_string(Neighbors neighbors) {
  return neighbors == Neighbors::change_one ? "change-one" : "add-remove";
}

Metric metric_of(Neighbors neighbors) {
  return neighbors == Neighbors::change_one ? Metric::change_one : Metric::symmetric_distance;
}

void require_dataset_metric(Metric metric, const std::string& what) {
  if (is_dataset_metric(metric)) return;
  const std::string advice =
      metric == Metric::unit_distance
          ? " measures whole privacy units; limit their rows with make_unit_limit() and use "
            "symmetric_distance()"
          : " measures statistics; use symmetric_distance(), change_one() or hamming()";
  throw Error(ErrorCode::mismatch, "metric", what + " works on rows, but the " + to_string(metric) + advice);
}

void require_statistic_metric(Metric metric, const std::string& what) {
  if (is_statistic_metric(metric)) return;
  throw Error(ErrorCode::mismatch, "metric",
              what + " works on a statistic, but the " + to_string(metric) + " measures " +
                  (metric == Metric::unit_distance ? "privacy units" : "rows") +
                  "; use the absolute or L1 distance");
}

}  // namespace snapdp
