// Attacks on what must be public: ranges, types, grids, parity and errors that follow the private rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>

#include "attacks/attack.h"
#include "snapdp/error.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/mechanism/geometric.h"
#include "snapdp/release/release.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp::attacks {
namespace {

using Json = nlohmann::json;
using Reals = MemorySource::Reals;

// Releases of whole specifications, paid from a ledger of their own.
class PublicFacts : public testing::Test {
 protected:
  PublicFacts() {
    std::filesystem::create_directories(folder_);
    ledger_ =
        Ledger::create(folder_ / "people.ledger", {"people", Neighbors::add_remove, ""}, Rational(1'000'000));
  }
  ~PublicFacts() override {
    ledger_.reset();
    std::filesystem::remove_all(folder_);
  }

  // The report of one statistic of the column x.
  Json release_of(const std::string& keys, const Reals& rows) {
    const std::string text =
        "[data]\ndataset = \"people\"\nneighbors = \"add-remove\"\n[budget]\nepsilon = \"10\"\n"
        "[[statistic]]\nname = \"s\"\n" +
        keys;
    MemorySource source;
    source.add("x", rows);
    const Released released =
        release(Specification::parse(text, "s.toml"), *ledger_,
                [&](const Declaration&) { return std::make_unique<MemorySource>(source); });
    return Json::parse(released.report.json()).at("statistics").at(0);
  }

  // What a report says besides noisy numbers, and the accuracy that follows from these.
  static Json public_part(Json report) {
    report.erase("value");
    if (report.contains("parts")) {
      report.erase("accuracy");
      for (Json& part : report["parts"]) part.erase("value");
    }
    return report;
  }

