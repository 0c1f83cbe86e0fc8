#include "snapdp/mechanism/selection.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <utility>
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

// The oracle: the recursion, in intervals of rationals.
std::vector<ProbabilityBounds> by_recursion(const Rational& epsilon, const Rational& delta,
                                            std::size_t count) {
  const ProbabilityBounds growth = exponential(epsilon);
  const ProbabilityBounds decay = exponential(-epsilon);
  std::vector<ProbabilityBounds> values = {{0, 0}};
  while (values.size() < count) {
    const ProbabilityBounds& p = values.back();
    const auto next = [&](const Rational& value, const Rational& up, const Rational& down, bool upward) {
      const Rational rising = up * value + delta;
      // Where 1 - value - delta is negative, the last bound is the least.
      const Rational left = std::max(Rational(0), Rational(1 - value - delta));
      const Rational falling = 1 - down * left;
      return rounded(std::min(rising, std::min(falling, Rational(1))), upward);
    };
    values.push_back(
        {next(p.low, growth.low, decay.high, false), next(p.high, growth.high, decay.low, true)});
  }
  return values;
}

bool overlap(const ProbabilityBounds& a, const ProbabilityBounds& b) {
  return a.low <= b.high && b.low <= a.high;
}

bool is_within(const ProbabilityBounds& bounds, const Rational& relative) {
  return bounds.low <= bounds.high &&
         (bounds.high - bounds.low <= relative * bounds.low || bounds.high <= power_of_two(-65536));
}

const Rational narrow = number("1e-30");

// Made independently from the paper's definition: tests/data/selection.csv.
TEST(SelectionLaw, ReferenceTable) {
  std::unique_ptr<SelectionLaw> law;
  std::string last;
  int compared = 0;
  for (const std::vector<std::string>& row : csv_texts("selection.csv", 6)) {
    if (row[0] + "," + row[1] != last) {
      last = row[0] + "," + row[1];
      law = std::make_unique<SelectionLaw>(number(row[0]), number(row[1]));
      EXPECT_EQ(law->turn(), Integer(row[2])) << last;
      EXPECT_EQ(law->first_certain(), Integer(row[3])) << last;
    }
    const Integer units(row[4]);
    EXPECT_TRUE(rounds_to(law->probability(units), row[5])) << last << " units " << row[4];
    EXPECT_TRUE(is_within(law->probability(units), narrow)) << last << " units " << row[4];
    EXPECT_TRUE(is_within(law->hidden(units), narrow)) << last << " units " << row[4];
    ++compared;
  }
  EXPECT_EQ(compared, 784);
}

TEST(SelectionLaw, TheClosedFormIsTheRecursion) {
  std::mt19937_64 random(7);
  int compared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    const Rational epsilon(static_cast<int>(random() % 300 + 1), 100);
    const Rational delta = Rational(static_cast<int>(random() % 999 + 1), 1000) /
                           Rational(Integer("1" + std::string(random() % 16, '0')));
    const SelectionLaw law(epsilon, delta);
    const std::size_t count = law.first_certain().get_ui() + 3;
    const std::vector<ProbabilityBounds> oracle = by_recursion(epsilon, delta, count);
    for (std::size_t n = 0; n < count; ++n) {
      const Integer units(static_cast<unsigned long>(n));
      const ProbabilityBounds shown = law.probability(units);
      const ProbabilityBounds hidden = law.hidden(units);
      ASSERT_TRUE(overlap(shown, oracle[n])) << to_string(epsilon) << " " << to_string(delta) << " " << n;
      ASSERT_TRUE(overlap(hidden, {1 - oracle[n].high, 1 - oracle[n].low})) << n;
      ASSERT_TRUE(is_within(shown, narrow) && is_within(hidden, narrow)) << n;
      ASSERT_EQ(shown.high == 1 && shown.low == 1, units >= law.first_certain()) << n;
      ++compared;
    }
    EXPECT_LT(oracle[count - 4].high, 1);  // of first_certain() - 1
  }
  EXPECT_GT(compared, 2000);
}

