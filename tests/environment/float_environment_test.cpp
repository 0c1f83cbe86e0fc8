// A host may set a rounding mode, flush-to-zero and denormals-are-zero, for the whole program or for one thread. None of
// it changes what the library computes: a survey of the public functions gives the same bits in every environment, and
// leaves the host's own settings as they were.
//
// This program is itself such a host: it is linked with -ffast-math, whose start-up code switches flush-to-zero on.
#include "numeric/shared/float_environment.h"

#include <gtest/gtest.h>

#include <bit>
#include <cfenv>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "snapdp/framework/source.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/mechanism.h"
#include "snapdp/mechanism/trace.h"
#include "snapdp/privacy/audit.h"
#include "snapdp/privacy/certificate.h"
#include "snapdp/privacy/composition_bounds.h"
#include "snapdp/release/plan.h"
#include "snapdp/release/specification.h"
#include "snapdp/statistics/from_parts.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/neighbor_tester.h"

#if defined(__SSE2__)
namespace snapdp {

using namespace numeric_internal;

namespace {

constexpr double tiny = 0x1p-1074;

constexpr unsigned flush_and_zero = 0x8040;
constexpr unsigned sticky_flags = 0x3f;

// One environment of a host, for a scope.
class Host {
 public:
  Host(int rounding, bool flush) : saved_(_mm_getcsr()) {
    std::fesetround(rounding);
    _mm_setcsr(flush ? _mm_getcsr() | flush_and_zero : _mm_getcsr() & ~flush_and_zero);
    set_ = _mm_getcsr() & ~sticky_flags;
  }
  ~Host() {
    EXPECT_EQ(_mm_getcsr() & ~sticky_flags, set_) << "the library left another environment behind";
    std::fesetround(FE_TONEAREST);
    _mm_setcsr(saved_);
  }
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;

 private:
  unsigned saved_;
  unsigned set_;
};

// What was computed, as text. Doubles are written by their bits: no arithmetic here.
class Survey {
 public:
  void add(const std::string& name, const std::string& text) { results_.emplace(name, text); }
  void add(const std::string& name, double value) {
    add(name, "bits " + std::to_string(std::bit_cast<std::uint64_t>(value)));
  }
  void add(const std::string& name, bool value) { add(name, std::string(value ? "yes" : "no")); }
  void add(const std::string& name, const Rational& value) { add(name, value.get_str()); }
  void add(const std::string& name, const Dyadic& value) {
    add(name, value.mantissa().get_str() + " 2^" + std::to_string(value.exponent()));
  }
  void add(const std::string& name, const std::optional<double>& value) {
    if (value) add(name, *value);
  }
  template <typename Value>
  void add(const std::string& name, const std::vector<Value>& values) {
    for (std::size_t i = 0; i < values.size(); ++i) add(name + " " + std::to_string(i), values[i]);
  }
  const std::map<std::string, std::string>& results() const { return results_; }

