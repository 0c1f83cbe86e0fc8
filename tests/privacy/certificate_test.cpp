#include "snapdp/privacy/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "mechanism/csv_rows.h"
#include "mechanism/exact_precision_law.h"
#include "mechanism/law_oracle.h"
#include "mechanism/shared/precision_law.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/law.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

Rational parsed(const std::string& text) {
  return parse_rational(text, "text");
}

TEST(Certificate, OfExactModeIsTheRatioOfSensitivityAndScale) {
  for (const char* epsilon : {"0.01", "1/3", "1", "2.5", "20"}) {
    for (const GridChoice& grid : {GridChoice(), GridChoice::notes(), GridChoice(Grid(3))}) {
      const Mechanism mechanism({.epsilon = parsed(epsilon), .sensitivity = Dyadic(0.3), .grid = grid});
      const Certificate certificate = certify(mechanism);
      EXPECT_EQ(certificate.witness, Rational(0.3) / Rational(mechanism.scale()));
      EXPECT_EQ(certificate.bound, certificate.witness);
      EXPECT_LE(certificate.bound, mechanism.epsilon());
      EXPECT_TRUE(certificate.notes_claim_holds());
      EXPECT_FALSE(certificate.notes_claim);
    }
  }
}

// With one bound there are values and outputs as far from it as one likes: no bound shortens the largest loss.
TEST(Certificate, WithOneBoundIsThatWithoutAny) {
  for (const NoiseKind noise : {NoiseKind::exact, NoiseKind::geometric}) {
    for (const bool up : {false, true}) {
      const Noise question{.scale = 2,
                           .sensitivity = 3,
                           .grid = Grid(noise == NoiseKind::geometric ? 0 : 1),
                           .lower = up ? std::nullopt : std::optional(-1.0),
                           .upper = up ? std::optional(-1.0) : std::nullopt,
                           .kind = noise};
      const Certificate certificate = certify(question);
      EXPECT_EQ(certificate.bound, Rational(3, 2));
      EXPECT_EQ(certificate.witness, Rational(3, 2));
      Noise far = question;
      (up ? far.lower : far.upper) = up ? -1000 : 1000;
      EXPECT_EQ(certify(far).bound, certificate.bound);
      Noise near = question;
      (up ? near.lower : near.upper) = up ? -3 : 1;
      EXPECT_LT(certify(near).bound, certificate.bound);
      // All outputs and all pairs of values near the bound: the loss occurs, and none is larger.
      const Noise law{
          .scale = 2, .grid = question.grid, .lower = question.lower, .upper = question.upper, .kind = noise};
      double largest = 0;
      for (int i = 0; i <= 24; ++i) {
        const double y = up ? -1.0 - i : -1.0 + i;
        const OutputLaw at(law, y);
        const OutputLaw neighbor(law, up ? y - 3 : y + 3);
        for (const OutputProbability& row : at.table(1e-12).outputs) {
          largest =
              std::max(largest, std::fabs(std::log(row.probability / neighbor.probability(row.output))));
        }
      }
      EXPECT_NEAR(largest, 1.5, 1e-13);
      // The mechanism with this bound is certified alike.
      const Mechanism mechanism({.epsilon = Rational(3, 2),
                                 .sensitivity = Dyadic(3),
                                 .lower = question.lower,
                                 .upper = question.upper,
                                 .grid = noise == NoiseKind::geometric ? GridChoice() : GridChoice(Grid(1)),
                                 .integer = noise == NoiseKind::geometric,
                                 .noise = noise});
      EXPECT_EQ(certify(mechanism).bound, certificate.bound);
    }
  }
}

