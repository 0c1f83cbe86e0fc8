#include "snapdp/release/report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <optional>

#include "numeric/shared/float_environment.h"
#include "release/presentation.h"
#include "release/report_model.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

// Numbers that a report lists for a statistic: of every bin, quantile, coefficient or part of every group. In doubles, so
// that no product overflows.
double listed_values(const PlannedStatistic& statistic) {
  const std::size_t of_group =
      std::max({statistic.bins.size(), statistic.specification.quantiles.size(), std::size_t{1}});
  const bool coefficients = statistic.specification.kind == StatisticKind::regression;
  const std::size_t with_parts =
      coefficients ? statistic.specification.columns.size() + statistic.measurements.size() : of_group;
  const double all =
      static_cast<double>(with_parts) * static_cast<double>(std::max(statistic.groups, std::size_t{1}));
  return all + static_cast<double>(statistic.specification.differences.size());
}

[[noreturn]] void refuse_length(const Plan& plan, const std::string& how, double bytes) {
  const auto fewer = [](const auto& a, const auto& b) { return listed_values(a) < listed_values(b); };
  const PlannedStatistic& largest =
      *std::max_element(plan.statistics().begin(), plan.statistics().end(), fewer);
  constexpr double mebibyte = 1 << 20;
  const auto rounded = [](double number) { return Integer(std::ceil(number)).get_str(); };
  throw Error(ErrorCode::invalid_argument, "statistic",
              plan.specification().place(largest.specification) + "the report would have " + how + " " +
                  rounded(bytes / mebibyte) + " MiB, and a ledger keeps at most " +
                  std::to_string(Ledger::max_text_bytes >> 20) + " MiB; this statistic lists " +
                  rounded(listed_values(largest)) +
                  " of its values: use fewer keys, bins, categories, quantiles or differences, " +
                  (plan.private_keys().empty() ? "" : "a smaller \"most\" under [keys.NAME], ") +
                  "or split the specification");
}

// Before anything is made of them: a value takes some lines, of a quantile with its interval more.
void check_number_of_values(const Plan& plan) {
  constexpr double least_bytes = 60;
  constexpr double least_bytes_of_quantile = 120;
  double bytes = 0;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    bytes += listed_values(statistic) *
             (statistic.specification.quantiles.empty() ? least_bytes : least_bytes_of_quantile);
  }
  if (bytes > static_cast<double>(Ledger::max_text_bytes)) refuse_length(plan, "more than", bytes);
}

std::size_t memory_for(const Plan& plan, std::size_t report_bytes) {
  // A report is a model of small parts, written to a text that grows by doubling, and copied on its way into the ledger:
  // measured, at most 7 times its length.
  constexpr std::size_t copies = 8;
  // consistent_counts and what follows, for one hierarchy at a time: measured, at most 560.
  constexpr std::size_t of_node = 1024;
  constexpr std::size_t small_things = std::size_t{1} << 20;
  std::size_t nodes = 0;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    if (statistic.hierarchy) nodes = std::max(nodes, statistic.hierarchy->nodes());
  }
  return copies * report_bytes + of_node * nodes + small_things;
}

