#include "snapdp/mechanism/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "mechanism/bernoulli_count.h"
#include "mechanism/endless_tape.h"
#include "mechanism/exponential_oracle.h"
#include "mechanism/reference_digits.h"
#include "mechanism/refused.h"

namespace snapdp {
namespace {

Rational number(const std::string& text) {
  return parse_rational(text, "test");
}

const Rational narrow = number("1e-25");

bool overlap(const ProbabilityBounds& a, const ProbabilityBounds& b) {
  return a.low <= b.high && b.low <= a.high;
}

bool is_within(const ProbabilityBounds& bounds, const Rational& relative) {
  return bounds.low <= bounds.high && bounds.high - bounds.low <= relative * bounds.low;
}

std::vector<Rational> numbers(const std::string& text, char separator) {
  std::vector<Rational> result;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, separator);) result.push_back(number(part));
  return result;
}

// Made independently from the paper's definition, over all orders of the candidates: tests/data/permute_and_flip.csv.
TEST(ChoiceLaw, ReferenceTable) {
  int compared = 0;
  for (const std::vector<std::string>& row : csv_texts("permute_and_flip.csv", 8)) {
    const Choice choice({.epsilon = number(row[1]), .sensitivity = 1, .monotone = row[2] == "yes"});
    const ChoiceLaw law(choice, numbers(row[3], ';'));
    const ProbabilityBounds& chosen = law.first()[std::stoul(row[4])];
    EXPECT_TRUE(rounds_to(chosen, row[6])) << row[0] << " candidate " << row[4];
    EXPECT_TRUE(is_within(chosen, narrow)) << row[0] << " candidate " << row[4];
    ++compared;
  }
  EXPECT_EQ(compared, 156);
}

// The definition: visit the candidates in each order, take the first that shows heads.
std::vector<ProbabilityBounds> by_all_orders(const std::vector<Rational>& scores, const Rational& rate) {
  const Rational best = *std::max_element(scores.begin(), scores.end());
  std::vector<ProbabilityBounds> heads;
  for (const Rational& score : scores) {
    ProbabilityBounds p = exponential(rate * (score - best));
    p.high = std::min(p.high, Rational(1));
    heads.push_back(p);
  }
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<ProbabilityBounds> law(scores.size(), ProbabilityBounds::exactly(0));
  int orders = 0;
  do {
    ProbabilityBounds left{1, 1};
    for (const std::size_t r : order) {
      law[r].low += left.low * heads[r].low;
      law[r].high += left.high * heads[r].high;
      left = {rounded(left.low * (1 - heads[r].high), false), rounded(left.high * (1 - heads[r].low), true)};
    }
    ++orders;
  } while (std::next_permutation(order.begin(), order.end()));
  for (ProbabilityBounds& p : law) p = {p.low / orders, p.high / orders};
  return law;
}

TEST(ChoiceLaw, IsThatOfAllOrders) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<Rational> scores(random() % 6 + 1);
    for (Rational& score : scores)
      score = Rational(static_cast<int>(random() % 41) - 20, static_cast<int>(random() % 4 + 1));
    const Rational epsilon = Rational(static_cast<int>(random() % 40 + 1)) / 10;
    const Rational sensitivity = Rational(static_cast<int>(random() % 5 + 1)) / 3;
    const bool monotone = random() % 2 == 0;
    const Choice choice({.epsilon = epsilon, .sensitivity = sensitivity, .monotone = monotone});
    EXPECT_EQ(choice.rate(), epsilon / sensitivity / (monotone ? 1 : 2));
    const ChoiceLaw law(choice, scores);
    const std::vector<ProbabilityBounds> oracle = by_all_orders(scores, choice.rate());
    for (std::size_t i = 0; i < scores.size(); ++i) {
      EXPECT_TRUE(overlap(law.first()[i], oracle[i])) << trial << " " << i;
      EXPECT_TRUE(is_within(law.first()[i], narrow)) << trial << " " << i;
    }
  }
}