// The definition of privacy, of neighboring numbers of units and both outcomes; and that one of the bounds is attained, so
// that nothing shows more. Also where the table of the recursion would have more rows than there is memory.
TEST(SelectionLaw, IsPrivateAndNothingShowsMore) {
  const std::vector<std::pair<std::string, std::string>> parameters = {
      {"1", "1e-5"},       {"0.1", "0.3"},   {"1e-6", "1e-9"},  {"1e-300", "1e-300"},
      {"1e-12", "0.4999"}, {"1e400", "0.3"}, {"700", "1e-300"}, {"3", "1/2"},
      {"0.01", "1"},       {"1/3", "0.999"}, {"25", "1e-11"},   {"1e-400", "1e-400"}};
  for (const auto& [epsilon, delta_text] : parameters) {
    const SelectionLaw law(number(epsilon), number(delta_text));
    const Rational& delta = law.delta();
    const bool huge = law.epsilon() > 1000;
    const ProbabilityBounds growth =
        huge ? ProbabilityBounds{power_of_two(1000), power_of_two(1000)} : exponential(law.epsilon());
    std::vector<Integer> places = {0, 1, 2, law.turn() / 3, law.turn() - 1, law.turn(), law.turn() + 1};
    const Integer& certain = law.first_certain();
    places.insert(places.end(), {(law.turn() + certain) / 2, certain - 2, certain - 1, certain, certain + 1});
    for (const Integer& n : places) {
      if (n < 0) continue;
      const std::string name = epsilon + " " + delta_text + " at " + n.get_str();
      const ProbabilityBounds here = law.probability(n);
      const ProbabilityBounds next = law.probability(n + 1);
      const ProbabilityBounds here_hidden = law.hidden(n);
      const ProbabilityBounds next_hidden = law.hidden(n + 1);
      EXPECT_TRUE(is_within(here, narrow) && is_within(here_hidden, narrow)) << name;
      EXPECT_LE(here.low, next.high) << name;
      // A slack for the width of the enclosures.
      const Rational slack = narrow * (here_hidden.high + growth.high * next_hidden.high);
      EXPECT_LE(next.low, growth.high * here.high + delta) << name;
      if (huge) continue;  // e^epsilon is known from below alone
      EXPECT_LE(here_hidden.low, growth.high * next_hidden.high + delta) << name;
      const bool rises = next.high >= growth.low * here.low + delta;
      const bool falls = here_hidden.high + slack >= growth.low * next_hidden.low + delta;
      const bool ends = next.high == 1;
      EXPECT_TRUE(rises || falls || ends) << name;
      if (ends && n < certain) {
        EXPECT_LE(here_hidden.low, delta) << name;
      }
    }
    EXPECT_EQ(law.probability(certain).low, 1);
    EXPECT_EQ(law.probability(certain - 1).low == 1, false) << epsilon << " " << delta_text;
  }
}

TEST(SelectionLaw, ExtremesInConstantTime) {
  const SelectionLaw law(number("1e-6"), number("1e-9"));
  EXPECT_GT(law.first_certain(), Integer(10'000'000));
  EXPECT_EQ(SelectionLaw(number("1e400"), number("1e-400")).first_certain(), 3);
  EXPECT_EQ(SelectionLaw(5, number("1e-300")).first_certain(), 279);
  EXPECT_GT(SelectionLaw(number("1e-400"), number("1e-400")).turn(), Integer("1" + std::string(390, '0')));
}

TEST(SelectionLaw, Refusals) {
  EXPECT_EQ(refused_parameter([] { SelectionLaw(0, number("1e-5")); }), "epsilon");
  EXPECT_EQ(refused_parameter([] { SelectionLaw(-1, number("1e-5")); }), "epsilon");
  EXPECT_EQ(refused_parameter([] { SelectionLaw(1, 0); }), "delta");
  EXPECT_EQ(refused_parameter([] { SelectionLaw(1, -1); }), "delta");
  EXPECT_EQ(refused_parameter([] { SelectionLaw(1, Rational(1001, 1000)); }), "delta");
  EXPECT_EQ(refused_parameter([] { (void)SelectionLaw(1, Rational(1, 10)).probability(-1); }), "units");
  EXPECT_EQ(refused_parameter([] { (void)per_group(1, Rational(1, 10), 0); }), "groups");
  EXPECT_EQ(refused_parameter([] { (void)per_group(1, 3, 2); }), "delta");
}

TEST(SelectionLaw, PerGroup) {
  const SelectionLaw law = per_group(1, number("1e-6"), 3);
  EXPECT_EQ(law.epsilon() * 3, 1);
  EXPECT_EQ(law.delta() * 3, number("1e-6"));
}

