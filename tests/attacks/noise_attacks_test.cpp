// Attacks on the noise: what the digits, the lattice and the range of an output tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "attacks/attack.h"
#include "snapdp/error.h"

namespace snapdp::attacks {
namespace {

Snapping ours(std::optional<double> lower = {}, std::optional<double> upper = {}, GridChoice grid = {}) {
  return Snapping({.epsilon = 1, .sensitivity = Dyadic(1), .lower = lower, .upper = upper, .grid = grid});
}

Noise law_of(const Snapping& mechanism) {
  return {.scale = mechanism.scale(),
          .grid = mechanism.grid(),
          .lower = mechanism.lower(),
          .upper = mechanism.upper()};
}

// I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012. A textbook sampler
// reaches few of the doubles near its value, and others for another value: solve for the uniform number behind an output
// and see whether it gives that output.
bool textbook_can_give(double value, double output) {
  const auto middle = static_cast<std::int64_t>(std::ldexp(std::exp(-std::fabs(output - value)), 53));
  for (std::int64_t k = std::max<std::int64_t>(middle - 16, 1);
       k <= std::min(middle + 16, std::int64_t{1} << 53); ++k) {
    const double noise = std::log(static_cast<double>(k) * 0x1p-53);
    if (value + noise == output || value - noise == output) return true;
  }
  return false;
}

TEST(LowOrderBits, TellTheValuesOfTextbookNoiseApart) {
  std::mt19937_64 engine(1);
  const auto at = [&](double value) {
    return outputs(20'000, [&] { return value + textbook_laplace(engine, 1); });
  };
  const std::vector<double> at_zero = at(0);
  const std::vector<double> at_one = at(1);
  // The search misses nothing that its sampler gives.
  for (const double x : at_zero) ASSERT_TRUE(textbook_can_give(0, x));
  for (const double x : at_one) ASSERT_TRUE(textbook_can_give(1, x));
  const auto only_zero = [](double x) { return textbook_can_give(0, x) && !textbook_can_give(1, x); };
  // A quarter of the outputs at least is impossible for the neighbor: noise for epsilon 1, proved loss above 5.
  EXPECT_GT(count(at_zero, only_zero).hits, at_zero.size() / 4);
  EXPECT_GT(proved_loss(at_zero, at_one, only_zero), 5);
}

TEST(LowOrderBits, TellNothingOfOurs) {
  const Snapping mechanism = ours();
  const std::vector<double> at_zero = released(mechanism, 0, 20'000);
  const std::vector<double> at_one = released(mechanism, 1, 20'000);
  for (const double mine : {0.0, 1.0}) {
    const auto only_mine = [&](double x) {
      return textbook_can_give(mine, x) && !textbook_can_give(1 - mine, x);
    };
    EXPECT_LE(proved_loss(mine == 0 ? at_zero : at_one, mine == 0 ? at_one : at_zero, only_mine), 1);
  }
  // Exactly: whoever knows our sampler finds words for every output, from either value.
  for (double x = -4; x <= 5; x += 0x1p-10) {
    ASSERT_TRUE(can_give(mechanism, 0, x)) << x;
    ASSERT_TRUE(can_give(mechanism, 1, x)) << x;
  }
  for (const double x : at_zero) ASSERT_TRUE(can_give(mechanism, 1, x)) << x;
  for (const double x : at_one) ASSERT_TRUE(can_give(mechanism, 0, x)) << x;
}

// The same on one level higher: is e^-|output| a multiple of 2^-53, up to rounding, as the uniform numbers are?
TEST(LowOrderBits, AreNoMultiplesOfTheUniformStep) {
  const auto near_step = [](double x) {
    const double steps = std::exp(-std::fabs(x)) * 0x1p53;
    return x != 0 && std::fabs(x) > 30 && std::fabs(steps - std::round(steps)) < 1e-3;
  };
  // Far out, where a step is wide: e^-35 2^53 is less than 6.
  std::mt19937_64 engine(1);
  const auto naive_tail = outputs(2'000, [&] {
    const auto k = static_cast<double>(1 + engine() % 64);
    return std::log(k * 0x1p-53);
  });
  const auto shifted_tail = outputs(2'000, [&] {
    const auto k = static_cast<double>(1 + engine() % 64);
    return 1 + std::log(k * 0x1p-53);
  });
  EXPECT_GT(proved_loss(naive_tail, shifted_tail, near_step), 3);
  // Ours, given that U < 2^-47, by its exact law: the event has like probabilities.
  const Snapping mechanism = ours();
  double of_zero = 0;
  double of_one = 0;
  for (double x = -45; x <= -31; x += 0x1p-10) {
    if (!near_step(x)) continue;
    of_zero += OutputLaw(law_of(mechanism), 0).probability(x);
    of_one += OutputLaw(law_of(mechanism), 1).probability(x);
  }
  EXPECT_GT(of_zero, 0);
  EXPECT_NEAR(std::log(of_zero / of_one), 1, 1e-9);
}

// S. Haney, D. Desfontaines, L. Hartman, R. Shrestha, M. Hay, "Precision-based attacks and interval refining: how to
// break, then fix, differential privacy on finite computers", 2022. The sum of a value and noise is rounded to the last
// place of the larger of the two, so that the finest digits betray a small value.
TEST(PrecisionOfTheOutput, BetraysTheValueOfAFloatingPointSum) {
  std::mt19937_64 engine(1);
  const auto at = [&](double value) {
    return outputs(20'000, [&] { return value + textbook_laplace(engine, 1); });
  };
  const std::vector<double> at_zero = at(0);
  const std::vector<double> at_one = at(1);
  const AuditResult found = audit(at_zero, at_one, false_alarm);
  EXPECT_GT(found.loss_lower_bound, 4) << found.event.description();
  EXPECT_EQ(found.event.feature, AuditEvent::Feature::last_bit);
  // Also when the uniform number has all the digits a double can have.
  const auto fine = [&](double value) {
    return outputs(20'000, [&] {
      const double u = std::ldexp(static_cast<double>(engine() | 1), -64) + 0x1p-120;
      return value + (engine() % 2 == 0 ? 1 : -1) * std::log(u);
    });
  };
  EXPECT_GT(audit(fine(0), fine(1), false_alarm).loss_lower_bound, 4);
}

// The probability of each last bit, summed over the outputs that law.table() gives; what it leaves out is below 1e-12.
std::map<int, double> last_bits(const Snapping& mechanism, double value) {
  std::map<int, double> result;
  for (const OutputProbability& each : OutputLaw(law_of(mechanism), value).table(1e-17).outputs) {
    int k = 2000;  // zero
    if (each.output != 0) {
      k = -1074;
      while (std::fmod(each.output, std::ldexp(1.0, k + 1)) == 0) ++k;
    }
    result[k] += each.probability;
  }
  return result;
}

TEST(PrecisionOfTheOutput, IsTheSameForOurs) {
  for (const char* grid : {"auto", "notes", "2^-30"}) {
    const Snapping mechanism = ours({}, {}, GridChoice::parse(grid));
    for (const double value : {1.0, 0x1p20, 0.1}) {
      const AuditResult found =
          audit(released(mechanism, value, 20'000), released(mechanism, value - 1, 20'000), false_alarm);
      EXPECT_FALSE(found.refutes(1)) << found.event.description();
    }
  }
  // Exactly: each last bit has like probabilities under both values, and none is finer than the grid.
  const Snapping mechanism = ours({}, {}, GridChoice(Grid(-5)));
  for (const double value : {1.0, 0.3, 0x1p-60}) {
    const std::map<int, double> first = last_bits(mechanism, value);
    const std::map<int, double> second = last_bits(mechanism, value - 1);
    for (const auto& [k, probability] : first) {
      ASSERT_GE(k, mechanism.grid().exponent());
      if (probability < 1e-9) continue;
      EXPECT_LE(std::fabs(std::log(probability / second.at(k))), 1 + 1e-9) << k;
    }
  }
}

// A uniform number with a least exponent ends the noise: 53 bits at 36.7 scales, all exponents of a double at 745. What
// lies beyond is possible for one value and not for the next.
TEST(ExhaustedExponents, EndTheNoiseOfDoubles) {
  for (const double least_uniform : {0x1p-53, std::numeric_limits<double>::min(), 0x1p-1074}) {
    const double reach = std::log(least_uniform);
    const double least_at_zero = 0 + reach;
    const double least_at_one = 1 + reach;
    // Every output below is proof of the value 0: the loss is infinite, even if clamped to [-1000, 1000] afterwards.
    EXPECT_LT(least_at_zero, least_at_one);
    const auto naive = [&](double value, double u) { return std::fmax(-1000, value + std::log(u)); };
    for (double u = least_uniform; u <= 1; u *= 1024) ASSERT_GE(naive(1, u), least_at_one);
    EXPECT_LT(naive(0, least_uniform), least_at_one);
  }
}

TEST(ExhaustedExponents, DoNotEndOurs) {
  const Snapping mechanism = ours(-1000, 1000);
  for (const double x :
       {-36.0, -37.0, -500.0, -708.5, -709.0, -745.0, -746.0, -900.0, -999.0, 745.0, 999.0}) {
    EXPECT_TRUE(can_give(mechanism, 0, x)) << x;
    EXPECT_TRUE(can_give(mechanism, 1, x)) << x;
  }
  // Beyond the bounds everything is the bound.
  EXPECT_TRUE(can_give(mechanism, 0, -1000));
  RecordedTape zeros(std::vector<std::uint64_t>(40, 0));
  EXPECT_THROW(mechanism.replay(Dyadic(1), zeros), Error) << "an output from too few digits";
  // As far as doubles hold the probabilities: in a ratio of e at most.
  const OutputLaw of_zero(law_of(mechanism), 0);
  const OutputLaw of_one(law_of(mechanism), 1);
  for (double x = -690; x <= 690; x += 0.5) {
    ASSERT_LE(std::fabs(std::log(of_zero.probability(x) / of_one.probability(x))), 1 + 1e-12) << x;
    ASSERT_LE(std::fabs(std::log(of_zero.cdf(x) / of_one.cdf(x))), 1 + 1e-12) << x;
  }
}

// Snapping with a uniform number of finitely many exponents, clamped far out: the bound itself becomes the proof.
TEST(ExhaustedExponents, MakeABoundImpossible) {
  constexpr double bound = 709.5;  // B of more than 354 scales
  const auto snapped = [&](double value, double u) {
    return std::fmax(-bound, std::floor(value + std::log(u) + 0.5));
  };
  const double least = std::numeric_limits<double>::min();  // exponents down to -1022
  EXPECT_EQ(snapped(-bound, least), -bound);
  EXPECT_EQ(std::fmin(snapped(0, least), snapped(1, least)), -708);
  EXPECT_EQ(snapped(1, least), -707) << "so that -708 proves the value 0";
  const Snapping mechanism = ours(-bound, bound, GridChoice::notes());
  EXPECT_TRUE(can_give(mechanism, 0, -708));
  EXPECT_TRUE(can_give(mechanism, 1, -708));
  EXPECT_TRUE(can_give(mechanism, 1, -bound) || can_give(mechanism, 1, -709));
}

// Noise from an exponential table or a float: a sampler in single precision has outputs by the thousand that belong to
// one value alone, which plain counting finds.
TEST(SingleValues, OfNoiseInSinglePrecisionAreCounted) {
  std::mt19937_64 engine(1);
  // 12 random bits, as a microcontroller has them.
  const auto coarse = [&](double value) {
    const double u = static_cast<double>((engine() >> 52) + 1) * 0x1p-12;
    return value + (engine() % 2 == 0 ? 1 : -1) * std::log(u);
  };
  const auto at_zero = outputs(50'000, [&] { return coarse(0); });
  const auto at_one = outputs(50'000, [&] { return coarse(1); });
  std::set<double> seen(at_zero.begin(), at_zero.begin() + 25'000);
  const auto is_seen = [&](double x) { return seen.contains(x); };
  const std::vector<double> rest(at_zero.begin() + 25'000, at_zero.end());
  EXPECT_GT(proved_loss(rest, at_one, is_seen), 1.5);
  // Ours: the same count of outputs seen before.
  const Snapping mechanism = ours();
  const std::vector<double> learned = released(mechanism, 0, 25'000);
  seen = std::set<double>(learned.begin(), learned.end());
  EXPECT_LE(proved_loss(released(mechanism, 0, 25'000), released(mechanism, 1, 50'000), is_seen), 1);
}

}  // namespace
}  // namespace snapdp::attacks
