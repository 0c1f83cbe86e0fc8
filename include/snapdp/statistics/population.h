// From the rows to where they come from: when they are a random sample of a population, an interval for the
// mean of the population, which includes the error of sampling besides that of the noise.
//
//   // The mean of 10,000 rows in [0, 100] lies in [41, 42] except with probability 1/40:
//   population_mean(Bounds(0, 100), {41, 42}, 10'000, FailureRate(Rational(1, 40)));
//   // {39.54..., 43.46...}: so does the mean of the population in this, except with probability 1/20 in all
//
// It holds for every distribution between the bounds and every number of rows, without an approximation by
// the normal one, and for samples drawn with or without replacement (Hoeffding 1963): with p and q the
// means of sample and population as shares of the way between the bounds,
//
//     P(the sample's mean is beyond p) <= exp(-rows KL(p || q)),
//     KL(p || q) = p ln(p/q) + (1-p) ln((1-p)/(1-q)),
//
// which is the bound for the worst distribution, the one that has only the two bounds as its values. So it
// is near what is needed for shares, and wide for a mean whose values lie close together.
#pragma once

#include "snapdp/framework/domain.h"
#include "snapdp/mechanism/accuracy.h"

namespace snapdp {

// lower <= upper.
struct MeanInterval {
  double lower;
  double upper;
};

// The means between the bounds that a population may have, of which `rows` >= 0 rows or more were drawn at
// random with a mean in `sample`: all but for a probability of alpha. Rounded outward. The interval of the
// bounds when rows is 0.
MeanInterval population_mean(const Bounds& bounds, const MeanInterval& sample, double rows,
                             const FailureRate& alpha);

}  // namespace snapdp