TEST(ChoiceLaw, OfManyCandidates) {
  std::vector<Rational> scores;
  std::mt19937_64 random(5);
  for (int i = 0; i < 600; ++i) scores.emplace_back(static_cast<int>(random() % 100'000), 1000);
  const ChoiceLaw law(Choice({.epsilon = Rational(1, 10), .sensitivity = 1}), scores);
  Rational low = 0;
  Rational high = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    low += law.first()[i].low;
    high += law.first()[i].high;
    EXPECT_TRUE(is_within(law.first()[i], narrow)) << i;
    // A higher score is not chosen less often.
    const std::size_t other = (i + 1) % scores.size();
    EXPECT_EQ(scores[i] < scores[other], law.first()[i].high < law.first()[other].low);
  }
  EXPECT_LE(low, 1);
  EXPECT_GE(high, 1);
  EXPECT_LT(high - low, narrow);
}

// A fraction that was not put in lowest terms is the number it is.
TEST(ChoiceLaw, Fractions) {
  const Choice choice({.epsilon = Rational(2, 4), .sensitivity = Rational(6, 4)});
  const ChoiceLaw law(choice, {Rational(2, 4), Rational(3, 6), 0});
  EXPECT_EQ(law.first()[0].low, law.first()[1].low);
  EXPECT_GT(law.first()[1].low, law.first()[2].high);
}

TEST(ChoiceLaw, FarApart) {
  const ChoiceLaw law(Choice({.epsilon = number("1e300"), .sensitivity = number("1e-300")}),
                      {0, 1, number("1e99")});
  EXPECT_EQ(law.first()[2].high, 1);
  EXPECT_GT(law.first()[2].low, 1 - power_of_two(-200));
  EXPECT_LE(law.first()[0].high, power_of_two(-65536));
}

// All neighbors of all triples in 0..3: the largest ratio of probabilities is e^epsilon, and not more.
struct WorstRatio {
  Rational ratio = 0;  // below the largest one, by less than 1e-20
  bool holds = true;
};

template <typename Outcomes>
WorstRatio worst_ratio(const Rational& epsilon, bool neighbors_are_monotone, const Outcomes& outcomes) {
  const ProbabilityBounds limit = exponential(epsilon);
  std::vector<std::array<int, 3>> triples;
  std::vector<std::vector<ProbabilityBounds>> laws;
  for (int i = 0; i < 64; ++i) {
    triples.push_back({i / 16, i / 4 % 4, i % 4});
    laws.push_back(outcomes(std::vector<Rational>(triples.back().begin(), triples.back().end())));
  }
  WorstRatio worst;
  for (std::size_t a = 0; a < triples.size(); ++a) {
    for (std::size_t b = 0; b < triples.size(); ++b) {
      int least = 0;
      int greatest = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        least = std::min(least, triples[a][i] - triples[b][i]);
        greatest = std::max(greatest, triples[a][i] - triples[b][i]);
      }
      if (least < -1 || greatest > 1 || (neighbors_are_monotone && least < 0 && greatest > 0)) continue;
      for (std::size_t i = 0; i < laws[a].size(); ++i) {
        worst.holds = worst.holds && laws[a][i].low <= limit.high * laws[b][i].high;
        worst.ratio = std::max(worst.ratio, Rational(laws[a][i].low / laws[b][i].high));
      }
    }
  }
  return worst;
}

TEST(ChoiceLaw, PrivacyOfAllTriples) {
  for (const Rational& epsilon : {Rational(1, 10), Rational(1), Rational(3)}) {
    for (const bool monotone : {false, true}) {
      const Choice choice({.epsilon = epsilon, .sensitivity = 1, .monotone = monotone});
      const auto law = [&](const std::vector<Rational>& scores) { return ChoiceLaw(choice, scores).first(); };
      const WorstRatio worst = worst_ratio(epsilon, monotone, law);
      EXPECT_TRUE(worst.holds) << to_string(epsilon) << monotone;
      // Attained, but for the width of the enclosures.
      EXPECT_GT(worst.ratio, exponential(epsilon).low * (1 - number("1e-20")))
          << to_string(epsilon) << monotone;
      // The factor 2 may go for monotone scores, and only there: the planted fault is seen.
      EXPECT_EQ(worst_ratio(epsilon, false, law).holds, !monotone);
    }
  }
}

TEST(ChoiceLaw, PrivacyOfListsOfTwo) {
  for (const bool monotone : {false, true}) {
    const Choice choice({.epsilon = 1, .sensitivity = 1, .monotone = monotone, .count = 2});
    const auto law = [&](const std::vector<Rational>& scores) {
      std::vector<ProbabilityBounds> probabilities;
      for (const ChosenList& list : ChoiceLaw(choice, scores).lists())
        probabilities.push_back(list.probability);
      return probabilities;
    };
    EXPECT_TRUE(worst_ratio(1, monotone, law).holds);
    // Two rounds really take more than one of them.
    EXPECT_FALSE(worst_ratio(Rational(51, 100), monotone, law).holds);
  }
}

