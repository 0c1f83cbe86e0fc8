// Accuracies found by a closed form, or by a search that starts from a good guess, against the plain search and against
// 800-bit arithmetic, bit for bit; the queries lie at, just above and just below the jumps as well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include "mechanism/clamped_search.h"
#include "mechanism/law_oracle.h"
#include "snapdp/mechanism/accuracy.h"

namespace snapdp {

using namespace mechanism_internal;

namespace {

using oracle::Number;

const double infinity = std::numeric_limits<double>::infinity();

class Picker {
 public:
  explicit Picker(std::uint64_t seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  bool one_in(int n) { return below(n) == 0; }
  double uniform() { return std::ldexp(static_cast<double>(engine_() >> 11), -53); }
  double neighbor(double x) {
    const int side = below(3);
    return side == 0 ? x : std::nextafter(x, side == 1 ? 0.0 : infinity);
  }
  double scale() {
    switch (below(4)) {
      case 0:
        return neighbor(std::exp2(below(20) - 10));  // where the grid changes
      case 1:
        return std::exp2(-200 + 400 * uniform());
      default:
        return std::exp2(-8 + 16 * uniform());
    }
  }
  Rational rate() {
    const int thousandths = below(998) + 1;
    switch (below(6)) {
      case 0:
        return Rational(1, 2);
      case 1:
        return Rational(1) / Rational(Integer(1) << static_cast<unsigned>(below(300) + 1));
      default:
        return Rational(Integer(thousandths)) / 1000;
    }
  }
  // A rate within 2^-bits of p, above or below it, for 0 < p < 1.
  Rational rate_next_to(const Number& p, int bits) {
    const Integer step = Integer(1) << static_cast<unsigned>(bits);
    const Integer n = floor(Rational(p.rational() * step)) + below(2);
    return std::clamp(Rational(Rational(n) / step), Rational(1, 1000000), Rational(999999, 1000000));
  }

 private:
  std::mt19937_64 engine_;
};

// P(error > a) for the worst value, with a and the scale in units of the grid; see accuracy.cpp.
Number worst_miss_of(const Rational& a, const Rational& ratio) {
  const Rational d = floor(Rational(2 * a)) + 1 - 2 * a;
  return oracle::exp(Number(Rational((Rational(1, 2) - a) / ratio))) *
         (Number(1.0) + oracle::exp(Number(Rational(-d / ratio)))) * Number(0.5);
}

// The same for the worst integer, at least 1/2 + a grid step away from what is always missed.
Number worst_miss_of_integers(const Rational& error, const Rational& unit, const Rational& scale) {
  const Rational t = (floor(error) + 1) / unit;
  if (t <= Rational(1, 2)) return Number(1.0);
  const Rational d = ceil(Rational(2 * t)) - 2 * t;
  const Rational ratio = scale / unit;
  return oracle::exp(Number(Rational((Rational(1, 2) - t) / ratio))) *
         (Number(1.0) + oracle::exp(Number(Rational(-d / ratio)))) * Number(0.5);
}

// P(|K| > n).
Number geometric_miss_of(const Rational& n, const Rational& scale) {
  const Number q = oracle::exp(Number(Rational(-1 / scale)));
  return Number(2.0) * q * oracle::exp(Number(Rational(-n / scale))) / (Number(1.0) + q);
}

bool reached(const EpsilonQuery& query, double scale) {
  const Rational error = Rational(to_double_down(query.accuracy)) - query.rounding_error;
  if (error < 0) return false;
  if (query.noise == NoiseKind::geometric) {
    return geometric_miss_of(floor(error), Rational(scale)) <= Number(query.alpha.value());
  }
  const Rational unit = query.grid.resolve(Rational(scale), query.integer).spacing().rational();
  const Rational a = error / unit;
  if (query.integer)
    return worst_miss_of_integers(error, unit, Rational(scale)) <= Number(query.alpha.value());
  return a >= Rational(1, 2) &&
         worst_miss_of(a, Rational(Rational(scale) / unit)) <= Number(query.alpha.value());
}

std::string text(const EpsilonQuery& query) {
  return to_string(query.accuracy) + " alpha " + to_string(query.alpha.value()) + " grid " +
         to_string(query.grid) + " rounding " + to_string(query.rounding_error) +
         (query.noise == NoiseKind::geometric ? " geometric" : "") + (query.integer ? " integer" : "");
}

void expect_exact(const EpsilonQuery& query) {
  const double scale = scale_for_accuracy(query);
  ASSERT_TRUE(reached(query, scale)) << scale << " for " << text(query);
  ASSERT_FALSE(reached(query, std::nextafter(scale, infinity))) << scale << " for " << text(query);
  const Rational epsilon = epsilon_for_accuracy(query);
  ASSERT_EQ(epsilon, Grid(-60).round_up(query.sensitivity / Rational(scale)).rational()) << text(query);
  ASSERT_LE(to_double_up(query.sensitivity / epsilon), scale) << text(query);
}

TEST(AccuracySearch, EpsilonIsTheLeastAtAndNextToTheJumps) {
  Picker pick(41);
  int done = 0;
  for (int i = 0; i < 1500; ++i) {
    const double scale = pick.scale();
    const NoiseKind noise = pick.one_in(5) ? NoiseKind::geometric : NoiseKind::exact;
    const GridChoice choice = pick.one_in(3)   ? GridChoice::automatic()
                              : pick.one_in(2) ? GridChoice::notes()
                                               : GridChoice(Grid(pick.below(12) - 8));
    const bool integer = choice.is_automatic() && pick.one_in(2);
    const Grid grid = noise == NoiseKind::geometric ? Grid(0) : choice.resolve(Rational(scale), integer);
    Rational alpha = pick.rate();
    const Rational rounding = pick.one_in(3) ? Rational(1, 1 << pick.below(20)) : Rational(0);
    double target = 0;
    switch (pick.below(4)) {
      case 0:  // what some scale has, or next to it
        target = pick.neighbor(tight_accuracy({.noise = {.scale = scale, .grid = grid, .kind = noise},
                                               .alpha = alpha,
                                               .rounding_error = rounding,
                                               .values = integer ? std::optional(Grid(0)) : std::nullopt}));
        break;
      case 1:  // a jump of the worst miss
        target = std::ldexp(1 + pick.below(40), static_cast<int>(grid.exponent()) - 1);
        break;
      case 2: {  // the scale in question is within 2^-bits of a double
        const Rational unit = grid.spacing().rational();
        const Rational a = floor(Rational(Rational(scale * (0.3 + 3 * pick.uniform())) * 1024 / unit)) / 1024;
        target = Rational(a * unit + rounding).get_d();
        const Rational error = Rational(target) - rounding;
        if (error < unit / 2) continue;
        const Number miss = noise == NoiseKind::geometric ? geometric_miss_of(floor(error), Rational(scale))
                            : integer
                                ? worst_miss_of_integers(error, unit, Rational(scale))
                                : worst_miss_of(Rational(error / unit), Rational(Rational(scale) / unit));
        alpha = pick.rate_next_to(miss, 60 + 40 * pick.below(5));
        break;
      }
      default:
        target = scale * (0.3 + 8 * pick.uniform());
    }
    EpsilonQuery query{.sensitivity = Rational(Integer(1 + pick.below(999))) / (1 + pick.below(99)),
                       .accuracy = Rational(target),
                       .alpha = alpha,
                       .grid = choice,
                       .integer = integer,
                       .rounding_error = rounding,
                       .noise = noise};
    if (pick.one_in(4)) query.accuracy += Rational(1) / (Integer(1) << 100);
    // Not every target can be reached.
    const Rational error = Rational(to_double_down(query.accuracy)) - rounding;
    Rational least = 0;
    if (noise == NoiseKind::exact && choice.is_explicit()) least = grid.spacing().rational() / 2;
    if (target <= 0 || error < 0 || (!integer && error <= least)) continue;
    expect_exact(query);
    if (testing::Test::HasFatalFailure()) return;
    ++done;
  }
  EXPECT_GT(done, 900);
}

// Scales and targets near the ends of the double range, where double-double arithmetic gives up.
TEST(AccuracySearch, EpsilonIsTheLeastNearTheEndsOfTheRange) {
  Picker pick(42);
  for (int i = 0; i < 200; ++i) {
    const double target =
        std::ldexp(1 + pick.uniform(), pick.one_in(2) ? -1000 + pick.below(200) : 800 + pick.below(150));
    EpsilonQuery query{.sensitivity = Rational(target), .accuracy = Rational(target), .alpha = pick.rate()};
    if (pick.one_in(2)) query.grid = GridChoice::notes();
    expect_exact(query);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(AccuracySearch, ClampedAccuracyIsThatOfTheSearch) {
  Picker pick(43);
  int one_sided = 0;
  int window = 0;
  for (int i = 0; i < 4000; ++i) {
    const double scale = pick.scale();
    // From twice the notes' grid to the automatic one, and one so coarse that clamps hardly change the accuracy.
    const int shift = pick.one_in(6) ? -6 : pick.one_in(3) ? 10 : pick.below(5) - 1;
    const Grid grid(Grid::at_least(Rational(scale)).exponent() - shift);
    const double unit = std::ldexp(1.0, static_cast<int>(grid.exponent()));
    AccuracyQuery query{.noise = {.scale = scale, .grid = grid}, .alpha = pick.rate()};
    const double tight = tight_accuracy(query);
    double lower = pick.one_in(3) ? 0.0 : (pick.uniform() - 0.5) * 20 * scale;
    if (pick.one_in(2)) lower = std::floor(lower / unit) * unit;
    double range = tight * (0.1 + 2.5 * pick.uniform());
    if (pick.one_in(4)) range = 2 * tight + pick.below(2) * unit;  // where two-sided misses begin
    if (pick.one_in(4)) range = unit * (pick.below(6) + pick.uniform());
    double upper = lower + range;
    if (pick.one_in(2)) upper = std::ceil(upper / unit) * unit;
    upper = pick.neighbor(upper);
    if (!(lower < upper)) continue;
    if (pick.one_in(4)) {
      // t, or t and the distance to the next multiple, is within 2^-bits of a double.
      const Rational t(std::max((upper - lower) * (0.4 + 0.7 * pick.uniform()), unit));
      const Number survival = oracle::survival(t - Rational(unit) / 2, Rational(scale));
      query.alpha = pick.rate_next_to(survival, 60 + 40 * pick.below(4));
    }
    if (pick.one_in(3)) query.rounding_error = Rational(unit) / (1 + pick.below(5000));
    query.noise.lower = lower;
    query.noise.upper = upper;
    const double searched = searched_clamped_accuracy(query);
    ASSERT_EQ(clamped_accuracy(query), searched)
        << "scale " << to_string(scale) << " grid " << to_string(grid) << " alpha "
        << to_string(query.alpha.value()) << " rounding " << to_string(query.rounding_error) << " ["
        << to_string(lower) << ", " << to_string(upper) << "]";
    if (searched < std::min(tight, upper - lower))
      ++(searched > (upper - lower) / 2 + unit ? one_sided : window);
  }
  EXPECT_GT(one_sided, 200);
  EXPECT_GT(window, 200);
}

}  // namespace
}  // namespace snapdp
