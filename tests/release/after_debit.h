// The rule "after the debit nothing fails", for one random specification at a time: a release either is refused with the
// ledger as it was, or it is paid, drawn, kept, and can be shown, now and from the ledger. No GoogleTest here: a campaign
// uses it too.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "release/random_specification.h"
#include "snapdp/error.h"
#include "snapdp/release/release.h"

namespace snapdp {

class AfterDebit {
 public:
  // Ledgers are made in `folder`, which must exist.
  explicit AfterDebit(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // Throws std::runtime_error saying how the rule was broken, or whatever else escapes.
  void check(std::uint64_t seed) {
    RandomSpecification random(seed);
    text_ = random.text();
    std::optional<Plan> plan;
    try {
      plan.emplace(Specification::parse(text_, "s.toml"));
    } catch (const Error&) {
      ++counts_.refused;
      return;
    }
    show(*plan);
    draw_extremes(*plan, seed);
    release_once(random);
  }

  // The specification that was checked last.
  const std::string& text() const { return text_; }

  struct Counts {
    int released = 0;
    int refused = 0;
    std::array<int, 12> statistics = {};  // released, by kind
    int limits_on_groups = 0;             // of released statistics
  };
  const Counts& counts() const { return counts_; }

 private:
  static void require(bool holds, const std::string& rule) {
    if (!holds) throw std::runtime_error(rule);
  }

  static void show(const Plan& plan) {
    require(!plan.to_table().empty(), "a plan has a table");
    require(!plan.to_json().empty(), "a plan has a text");
    require(!plan.explanation().empty(), "a plan is explained");
  }

  Ledger& ledger(const LedgerIdentity& identity) {
    std::unique_ptr<Ledger>& ledger = ledgers_[to_string(identity.neighbors) + identity.privacy_unit];
    if (!ledger) {
      const std::filesystem::path path = folder_ / ("ledger" + std::to_string(++made_));
      Integer budget;
      mpz_ui_pow_ui(budget.get_mpz_t(), 10, 500);
      ledger = std::make_unique<Ledger>(Ledger::create(path, identity, Rational(budget)));
    }
    return *ledger;
  }

  void release_once(RandomSpecification& random) {
    const LedgerIdentity identity = random.identity();
    Ledger& book = ledger(identity);
    const Rational before = book.balance().spent.value;
    const Specification specification = Specification::parse(text_, "s.toml");
    std::optional<Released> released;
    try {
      released = release(specification, book,
                         [&](const Declaration&) { return std::make_unique<MemorySource>(random.source()); });
    } catch (const Error& error) {
      require(book.balance().spent.value == before, std::string("refused after the debit: ") + error.what());
      // The total may have become too long a fraction; the next specification gets another ledger.
      if (error.code() == ErrorCode::budget_refused)
        ledgers_.erase(to_string(identity.neighbors) + identity.privacy_unit);
      ++counts_.refused;
      return;
    }
    ++counts_.released;
    for (const StatisticSpecification& statistic : specification.statistics) {
      ++counts_.statistics[static_cast<std::size_t>(statistic.kind)];
      counts_.limits_on_groups += statistic.groups_per_unit ? 1 : 0;
    }
    require(released->not_stored.empty(), "kept in the ledger: " + released->not_stored);
    const std::string table = released->report.to_table();
    if (!released->release) return;
    require(book.balance().spent.value > before, "a release is paid for");
    const std::optional<std::string> kept = book.report(*released->release);
    require(kept == released->report.json(), "the ledger keeps what was released");
    require(Report::from_json(*kept).to_table() == table, "what is kept is shown as it was");
  }

  // Reports of what might be drawn, however unlikely.
  static void draw_extremes(const Plan& plan, std::uint64_t seed) {
    const std::size_t longest = plan.epsilon() > 0 ? rehearsed(plan) : 0;
    if (longest == 0) return;
    std::mt19937_64 engine(seed);
    for (std::size_t round = 0; round < 8; ++round) {
      std::vector<std::vector<std::vector<Dyadic>>> values;
      for (const PlannedStatistic& statistic : plan.statistics()) {
        values.emplace_back();
        for (const PlannedMeasurement& planned : statistic.measurements) {
          values.back().emplace_back();
          const std::size_t count = planned.measurement.aggregation().output_domain().dimension;
          for (std::size_t i = 0; i < count; ++i)
            values.back().back().push_back(extreme(planned.measurement.mechanism(), round, engine));
        }
      }
      const Report report(plan, values, 1, Rational(1, 3), Rational(2, 3));
      require(report.json().size() <= longest, "no report is longer than the rehearsed one");
      require(!Report::from_json(report.json()).to_table().empty(), "every report can be shown");
    }
  }

  static std::size_t rehearsed(const Plan& plan) {
    try {
      return Report::rehearse(plan).length;
    } catch (const Error& error) {
      require(std::string(error.what()).find("fault of the program") == std::string::npos, error.what());
      return 0;
    }
  }

  // Rounds 0 to 3: all values alike; later ones mix them.
  static Dyadic extreme(const Mechanism& mechanism, std::size_t round, std::mt19937_64& engine) {
    const Grid grid = mechanism.grid();
    const Dyadic reach = scale_by_power_of_two(mechanism.sensitivity(), 63) +
                         scale_by_power_of_two(Dyadic(mechanism.scale()), 40);
    const std::vector<Dyadic> candidates = {Dyadic(0),
                                            grid.round(reach),
                                            grid.round(-reach),
                                            grid.spacing(),
                                            -grid.spacing(),
                                            grid.round(Dyadic(1)),
                                            grid.round(Dyadic(2)),
                                            grid.round(mechanism.sensitivity()),
                                            grid.round(Dyadic(mechanism.scale()))};
    const Dyadic value = candidates[round < 4 ? round : engine() % candidates.size()];
    if (mechanism.lower() && value < Dyadic(*mechanism.lower())) return *mechanism.lower();
    if (mechanism.upper() && value > Dyadic(*mechanism.upper())) return *mechanism.upper();
    return value;
  }

  std::filesystem::path folder_;
  std::string text_;
  std::map<std::string, std::unique_ptr<Ledger>> ledgers_;
  int made_ = 0;
  Counts counts_;
};

}  // namespace snapdp