TEST(ChoiceLaw, ListsAreRounds) {
  const std::vector<Rational> scores = {3, Rational(1, 2), 2, 2, -1};
  const Choice choice({.epsilon = 2, .sensitivity = 1, .count = 3});
  const ChoiceLaw law(choice, scores);
  EXPECT_EQ(law.list_count(), 60);
  const std::vector<ChosenList> lists = law.lists();
  ASSERT_EQ(lists.size(), 60);
  Rational low = 0;
  Rational high = 0;
  std::vector<ProbabilityBounds> first(5, ProbabilityBounds::exactly(0));
  for (const ChosenList& list : lists) {
    low += list.probability.low;
    high += list.probability.high;
    first[list.order[0]].low += list.probability.low;
    first[list.order[0]].high += list.probability.high;
    ProbabilityBounds product{1, 1};
    std::vector<std::size_t> left = {0, 1, 2, 3, 4};
    for (const std::size_t chosen : list.order) {
      std::vector<Rational> among;
      for (const std::size_t i : left) among.push_back(scores[i]);
      const auto place = std::find(left.begin(), left.end(), chosen);
      const ProbabilityBounds p =
          by_all_orders(among, Rational(1, 3))[static_cast<std::size_t>(place - left.begin())];
      product = {product.low * p.low, product.high * p.high};
      left.erase(place);
    }
    EXPECT_TRUE(overlap(list.probability, product));
    EXPECT_TRUE(is_within(list.probability, narrow));
  }
  EXPECT_LE(low, 1);
  EXPECT_GE(high, 1);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_TRUE(overlap(first[i], law.first()[i]));
  EXPECT_EQ(refused_parameter([] {
              (void)ChoiceLaw(Choice({.epsilon = 1, .sensitivity = 1, .count = 8}), std::vector<Rational>(9))
                  .lists();
            }),
            "count");
}

TEST(Choice, Refusals) {
  const auto refused = [](const ChoiceOptions& options) {
    return refused_parameter([&] { Choice{options}; });
  };
  EXPECT_EQ(refused({.epsilon = 0, .sensitivity = 1}), "epsilon");
  EXPECT_EQ(refused({.epsilon = -1, .sensitivity = 1}), "epsilon");
  EXPECT_EQ(refused({.epsilon = 1}), "sensitivity");
  EXPECT_EQ(refused({.epsilon = 1, .sensitivity = -2}), "sensitivity");
  EXPECT_EQ(refused({.epsilon = 1, .sensitivity = 1, .count = 0}), "count");
  const Choice two({.epsilon = 1, .sensitivity = 1, .count = 2});
  const std::vector<Rational> one = {1};
  EXPECT_EQ(refused_parameter([&] { (void)two.choose(one, thread_generator()); }), "scores");
  EXPECT_EQ(refused_parameter([&] { (void)ChoiceLaw(two, one); }), "scores");
  std::vector<Rational> broken = {1, 2};
  broken[1].get_den() = 0;
  EXPECT_EQ(refused_parameter([&] { (void)two.choose(broken, thread_generator()); }), "scores");
  EXPECT_EQ(refused_parameter([&] { (void)two.accuracy(1, 0.05); }), "candidates");
  EXPECT_EQ(refused_parameter([&] { (void)two.loss_bound(-1); }), "distance");
  EXPECT_EQ(two.loss_bound(3), 3);
  EXPECT_EQ(two.loss_bound(Rational(1, 3)), Rational(1, 3));
}

// Words next to 2^64 p, each with the further digits that are least and greatest.
TEST(Choice, CoinsCompareAUniformWithTheExponential) {
  const Choice choice({.epsilon = 1, .sensitivity = 1});
  for (const Rational& gap : {Rational(1), Rational(7, 3), Rational(30), Rational(100)}) {
    const std::vector<Rational> scores = {0, gap};  // the second one always shows heads
    const Integer cut = floor(exponential(-choice.rate() * gap).low * power_of_two(64));
    for (int offset = -1; offset <= 1; ++offset) {
      const Integer word = cut + offset;
      if (word < 0) continue;
      for (const std::uint64_t rest : {std::uint64_t{0}, ~std::uint64_t{0}}) {
        // Of two heads the first is taken for a last word of 0.
        EndlessTape tape({word.get_ui(), 12345, 0}, rest);
        const bool heads = offset < 0 || (offset == 0 && rest == 0);
        EXPECT_EQ(choice.replay(scores, tape)[0], heads ? 0 : 1) << to_string(gap) << " " << offset;
        EXPECT_EQ(tape.consumed > 3, offset == 0) << to_string(gap) << " " << offset;
      }
    }
  }
}

