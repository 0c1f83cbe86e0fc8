#include <algorithm>
#include <array>
#include <cctype>

#include "release/kinds/kind.h"
#include "snapdp/release/plan.h"

namespace snapdp {

using namespace release_internal;

namespace {

// Beyond these a reader may be as good as sure of one person: even chances become 99.996 % and 99.9999998 %.
const Rational much_in_a_run = 10;
const Rational much_in_a_ledger = 20;

// Whether a column is named like what tells people apart: "id", "user_id", "personId", "ssn".
bool looks_like_identifier(const std::string& name) {
  constexpr std::array<std::string_view, 12> words = {"id",       "pid",       "uid",   "uuid",
                                                      "ssn",      "person",    "user",  "patient",
                                                      "customer", "household", "email", "name"};
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(words.begin(), words.end(), lower) != words.end()) return true;
  return lower.ends_with("_id") || lower.starts_with("id_") || lower.ends_with(" id") ||
         (name.size() > 2 && name.ends_with("Id"));
}

std::string about_unit(const Declaration& data) {
  if (data.privacy_unit) return "";
  for (const auto& [name, column] : data.columns) {
    if (data.neighbors == Neighbors::change_one && looks_like_identifier(name)) {
      return "column " + quoted_text(name) +
             " looks like an identifier: if a person may have several rows, all of them together are not "
             "hidden. "
             "Declare neighbors = \"add-remove\" and privacy_unit = " +
             quoted_text(name);
    }
  }
  return std::string("no privacy unit is declared: one row is hidden, not a person who has several. ") +
         (data.neighbors == Neighbors::change_one
              ? "If people have, declare neighbors = \"add-remove\" and privacy_unit"
              : "If people have, declare privacy_unit");
}

}  // namespace

std::vector<PlanWarning> Plan::warnings(const std::optional<LedgerBalance>& ledger) const {
  std::vector<PlanWarning> warnings;
  const PrivacyBudget& budget = specification_.budget;
  const ShownMeasure measure{budget.measure, budget.amount.delta};
  const auto told = [&](const Rational& amount) {
    return measure.unit() + " " + short_number(amount) + measure.epsilon_beside(amount);
  };
  if (measure.as_epsilon(cost_.value) > much_in_a_run) {
    warnings.push_back({"", "this run costs " + told(cost_.value) +
                                ": a reader can become all but sure of one person. Below 1 each "
                                "person keeps some doubt"});
  }
  const Rational together = ledger ? Rational(ledger->spent.value + cost_.value) : Rational(0);
  if (ledger && measure.as_epsilon(together) > much_in_a_ledger) {
    warnings.push_back({"", "with this run the ledger has given away " + told(together) +
                                ": all releases together leave hardly any doubt about a person"});
  }
  if (const std::string unit = about_unit(specification_.data); !unit.empty()) warnings.push_back({"", unit});
  for (const PlannedStatistic& planned : statistics_) {
    if (planned.accuracy || planned.measurements.empty() || planned.hierarchy || planned.gap) continue;
    const bool by_size = planned.groups == 0 && kind_of(planned.specification).no_planned_accuracy().empty();
    warnings.push_back(
        {planned.specification.name,
         std::string("how far it may be off is told with the release, and may be too far to tell "
                     "anything") +
             (by_size ? "; with expected_size it is known here" : "")});
  }
  return warnings;
}

}  // namespace snapdp