 private:
  std::map<std::string, std::string> results_;
};

// Doubles that rounding modes and flushing change most: subnormals, their neighbors, thirds, large ones.
const std::vector<double>& awkward() {
  static const std::vector<double> values{0.0,
                                          tiny,
                                          -tiny,
                                          3 * 0x1p-1074,
                                          0x1.fffffffffffffp-1023,
                                          0x1p-1022,
                                          -0x1p-1022,
                                          0.1,
                                          1.0 / 3,
                                          -2.0 / 3,
                                          1,
                                          0x1.fffffffffffffp0,
                                          9007199254740991,
                                          1e300,
                                          -1e300,
                                          0x1.fffffffffffffp1023};
  return values;
}

void numbers(Survey& survey) {
  for (const double value : awkward()) {
    const std::string name = "number " + std::to_string(std::bit_cast<std::uint64_t>(value)) + " ";
    survey.add(name + "shortest", shortest_decimal(value, "x"));
    survey.add(name + "exact", exact_rational(value, "x"));
    survey.add(name + "text", to_string(value));
    survey.add(name + "hex", to_hex(value));
    const Dyadic dyadic(value);
    survey.add(name + "dyadic", dyadic);
    survey.add(name + "back", dyadic.to_double_nearest());
    survey.add(name + "back down", dyadic.to_double_down());
    survey.add(name + "back up", dyadic.to_double_up());
    for (const Rational& factor : {Rational(1, 3), Rational(2, 3), Rational(1, 2), Rational(7, 5)}) {
      const Rational part = dyadic.rational() * factor;
      const std::string times = name + "times " + factor.get_str() + " ";
      survey.add(times + "down", to_double_down(part));
      survey.add(times + "up", to_double_up(part));
      survey.add(times + "nearest", to_double_nearest(part));
      survey.add(times + "text", round_up_to_digits(part, 6));
    }
  }
}

template <typename Combination>
void aggregate(Survey& survey, const std::string& name, const Combination& aggregation, const Chunk& rows) {
  survey.add(name, aggregation(rows));
  AggregateState state = aggregation.start();
  aggregation.update(state, rows);
  survey.add(name + " bytes", aggregation.to_bytes(aggregation.from_bytes(aggregation.to_bytes(state))));
}

void statistics(Survey& survey) {
  const std::vector<double>& rows = awkward();
  const std::uint64_t size = rows.size();
  const Metric any = symmetric_distance();
  const VectorDomain raw = vector_domain<double>();
  for (const Bounds& bounds : {Bounds(Dyadic(-tiny), Dyadic(5 * 0x1p-1074)),
                               Bounds(Dyadic(-0.1), Dyadic(0.3)), Bounds(Dyadic(-1e70), Dyadic(1e70))}) {
    const std::string name = "in " + to_string(bounds) + " ";
    const Transformation clamped = make_clamp(raw, any, bounds);
    const Transformation sized = make_clamp(raw.of_size(size), change_one(), bounds);
    aggregate(survey, name + "sum", clamped >> make_sum(), rows);
    aggregate(survey, name + "centered sum", clamped >> make_centered_sum(), rows);
    for (const int k : {2, 3, 4})
      aggregate(survey, name + "moment " + std::to_string(k), clamped >> make_centered_moment(k), rows);
    aggregate(survey, name + "mean", sized >> make_mean(), rows);
    aggregate(survey, name + "variance", sized >> make_variance(), rows);
  }
  const Bins edges = Bins::edges({Dyadic(-tiny), 0, Dyadic(tiny), Dyadic(0.1), 1, Dyadic(1e300)});
  aggregate(survey, "histogram", make_histogram(raw, any, edges), rows);
  aggregate(survey, "categories", make_histogram(raw, any, Bins::numbers({0, Dyadic(tiny), Dyadic(0.1)})),
            rows);
  const HierarchyLayout layout({Dyadic(-1), 0, Dyadic(3 * 0x1p-1074), Dyadic(0.1), 1, 2}, 2);
  const Aggregation tree = make_hierarchy(raw, any, layout);
  aggregate(survey, "hierarchy", tree, rows);
  const std::vector<Rational> counts = consistent_counts(layout, tree(rows));
  survey.add("consistent counts", counts);
  for (const Rational& q : {Rational(1, 10), Rational(1, 2), Rational(9, 10)}) {
    survey.add("quantile " + q.get_str(), quantile_from_hierarchy(layout, counts, q));
    const Noise noise{.scale = 3.7};
    survey.add("rank error " + q.get_str(), quantile_rank_error(layout, noise, q, 0.05));
    survey.add("margin " + q.get_str(), quantile_margin(layout, noise, q, 0.05));
    const Noise coarse{.scale = 3.7, .grid = Grid(3)};
    survey.add("coarse margin " + q.get_str(), quantile_margin(layout, coarse, q, 0.05));
    const QuantileInterval interval = quantile_interval(layout, counts, q, 1.5);
    survey.add("interval lower " + q.get_str(), interval.lower);
    survey.add("interval upper " + q.get_str(), interval.upper);
  }

  // What cells as text and conditions come to.
  const std::vector<std::string_view> cells{
      "0.1",    "4.9e-324", "2.4e-324",         "1e-310", "-1e-320", "1e400", "17", "0.30000000000000004",
      "8.5e22", "1e23",     "9007199254740993", "x"};
  const Transformation read = make_parse(untrusted_domain({AtomType::text}), any, {AtomType::real});
  const Transformation complete = read.then(make_drop(read.output_domain(), any));
  const Transformation parsed = complete.then(make_clamp(complete.output_domain(), any, Bounds(-1, 1)));
  Chunk block{cells};
  for (const auto& function : parsed.functions()) block = function->apply(block, Scratch::of_thread());
  survey.add("cells", std::vector<double>(block.column[0].reals(), block.column[0].reals() + block.length));
  aggregate(survey, "sum of cells", parsed >> make_sum(), Chunk(cells));
  for (const Comparison comparison : {Comparison::equal, Comparison::less, Comparison::greater}) {
    std::vector<std::uint8_t> holds(rows.size());
    for (const Rational& number :
         {Rational(0), Rational(tiny), Rational(1, 10), Rational(1, Integer(1) << 1075)}) {
      Predicate::compare(0, AtomType::real, comparison, number).evaluate(Chunk(rows), holds.data());
      survey.add("rows " + to_string(comparison) + " " + number.get_str(),
                 std::string(holds.begin(), holds.end()));
    }
  }

  // Which rows of units a limit keeps.
  const Column cell{AtomType::real, rows.data()};
  std::vector<std::size_t> all(rows.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::string kept;
  for (const std::size_t row : make_unit_limit(1).kept(cell, {&cell, 1}, all))
    kept += std::to_string(row) + " ";
  survey.add("rows of units", kept);

  const Bounds unit(Dyadic(-0.1), Dyadic(0.3));
  const Dyadic count(17);
  const Dyadic sum(1.1);
  survey.add("mean from parts", mean_from_parts(unit, count, sum));
  survey.add("mean accuracy", mean_accuracy(unit, {count, 2.1}, {sum, 0.3}));
  survey.add("planned mean accuracy", planned_mean_accuracy(unit, 1017, 2.1, 0.3));
  survey.add("variance from parts", variance_from_parts(unit, count, sum, Dyadic(0.7)));
  survey.add("variance accuracy", variance_accuracy(unit, {count, 2.1}, {sum, 0.3}, {Dyadic(0.7), 0.1}));
  survey.add("covariance from parts",
             covariance_from_parts(unit, unit, count, sum, Dyadic(0.3), Dyadic(0.2)));
  survey.add("planned variance accuracy", planned_variance_accuracy(unit, 1017, 2.1, 0.3, 0.1));
  survey.add("planned covariance accuracy",
             planned_covariance_accuracy(unit, unit, 1017, 2.1, 0.3, 0.2, 0.1));
  survey.add("planned deviation accuracy", planned_standard_deviation_accuracy(unit, 0.013));
  survey.add("deviation", standard_deviation_from_variance(Dyadic(0.7)));
  survey.add("deviation accuracy", standard_deviation_accuracy({Dyadic(0.7), 0.1}));
  survey.add("deviation of little", standard_deviation_from_variance(Dyadic(tiny)));
  survey.add("correlation", correlation_from_parts(Dyadic(0.2), Dyadic(0.7), Dyadic(0.9)));
  survey.add("correlation accuracy",
             correlation_accuracy({Dyadic(0.2), 0.01}, {Dyadic(0.7), 0.01}, {Dyadic(0.9), 0.02}));
}

std::vector<Mechanism> mechanisms() {
  std::vector<Mechanism> all;
  all.emplace_back(MechanismOptions{.epsilon = Rational(1, 3), .sensitivity = Dyadic(0.1)});
  all.emplace_back(MechanismOptions{.epsilon = Rational(1, 3), .sensitivity = 1, .lower = 0, .upper = 0.7});
  all.emplace_back(
      MechanismOptions{.epsilon = 2, .sensitivity = 1, .lower = -10, .upper = 9, .integer = true});
  all.emplace_back(
      MechanismOptions{.epsilon = Rational(1, 3), .sensitivity = Dyadic(0.1), .lower = 0, .upper = tiny});
  all.emplace_back(
      MechanismOptions{.epsilon = 1, .sensitivity = 1, .lower = 0, .upper = 300, .noise = NoiseKind::notes});
  all.emplace_back(MechanismOptions{
      .epsilon = Rational(2, 3), .sensitivity = 2, .integer = true, .noise = NoiseKind::geometric});
  all.emplace_back(MechanismOptions{.epsilon = Rational(2, 3),
                                    .sensitivity = 2,
                                    .lower = -5,
                                    .upper = 20,
                                    .integer = true,
                                    .noise = NoiseKind::geometric});
  return all;
}

void noise(Survey& survey) {
  int number = 0;
  for (const Mechanism& mechanism : mechanisms()) {
    const std::string name = "mechanism " + std::to_string(++number) + " ";
    survey.add(name + "scale", mechanism.scale());
    survey.add(name + "grid", mechanism.grid().spacing());
    survey.add(name + "loss", mechanism.stated_loss());
    survey.add(name + "loss of half", mechanism.loss_bound(mechanism.sensitivity().rational() / 2));
    survey.add(name + "lower", mechanism.lower());
    survey.add(name + "upper", mechanism.upper());
    const Accuracy accuracy = accuracy_of({mechanism.noise(), Rational(1, 20)});
    survey.add(name + "conservative", accuracy.conservative);
    survey.add(name + "tight", accuracy.tight);
    survey.add(name + "laplace", accuracy.laplace);
    survey.add(name + "error", mechanism.noise().arithmetic_error());
    const Certificate certificate = certify(mechanism, {.pairs = 10});
    survey.add(name + "certificate", certificate.witness_text() + " " + certificate.bound_text());

    const Noise noise = mechanism.noise().centered();
    const OutputLaw law(noise, 0);
    survey.add(name + "probability", law.probability(0));
    survey.add(name + "cdf", law.cdf(0));
    survey.add(name + "at least", law.at_least(tiny));
    survey.add(name + "quantile", law.quantile(Rational(2, 7)));
    survey.add(name + "mean", law.mean());
    survey.add(name + "variance", law.variance());
    survey.add(name + "miss", law.miss(Rational(1, 3)));
    survey.add(name + "accuracy at 0", law.accuracy(Rational(1, 20)));
    survey.add(name + "bias", bias(noise, 0));
    survey.add(name + "binding", binding_probability(noise, {0, 0}));
  }
}

void choices(Survey& survey) {
  const AccuracyQuery query{.noise = {.scale = 1.0 / 3, .grid = Grid(-3)}, .alpha = Rational(1, 20)};
  survey.add("tight accuracy", tight_accuracy(query));
  survey.add("conservative accuracy", conservative_accuracy(query));
  AccuracyQuery between = query;
  between.noise.lower = 0;
  between.noise.upper = 2;
  AccuracyQuery on_a_grid = query;
  on_a_grid.values = Grid(-1);
  survey.add("accuracy on a grid", tight_accuracy(on_a_grid));
  survey.add("clamped accuracy", clamped_accuracy(between));
  survey.add("worst miss", worst_miss({.scale = 1.0 / 3, .grid = Grid(-3)}, Rational(1, 2)));
  survey.add("tiny noise",
             tight_accuracy({.noise = {.scale = 0x1p-1000, .grid = Grid(-1010)}, .alpha = Rational(1, 20)}));
  for (const double range : {0.0, 2.5}) {
    EpsilonQuery least{.sensitivity = 1, .accuracy = Rational(3, 2), .alpha = Rational(1, 20)};
    if (range > 0) least.range = range;
    const std::string where = range > 0 ? " in a range" : "";
    survey.add("epsilon for accuracy" + where, epsilon_for_accuracy(least));
    survey.add("scale for accuracy" + where, scale_for_accuracy(least));
  }
  const ChosenBounds bounds = minimal_bounds({.scale = 1.0 / 3, .grid = Grid(-3)}, {0, 10}, Rational(1, 20));
  survey.add("bounds", std::vector<double>{bounds.lower, bounds.upper, bounds.binding_probability});
  survey.add("half width",
             notes_half_width({.sensitivity = 1, .half_range = 10, .gamma = Rational(1, 20)}, 1));

  const std::vector<EqualReleases> releases{{Rational(1, 10), 20}, {Rational(1, 5), 5}};
  const CompositionBound optimal = optimal_composition(releases, Rational(1, 1000000));
  survey.add("optimal composition", optimal.epsilon);
  survey.add("not beaten", optimal.at_least);
  survey.add("by zCDP", *zcdp_to_epsilon(zcdp_composition(releases), Rational(1, 1000000)));
  survey.add("binomial lower", binomial_lower_bound(30, 1000, Rational(1, 1000)));
  survey.add("binomial upper", binomial_upper_bound(30, 1000, Rational(1, 1000)));
  std::vector<double> first;
  std::vector<double> second;
  for (std::uint64_t i = 0; i < 200; ++i) {
    first.push_back(std::bit_cast<double>(i % 7));
    second.push_back(std::bit_cast<double>(i % 9));
  }
  survey.add("audit", audit(first, second, Rational(1, 20)).loss_lower_bound);
}

void documents(Survey& survey) {
  const std::string head =
      "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 1000\n[budget]\nepsilon = 4\n"
      "[[statistic]]\nname = \"m\"\nkind = \"mean\"\ncolumn = \"x\"\nbounds = [-0.1, 0.3]\nepsilon = 0.1\n"
      "[[statistic]]\nname = \"a\"\nkind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 0.7]\naccuracy = 0.01\n"
      "[[statistic]]\nname = \"v\"\nkind = \"variance\"\ncolumn = \"x\"\nbounds = [0, 1e-3]\nepsilon = "
      "0.1\n"
      "[[statistic]]\nname = \"h\"\nkind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 4.9e-324, "
      "0.1]\nepsilon = 0.1\n"
      "[[statistic]]\nname = \"q\"\nkind = \"median\"\ncolumn = \"x\"\nedges = [0, 0.1, 0.2, 0.3]\nepsilon = "
      "0.1\n";
  const Plan plan(Specification::parse(head, "host.toml"));
  survey.add("plan", plan.to_json());
  survey.add("plan as a table", plan.to_table());
  survey.add("plan explained", plan.explanation());
  const std::string vectors =
      "epsilon,sensitivity,lower,upper,value,grid,sign,uniform_bits,output\n"
      "0x1.47ae147ae147bp-7,0x1.999999999999ap-4,-0x1.5c64fbca29e33p+9,0x1.054bbcd79f6a6p+11,0x1."
      "7c6427ded8812p+10,,-1,"
      "bdcdc219fe72c33b959575fe0a734d03,0x1.7c00000000000p+10\n";
  survey.add("trace", trace(vectors));
  survey.add("trace, slowly", trace(vectors, {.slow_only = true}));
}

std::map<std::string, std::string> survey() {
  Survey all;
  numbers(all);
  statistics(all);
  noise(all);
  choices(all);
  documents(all);
  return all.results();
}

void expect_same(const std::map<std::string, std::string>& actual,
                 const std::map<std::string, std::string>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, text] : expected) EXPECT_EQ(actual.at(name), text) << name;
}

const std::map<std::string, std::string>& in_standard_arithmetic() {
  static const std::map<std::string, std::string> results = [] {
    const Host standard(FE_TONEAREST, false);
    return survey();
  }();
  return results;
}

TEST(FloatEnvironment, ThisProgramIsAHostThatFlushesToZero) {
  // Other start-up code may have come later; then the tests below set it all the same.
  if ((_mm_getcsr() & flush_and_zero) == 0) GTEST_SKIP() << "linking with -ffast-math changed nothing here";
  volatile double smallest = tiny;
  EXPECT_EQ(smallest * 1.0, 0.0);
}

TEST(FloatEnvironment, ResultsDoNotDependOnTheHost) {
  EXPECT_GT(in_standard_arithmetic().size(), 500U);
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    for (const bool flush : {false, true}) {
      SCOPED_TRACE("rounding mode " + std::to_string(rounding) + (flush ? ", flushing to zero" : ""));
      const Host host(rounding, flush);
      expect_same(survey(), in_standard_arithmetic());
    }
  }
}

