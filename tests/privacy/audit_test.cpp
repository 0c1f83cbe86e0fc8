#include "snapdp/privacy/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "snapdp/error.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

constexpr double infinity = std::numeric_limits<double>::infinity();

// P(X >= hits), exactly.
Rational upper_tail(unsigned long hits, unsigned long trials, const Rational& p) {
  Rational sum = 0;
  for (unsigned long k = hits; k <= trials; ++k) {
    Integer choose;
    mpz_bin_uiui(choose.get_mpz_t(), trials, k);
    Rational term(choose);
    for (unsigned long i = 0; i < trials; ++i) term *= i < k ? p : Rational(1 - p);
    sum += term;
  }
  return sum;
}

TEST(BinomialBounds, AreExactAndRoundedOutward) {
  for (const char* text : {"0.05", "1e-9", "0.5", "1e-100"}) {
    const Rational alpha = parse_rational(text, "alpha");
    for (const unsigned long n : {1UL, 2UL, 7UL, 20UL}) {
      for (unsigned long k = 0; k <= n; ++k) {
        const double lower = binomial_lower_bound(k, n, alpha);
        const double upper = binomial_upper_bound(k, n, alpha);
        if (k == 0) {
          EXPECT_EQ(lower, 0);
        } else {
          EXPECT_LE(upper_tail(k, n, Rational(lower)), alpha) << k << " of " << n;
          EXPECT_GT(upper_tail(k, n, Rational(lower * (1 + 1e-9))), alpha) << k << " of " << n;
        }
        if (k == n) {
          EXPECT_EQ(upper, 1);
        } else {
          // P(X <= k) = 1 - P(X >= k + 1)
          EXPECT_LE(1 - upper_tail(k + 1, n, Rational(upper)), alpha) << k << " of " << n;
          const double less = std::fmin(upper * (1 - 1e-9), 1 - (1 - upper) * (1 + 1e-9) - 0x1p-52);
          EXPECT_GT(1 - upper_tail(k + 1, n, Rational(less)), alpha) << k << " of " << n;
        }
      }
    }
  }
}

// Closed forms: none of n gives 1 - alpha^(1/n), all of n gives alpha^(1/n).
TEST(BinomialBounds, OfManyTrials) {
  const Rational alpha(1, 1000);
  for (const double n : {1e3, 1e6, 1e9, 1e12}) {
    const auto trials = static_cast<std::uint64_t>(n);
    const double none = -std::expm1(std::log(1e-3) / n);
    EXPECT_NEAR(binomial_upper_bound(0, trials, alpha) / none, 1, 1e-9);
    EXPECT_GE(binomial_upper_bound(0, trials, alpha), none * (1 - 1e-14));
    EXPECT_NEAR(binomial_lower_bound(trials, trials, alpha), std::exp(std::log(1e-3) / n), 1e-9);
  }
  // The normal approximation, good to a fraction of 1 / sqrt(n).
  const double half_width = 3.090232 * std::sqrt(0.21 / 1e8);
  EXPECT_NEAR(binomial_lower_bound(30'000'000, 100'000'000, alpha), 0.3 - half_width, 1e-2 * half_width);
  EXPECT_NEAR(binomial_upper_bound(30'000'000, 100'000'000, alpha), 0.3 + half_width, 1e-2 * half_width);
}

TEST(BinomialBounds, RefuseWhatIsNoCount) {
  EXPECT_THROW(binomial_lower_bound(2, 1, Rational(1, 2)), Error);
  EXPECT_THROW(binomial_lower_bound(0, 0, Rational(1, 2)), Error);
  for (const char* alpha : {"0", "1", "-1", "2", "1e-301"}) {
    EXPECT_THROW(binomial_upper_bound(1, 2, parse_rational(alpha, "alpha")), Error) << alpha;
  }
}

