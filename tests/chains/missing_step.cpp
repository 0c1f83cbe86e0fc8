// Chains that lack a step, one at a time: no compiler accepts them, and each says in one line what is missing.
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/statistics.h"

using namespace snapdp;

Measurement chain(const VectorDomain& ages, const NoiseOptions& noise) {
  const Transformation clamped = make_clamp(ages, change_one(), Bounds(0, 100));
#if defined(NO_STATISTIC)
  return clamped >> noise;
#elif defined(NO_ROWS)
  return make_mean() >> noise;
#elif defined(NO_STEP)
  return ages >> make_mean() >> noise;
#else
  return clamped >> make_mean() >> noise;
#endif
}