 private:
  std::filesystem::path folder_ = std::filesystem::path(testing::TempDir()) /
                                  ("snapdp_attacks_" + std::to_string(std::random_device()()));
  std::optional<Ledger> ledger_;
};

template <typename Value>
VectorDomain bounded(const Bounds& bounds) {
  AtomDomain column = atom_domain<Value>();
  column.bounds = bounds;
  return VectorDomain({column});
}

Noise law_of(const Mechanism& mechanism) {
  return mechanism.noise().centered();
}

// Case 14 of many bug reports: integers in [0, 1], all ones, n of them, n private.
TEST(Parity, OfTheNumberOfRowsShowsThrough) {
  // Naive: the sum of x - 1/2 plus integer noise. For even n every output is an integer, for odd n none is.
  const Geometric noise({.epsilon = 1, .sensitivity = Dyadic(1)});
  const auto naive = [&](int n) {
    return outputs(
        1000, [&] { return 0.5 * n + noise.release(Dyadic(0), thread_generator()).to_double_nearest(); });
  };
  const auto is_integer = [](double x) { return x == std::floor(x); };
  EXPECT_EQ(count(naive(4), is_integer).hits, 1000u);
  EXPECT_EQ(count(naive(5), is_integer).hits, 0u);
  EXPECT_GT(proved_loss(naive(4), naive(5), is_integer), 3);
  // Naive: integer noise on the sum, divided by the true n.
  const auto quotient = [&](int n) {
    return outputs(
        1000, [&] { return (n + noise.release(Dyadic(0), thread_generator()).to_double_nearest()) / n; });
  };
  const auto is_third = [](double x) { return x * 3 == std::round(x * 3) && x != std::round(x); };
  EXPECT_GT(proved_loss(quotient(3), quotient(4), is_third), 2.5);

  // Ours: the same grid from the same origin for every n, so the same outputs, in a ratio of at most e.
  const Measurement sum = make_centered_sum(bounded<std::int64_t>(Bounds(0, 1)), symmetric_distance()) >>
                          make_snapping({.epsilon = 1.0});
  ASSERT_FALSE(sum.mechanism().lower() || sum.mechanism().upper());
  const Noise law = law_of(sum.mechanism());
  const double step = law.grid.spacing().to_double_nearest();
  for (int n = 0; n < 5; ++n) {
    const auto statistic = [&](int rows) {
      return sum.aggregation()(std::vector<std::int64_t>(static_cast<std::size_t>(rows), 1))
          .at(0)
          .to_double_nearest();
    };
    const OutputLaw of_n(law, statistic(n));
    const OutputLaw of_next(law, statistic(n + 1));
    for (int k = -20'000; k <= 20'000; k += 7) {
      const double p = of_n.probability(k * step);
      const double q = of_next.probability(k * step);
      if (p < 1e-300 && q < 1e-300) continue;
      ASSERT_LE(std::fabs(std::log(p / q)), 1 + 1e-12) << n << " rows, output " << k * step;
    }
  }
}

TEST_F(PublicFacts, ParityOfTheRowsIsInNoReport) {
  const std::string mean = "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = \"1\"\n";
  const Json of_none = public_part(release_of(mean, {}));
  for (std::size_t n = 1; n <= 5; ++n) EXPECT_EQ(public_part(release_of(mean, Reals(n, 1))), of_none) << n;
}

// A sum clamped to [n a, n b] with a private n.
TEST(PrivateRange, ClampsAtTheNumberOfRows) {
  // Rows in [0, 1]; outputs above n prove another row.
  const auto clamped = [](double n) {
    return OutputLaw({.scale = 1, .grid = Grid(0), .lower = 0, .upper = n}, n);
  };
  EXPECT_EQ(clamped(3).at_least(4), 0);
  EXPECT_GT(clamped(4).at_least(4), 0.6);
  std::mt19937_64 engine(1);
  const auto naive = [&](double n) {
    return outputs(1000, [&] { return std::clamp(std::round(n + textbook_laplace(engine, 1)), 0.0, n); });
  };
  EXPECT_GT(proved_loss(naive(4), naive(3), [](double x) { return x > 3; }), 3);

  const Measurement sum =
      make_sum(bounded<std::int64_t>(Bounds(0, 1)), symmetric_distance()) >> make_snapping({.epsilon = 1.0});
  EXPECT_FALSE(sum.mechanism().lower().has_value());
  EXPECT_FALSE(sum.mechanism().upper().has_value());
  const Noise law = law_of(sum.mechanism());
  for (int k = -600; k <= 600; ++k) {
    ASSERT_LE(std::fabs(std::log(OutputLaw(law, 3).probability(k) / OutputLaw(law, 4).probability(k))),
              1 + 1e-12);
  }
}

TEST_F(PublicFacts, TheRangeOfASumDoesNotFollowTheRows) {
  const std::string sum = "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = \"1\"\n";
  EXPECT_EQ(public_part(release_of(sum, Reals(3, 1))), public_part(release_of(sum, Reals(4, 1))));
  // Outputs beyond any range of the rows occur: among 60 releases of the empty sum, none lies below 0 with probability
  // (1/2 + 1/2048)^60.
  int below = 0;
  for (int i = 0; i < 60; ++i) below += release_of(sum, {}).at("value").get<double>() < 0 ? 1 : 0;
  EXPECT_GT(below, 0);
}

// Bounds taken from the data: the noise, and the outputs themselves, follow the outlier.
TEST_F(PublicFacts, BoundsDoNotFollowTheData) {
  const Reals rows(100, 1);
  Reals neighbor = rows;
  neighbor.back() = 1e6;
  std::mt19937_64 engine(1);
  const auto naive = [&](const Reals& data) {
    const auto [least, most] = std::minmax_element(data.begin(), data.end());
    const double mean = std::accumulate(data.begin(), data.end(), 0.0) / 100;
    const double scale = (*most - *least) / 100;
    return outputs(1000, [&] { return mean + textbook_laplace(engine, scale); });
  };
  // Without an outlier there is not even noise.
  EXPECT_EQ(count(naive(rows), [](double x) { return x == 1; }).hits, 1000u);
  EXPECT_GT(proved_loss(naive(neighbor), naive(rows), [](double x) { return x != 1; }), 3);

  // Ours: everything but the value is the same, and the plan had it before any row was read.
  for (const std::string kind : {"mean", "sum"}) {
    const std::string keys = "kind = \"" + kind + "\"\ncolumn = \"x\"\nbounds = [0, 10]\nepsilon = \"1\"\n";
    EXPECT_EQ(public_part(release_of(keys, rows)), public_part(release_of(keys, neighbor))) << kind;
  }
  // In a narrow range an outlier moves the sum by its width at most: values 0 and 10, noise of scale 10.
  const Aggregation sum =
      make_clamp(vector_domain<double>(), symmetric_distance(), Bounds(0, 10)) >> make_sum();
  EXPECT_EQ(sum(neighbor).at(0) - sum(rows).at(0), Dyadic(9));
}

// Noise of a type that follows the data: integers as long as all cells are integers.
TEST_F(PublicFacts, TypesDoNotFollowTheData) {
  const Reals rows = {1, 2, 3};
  const Reals neighbor = {1, 2, 3, 0.5};
  std::mt19937_64 engine(1);
  const auto naive = [&](const Reals& data) {
    const bool integers = std::all_of(data.begin(), data.end(), [](double x) { return x == std::floor(x); });
    const double sum = std::accumulate(data.begin(), data.end(), 0.0);
    return outputs(1000, [&] {
      const double noisy = sum + textbook_laplace(engine, 3);
      return integers ? std::round(noisy) : noisy;
    });
  };
  const auto is_integer = [](double x) { return x == std::floor(x); };
  EXPECT_GT(proved_loss(naive(rows), naive(neighbor), is_integer), 3);

  const std::string sum = "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 3]\nepsilon = \"1\"\n";
  EXPECT_EQ(public_part(release_of(sum, rows)), public_part(release_of(sum, neighbor)));
  // On the grid 2^-8 an integer has a probability of about 1/256 from either: all of the first and hardly one of the
  // second would betray the type.
  int integers = 0;
  for (int i = 0; i < 100; ++i)
    integers += is_integer(release_of(sum, rows).at("value").get<double>()) ? 1 : 0;
  // By Chernoff, 40 of 100 at a probability of 1/256 at most occur with probability below e^-150.
  EXPECT_LT(integers, 40);
}

// An accuracy computed from the exact statistic, as the notes' first algorithm does, is a release without noise.
TEST_F(PublicFacts, AccuracyDoesNotFollowTheData) {
  const Noise noise{.scale = 1, .grid = Grid(0), .lower = -20, .upper = 20};
  const auto naive_accuracy = [&](double value) { return OutputLaw(noise, value).accuracy(0.05); };
  EXPECT_NE(naive_accuracy(10), naive_accuracy(19.5));
  EXPECT_NE(naive_accuracy(18), naive_accuracy(19.5));
  const std::string sum = "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = \"1\"\n";
  const Json accuracy = release_of(sum, {}).at("accuracy");
  for (const Reals& rows : {Reals{0.5}, Reals(100, 1), Reals{-5, 1e300}}) {
    EXPECT_EQ(release_of(sum, rows).at("accuracy"), accuracy);
  }
}

// Errors and special values that only some data give: empty data, NaN, an infinity, a filter that matches nothing.
TEST_F(PublicFacts, ErrorsDoNotFollowTheData) {
  const auto naive = [](const Reals& rows) {
    const double sum = std::accumulate(rows.begin(), rows.end(), 0.0);
    if (!std::isfinite(sum)) throw std::runtime_error("not a number");
    return sum / static_cast<double>(rows.size());
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(naive({}))) << "no noise hides that there is no row";
  EXPECT_THROW(naive({1, nan}), std::runtime_error);
  for (const std::string kind : {"mean", "sum", "variance"}) {
    const std::string keys = "kind = \"" + kind + "\"\ncolumn = \"x\"\nbounds = [0, 1]\nepsilon = \"1\"\n";
    const Json expected = public_part(release_of(keys, {0.5, 0.5}));
    for (const Reals& rows :
         {Reals{}, Reals{1}, Reals{nan}, Reals{1, nan, infinity}, Reals{-infinity}, Reals{1e308, 1e308}}) {
      const Json report = release_of(keys, rows);
      EXPECT_EQ(public_part(report), expected) << kind;
      EXPECT_TRUE(report.at("value").is_number()) << kind;
    }
  }
}

}  // namespace
}  // namespace snapdp::attacks
