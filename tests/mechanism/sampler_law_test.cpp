// The sampler against its law: three million releases by the system generator, by each mechanism, against the law that
// law.h computes. An error of 1% in the scale is found, by a computation of the test's own power.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "snapdp/mechanism/gaussian.h"
#include "snapdp/mechanism/geometric.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/precision_snapping.h"
#include "snapdp/mechanism/snapping.h"

namespace snapdp {
namespace {

constexpr std::size_t releases = 3'000'000;
constexpr double false_alarm = 1e-9;

// The law of one release, as far as an output has a probability of 1e-30; three million draws leave the table with
// probability below 1e-20, which fails a test.
class TableLaw {
 public:
  TableLaw(const Noise& noise, double value) : value_(value), scale_(noise.scale.up()) {
    const OutputLaw::Table table = OutputLaw(noise, value).table(1e-30);
    for (const OutputProbability& each : table.outputs) {
      outputs_.push_back(each.output);
      probabilities_.push_back(each.probability);
      distances_.push_back(std::fabs(each.output - value_) / scale_);
    }
    rest_ = table.below + table.above;
    step_ = outputs_[1] - outputs_[0];
  }

  const std::vector<double>& outputs() const { return outputs_; }
  const std::vector<double>& probabilities() const { return probabilities_; }
  double distance(double output) const { return std::fabs(output - value_) / scale_; }
  double rest() const { return rest_; }
  // The same outputs' distances measured as another law's test does.
  TableLaw seen_by(const TableLaw& test) const {
    TableLaw result = *this;
    for (std::size_t i = 0; i < outputs_.size(); ++i) result.distances_[i] = test.distance(outputs_[i]);
    return result;
  }
  // The place of an output in the table; the table's size for none.
  std::size_t place(double output) const {
    const double steps = (output - outputs_[0]) / step_;
    if (!(steps >= 0 && steps < static_cast<double>(outputs_.size()))) return outputs_.size();
    const auto index = static_cast<std::size_t>(steps);
    return outputs_[index] == output ? index : outputs_.size();
  }

  // Chernoff's bound on ln P(mean distance of all releases >= c), or <= c: any s gives one, so that how well the best s is
  // found matters for the power only.
  double ln_tail(double c, bool up) const {
    const auto exponent = [&](double s) {
      double sum = 0;
      for (std::size_t i = 0; i < outputs_.size(); ++i)
        sum += probabilities_[i] * std::exp(s * distances_[i]);
      return s * c - std::log(sum);
    };
    double low = up ? 0 : -0.3;
    double high = up ? 0.3 : 0;
    for (int i = 0; i < 24; ++i) {
      const double a = low + (high - low) * 0.4;
      const double b = low + (high - low) * 0.6;
      const bool rising = exponent(a) < exponent(b);
      (rising ? low : high) = rising ? a : b;
    }
    return -static_cast<double>(releases) * exponent((low + high) / 2);
  }

  double mean_distance() const {
    double sum = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i) sum += probabilities_[i] * distances_[i];
    return sum;
  }

  // The nearest mean distances that occur, on that side, with probability at most false_alarm / 4.
  double critical(bool up) const {
    const double mean = mean_distance();
    double inside = mean;
    double outside = up ? mean * 1.05 : mean * 0.95;
    for (int i = 0; i < 18; ++i) {
      const double middle = (inside + outside) / 2;
      (ln_tail(middle, up) > std::log(false_alarm / 4) ? inside : outside) = middle;
    }
    return outside;
  }

