// Composition of pure losses: an independent table, a sum over all outcomes as oracle, and what must hold always.
#include "snapdp/privacy/composition_bounds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "privacy/composition_grid.h"
#include "privacy/positive_interval.h"
#include "privacy/randomized_response.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace privacy_internal;

namespace {

using testing::HasSubstr;

// "0.1x10+0.5x2".
std::vector<EqualReleases> releases_of(const std::string& text) {
  std::vector<EqualReleases> releases;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, '+');) {
    const std::size_t times = part.find('x');
    releases.push_back({parse_rational(part.substr(0, times), "epsilon"), std::stol(part.substr(times + 1))});
  }
  return releases;
}

struct Row {
  std::vector<EqualReleases> releases;
  std::string text;
  Rational delta;
  std::string basic;
  double optimal;
  std::string zcdp;
};

// An independent computation, to 15 digits. `zcdp` is minimised over a grid of orders there, so that it is a little
// larger than it need be. In rows without `basic`, `delta` is what was computed, for the epsilon in `optimal`.
std::vector<Row> reference_rows() {
  std::ifstream file(SNAPDP_TEST_DATA "/composition.csv");
  std::string line;
  std::getline(file, line);
  std::vector<Row> rows;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    std::string releases, delta, basic, optimal, zcdp;
    std::getline(cells, releases, ',');
    std::getline(cells, delta, ',');
    std::getline(cells, basic, ',');
    std::getline(cells, optimal, ',');
    std::getline(cells, zcdp);
    rows.push_back(
        {releases_of(releases), releases, parse_rational(delta, "delta"), basic, std::stod(optimal), zcdp});
  }
  return rows;
}

TEST(CompositionBounds, AgreeWithAnIndependentTable) {
  const std::vector<Row> rows = reference_rows();
  ASSERT_EQ(rows.size(), 33U);
  for (const Row& row : rows) {
    const CompositionBound bound = optimal_composition(row.releases, row.delta);
    EXPECT_NEAR(bound.epsilon.get_d(), row.optimal, 1e-9) << row.text;
    EXPECT_LE(bound.epsilon - bound.at_least, Rational(1, 1'000'000'000'000)) << row.text;
    const Rational sum = basic_composition(row.releases);
    EXPECT_LE(bound.epsilon, sum) << row.text;
    if (!row.basic.empty()) {
      EXPECT_EQ(sum, parse_rational(row.basic, "basic")) << row.text;
    }
    const std::optional<Rational> zcdp = zcdp_to_epsilon(zcdp_composition(row.releases), row.delta);
    ASSERT_TRUE(zcdp.has_value());
    EXPECT_GE(*zcdp, bound.at_least) << row.text;
    if (!row.zcdp.empty()) {
      EXPECT_LE(zcdp->get_d(), std::stod(row.zcdp) + 1e-12) << row.text;
      EXPECT_GE(zcdp->get_d(), std::stod(row.zcdp) * (1 - 1e-3)) << row.text;
    }
  }
}

// delta at epsilon, by the definition: the sum over all 2^k outcomes of randomized responses.
long double delta_at(const std::vector<EqualReleases>& releases, long double epsilon) {
  std::vector<long double> losses;
  for (const EqualReleases& equal : releases) {
    losses.insert(losses.end(), static_cast<std::size_t>(equal.count), equal.epsilon.get_d());
  }
  long double delta = 0;
  for (std::size_t outcome = 0; outcome < std::size_t{1} << losses.size(); ++outcome) {
    long double p = 1;
    long double q = 1;
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const bool plus = (outcome >> i & 1) != 0;
      p /= 1 + std::exp(plus ? -losses[i] : losses[i]);
      q /= 1 + std::exp(plus ? losses[i] : -losses[i]);
    }
    delta += std::max(0.0L, p - std::exp(epsilon) * q);
  }
  return delta;
}

