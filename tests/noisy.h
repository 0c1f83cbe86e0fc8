// What a release would draw, without paying: for tests of the noise, many times over.
#pragma once

#include <vector>

#include "snapdp/framework/measurement.h"

namespace snapdp {

inline std::vector<Dyadic> noisy(const Measurement& measurement, std::vector<Dyadic> exact) {
  for (Dyadic& value : exact) value = measurement.mechanism().release(value, thread_generator());
  return exact;
}

}  // namespace snapdp