// Between bounds that are near for the sensitivity: against all outputs and many pairs of values, in 800 bits.
TEST(Certificate, OfExactModeIsTheLargestLossThereIs) {
  struct Case {
    Rational scale;
    Rational sensitivity;
    long grid;
    double lower;
    double upper;
  };
  const std::vector<Case> cases = {{1, 1, 0, -8, 8},         {1, 10, 0, 0, 8},     {2, 3, 1, 0, 3},
                                   {1, 100, -3, -1.5, 0.75}, {1, 2, 4, 0, 2},      {1, 8, 3, 0, 20},
                                   {3, 5, -2, 0.1, 4.9},     {1, 6, 2, -1.25, 5.5}};
  for (const Case& each : cases) {
    const Certificate certificate = certify({.scale = each.scale,
                                             .sensitivity = to_dyadic(each.sensitivity, "sensitivity"),
                                             .grid = Grid(each.grid),
                                             .lower = each.lower,
                                             .upper = each.upper});
    const Rational step = Grid(each.grid).spacing().rational();
    const Rational lower(each.lower);
    const Rational upper(each.upper);
    const auto at_least = [&](const Rational& boundary, const Rational& y) {
      return oracle::survival(Rational((boundary - y) / each.scale), 1);
    };
    const long first = Integer(floor(Rational(lower / step))).get_si();
    const long last = Integer(ceil(Rational(upper / step))).get_si();
    double largest = 0;
    constexpr int values = 16;
    for (int i = 0; i <= values; ++i) {
      for (int j = 0; j <= values; ++j) {
        const Rational y = lower + (upper - lower) * i / values;
        const Rational z = lower + (upper - lower) * j / values;
        if (::abs(Rational(y - z)) > each.sensitivity) continue;
        for (long k = first; k <= last; ++k) {
          const auto probability = [&](const Rational& value) {
            oracle::Number p(1.0);
            if (k > first) p = at_least((Rational(k) - Rational(1, 2)) * step, value);
            if (k < last) p = p - at_least((Rational(k) + Rational(1, 2)) * step, value);
            return p;
          };
          const double loss = oracle::log(probability(y) / probability(z)).nearest();
          largest = std::max(largest, loss);
        }
      }
    }
    // The ends agree, and nothing among the pairs exceeds them.
    const double bound = certificate.bound.get_d();
    EXPECT_LE(Rational(certificate.bound - certificate.witness), Rational(1e-60)) << each.upper;
    EXPECT_LE(certificate.witness, certificate.bound);
    EXPECT_LE(largest, bound * (1 + 1e-15)) << each.lower << " " << each.upper;
    EXPECT_LE(bound, Rational(each.sensitivity / each.scale).get_d());
    // With whole steps of the sensitivity among the pairs, or everything within it, the largest is reached.
    if (each.sensitivity >= upper - lower) {
      EXPECT_NEAR(largest, bound, 1e-14) << each.lower << " " << each.upper;
    }
  }
}

TEST(Certificate, OfGeometricNoiseCountsIntegers) {
  const Mechanism counts(
      {.epsilon = Rational(1, 2), .sensitivity = Dyadic(3), .integer = true, .noise = NoiseKind::geometric});
  EXPECT_EQ(certify(counts).witness, 3 / Rational(counts.scale()));
  EXPECT_EQ(certify(counts).bound, certify(counts).witness);
  EXPECT_LE(certify(counts).bound, Rational(1, 2));
  const Certificate near =
      certify({.scale = 4, .sensitivity = 3, .lower = 0, .upper = 2, .kind = NoiseKind::geometric});
  EXPECT_EQ(near.bound, Rational(1, 2));
  // Against the law, for every pair of integers and every output.
  const Noise noise{.scale = 4, .lower = 0, .upper = 2, .kind = NoiseKind::geometric};
  double largest = 0;
  for (int y = 0; y <= 2; ++y) {
    for (int z = 0; z <= 2; ++z) {
      for (int out = 0; out <= 2; ++out) {
        largest = std::max(
            largest, std::log(OutputLaw(noise, y).probability(out) / OutputLaw(noise, z).probability(out)));
      }
    }
  }
  EXPECT_NEAR(largest, near.bound.get_d(), 1e-15);
}