 private:
  double value_;
  double scale_;
  double step_ = 0;
  double rest_ = 0;
  std::vector<double> outputs_;
  std::vector<double> probabilities_;
  std::vector<double> distances_;
};

struct Drawn {
  std::vector<double> counts;  // by place in the table; the last one for outputs that are not in it
  double mean_distance = 0;
};

using ReleaseBatch = std::function<void(std::span<const double>, std::span<double>)>;

Drawn draw(const TableLaw& law, double value, const ReleaseBatch& release) {
  Drawn drawn;
  drawn.counts.resize(law.outputs().size() + 1);
  constexpr std::size_t batch = 50'000;
  const std::vector<double> values(batch, value);
  std::vector<double> out(batch);
  double sum = 0;
  for (std::size_t done = 0; done < releases; done += batch) {
    release(values, out);
    for (const double x : out) {
      drawn.counts[law.place(x)] += 1;
      sum += law.distance(x);
    }
  }
  drawn.mean_distance = sum / static_cast<double>(releases);
  return drawn;
}

// A false alarm of at most 1e-9 in all: a quarter for either side of the mean distance, and half for all cells together.
struct ScaleTest {
  explicit ScaleTest(const TableLaw& law) : least(law.critical(false)), most(law.critical(true)) {}
  bool accepts(const Drawn& drawn) const { return drawn.mean_distance > least && drawn.mean_distance < most; }
  double least;
  double most;
};

void expect_cells(const TableLaw& law, const Drawn& drawn, const std::string& name) {
  EXPECT_LT(law.rest() * static_cast<double>(releases), 1e-20) << name;
  EXPECT_EQ(drawn.counts.back(), 0) << name << ": outputs that are in no row of the law";
  const auto n = static_cast<double>(releases);
  const double limit = std::log(2 * static_cast<double>(law.outputs().size()) / (false_alarm / 2));
  double total = 0;
  for (std::size_t i = 0; i < law.outputs().size(); ++i) {
    const double p = law.probabilities()[i];
    const double q = drawn.counts[i] / n;
    // 1 - p is exact enough: p is at most 1/2 or so.
    const double divergence =
        (q > 0 ? q * std::log(q / p) : 0) + (q < 1 ? (1 - q) * std::log((1 - q) / (1 - p)) : 0);
    EXPECT_LE(n * divergence, limit) << name << ": output " << law.outputs()[i] << " has " << q << " of "
                                     << p;
    total += p;
  }
  EXPECT_NEAR(total, 1, 1e-12) << name;
}

struct Case {
  std::string name;
  Noise noise;
  double value;
  ReleaseBatch release;  // by a mechanism of this noise, through its public interface
};

template <typename Mechanism>
ReleaseBatch through(const Mechanism& mechanism) {
  return [mechanism](std::span<const double> values, std::span<double> out) {
    mechanism.release(values, out, thread_generator());
  };
}

Case snapping_case(const char* name, const Rational& epsilon, double sensitivity, const char* grid,
                   double value) {
  const Snapping mechanism(
      {.epsilon = epsilon, .sensitivity = Dyadic(sensitivity), .grid = GridChoice::parse(grid)});
  return {name, {.scale = mechanism.scale(), .grid = mechanism.grid()}, value, through(mechanism)};
}

Case geometric_case(const char* name, const Rational& epsilon, int sensitivity, double value) {
  const Geometric mechanism({.epsilon = epsilon, .sensitivity = Dyadic(sensitivity)});
  return {name,
          {.scale = mechanism.scale(), .grid = Grid(0), .kind = NoiseKind::geometric},
          value,
          through(mechanism)};
}

Case gaussian_case(const char* name, double scale, const char* grid, double value) {
  const Gaussian mechanism({.sensitivity = Dyadic(1),
                            .grid = GridChoice::parse(grid),
                            .noise = NoiseKind::gaussian,
                            .scale = scale});
  return {name, mechanism.noise(), value, through(mechanism)};
}

std::vector<Case> cases() {
  std::vector<Case> result;
  result.push_back(gaussian_case("Gaussian, the notes' grid", 1, "notes", 0));
  result.push_back(gaussian_case("Gaussian, a fine grid off the value", 1.3, "2^-4", 0.3));
  result.push_back(snapping_case("snapping, the notes' grid", 1, 1, "notes", 0));
  result.push_back(snapping_case("snapping, a fine grid off the value", Rational(7, 10), 1, "2^-4", 0.3));
  result.push_back(snapping_case("snapping, far from zero", Rational(1, 8), 1, "2^-1", 1e6 + 0.25));
  result.push_back(geometric_case("geometric", 1, 1, 5));
  result.push_back(geometric_case("geometric, wide", Rational(1, 4), 3, -1000));
  // Precision mode at 118 bits: its law differs from that of real arithmetic by a relative 2^-90.
  const PrecisionSnapping precise({.epsilon = 1, .sensitivity = Dyadic(1), .lower = -1024, .upper = 1024});
  const Noise noise{.scale = precise.scale(), .grid = precise.grid()};
  result.push_back({"precision", noise, 0.75, through(precise)});
  return result;
}

TEST(SamplerLaw, TheSystemGeneratorFollowsIt) {
  for (const Case& each : cases()) {
    const TableLaw law(each.noise, each.value);
    const Drawn drawn = draw(law, each.value, each.release);
    const ScaleTest test(law);
    EXPECT_TRUE(test.accepts(drawn)) << each.name << ": mean distance " << drawn.mean_distance << " of "
                                     << law.mean_distance() << ", accepted from " << test.least << " to "
                                     << test.most;
    expect_cells(law, drawn, each.name);
  }
}

// The power, computed: the probability that noise of a scale wrong by 1% passes is at most 1e-9, for every case above.
TEST(SamplerLaw, HasThePowerToFindOnePercent) {
  for (const Case& each : cases()) {
    const TableLaw law(each.noise, each.value);
    const ScaleTest test(law);
    for (const double factor : {0.99, 1.01}) {
      Noise wrong = each.noise;
      wrong.scale = factor * each.noise.scale.up();
      const TableLaw seen = TableLaw(wrong, each.value).seen_by(law);
      const bool wide = factor > 1;
      EXPECT_LE(seen.ln_tail(wide ? test.most : test.least, !wide), std::log(1e-9))
          << each.name << " times " << factor;
    }
  }
}

// ... and shown: mechanisms whose scale is planted wrong by 1%.
TEST(SamplerLaw, FindsOnePercent) {
  const Case right = snapping_case("", 1, 1, "notes", 0);
  const TableLaw law(right.noise, right.value);
  const ScaleTest test(law);
  for (const double factor : {0.99, 1.01}) {
    const Case wrong = snapping_case("", 1, factor, "2^0", 0);
    EXPECT_NEAR(wrong.noise.scale.up(), factor, 1e-15);
    EXPECT_FALSE(test.accepts(draw(law, 0, wrong.release))) << factor;
  }
  const Case normal = gaussian_case("", 1, "2^0", 0);
  const TableLaw normal_law(normal.noise, 0);
  const ScaleTest normal_test(normal_law);
  for (const double factor : {0.99, 1.01}) {
    EXPECT_FALSE(normal_test.accepts(draw(normal_law, 0, gaussian_case("", factor, "2^0", 0).release)))
        << factor;
  }
  const Case counts = geometric_case("", 1, 1, 0);
  const TableLaw counts_law(counts.noise, 0);
  const ScaleTest counts_test(counts_law);
  for (const Rational& epsilon : {Rational(100, 99), Rational(100, 101)}) {
    const Drawn drawn = draw(counts_law, 0, geometric_case("", epsilon, 1, 0).release);
    EXPECT_FALSE(counts_test.accepts(drawn)) << epsilon;
  }
}

}  // namespace
}  // namespace snapdp
