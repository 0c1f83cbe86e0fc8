// A plan: everything a release will do and say apart from the noise, known before any row is read. Each
// statistic is a chain of the framework's parts, rows >> impute or drop >> clamp >> statistic >> snapping, so
// that its sensitivity, loss and accuracy are those that the chain proves.
//
//   Plan plan(Specification::read("people.toml"));
//   plan.cost();                                 // what the run will debit, exact
//   plan.require_affordable();                   // throws when that is more than [budget] allows
//   std::cout << plan.to_table();
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapdp/framework/composition.h"
#include "snapdp/privacy/certificate.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/release/specification.h"
#include "snapdp/release/terminal_style.h"
#include "snapdp/statistics/private_groups.h"
#include "snapdp/statistics/quantiles.h"

namespace snapdp {

// One exact statistic and its noise.
struct PlannedMeasurement {
  std::string part;                  // "sum" or "count" for the two of a mean under add-remove, else ""
  std::vector<std::string> columns;  // that of the groups first
  std::vector<Dyadic> centers;       // of what sums distances from the middle of the bounds: the middles
  Measurement measurement;
  PrivacyLoss loss;  // what it loses, for all groups together
  Rational epsilon;  // what that costs in the run's measure: an epsilon, or a rho
  Rational delta;    // and the delta beside it
  // At most epsilon, and proved; in precision mode sometimes only claimed by the notes
  // (Mechanism::stated_loss).
  Rational loss_bound;
  Accuracy accuracy;  // at the part's share of alpha
  // Tight too, but of all its numbers together: every bin of every group is within it, except with the part's
  // share of alpha (union bound: an equal share of that for each).
  double simultaneous = 0;
  Certificate certificate;  // of the mechanism that will run, for all groups together
};

// P(|released - exact| > accuracy) <= alpha.
struct StatisticAccuracy {
  double conservative = 0;
  double tight = 0;
  double laplace = 0;  // with unrounded Laplace noise of the same scale, for comparison
  // Of histograms and groups: with probability at least 1 - alpha every bin of every group is within this,
  // all together.
  std::optional<double> simultaneous;
};

// How far the number of rows in a bin of a histogram may be off, and that in all others together, as far as a
// share of the population needs it.
struct ShareErrors {
  double of_bin = 0;
  double of_others = 0;
};

struct PlannedStatistic {
  StatisticSpecification specification;
  std::vector<Bounds> bounds;  // rounded outward; one a column
  // Of real columns that are summed, where the specification wants it: the grids that their cells are put on
  // first. A cell moves by at most half a spacing, and the mean and the standard deviation no further than a
  // cell, but for n / (n - 1).
  std::vector<Grid> row_grids;
  // One for each of parts_of(), none for a public constant, else one. The count of rows under change-one
  // and anything between equal bounds are constants: released exactly, at no cost.
  std::vector<PlannedMeasurement> measurements;
  std::optional<Dyadic> constant;
  std::vector<std::string> bins;  // of a histogram; of top the candidates
  // Of top: except with the statistic's alpha, what is named has at most this many rows fewer than the most
  // frequent category that is left, all together.
  std::optional<double> gap;
  // Of quantiles and the median: what is released, and the R of quantile_rank_error, in rows, that holds at
  // the edges around all quantiles of all groups together with probability at least 1 - alpha. It says
  // nothing about ranks inside a bin. With the margins, one a quantile, every quantile_interval holds its
  // exact quantile, all together with probability at least 1 - alpha.
  std::optional<HierarchyLayout> hierarchy;
  double rank_error = 0;
  std::vector<double> quantile_margins;
  // Where its exact numbers lie, whatever the rows are; absent where nothing public bounds them.
  std::optional<Rational> least;
  std::optional<Rational> greatest;
  // Whether the rows are a random sample, and their public number under change-one: then a report tells of
  // means and shares what they say of the population.
  bool of_population = false;
  std::optional<std::uint64_t> public_rows;
  // Of a histogram of a sample whose number of rows is private.
  std::optional<ShareErrors> share_errors;
  // Of a statistic by groups: how many. Measurements then hold the groups' statistics one after the other.
  std::size_t groups = 0;
  PrivacyLoss loss;    // what it loses; the sum over the measurements
  PrivacyAmount cost;  // what that costs in the run's measure (Specification::budget)
  Rational asked;      // the epsilon, or the rho, that its measurements share
  // The mean of the bias over the specification's guesses, for each number alike; absent without guesses.
  std::optional<double> expected_bias;
  Rational loss_bound;      // that of the measurements together
  Certificate certificate;  // of the measurements together; zeros for a public constant
  // Absent for what is computed from parts and may be off by what depends on them: under add-remove without
  // expected_size, for groups without expected_group_size, and for correlations without expected_deviation.
  std::optional<StatisticAccuracy> accuracy;
  // Where that is what a report would say of about such data as the specification guesses, rather than what
  // holds for all data of so many rows: how many rows are guessed.
  std::optional<std::uint64_t> expected_rows;
};

// How the groups of a column are chosen that nobody declared.
struct PlannedKeys {
  KeysSpecification specification;
  std::vector<std::string> statistics;  // those by these keys
  PrivacyLoss loss;
  PrivacyAmount cost;  // in the run's measure
  // From how many privacy units on a group is shown with a probability of at least one half, and always.
  Integer likely;
  Integer certain;
  // Of what a report is made by: how many are shown, and whether others could be but for
  // KeysSpecification::most.
  struct Shown {
    std::size_t groups = 0;
    bool cut = false;
    // What the statistics cost that are left out, because no group is shown.
    PrivacyAmount left_out;
  };
  std::optional<Shown> shown = {};
};

// What another specification of a statistic would give: the best of each kind that is worth at least a
// hundredth.
struct Saving {
  std::string statistic;
  std::string change;  // as it would be written: grid = "auto"
  double accuracy;     // tight
  Rational epsilon;
  // P(released = exact) then and now, for integer statistics.
  std::optional<double> exact;
  std::optional<double> exact_now;
};

// Something to think about before paying. All follow from public facts.
struct PlanWarning {
  std::string statistic;  // its name, or "" for the plan as a whole
  std::string message;    // a sentence without the name
};

// How a plan is shown.
struct PlanView {
  TerminalStyle style = {};
  // Also the noise of every number, its bias, and what other choices would give.
  bool utility = false;
  // Of the ledger that is to pay.
  std::optional<LedgerBalance> ledger = {};
};

class Plan {
 public:
  // Throws what Specification throws for values that the mechanism or the column's type cannot take. A plan
  // beyond the budget of its run can be looked at, but not released.
  explicit Plan(Specification specification);

