// The black-box audit on whole measurements: rows go in, noisy numbers come out, for neighbors chosen as far apart as
// their relation allows. Nothing of the inside is used.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "attacks/attack.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/framework/transformation.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::attacks {
namespace {

class Unlimited final : public BudgetAccountant {
 public:
  void debit(const Debit&) override {}
};

constexpr std::size_t draws = 25'000;

template <typename Rows>
AuditResult audit_of(const Measurement& measurement, const Rows& rows, const Rows& neighbor) {
  Unlimited budget;
  // A vector's coordinates as one number: their sum and difference both show in weights 1 and 64.
  const auto draw = [&](const Rows& data) {
    return outputs(draws, [&] {
      double weight = 1;
      double mixed = 0;
      for (const Dyadic& value : measurement.release(data, budget).values) {
        mixed += weight * value.to_double_nearest();
        weight *= 64;
      }
      return mixed;
    });
  };
  return audit(draw(rows), draw(neighbor), false_alarm);
}

// Not refuted at the loss that the measurement states, yet so near that half of it would be.
template <typename Rows>
void expect_loss(const Measurement& measurement, const Rows& rows, const Rows& neighbor,
                 const std::string& name) {
  const AuditResult found = audit_of(measurement, rows, neighbor);
  EXPECT_FALSE(found.refutes(measurement.loss())) << name << ": " << found.event.description();
  EXPECT_TRUE(found.refutes(measurement.loss() / 2)) << name << ": found " << found.loss_lower_bound;
}

const VectorDomain untrusted = untrusted_domain({AtomType::real});
using Reals = std::vector<double>;

const NoiseOptions noise = {.epsilon = 1.0};
const Reals some_rows = {std::numeric_limits<double>::quiet_NaN(), 5, 0.3, -7};

Transformation cleaned(Metric metric, const VectorDomain& domain) {
  const Transformation imputed = make_impute(domain, metric, {0.0});
  return imputed >> make_clamp(imputed.output_domain(), metric, Bounds(0, 1));
}

TEST(BlackBoxAudit, OfMeasurementsFindsTheirLossAndNoMore) {
  NoiseOptions geometric = noise;
  geometric.noise = NoiseKind::geometric;
  Reals more = some_rows;
  more.push_back(1e300);
  const Transformation free = cleaned(symmetric_distance(), untrusted);
  expect_loss(free >> make_count() >> noise, some_rows, more, "count");
  expect_loss(free >> make_count() >> geometric, some_rows, more, "geometric count");
  expect_loss(free >> make_sum() >> noise, some_rows, more, "sum");
}

TEST(BlackBoxAudit, OfMeasurementsOfAKnownNumberOfRowsToo) {
  Reals other = some_rows;
  other[0] = 1e300;
  const Transformation sized = cleaned(change_one(), untrusted.of_size(some_rows.size()));
  expect_loss(sized >> make_mean() >> noise, some_rows, other, "mean");
  expect_loss(sized >> make_sum() >> noise, some_rows, other, "sum of a known number of rows");
}

TEST(BlackBoxAudit, OfAHistogramToo) {
  const Bins bins = Bins::numbers({0, 5});
  expect_loss(make_histogram(untrusted, symmetric_distance(), bins) >> noise, Reals{0, 5}, Reals{0, 5, 5},
              "histogram");
}

TEST(BlackBoxAudit, FindsAMeasurementWithTooLittleNoise) {
  // A sensitivity of 1/2 declared for rows up to 1: the loss at epsilon 1 is 2.
  const Snapping weak({.epsilon = 1, .sensitivity = Dyadic(0.5)});
  const AuditResult found = audit(released(weak, 0, draws), released(weak, 1, draws), false_alarm);
  EXPECT_TRUE(found.refutes(1)) << found.loss_lower_bound;
  EXPECT_FALSE(found.refutes(2));
}

}  // namespace
}  // namespace snapdp::attacks