TEST(CompositionBounds, AgreeWithASumOverAllOutcomes) {
  std::mt19937_64 engine(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<EqualReleases> releases;
    std::int64_t total = 0;
    while (total < 9 && (total == 0 || engine() % 4 != 0)) {
      const auto count = static_cast<std::int64_t>(1 + engine() % 4);
      // Binary fractions, so that the oracle's doubles are exact; some sums coincide and some do not.
      const bool coarse = engine() % 2 == 0;
      releases.push_back({Rational(static_cast<long>(1 + engine() % 24), coarse ? 8 : 4096), count});
      total += count;
    }
    const Rational delta(static_cast<long>(1 + engine() % 1000), engine() % 2 == 0 ? 1'001 : 100'000'000);
    const CompositionBound bound = optimal_composition(releases, delta);
    ASSERT_LE(bound.at_least, bound.epsilon);
    ASSERT_GE(bound.at_least, 0);
    ASSERT_LE(bound.epsilon - bound.at_least, Rational(1, 1'000'000'000'000));
    // delta(epsilon) falls: above the bound it is at most delta, and below it is more. 1e-10 is for the oracle's rounding.
    const long double wanted = delta.get_d();
    ASSERT_LE(delta_at(releases, bound.epsilon.get_d() + 1e-10), wanted * (1 + 1e-15L));
    if (bound.at_least > 0) {
      ASSERT_GE(delta_at(releases, bound.at_least.get_d() - 1e-10), wanted * (1 - 1e-15L));
    }
  }
}

// The fallback encloses what the exact way finds, on the lattice and on a step that fits nothing.
TEST(CompositionBounds, TheGridEnclosesTheExactBound) {
  for (const Row& row : reference_rows()) {
    std::vector<composition::Group> groups;
    for (const EqualReleases& equal : row.releases) groups.push_back({equal.epsilon, equal.count});
    const Rational sum = basic_composition(row.releases);
    const CompositionBound exact = optimal_composition(row.releases, row.delta);
    const CompositionBound rounded = composition::on_a_grid(groups, std::nullopt, sum, row.delta);
    EXPECT_GE(rounded.epsilon, exact.at_least) << row.text;
    EXPECT_LE(rounded.at_least, exact.epsilon) << row.text;
    EXPECT_LE(rounded.epsilon - rounded.at_least, sum / 1000) << row.text;
    // The releases' common unit: 1/100 at the least here, whatever the epsilons are.
    std::vector<Integer> weights;
    for (const EqualReleases& equal : row.releases)
      weights.push_back(Rational(equal.epsilon * 100).get_num());
    const CompositionBound lattice = composition::on_a_grid(groups, weights, sum, row.delta);
    EXPECT_GE(lattice.epsilon, exact.at_least) << row.text;
    EXPECT_LE(lattice.at_least, exact.epsilon) << row.text;
    EXPECT_LE(lattice.epsilon - lattice.at_least, Rational(1, 1'000'000'000)) << row.text;
  }
}

TEST(CompositionBounds, ManyDifferentEpsilonsAreEnclosed) {
  std::mt19937_64 engine(11);
  std::vector<EqualReleases> releases;
  for (int i = 0; i < 60; ++i) {
    releases.push_back({Rational(static_cast<long>(1000 + engine() % 9000), 100'003 + i % 3), 1});
  }
  const CompositionBound bound = optimal_composition(releases, Rational(1, 1'000'000));
  EXPECT_GT(bound.at_least, 1);
  EXPECT_LT(bound.epsilon, basic_composition(releases));
  EXPECT_LT(bound.epsilon - bound.at_least, Rational(1, 1000));
}

TEST(CompositionBounds, ManyEqualOnesAreExact) {
  const std::vector<EqualReleases> many = {{Rational(1, 1000), 100'000}};
  const CompositionBound bound = optimal_composition(many, Rational(1, 1'000'000));
  EXPECT_LE(bound.epsilon - bound.at_least, Rational(1, 1'000'000'000'000));
  EXPECT_NEAR(bound.epsilon.get_d(), 1.3675498312438, 1e-9);
  // However they are written.
  const std::vector<EqualReleases> parts = {{Rational(1, 1000), 99'000}, {Rational(1, 1000), 1000}};
  EXPECT_EQ(optimal_composition(parts, Rational(1, 1'000'000)).epsilon, bound.epsilon);
}

// A window of the binomial distribution is all that counts, and all that is computed.
TEST(CompositionBounds, PlusCountsLeaveOutNoMoreThanTheySay) {
  constexpr mpfr_prec_t bits = 192;
  const PositiveInterval negligible(bits, Rational(0x1p-100));
  for (const composition::Group& group :
       {composition::Group{Rational(1, 10), 100'000}, composition::Group{3, 1'000'000},
        composition::Group{1000, 1'000'000}, composition::Group{Rational(1, 1'000'000), 5'000},
        composition::Group{Rational(1, 3), 7}}) {
    const WideExponents exponents;
    const composition::PlusCounts counts = composition::plus_counts(group, negligible);
    ASSERT_EQ(counts.masses.size(), counts.neighbors.size());
    EXPECT_LT(counts.masses.size(), 13'000U);
    EXPECT_LE(counts.first + static_cast<std::int64_t>(counts.masses.size()), group.count + 1);
    PositiveInterval sum = counts.left_out;
    for (const PositiveInterval& mass : counts.masses) sum += mass;
    EXPECT_GE(mpfr_cmp_ui(sum.high(), 1), 0);
    EXPECT_LT(mpfr_cmp_d(counts.left_out.high(), 0x1p-98), 0);
    Real beyond_one(bits);
    mpfr_sub_ui(beyond_one.get(), sum.low(), 1, MPFR_RNDN);
    EXPECT_LT(std::fabs(mpfr_get_d(beyond_one.get(), MPFR_RNDN)), 0x1p-90);
    // The loss of i plus signs is epsilon (2 i - count).
    const std::size_t last = counts.masses.size() - 1;
    for (const std::size_t i : {std::size_t{0}, last / 2, last}) {
      const auto plus = counts.first + static_cast<std::int64_t>(i);
      const PositiveInterval ratio =
          PositiveInterval::excess_ratio(counts.masses[i], PositiveInterval(bits), counts.neighbors[i]);
      Real loss(bits);
      mpfr_log(loss.get(), ratio.high(), MPFR_RNDU);
      const double expected = Rational(group.epsilon * (2 * plus - group.count)).get_d();
      EXPECT_NEAR(mpfr_get_d(loss.get(), MPFR_RNDN), expected, 1e-12 * std::max(1.0, std::fabs(expected)));
    }
  }
}

// Rare outcomes of many releases lie beyond the exponents of ordinary numbers: e^-(10^9).
TEST(CompositionBounds, ManyLargeLossesAreEnclosedClosely) {
  const auto check = [](const std::string& text, const Rational& delta, const char* expected) {
    const CompositionBound bound = optimal_composition(releases_of(text), delta);
    const Rational value = parse_rational(expected, "expected");
    // 20 digits.
    const Rational margin = std::max(Rational(1e-6), Rational(value * Rational(2e-20)));
    EXPECT_LE(bound.at_least, value + margin) << text;
    EXPECT_GE(bound.epsilon, value - margin) << text;
    EXPECT_LE(bound.epsilon - bound.at_least, margin) << text;
  };
  // One minus is next to impossible: the sum and log(1 - delta).
  check("1000x1000000", Rational(1, 2), "999999999.306852819440054690");
  check("1000x999999+0.37x1", Rational(1, 1'000'000'000), "999999000.369999999");
  check("1e15x1000", Rational(1, 2), "999999999999999999.306852819440054690");
}

// Where e^-sum is no number at all, bounds that need none.
TEST(CompositionBounds, LossesBeyondEveryExponentAreBoundedStill) {
  const std::vector<EqualReleases> releases = {{parse_rational("1e30", "epsilon"), 3}};
  const Rational sum = basic_composition(releases);
  const CompositionBound bound = optimal_composition(releases, Rational(1, 2));
  EXPECT_NEAR(Rational(sum - bound.epsilon).get_d(), std::log(2), 1e-12);
  EXPECT_NEAR(Rational(sum - bound.at_least).get_d(), std::log(2), 1e-12);
}

TEST(CompositionBounds, WithoutDeltaItIsTheSum) {
  const std::vector<EqualReleases> releases = {{Rational(1, 3), 7}, {Rational(1, 10), 1}};
  EXPECT_EQ(optimal_composition(releases, 0).epsilon, Rational(73, 30));
  EXPECT_EQ(optimal_composition(releases, 0).at_least, Rational(73, 30));
  EXPECT_EQ(zcdp_to_epsilon(zcdp_composition(releases), 0), std::nullopt);
  EXPECT_EQ(zcdp_composition(releases), Rational(7, 18) + Rational(1, 200));
  EXPECT_EQ(basic_composition(std::vector<EqualReleases>{}), 0);
  EXPECT_EQ(optimal_composition(std::vector<EqualReleases>{}, Rational(1, 2)).epsilon, 0);
  EXPECT_EQ(optimal_composition(std::vector<EqualReleases>{}, 0).epsilon, 0);
}

TEST(CompositionBounds, NeverLeaveZeroAndTheSumWhateverTheSizes) {
  const std::vector<Rational> deltas = {parse_rational("1e-300", "delta"), parse_rational("1e-30", "delta"),
                                        Rational(1, 2), 1 - parse_rational("1e-60", "delta")};
  const std::vector<Rational> epsilons = {
      parse_rational("1e-300", "epsilon"), parse_rational("1e-20", "epsilon"), Rational(1, 3), 40, 1000,
      parse_rational("1e30", "epsilon"),   parse_rational("1e300", "epsilon")};
  for (const Rational& delta : deltas) {
    for (const Rational& first : epsilons) {
      for (const Rational& second : epsilons) {
        const std::vector<EqualReleases> releases = {{first, 3}, {second, 200}};
        const CompositionBound bound = optimal_composition(releases, delta);
        EXPECT_GE(bound.at_least, 0);
        EXPECT_LE(bound.at_least, bound.epsilon);
        EXPECT_LE(bound.epsilon, basic_composition(releases));
        const std::optional<Rational> zcdp = zcdp_to_epsilon(zcdp_composition(releases), delta);
        ASSERT_TRUE(zcdp.has_value());
        EXPECT_GE(*zcdp, 0);
      }
    }
  }
  // One release at 50: all is forgiven at a delta this large, nothing at this small one.
  const std::vector<EqualReleases> one = {{50, 1}};
  EXPECT_EQ(optimal_composition(one, deltas[3]).epsilon, 0);
  EXPECT_NEAR(optimal_composition(one, deltas[1]).epsilon.get_d(), 50, 1e-8);
}

TEST(CompositionBounds, GrowWithTheReleasesAndFallWithDelta) {
  Rational before = 0;
  std::vector<EqualReleases> releases;
  for (int i = 1; i <= 30; ++i) {
    releases.push_back({Rational(1, 5 + i % 4), 1});
    const CompositionBound bound = optimal_composition(releases, Rational(1, 1000));
    EXPECT_GT(bound.epsilon, before);
    EXPECT_GE(bound.epsilon, optimal_composition(releases, Rational(1, 999)).at_least);
    before = bound.at_least;
  }
}

TEST(CompositionBounds, DoNotDependOnTheRoundingModeOfTheCaller) {
  const std::vector<EqualReleases> exact = {{Rational(1, 10), 50}, {Rational(1, 5), 25}};
  std::vector<EqualReleases> rounded;
  for (int i = 0; i < 40; ++i) rounded.push_back({Rational(10'007 + 977 * i, 100'003), 1});
  const Rational delta(1, 1'000'000);
  const Rational first = optimal_composition(exact, delta).epsilon;
  const Rational second = optimal_composition(rounded, delta).epsilon;
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    std::fesetround(mode);
    const Rational first_again = optimal_composition(exact, delta).epsilon;
    const Rational second_again = optimal_composition(rounded, delta).epsilon;
    std::fesetround(FE_TONEAREST);
    EXPECT_EQ(first_again, first);
    EXPECT_EQ(second_again, second);
  }
}

TEST(CompositionBounds, RefuseWhatHasNoMeaning) {
  const auto refused = [](const std::vector<EqualReleases>& releases, const Rational& delta,
                          const std::string& parameter) {
    try {
      optimal_composition(releases, delta);
      ADD_FAILURE() << parameter;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
      EXPECT_EQ(error.parameter(), parameter);
      EXPECT_THAT(error.what(), HasSubstr(parameter));
    }
  };
  const std::vector<EqualReleases> one = {{1, 1}};
  refused(one, 1, "delta");
  refused(one, 2, "delta");
  refused(one, Rational(-1, 1000), "delta");
  refused({{0, 1}}, 0, "epsilon");
  refused({{Rational(-1, 2), 1}}, 0, "epsilon");
  refused({{1, 0}}, 0, "count");
  refused({{1, -3}}, 0, "count");
  refused({{1, max_composed_releases}, {2, 1}}, 0, "count");
  // Denominators that share nothing.
  std::vector<EqualReleases> primes;
  Integer prime("1000000000000000000000000000000000000000000000000000000000000000");
  for (int i = 0; i < 40; ++i) {
    mpz_nextprime(prime.get_mpz_t(), prime.get_mpz_t());
    primes.push_back({Rational(1, prime), 1});
  }
  refused(primes, 0, "epsilon");
  EXPECT_THROW(zcdp_to_epsilon(-1, Rational(1, 2)), Error);
  EXPECT_THROW(zcdp_to_epsilon(1, 1), Error);
}

}  // namespace
}  // namespace snapdp