// Words next to 2^64 pi(n), each with the further digits that are least and greatest.
TEST(Selection, ComparesAUniformWithTheProbability) {
  for (const auto& [epsilon, delta] : std::vector<std::pair<std::string, std::string>>{
           {"1", "1e-5"}, {"0.1", "1e-30"}, {"0.5", "0.25"}, {"3", "1/2"}, {"1e-6", "1e-9"}, {"2", "1"}}) {
    const Selection selection(number(epsilon), number(delta));
    const SelectionLaw& law = selection.law();
    std::vector<std::uint64_t> places = {0, 1, 2, 3, 5, 8};
    const std::uint64_t turn = law.turn().get_ui();
    const std::uint64_t certain = law.first_certain().get_ui();
    places.insert(places.end(), {turn, turn + 1, certain - 1, certain, certain + 1, ~std::uint64_t{0}});
    places.insert(places.end(),
                  {Selection::table_size - 1, Selection::table_size, Selection::table_size + 1});
    for (const std::uint64_t units : places) {
      const Integer count(static_cast<unsigned long>(units));
      const ProbabilityBounds bounds = law.probability(count, 200);
      const Rational scaled = bounds.low * power_of_two(64);
      const Integer cut = floor(scaled);
      for (int offset = -2; offset <= 2; ++offset) {
        const Integer word = cut + offset;
        if (word < 0 || mpz_sizeinbase(word.get_mpz_t(), 2) > 64) continue;
        for (const std::uint64_t rest : {std::uint64_t{0}, ~std::uint64_t{0}}) {
          EndlessTape tape({word.get_ui()}, rest);
          const Rational least = (Rational(word) + (rest == 0 ? 0 : 1)) * power_of_two(-64);
          // U = least, or just below it.
          const bool expected = rest == 0 ? least < bounds.low : least <= bounds.low;
          if (rest != 0 && least == bounds.low) continue;  // only infinitely many digits tell
          ASSERT_EQ(selection.replay(units, tape), expected)
              << epsilon << " " << delta << " units " << units << " offset " << offset << " rest " << rest;
          EXPECT_EQ(tape.consumed > 1, units < certain && offset == 0 && scaled != Rational(cut)) << units;
        }
      }
    }
  }
}

TEST(Selection, ABatchIsItsDecisionsOneByOne) {
  const Selection selection(Rational(1, 2), number("1e-3"));
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> units(5000);
  std::vector<std::uint64_t> words(units.size());
  for (std::size_t i = 0; i < units.size(); ++i) {
    units[i] = random() % 40;
    words[i] = random();
  }
  const auto shown = std::make_unique<bool[]>(units.size());  // NOLINT(modernize-avoid-c-arrays)
  RecordedTape tape(words);
  selection.replay(units, std::span(shown.get(), units.size()), tape);
  EXPECT_EQ(tape.remaining(), 0);
  std::size_t count = 0;
  for (std::size_t i = 0; i < units.size(); ++i) {
    RecordedTape one({words[i]});
    EXPECT_EQ(shown[i], selection.replay(units[i], one));
    count += shown[i] ? 1U : 0U;
  }
  EXPECT_GT(count, 1000);
  EXPECT_LT(count, 4000);
  // When the words end, nothing is shown.
  RecordedTape ends(std::vector<std::uint64_t>(words.begin(), words.begin() + 3000));
  EXPECT_THROW(selection.replay(units, std::span(shown.get(), units.size()), ends), Error);
  for (std::size_t i = 0; i < units.size(); ++i) EXPECT_FALSE(shown[i]);
  EXPECT_EQ(refused_parameter([&] { selection.replay(units, std::span(shown.get(), 3), tape); }), "shown");
}

// Hundreds of thousands of decisions by the system generator; all together a false alarm of at most 1e-9. A planted fault,
// a law with 5% more delta, is seen by the same test.
TEST(Selection, TheSamplerFollowsItsLaw) {
  constexpr std::size_t draws = 200'000;
  const Selection selection(1, number("0.01"));
  const SelectionLaw planted(1, number("0.0105"));
  const std::uint64_t certain = selection.law().first_certain().get_ui();
  const double false_alarm = 1e-9 / static_cast<double>(certain + 2);
  std::vector<std::uint64_t> units(draws);
  const auto shown = std::make_unique<bool[]>(draws);  // NOLINT(modernize-avoid-c-arrays)
  bool seen = false;
  for (std::uint64_t n = 0; n <= certain + 1; ++n) {
    std::fill(units.begin(), units.end(), n);
    selection.select(units, std::span(shown.get(), draws), thread_generator());
    std::size_t count = 0;
    for (std::size_t i = 0; i < draws; ++i) count += shown[i] ? 1U : 0U;
    const Integer place(static_cast<unsigned long>(n));
    const double p = to_double_nearest(selection.law().probability(place).low);
    EXPECT_TRUE(may_happen(count, draws, p, false_alarm)) << n << ": " << count << " of " << p;
    seen |= !may_happen(count, draws, to_double_nearest(planted.probability(place).low), false_alarm);
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace snapdp
