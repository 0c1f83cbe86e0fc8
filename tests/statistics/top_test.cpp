// counts >> make_top(...): the greatest numbers of a statistic, and nothing of the numbers.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "mechanism/bernoulli_count.h"
#include "mechanism/exponential_oracle.h"
#include "mechanism/refused.h"
#include "snapdp/framework/composition.h"
#include "snapdp/mechanism/choice.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

const Bins bins = Bins::numbers({0, 1, 2});

Aggregation counts(const std::optional<std::uint64_t>& size = std::nullopt) {
  const VectorDomain rows = untrusted_domain({AtomType::real});
  return size ? make_histogram(rows.of_size(*size), change_one(), bins)
              : make_histogram(rows, symmetric_distance(), bins);
}

// The lists that a measurement may give of these rows, with their probabilities.
std::vector<ChosenList> law_of(const Measurement& measurement, const std::vector<double>& rows) {
  std::vector<Rational> scores;
  for (const Dyadic& count : measurement.aggregation()(rows)) scores.push_back(count.rational());
  return ChoiceLaw(measurement.choice(), scores).lists();
}

// Every dataset of so many rows, each 0, 1, 2 or none of them.
std::vector<std::vector<double>> all_datasets(std::size_t rows) {
  std::vector<std::vector<double>> datasets = {{}};
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<std::vector<double>> longer;
    for (const std::vector<double>& dataset : datasets) {
      for (const double value : {0, 1, 2, 7}) {
        longer.push_back(dataset);
        longer.back().push_back(value);
      }
    }
    datasets = std::move(longer);
  }
  return datasets;
}

struct Worst {
  bool holds = true;
  Rational ratio = 0;

  void compare(const Measurement& measurement, const std::vector<double>& a, const std::vector<double>& b,
               const Rational& limit) {
    const std::vector<ChosenList> first = law_of(measurement, a);
    const std::vector<ChosenList> second = law_of(measurement, b);
    for (std::size_t i = 0; i < first.size(); ++i) {
      for (const auto& [p, q] : {std::pair(first[i].probability, second[i].probability),
                                 std::pair(second[i].probability, first[i].probability)}) {
        holds = holds && p.low <= limit * q.high;
        ratio = std::max(ratio, Rational(p.low / q.high));
      }
    }
  }
};

TEST(MakeTop, ExactLossOfAllNeighbors) {
  const Rational limit = exponential(1).high;
  for (const std::size_t count : {1U, 2U}) {
    const Measurement added = counts() >> make_top({.epsilon = 1, .count = count});
    const Measurement replaced = counts(3) >> make_top({.epsilon = 1, .count = count});
    EXPECT_EQ(added.choice().sensitivity(), 1);
    EXPECT_EQ(replaced.choice().sensitivity(), 2);
    Worst of_added;
    Worst of_replaced;
    for (const std::vector<double>& dataset : all_datasets(3)) {
      std::vector<double> shorter = dataset;
      shorter.pop_back();
      of_added.compare(added, dataset, shorter, limit);
      for (const double value : {0, 1, 2, 7}) {
        std::vector<double> other = dataset;
        other.back() = value;
        of_replaced.compare(replaced, dataset, other, limit);
      }
    }
    EXPECT_TRUE(of_added.holds && of_replaced.holds) << count;
    // The claim is not much more than what is lost.
    EXPECT_GT(of_added.ratio, exponential(Rational(count == 1 ? 9 : 5, 10)).high) << count;
    EXPECT_GT(of_replaced.ratio, exponential(Rational(count == 1 ? 9 : 5, 10)).high) << count;
  }
}

// Replaced rows with the noise for added ones: the planted fault is seen.
TEST(MakeTop, TheRateOfAddedRowsIsTooLargeForReplacedOnes) {
  const Measurement added = counts() >> make_top({.epsilon = 1});
  Worst worst;
  worst.compare(added, {0, 1}, {1, 1}, exponential(1).high);
  EXPECT_FALSE(worst.holds);
}

TEST(MakeTop, LossAndAccuracy) {
  const Measurement three = counts() >> make_top({.epsilon = "1/2", .count = 2, .distance = 3});
  EXPECT_TRUE(three.is_choice());
  EXPECT_EQ(three.released_count(), 2);
  EXPECT_EQ(three.choice().sensitivity(), 3);
  EXPECT_EQ(three.loss(3), Rational(1, 2));
  EXPECT_EQ(three.loss(1), Rational(1, 6));
  EXPECT_EQ(three.price(), Rational(1, 2));
  EXPECT_TRUE(three.privacy().holds(3, three.price().epsilon));
  EXPECT_FALSE(three.privacy().holds(3, three.price().epsilon * Rational(999, 1000)));
  // Of whole numbers: one less than the next one above the real accuracy, or equal to it.
  const Rational real(three.choice().accuracy(3, 0.05));
  const Rational whole(three.accuracy(0.05).tight);
  EXPECT_EQ(whole.get_den(), 1);
  EXPECT_LT(whole, real);
  EXPECT_GE(whole + 1, real);
  const Measurement noisy = counts() >> make_snapping({.epsilon = 1});
  EXPECT_FALSE(noisy.is_choice());
  EXPECT_EQ(noisy.released_count(), 3);
  EXPECT_THROW((void)noisy.choice(), Error);
  EXPECT_THROW((void)three.mechanism(), Error);
}

TEST(MakeTop, Refusals) {
  EXPECT_EQ(refused_parameter([] { (void)(counts() >> make_top({.epsilon = 1, .count = 4})); }), "count");
  EXPECT_EQ(refused_parameter([] { (void)(counts() >> make_top({.epsilon = 1, .count = 0})); }), "count");
  EXPECT_EQ(refused_parameter([] { (void)(counts() >> make_top({.epsilon = 1, .distance = 0})); }),
            "distance");
  EXPECT_EQ(refused_parameter([] {
              (void)(make_count(untrusted_domain({AtomType::real}).of_size(3), change_one()) >>
                     make_top({.epsilon = 1}));
            }),
            "sensitivity");
}

// Released beside noise, as it is paid for; the law of what comes out, with a false alarm of at most 1e-9.
TEST(MakeTop, ReleasesFollowTheLaw) {
  const std::vector<double> rows = {0, 0, 0, 1, 1, 2, 7};
  const Measurement top = counts() >> make_top({.epsilon = 2, .count = 2});
  const Composition both = make_sequential({counts() >> make_snapping({.epsilon = 1}), top});
  EXPECT_EQ(both.loss(), 3);
  constexpr std::size_t draws = 10'000;
  InMemoryAccountant budget(3 * static_cast<int>(draws));
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> seen;
  for (std::size_t i = 0; i < draws; ++i) {
    const Release release = both.release(rows, budget);
    ASSERT_EQ(release.values.size(), 5);
    ++seen[{release.values[3].to_int64(), release.values[4].to_int64()}];
  }
  EXPECT_THROW((void)both.release(rows, budget), Error);
  const std::vector<ChosenList> lists = law_of(top, rows);
  std::size_t total = 0;
  for (const ChosenList& list : lists) {
    const std::size_t times =
        seen[{static_cast<std::int64_t>(list.order[0]), static_cast<std::int64_t>(list.order[1])}];
    total += times;
    EXPECT_TRUE(may_happen(times, draws, to_double_nearest(list.probability.low), 1e-9 / 6));
  }
  EXPECT_EQ(total, draws);
}

}  // namespace
}  // namespace snapdp