// A table computed independently: `worst_found` by a search of others, `rigorous` the first order of the proved bound.
TEST(Certificate, OfMironovsMechanismEnclosesAnIndependentTable) {
  const Rational eta(0x1p-53);
  int violated = 0;
  for (const std::vector<Rational>& row : csv_rows("loss.csv", 5)) {
    const Rational& scale = row[0];
    const double half_width = row[1].get_d();
    const Certificate certificate = certify({.scale = scale,
                                             .sensitivity = 1,
                                             .lower = -half_width,
                                             .upper = half_width,
                                             .kind = NoiseKind::notes},
                                            {.pairs = 12'000});
    const Rational excess = (certificate.witness - 1 / scale) / eta;
    EXPECT_GE(excess, row[2] * Rational(9, 10)) << scale << " " << half_width;
    EXPECT_LT(certificate.witness, certificate.bound);
    // The table has three decimals.
    EXPECT_LE((certificate.bound - 1 / scale) / eta, row[3] + Rational(0.0006)) << scale << " " << half_width;
    EXPECT_EQ(certificate.notes_claim_holds(), row[4] == 0) << scale << " " << half_width;
    violated += certificate.notes_claim_holds() ? 0 : 1;
  }
  EXPECT_EQ(violated, 1);
}

// On small formats every output and many pairs of values are within reach of an enumeration.
TEST(Certificate, OfSmallFormatsEnclosesEveryLoss) {
  struct Case {
    long precision;
    Rational scale;
    double half_width;
  };
  for (const Case& each : {Case{8, 1, 0.375}, Case{8, 1, 0.75}, Case{8, Rational(129, 128), 1},
                           Case{9, Rational(5, 4), 3}, Case{9, 2, 1}, Case{10, Rational(1023, 1024), 3}}) {
    const Grid grid = Grid::at_least(each.scale);
    const Dyadic half(each.half_width);
    const Certificate certificate = certify({.scale = each.scale,
                                             .sensitivity = 1,
                                             .lower = -each.half_width,
                                             .upper = each.half_width,
                                             .kind = NoiseKind::notes,
                                             .precision = each.precision},
                                            {.pairs = 10'000});
    PrecisionLaw law({each.precision, to_dyadic(each.scale, "scale"), grid}, half);
    double largest = 0;
    constexpr int values = 160;
    const long outermost = law.outermost().get_si();
    for (int i = -values; i <= values; ++i) {
      const Dyadic x(each.half_width * i / values);
      for (const Dyadic& step : {Dyadic(1), Dyadic(-1)}) {
        const Dyadic y = std::clamp(x + step, -half, half);
        for (long k = -outermost; k <= outermost; ++k) {
          const Rational rest = law.probability(k, x) / law.probability(k, y) - 1;
          largest = std::max(largest, std::log1p(rest.get_d()));
        }
      }
    }
    const double inner = std::min(1.0, 2 * each.half_width) / each.scale.get_d();
    EXPECT_LE(largest, certificate.bound.get_d()) << each.precision << " " << each.half_width;
    // The search finds nearly all of what a scan finds, and more.
    EXPECT_GE(certificate.witness.get_d() - inner, 0.9 * (largest - inner))
        << each.precision << " " << each.half_width;
    EXPECT_LE(certificate.witness, certificate.bound);
  }
}

TEST(Certificate, OfPrecisionModeAtManyBits) {
  const Mechanism mechanism(
      {.epsilon = 1, .sensitivity = Dyadic(1), .lower = 0, .upper = 100, .noise = NoiseKind::notes});
  const Certificate certificate = certify(mechanism, {.pairs = 4'000});
  const Rational inner = 1 / std::get<PrecisionSnapping>(mechanism.variant()).exact_scale().rational();
  EXPECT_GT(certificate.witness, inner);
  EXPECT_LT(certificate.witness, certificate.bound);
  EXPECT_EQ(certificate.bound, mechanism.loss_bound(1));
  EXPECT_TRUE(certificate.notes_claim_holds());
  // The digits tell the three apart.
  EXPECT_LT(parsed(certificate.witness_text()), parsed(certificate.bound_text()));
  EXPECT_GT(parsed(certificate.witness_text()), inner);
  EXPECT_LE(parsed(certificate.witness_text()), certificate.witness);
  EXPECT_GE(parsed(certificate.bound_text()), certificate.bound);
  EXPECT_GE(certificate.bound_text().size(), 40U);
}

TEST(Certificate, SaysItsEndsAsDecimals) {
  Certificate certificate;
  certificate.witness = Rational(1, 3);
  certificate.bound = Rational(2, 3);
  EXPECT_EQ(certificate.witness_text(), "0.333333333333333333333333333333");
  EXPECT_EQ(certificate.bound_text(), "0.666666666666666666666666666667");
  EXPECT_EQ(certificate.notes_claim_text(), certificate.bound_text());
  certificate.witness = Rational(1, 400);
  certificate.bound = 20;
  EXPECT_EQ(certificate.witness_text(), "0.00250000000000000000000000000000");
  EXPECT_EQ(certificate.bound_text(), "20.0000000000000000000000000000");
  certificate.bound = parsed("1e-40");
  EXPECT_EQ(certificate.bound_text(), "1.00000000000000000000000000000e-40");
}

TEST(Certificate, CoversWhatItShows) {
  EXPECT_FALSE(Certificate().covers(1));
  Certificate certificate = certify({.scale = 2, .sensitivity = 1});
  EXPECT_TRUE(certificate.covers(Rational(1, 2)));
  EXPECT_FALSE(certificate.covers(Rational(499, 1000)));
  // Precision mode between bounds that leave the proved bound above epsilon: the notes' claim stands in for it.
  const Mechanism claimed({.epsilon = Rational(51, 100),
                           .sensitivity = Dyadic(1),
                           .lower = -8,
                           .upper = 8,
                           .noise = NoiseKind::notes});
  certificate = certify(claimed, {.pairs = 1000});
  EXPECT_GT(certificate.bound, claimed.epsilon());
  EXPECT_TRUE(certificate.covers(claimed.epsilon()));
  // Nothing covers what the claim is false for.
  certificate = certify({.scale = 100, .sensitivity = 1, .lower = -1, .upper = 1, .kind = NoiseKind::notes});
  EXPECT_FALSE(certificate.covers(*certificate.notes_claim));
  EXPECT_TRUE(certificate.covers(certificate.bound));
}

TEST(Certificate, OfSeveralReleasesAddsBounds) {
  const Certificate half = certify({.scale = 2, .sensitivity = 1});
  const Certificate third = certify({.scale = 3, .sensitivity = 1});
  const std::vector<Certificate> parts = {half, third};
  const Certificate both = compose_certificates(parts);
  EXPECT_EQ(both.bound, Rational(5, 6));
  EXPECT_EQ(both.witness, Rational(1, 2));
  EXPECT_TRUE(both.notes_claim_holds());
}

TEST(Certificate, OfSeveralCoordinatesIsBoundedInL1) {
  const Certificate histogram = certify({.scale = 4, .sensitivity = 2, .coordinates = 5});
  EXPECT_EQ(histogram.bound, Rational(1, 2));
  EXPECT_EQ(histogram.witness, Rational(1, 2));
  const Certificate narrow =
      certify({.scale = 4, .sensitivity = 2, .lower = 0, .upper = 1, .coordinates = 5});
  EXPECT_EQ(narrow.bound, Rational(1, 2));
  EXPECT_LT(narrow.witness, Rational(1, 4));
  EXPECT_GT(narrow.witness, Rational(1, 5));
}

std::string parameter_refused(const Noise& question) {
  try {
    certify(question);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_THAT(error.what(), testing::StartsWith(error.parameter()));
    return error.parameter();
  }
  return "nothing";
}

// In precision mode the roundings cost something in each number; the worst is an equal share of the distance for all.
TEST(Certificate, OfSeveralNumbersInPrecisionMode) {
  Noise question{.scale = Rational(37, 4),
                 .sensitivity = 6,
                 .lower = -20,
                 .upper = 20,
                 .kind = NoiseKind::notes,
                 .precision = 11,
                 .coordinates = 6};
  const Certificate six = certify(question);
  question.coordinates = 1;
  const Certificate one = certify(question);
  const Rational whole = question.sensitivity.rational() / question.scale.exact();
  EXPECT_EQ(six.bound - whole, 6 * (one.bound - whole));
  EXPECT_GT(six.witness, one.bound);  // what one number's excess would promise is false
  EXPECT_LE(six.witness, six.bound);
  EXPECT_FALSE(six.notes_claim);
  EXPECT_TRUE(six.covers(six.bound));
  EXPECT_FALSE(six.covers(one.bound));
  const Mechanism vector({.epsilon = 1,
                          .sensitivity = Dyadic(6),
                          .lower = -20,
                          .upper = 20,
                          .noise = NoiseKind::notes,
                          .precision = 12,
                          .coordinates = 6});
  const Certificate certified = certify(vector);
  EXPECT_EQ(certified.bound, vector.loss_bound(6));
  EXPECT_TRUE(certified.covers(1));
}

TEST(Certificate, RefusesWhatIsNoMechanism) {
  EXPECT_EQ(parameter_refused({.scale = 0, .sensitivity = 1}), "scale");
  EXPECT_EQ(parameter_refused({.scale = 1, .sensitivity = -1}), "sensitivity");
  EXPECT_EQ(parameter_refused({.scale = 1, .sensitivity = 1, .lower = 2, .upper = 1}), "lower");
  EXPECT_EQ(parameter_refused({.scale = 1, .sensitivity = 1, .upper = INFINITY}), "upper");
  EXPECT_EQ(parameter_refused({.scale = 1, .sensitivity = 1, .coordinates = 0}), "coordinates");
  Noise integers{.scale = 1, .sensitivity = Dyadic(0.5), .kind = NoiseKind::geometric};
  EXPECT_EQ(parameter_refused(integers), "sensitivity");
  integers.sensitivity = 1;
  integers.lower = 0.5;
  EXPECT_EQ(parameter_refused(integers), "lower");
  integers.lower = 0;
  integers.upper = 3.25;
  EXPECT_EQ(parameter_refused(integers), "upper");
  Noise question{.scale = 1, .sensitivity = 1, .lower = -1, .upper = 1, .kind = NoiseKind::notes};
  EXPECT_EQ(parameter_refused(question), "nothing");
  question.scale = Rational(1, 3);
  EXPECT_EQ(parameter_refused(question), "scale");
  question.scale = Rational(1 + Rational(0x1p-53));
  EXPECT_EQ(parameter_refused(question), "scale");
  question.scale = Rational(0x1p-60);
  EXPECT_EQ(parameter_refused(question), "precision");
  question.scale = 1;
  question.precision = 7;
  EXPECT_EQ(parameter_refused(question), "precision");
  question.precision = 53;
  question.lower.reset();
  EXPECT_EQ(parameter_refused(question), "lower");
}

// With bounds so far apart that the probabilities of far outputs are no numbers of MPFR, and with losses whose exponential
// is none.
TEST(Certificate, OfPrecisionModeWithBoundsFarApart) {
  struct Case {
    const char* epsilon;
    double sensitivity;
    double upper;
  };
  for (const Case& each : {Case{"1", 1, 1e12}, Case{"1", 1, 1e30}, Case{"2", 0x1p-20, 1e9},
                           Case{"1e14", 1e12, 1e13}, Case{"1e20", 1e19, 1e20}}) {
    const Mechanism mechanism({.epsilon = parsed(each.epsilon),
                               .sensitivity = Dyadic(each.sensitivity),
                               .lower = 0,
                               .upper = each.upper,
                               .noise = NoiseKind::notes});
    const Certificate certificate = certify(mechanism, {.pairs = 2'000});
    const Rational moved = std::min(Rational(each.sensitivity), Rational(each.upper));
    const Rational inner = moved / std::get<PrecisionSnapping>(mechanism.variant()).exact_scale().rational();
    EXPECT_LE(certificate.witness, certificate.bound) << each.epsilon;
    // Far outputs are where rounding costs most: the search reaches them.
    EXPECT_GT(certificate.witness - inner, (certificate.bound - inner) / 10) << each.epsilon;
    EXPECT_TRUE(certificate.notes_claim_holds());
  }
}

// A tail so rare that its probability as a fraction would fill the memory.
TEST(Certificate, OfExactModeOnAGridFarCoarserThanTheNoise) {
  const Certificate certificate =
      certify({.scale = 1, .sensitivity = Dyadic(0x1p40), .grid = Grid(40), .lower = 0, .upper = 0x1p40});
  // -ln P(noise >= 2^39), against hardly less than 0.
  EXPECT_NEAR(Rational(certificate.bound - Rational(0x1p39)).get_d(), std::log(2), 1e-15);
  EXPECT_LE(certificate.witness, certificate.bound);
  EXPECT_LT(certificate.bound - certificate.witness, Rational(1e-60));
}

}  // namespace
}  // namespace snapdp
