// clamped_accuracy without its closed form, for tests.
#pragma once

#include "snapdp/mechanism/accuracy.h"

namespace snapdp {

// clamped_accuracy of Laplace noise by certified bisection alone.
double searched_clamped_accuracy(const AccuracyQuery& query, double lower, double upper);

}  // namespace snapdp