  const Specification& specification() const { return specification_; }
  // Those by private keys are planned as for a group alone.
  const std::vector<PlannedStatistic>& statistics() const { return statistics_; }
  const std::vector<PlannedKeys>& private_keys() const { return private_keys_; }
  // Which rows count.
  const RowSelection& selection() const { return selection_; }
  // What the run debits in its measure: the sum of what the statistics cost.
  const PrivacyAmount& cost() const { return cost_; }
  // Its epsilon, or its rho.
  const Rational& epsilon() const { return cost_.value; }
  // The names of the statistics with a weight, for which the others leave nothing to share: they are asked
  // for, but not in statistics().
  const std::vector<std::string>& unpaid() const { return unpaid_; }
  bool is_affordable() const { return specification_.budget.exceeded_by(cost_).empty() && unpaid_.empty(); }
  // Throws budget_refused unless it is.
  void require_affordable() const;
  // Of the whole run.
  Certificate certificate() const;
  // What release() releases: all measurements, statistic after statistic, on the table's selected rows.
  // Throws invalid_argument when there are none, because all statistics are public constants, and mismatch
  // naming "keys" when there are private keys: see private_groups().
  Composition composition() const;

  // What composition() asks of a source, for rows that are folded elsewhere: as long as the plan lives.
  std::vector<FoldRequest> requests() const;

  // What release() releases where there are private keys, as long as the plan lives. Its parts are those of
  // composition(), of this plan with the keys that are candidates.
  PrivateGroups private_groups() const;
  // The same plan when these keys are shown, one list for each of private_keys(): what the report is made by.
  // Statistics by an empty list are left out. `cut` is as in GroupsRelease.
  Plan with_keys(const std::vector<KeyValues>& keys, const std::vector<bool>& cut = {}) const;

  // A finer grid, geometric noise for integers, exact mode instead of precision mode, another split of a
  // mean: what each would save. Where epsilon is given the accuracy improves, where an accuracy is given
  // epsilon falls.
  std::vector<Saving> savings() const;

  // An epsilon of the run above 10, or of the ledger that is to pay above 20; no privacy unit, or a column
  // that looks like one under change-one; statistics whose accuracy is not known beforehand.
  std::vector<PlanWarning> warnings(const std::optional<LedgerBalance>& ledger = std::nullopt) const;

  // The same keys as a report's JSON, without values, and with what is known about the noise: see
  // docs/utility.md.
  std::string to_json() const;
  std::string to_table(const PlanView& view = {}) const;
  // One page of HTML in UTF-8 that runs no script and loads nothing: what the run would cost, how near each
  // number would be at this and at other epsilons, what is protected. With `ledger`, against what is left
  // there too.
  std::string to_html(const std::optional<LedgerBalance>& ledger = std::nullopt) const;
  // Each statistic as its chain: what happens to the rows, how far neighbors are apart after each step, the
  // noise and the loss, in plain words.
  std::string explanation() const;

 private:
  Specification specification_;
  RowSelection selection_;
  std::vector<PlannedStatistic> statistics_;
  std::vector<PlannedKeys> private_keys_;
  std::vector<std::string> unpaid_;
  PrivacyAmount cost_;
};

}  // namespace snapdp
