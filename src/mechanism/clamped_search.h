// Parts of accuracy.cpp and clamped_accuracy.cpp for each other and for tests.
#pragma once

#include "snapdp/mechanism/accuracy.h"

namespace snapdp::mechanism_internal {

// tight_accuracy without and with the rounding error, ignoring the bounds, from one evaluation. The query is checked
// already, and a FloatEnvironment is open.
struct TightAccuracy {
  double of_noise;
  double in_all;
};
TightAccuracy unclamped_accuracy(const AccuracyQuery& query);

// clamped_accuracy of Laplace noise with two bounds by certified bisection alone, without its closed form.
double searched_clamped_accuracy(const AccuracyQuery& query);

}  // namespace snapdp::mechanism_internal