// A new thread begins with the settings of the one that starts it.
TEST(FloatEnvironment, ThreadOfAHostThatChangedIt) {
  const std::map<std::string, std::string>& expected = in_standard_arithmetic();
  const Host host(FE_UPWARD, true);
  std::map<std::string, std::string> found;
  std::thread([&] { found = survey(); }).join();
  expect_same(found, expected);
}

// Noise is drawn between the bounds and on the grid wherever the host is.
TEST(FloatEnvironment, ReleasesAreOnTheGridAndBetweenTheBounds) {
  for (const int rounding : {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    const Host host(rounding, true);
    for (const Mechanism& mechanism : mechanisms()) {
      for (int i = 0; i < 100; ++i) {
        const Dyadic output = mechanism.release(Dyadic(0), thread_generator());
        EXPECT_TRUE(!mechanism.lower() || output >= Dyadic(*mechanism.lower()));
        EXPECT_TRUE(!mechanism.upper() || output <= Dyadic(*mechanism.upper()));
        const bool end = (mechanism.lower() && output == Dyadic(*mechanism.lower())) ||
                         (mechanism.upper() && output == Dyadic(*mechanism.upper()));
        EXPECT_TRUE(mechanism.kind() == NoiseKind::notes || end || mechanism.grid().round(output) == output);
      }
    }
  }
}

}  // namespace
}  // namespace snapdp
#endif