TEST(Audit, TheLossOfAnEvent) {
  // e^1 between the probabilities, with a million trials each.
  const Rational alpha(1, 1'000'000'000);
  const double loss = loss_lower_bound({271'828, 1'000'000}, {100'000, 1'000'000}, alpha);
  EXPECT_LT(loss, 1);
  EXPECT_GT(loss, 0.95);
  EXPECT_EQ(loss_lower_bound({100, 1000}, {100, 1000}, alpha), 0);
  EXPECT_EQ(loss_lower_bound({0, 1000}, {0, 1000}, alpha), 0);
  // Seen under one value only: bounded by the number of trials alone.
  EXPECT_GT(loss_lower_bound({1000, 1000}, {0, 1000}, alpha), 3.8);
}

template <typename Draw>
std::vector<double> samples(std::size_t count, std::uint64_t seed, const Draw& draw) {
  std::mt19937_64 engine(seed);
  std::vector<double> result(count);
  for (double& x : result) x = draw(engine);
  return result;
}

double laplace(std::mt19937_64& engine, double scale) {
  const double u = (static_cast<double>(engine() >> 11) + 0.5) * 0x1p-53;
  return (engine() % 2 == 0 ? 1 : -1) * scale * std::log(u);
}

// On a lattice, because the last digits of doubles tell the values apart.
double lattice_laplace(std::mt19937_64& engine, double scale) {
  return std::round(laplace(engine, scale) * 1024) / 1024;
}

const Rational alpha(1, 1'000'000'000);

// With fixed seeds: the bound is below the truth, and near it.
TEST(Audit, MeasuresTheLossOfLaplaceNoise) {
  for (const double scale : {0.5, 1.0, 4.0}) {
    const auto first = samples(200'000, 1, [&](auto& engine) { return lattice_laplace(engine, scale); });
    const auto second = samples(200'000, 2, [&](auto& engine) { return 1 + lattice_laplace(engine, scale); });
    const AuditResult result = audit(first, second, alpha);
    EXPECT_LE(result.loss_lower_bound, 1 / scale);
    EXPECT_GE(result.loss_lower_bound, scale > 2 ? 0.7 / scale : 0.85 / scale);
    EXPECT_FALSE(result.refutes(parse_rational(std::to_string(1 / scale), "epsilon")));
    EXPECT_TRUE(result.refutes(parse_rational(std::to_string(0.6 / scale), "epsilon")));
    // Half of the samples are for the choice of the event.
    EXPECT_EQ(result.likelier.trials, 100'000u);
  }
}

TEST(Audit, FindsNothingWhereThereIsNothing) {
  // Each run exceeds 0 with probability at most 1e-9.
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto first = samples(2'000, 2 * seed, [](auto& engine) { return laplace(engine, 1); });
    const auto second = samples(2'000, 2 * seed + 1, [](auto& engine) { return laplace(engine, 1); });
    EXPECT_EQ(audit(first, second, alpha).loss_lower_bound, 0);
    const std::vector<double> constant(1000, 7);
    EXPECT_EQ(audit(constant, constant, alpha).loss_lower_bound, 0);
  }
}

TEST(Audit, FindsOutputsOfOneValueOnly) {
  // Even integers against odd ones.
  const auto even = samples(1000, 1, [](auto& engine) { return 2.0 * std::round(laplace(engine, 3)); });
  const auto odd = samples(1000, 2, [](auto& engine) { return 1 + 2.0 * std::round(laplace(engine, 3)); });
  const AuditResult parity = audit(even, odd, alpha);
  EXPECT_GT(parity.loss_lower_bound, 3);
  EXPECT_TRUE(parity.event.contains(odd[0]) != parity.event.contains(even[0]));

  // A tenth of the outputs has digits that the other value never shows.
  const auto coarse = samples(10'000, 3, [](auto& engine) { return std::round(laplace(engine, 3) * 4) / 4; });
  const auto finer = samples(10'000, 4, [](auto& engine) {
    return std::round(laplace(engine, 3) * 4) / 4 + (engine() % 10 == 0 ? 0.125 : 0);
  });
  EXPECT_GT(audit(coarse, finer, alpha).loss_lower_bound, 2.5);

  // Clamped at a bound that one value alone reaches.
  const auto clamped =
      samples(10'000, 5, [](auto& engine) { return std::fmin(lattice_laplace(engine, 1), 2); });
  const auto free = samples(10'000, 6, [](auto& engine) { return lattice_laplace(engine, 1); });
  const AuditResult support = audit(clamped, free, alpha);
  EXPECT_GT(support.loss_lower_bound, 2);
  EXPECT_FALSE(support.likelier_is_first);
  EXPECT_THAT(support.event.description(), HasSubstr("outputs >= 2.0"));
}

TEST(Audit, FindsThePrecisionOfTheOutput) {
  const auto at_zero = samples(20'000, 1, [](auto& engine) { return 0 + laplace(engine, 1); });
  const auto far = samples(20'000, 2, [](auto& engine) { return 1024 + laplace(engine, 1); });
  EXPECT_GT(audit(at_zero, far, alpha).loss_lower_bound, 5);
  // Told by the last digit alone, where the values are the same but for it.
  const auto fine = samples(20'000, 1, [](auto& engine) { return laplace(engine, 1); });
  const auto rounded = samples(20'000, 2, [](auto& engine) { return (laplace(engine, 1) + 1024) - 1024; });
  const AuditResult result = audit(fine, rounded, alpha);
  EXPECT_EQ(result.event.feature, AuditEvent::Feature::last_bit);
  EXPECT_GT(result.loss_lower_bound, 5);
  EXPECT_THAT(result.event.description(), HasSubstr("no multiples of 2^"));
}

TEST(Audit, EventsSayWhatTheyAre) {
  using Feature = AuditEvent::Feature;
  EXPECT_EQ((AuditEvent{Feature::value, {{-infinity, 3}}}).description(), "outputs <= 3");
  EXPECT_EQ((AuditEvent{Feature::value, {{-1, 3}, {4, 4}, {7, infinity}}}).description(),
            "outputs in [-1, 3], or outputs equal to 4, or outputs >= 7");
  EXPECT_EQ((AuditEvent{Feature::last_bit, {{-3, -3}}}).description(), "odd multiples of 2^-3");
  EXPECT_EQ((AuditEvent{Feature::last_bit, {{infinity, infinity}}}).description(), "outputs equal to 0");
  const AuditEvent quarters{Feature::last_bit, {{-2, -2}, {0, 3}}};
  EXPECT_TRUE(quarters.contains(-0.75));
  EXPECT_FALSE(quarters.contains(0.5));
  EXPECT_TRUE(quarters.contains(24));
  EXPECT_FALSE(quarters.contains(16));
  EXPECT_FALSE(quarters.contains(0));
  EXPECT_FALSE(quarters.contains(infinity));
  EXPECT_EQ(quarters.description(), "odd multiples of 2^-2, or multiples of 2^0 that are none of 2^4");
  const AuditEvent smallest{Feature::last_bit, {{-1074, -1074}}};
  EXPECT_TRUE(smallest.contains(3 * 0x1p-1074));
  EXPECT_FALSE(smallest.contains(0x1p-1073));
}

TEST(Audit, RefusesTooLittleAndNaN) {
  const std::vector<double> few(99, 1);
  std::vector<double> enough(100, 1);
  EXPECT_THROW(audit(few, enough, alpha), Error);
  EXPECT_THROW(audit(enough, few, alpha), Error);
  EXPECT_NO_THROW(audit(enough, enough, alpha));
  enough[50] = std::nan("");
  EXPECT_THROW(audit(enough, enough, alpha), Error);
}

}  // namespace
}  // namespace snapdp