// What the plan would be with every epsilon multiplied; nothing where there is no such mechanism.
std::optional<ReportModel> model_at(const Plan& plan, double factor) {
  Specification specification = plan.specification();
  specification.budget.amount.value *= Rational(factor);
  for (KeysSpecification& keys : specification.private_keys) keys.epsilon *= Rational(factor);
  std::map<std::string, const PlannedStatistic*> prices;
  for (const PlannedStatistic& planned : plan.statistics()) prices[planned.specification.name] = &planned;
  for (StatisticSpecification& statistic : specification.statistics) {
    const auto price = prices.find(statistic.name);
    if (price == prices.end()) return std::nullopt;  // not planned: nothing is left for it
    if (price->second->loss.is_zero()) continue;     // a public constant
    const Rational asked = price->second->asked * Rational(factor);
    statistic.delta = price->second->specification.delta;
    const bool by_rho = statistic.noise == NoiseKind::gaussian && !statistic.delta;
    (by_rho ? statistic.rho : statistic.epsilon) = asked;
    statistic.accuracy.reset();
    statistic.weight.reset();
  }
  try {
    return model_of_plan(Plan(std::move(specification)), false);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string Plan::to_json() const {
  const FloatEnvironment environment;
  return plan_json(model_of_plan(*this, true));
}

std::string Plan::to_table(const PlanView& view) const {
  const FloatEnvironment environment;
  return plan_table(model_of_plan(*this, view.utility, view.ledger), view);
}

std::string Plan::to_html(const std::optional<LedgerBalance>& ledger) const {
  const FloatEnvironment environment;
  std::vector<PlanVariant> variants;
  for (const double factor : {0.25, 0.5, 2.0, 4.0}) {
    if (std::optional<ReportModel> model = model_at(*this, factor))
      variants.push_back({factor, *std::move(model)});
  }
  return plan_html(model_of_plan(*this, true, ledger), variants, ledger);
}

ReportProvenance provenance_of(const Ledger& ledger, std::int64_t release) {
  ReportProvenance provenance;
  provenance.ledger = ledger.path().filename().string();
  try {
    provenance.time = ledger.entry(release).time;
    provenance.anchor = to_string(ledger.balance().anchor);
  } catch (const Error&) {
    return provenance;
  }
  return provenance;
}

Report::Report(std::shared_ptr<const ReportModel> model, std::string json)
    : model_(std::move(model)), json_(std::move(json)) {}

Report::Report(const Plan& plan, const std::vector<std::vector<std::vector<Dyadic>>>& values,
               std::optional<std::int64_t> release, const PrivacyAmount& spent,
               const PrivacyAmount& remaining) {
  const FloatEnvironment environment;
  std::vector<ShownValues> shown;
  for (const std::vector<std::vector<Dyadic>>& of_statistic : values)
    shown.push_back(ShownValues::of(of_statistic));
  model_ = std::make_shared<const ReportModel>(model_of_report(plan, shown, release, spent, remaining));
  json_ = report_json(*model_);
}

Report::Rehearsal Report::rehearse(const Plan& plan) {
  const FloatEnvironment environment;
  check_number_of_values(plan);
  // Beyond what a ledger allows: its fractions have at most so many digits, their difference three times as many.
  Integer nines;
  mpz_ui_pow_ui(nines.get_mpz_t(), 10, 3 * Ledger::max_number_digits);
  const Rational longest_number(Integer(nines - 1), nines);
  const std::vector<ShownValues> longest(plan.statistics().size(), ShownValues::longest());
  const std::string text =
      report_json(model_of_report(plan, longest, std::numeric_limits<std::int64_t>::max(),
                                  {longest_number, longest_number}, {longest_number, longest_number}));
  if (text.size() > Ledger::max_text_bytes) refuse_length(plan, "up to", static_cast<double>(text.size()));
  try {
    from_json(text);
  } catch (const Error&) {
    throw Error(ErrorCode::invalid_argument, "statistic",
                plan.specification().name +
                    ": the report of these statistics could not be read back; nothing is released without "
                    "one that can. This is a fault of the program: please report the specification");
  }
  return {text.size(), memory_for(plan, text.size())};
}

Report Report::from_json(std::string_view text) {
  const FloatEnvironment environment;
  try {
    Report report(std::make_shared<const ReportModel>(read_report(text)), std::string(text));
    static_cast<void>(present(*report.model_));  // all that a writer might fail at
    return report;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorCode::bad_data, "report", "report: the stored text is not a report of this program");
  }
}

std::string Report::to_table(const TerminalStyle& style, const ReportProvenance& provenance) const {
  const FloatEnvironment environment;
  return report_table(*model_, style, provenance);
}

std::string Report::to_html(const ReportProvenance& provenance) const {
  const FloatEnvironment environment;
  return report_html(*model_, provenance, json_);
}

std::string Report::to_csv() const {
  const FloatEnvironment environment;
  return report_csv(*model_);
}

std::string Report::to_markdown() const {
  const FloatEnvironment environment;
  return report_markdown(*model_);
}

}  // namespace snapdp
