#include "snapdp/framework/metric.h"

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

}  // namespace snapdp