TEST(Choice, TakesEachOfTheHeads) {
  const Choice choice({.epsilon = 1, .sensitivity = 1});
  const std::vector<Rational> scores = {2, 2, 2};
  const std::uint64_t third = 0x5555555555555555;  // floor(2^64 / 3)
  const auto taken = [&](std::uint64_t word, std::uint64_t rest) {
    EndlessTape tape({1, 2, 3, word}, rest);
    return choice.replay(scores, tape)[0];
  };
  EXPECT_EQ(taken(0, 0), 0);
  EXPECT_EQ(taken(third - 1, ~std::uint64_t{0}), 0);
  EXPECT_EQ(taken(third, 0), 0);
  EXPECT_EQ(taken(third, ~std::uint64_t{0}), 1);
  EXPECT_EQ(taken(third + 1, 0), 1);
  EXPECT_EQ(taken(2 * third, 0), 1);
  EXPECT_EQ(taken(2 * third, ~std::uint64_t{0}), 2);
  EXPECT_EQ(taken(2 * third + 1, 0), 2);
  EXPECT_EQ(taken(~std::uint64_t{0}, ~std::uint64_t{0}), 2);
}

// Tens of thousands of choices by the system generator against the law; all together a false alarm of at most 1e-9. The same
// test sees the exponential without its factor 2, and lists of rounds with all of epsilon.
TEST(Choice, TheSamplerFollowsItsLaw) {
  constexpr std::size_t draws = 40'000;
  const std::vector<Rational> scores = {3, 2, Rational(3, 2), 2, 0};
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}}) {
    const Choice choice({.epsilon = 2, .sensitivity = 1, .count = count});
    const Choice planted({.epsilon = 2, .sensitivity = 1, .monotone = true, .count = count});
    std::map<std::vector<std::size_t>, std::size_t> counts;
    for (std::size_t i = 0; i < draws; ++i) ++counts[choice.choose(scores, thread_generator())];
    bool seen = false;
    std::size_t total = 0;
    const std::vector<ChosenList> lists = ChoiceLaw(choice, scores).lists();
    const std::vector<ChosenList> planted_lists = ChoiceLaw(planted, scores).lists();
    const double false_alarm = 0.5e-9 / static_cast<double>(lists.size());
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const std::size_t times = counts[lists[i].order];
      total += times;
      EXPECT_TRUE(may_happen(times, draws, to_double_nearest(lists[i].probability.low), false_alarm)) << i;
      seen |= !may_happen(times, draws, to_double_nearest(planted_lists[i].probability.low), false_alarm);
    }
    EXPECT_EQ(total, draws);
    EXPECT_TRUE(seen);
  }
}

// The probability that what is chosen first is more than `gap` below the best.
Rational miss(const Choice& choice, const std::vector<Rational>& scores, const Rational& gap) {
  const ChoiceLaw law(choice, scores);
  const Rational best = *std::max_element(scores.begin(), scores.end());
  Rational sum = 0;
  for (std::size_t i = 0; i < scores.size(); ++i)
    if (best - scores[i] > gap) sum += law.first()[i].high;
  return sum;
}

TEST(Choice, AccuracyHoldsAndIsTheLeast) {
  std::mt19937_64 random(2);
  for (const std::size_t candidates : {2U, 3U, 10U, 200U}) {
    for (const Rational& alpha : {Rational(1, 20), Rational(1, 3), number("1e-9"), Rational(3, 4)}) {
      const Choice choice({.epsilon = Rational(1, 2), .sensitivity = 1});
      const Rational a(choice.accuracy(candidates, alpha));
      // The worst case: all others just farther below.
      std::vector<Rational> scores(candidates, 0);
      scores[0] = a + number("1e-30");
      EXPECT_LE(miss(choice, scores, a), alpha) << candidates;
      if (a > 0) {
        scores[0] = a * (1 - number("1e-12"));
        EXPECT_GT(miss(choice, scores, a * (1 - number("2e-12"))), alpha) << candidates;
      } else {
        EXPECT_GE(alpha, 1 - Rational(1, static_cast<int>(candidates)));
      }
      for (int trial = 0; trial < 5; ++trial) {
        for (Rational& score : scores) score = a * Rational(static_cast<int>(random() % 21), 10);
        EXPECT_LE(miss(choice, scores, a), alpha) << candidates;
      }
    }
  }
  EXPECT_EQ(Choice({.epsilon = 1, .sensitivity = 1}).accuracy(1, 0.05), 0);
  // Rounds share epsilon and alpha.
  const Choice three({.epsilon = 3, .sensitivity = 1, .count = 3});
  EXPECT_EQ(three.accuracy(10, Rational(3, 20)), Choice({.epsilon = 1, .sensitivity = 1}).accuracy(10, 0.05));
  EXPECT_GT(three.accuracy(10, number("1e-400")), 900);
}

}  // namespace
}  // namespace snapdp
