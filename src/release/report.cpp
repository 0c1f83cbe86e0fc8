#include "snapdp/release/report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>

#include "numeric/shared/float_environment.h"
#include "release/statistic_json.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

// A number of a plan or a report: what to_string wrote, or a double.
Rational rational_of(const Json& json) {
  return parse_exact(json.is_string() ? json.get<std::string>() : json.dump(), "report");
}

bool has_grid(const Json& part) {
  return part.contains("grid") && part.at("grid").is_string();
}

// A number with the digits that the grid or, for a quotient of two parts, the accuracy of `part` tells apart.
std::string value_cell(const Json& part, const Json& value) {
  const Rational number = rational_of(value);
  if (has_grid(part)) {
    const Rational grid = rational_of(part.at("grid"));
    return grid == 0 ? to_string(number) : at_grid_resolution(number, grid);
  }
  const Json& tight = part.at("accuracy").at("tight");
  return tight.is_null() ? to_string(number) : at_grid_resolution(number, rational_of(tight) / 100);
}

// The rate at which what is said about the errors of a statistic may fail; nothing when nothing is said.
std::optional<std::string> alpha_of(const Json& statistic) {
  if (statistic.contains("alpha")) return statistic.at("alpha").get<std::string>();  // quantiles
  const bool by_groups = statistic.contains("groups") && statistic.at("groups").at(0).contains("accuracy");
  const Json& accuracy = (by_groups ? statistic.at("groups").at(0) : statistic).at("accuracy");
  if (!accuracy.is_object()) return std::nullopt;
  return accuracy.at("alpha").get<std::string>();
}

// For a line of text: the name is foreign.
std::string name_of(const Json& statistic) {
  return shown_text(statistic.at("name").get<std::string>());
}

// An end of an interval of values, as exactly as the JSON has it.
std::string end_text(const Json& end) {
  std::string text = end.dump();
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

// A plan or a report as lines of one table. Plans have no values, but show the noise instead.
class StatisticTable {
 public:
  explicit StatisticTable(const Json& json) : json_(json) {
    for (const Json& statistic : json.at("statistics")) {
      const std::optional<std::string> alpha = alpha_of(statistic);
      if (!alpha) continue;
      same_alpha_ = same_alpha_ && (alpha_.empty() || *alpha == alpha_);
      alpha_ = *alpha;
      shows_accuracy_ = shows_accuracy_ || !statistic.contains("alpha");
    }
  }

  std::string report(const TableStyle& style) const {
    TextTable table({{"statistic", TextTable::Align::left},
                     {"value", TextTable::Align::right},
                     {header("accuracy"), TextTable::Align::right},
                     {header("all at once"), TextTable::Align::right},
                     {"epsilon", TextTable::Align::right}});
    for (const Json& statistic : json_.at("statistics")) {
      const std::string epsilon = short_number(rational_of(statistic.at("epsilon")));
      const bool many =
          statistic.contains("bins") || statistic.contains("groups") || statistic.contains("quantiles");
      const bool median = statistic.contains("interval");
      table.add({statistic.at("name"),
                 many     ? ""
                 : median ? quantile_cell(statistic)
                          : value_cell(statistic, statistic.at("value")),
                 median ? interval_cell(statistic, statistic) : accuracy_cell(statistic),
                 simultaneous_cell(statistic), epsilon});
      if (statistic.contains("quantiles")) add_quantiles(table, statistic, statistic.at("quantiles"), "  ");
      if (statistic.contains("bins")) add_bins(table, statistic, statistic.at("bins"), "  ");
      if (!statistic.contains("groups")) continue;
      for (const Json& group : statistic.at("groups")) {
        const Json& key = group.at("key");
        const std::string label = "  " + (key.is_string() ? key.get<std::string>() : key.dump());
        if (group.contains("quantiles")) {
          table.add({label});
          add_quantiles(table, statistic, group.at("quantiles"), "    ");
        } else if (group.contains("interval")) {
          table.add({label, quantile_cell(group), interval_cell(statistic, group)});
        } else if (group.contains("bins")) {
          table.add({label});
          add_bins(table, statistic, group.at("bins"), "    ");
        } else {
          // The quotient of two parts has an accuracy of its own in each group.
          table.add({label, value_cell(has_grid(statistic) ? statistic : group, group.at("value")),
                     group.contains("accuracy") ? accuracy_cell(group) : "",
                     group.contains("accuracy") ? simultaneous_cell(group) : ""});
        }
      }
    }
    return table.to_string(style);
  }

  std::string plan(const TableStyle& style) const {
    TextTable table({{"statistic", TextTable::Align::left},
                     {"kind", TextTable::Align::left},
                     {"epsilon", TextTable::Align::right},
                     {"sensitivity", TextTable::Align::right},
                     {"noise scale", TextTable::Align::right},
                     {"grid", TextTable::Align::right},
                     {header("accuracy"), TextTable::Align::right},
                     {header("all at once"), TextTable::Align::right}});
    const auto row = [&](const std::string& name, const std::string& kind, const Json& part) {
      std::vector<std::string> cells = {name, kind, short_number(rational_of(part.at("epsilon")))};
      for (const char* key : {"sensitivity", "scale", "grid"}) {
        cells.push_back(part.at(key).is_string() ? short_number(rational_of(part.at(key))) : "");
      }
      cells.push_back(accuracy_cell(part));
      cells.push_back(simultaneous_cell(part));
      table.add(std::move(cells));
    };
    for (const Json& statistic : json_.at("statistics")) {
      std::string kind = statistic.at("kind");
      for (const std::string part : {"bin", "group"}) {
        if (!statistic.contains(part + "s")) continue;
        const std::size_t count = statistic.at(part + "s").size();
        kind += ", " + std::to_string(count) + " " + part + (count == 1 ? "" : "s");
      }
      row(statistic.at("name"), kind, statistic);
      if (!statistic.contains("parts")) continue;
      for (const Json& part : statistic.at("parts")) {
        Json shown = part;
        shown["accuracy"] = nullptr;  // at another alpha
        row("  " + part.at("name").get<std::string>(), "", shown);
      }
    }
    return table.to_string(style);
  }

  // What the noise does to each number, in the unit of the statistic.
  std::string utility(const TableStyle& style) const {
    TextTable table({{"utility", TextTable::Align::left},
                     {"tight", TextTable::Align::right},
                     {"conservative", TextTable::Align::right},
                     {"Laplace", TextTable::Align::right},
                     {"worst bias", TextTable::Align::right},
                     {"expected bias", TextTable::Align::right},
                     {"P(clamped)", TextTable::Align::right}});
    bool empty = true;
    const auto row = [&](const std::string& name, const Json& part) {
      if (!part.contains("utility")) return;
      std::vector<std::string> cells = {name};
      for (const char* key :
           {"tight", "conservative", "laplace", "worst_bias", "expected_bias", "binding_probability"}) {
        const Json& utility = part.at("utility");
        const bool known = utility.contains(key) && utility.at(key).is_number();
        cells.push_back(known ? round_up_to_digits(Rational(utility.at(key).get<double>()), 3) : "");
      }
      table.add(std::move(cells));
      empty = false;
    };
    for (const Json& statistic : json_.at("statistics")) {
      row(statistic.at("name"), statistic);
      if (!statistic.contains("parts")) continue;
      if (!statistic.contains("utility")) table.add({statistic.at("name")});
      for (const Json& part : statistic.at("parts")) row("  " + part.at("name").get<std::string>(), part);
    }
    return empty ? "" : table.to_string(style) + "\n";
  }

  // What the columns mean, one line for each thing that occurs.
  std::string notes() const {
    std::string text;
    if (shows_accuracy_) {
      text += "accuracy: the released value lies this near the exact one with probability " +
              (same_alpha_ ? confidence(parse_exact(alpha_, "alpha")) : "as shown") + ".\n";
    }
    const auto is_simultaneous = [](const Json& part) {
      return part.contains("accuracy") && part.at("accuracy").is_object() &&
             part.at("accuracy").contains("simultaneous");
    };
    const auto has_simultaneous = [&](const Json& statistic) {
      return is_simultaneous(statistic) ||
             (statistic.contains("groups") && is_simultaneous(statistic.at("groups").at(0)));
    };
    if (std::any_of(json_.at("statistics").begin(), json_.at("statistics").end(), has_simultaneous)) {
      text += "all at once: with the same probability all bins and groups of a statistic are this near.\n";
    }
    const auto has_utility = [](const Json& statistic) { return statistic.contains("utility"); };
    if (std::any_of(json_.at("statistics").begin(), json_.at("statistics").end(), has_utility)) {
      text +=
          "utility: tight is the accuracy above, conservative that of the notes, Laplace that of unrounded "
          "noise;\n"
          "  worst bias and P(clamped), that a bound binds, are for the worst value that the statistic may "
          "have.\n";
    }
    const auto has_guesses = [&](const Json& statistic) {
      return has_utility(statistic) && statistic.at("utility").contains("expected_bias");
    };
    if (std::any_of(json_.at("statistics").begin(), json_.at("statistics").end(), has_guesses))
      text += "expected bias: the mean of E[out] - value over the guesses, which nothing else depends on.\n";
    if (json_.contains("certificate")) {  // reports of older versions have none
      const Json& certificate = json_.at("certificate");
      text += "certificate: the privacy loss of these statistics together is at most " +
              short_number(rational_of(certificate.at("bound"))) + ".\n";
    }
    for (const Json& statistic : json_.at("statistics")) {
      text += range_note(statistic);
      const std::string name = name_of(statistic);
      if (statistic.contains("constant")) {
        text += name + ": a public constant; released exactly, without noise and without cost.\n";
      } else if (statistic.contains("rank_error")) {
        text += quantile_note(statistic);
      } else if (statistic.at("accuracy").is_null() && !statistic.contains("value") &&
                 !(statistic.contains("groups") && statistic.at("groups").at(0).contains("value"))) {
        const bool by_size = statistic.at("kind") != "correlation" && !statistic.contains("groups");
        text += name + ": how far it may be off depends on its noisy parts and is told with the release" +
                (by_size ? ", or here with expected_size.\n" : ".\n");
      }
    }
    return text;
  }

 private:
  void add_bins(TextTable& table, const Json& statistic, const Json& bins, const std::string& indent) const {
    for (const Json& bin : bins)
      table.add({indent + bin.at("bin").get<std::string>(), value_cell(statistic, bin.at("value"))});
  }

  void add_quantiles(TextTable& table, const Json& statistic, const Json& quantiles,
                     const std::string& indent) const {
    for (const Json& quantile : quantiles) {
      table.add({indent + quantile.at("q").get<std::string>(), quantile_cell(quantile),
                 interval_cell(statistic, quantile)});
    }
  }

  // A quantile, with the digits that the farther end of its interval makes worth showing.
  static std::string quantile_cell(const Json& quantile) {
    const Rational value = rational_of(quantile.at("value"));
    const Rational lower = rational_of(quantile.at("interval").at(0));
    const Rational upper = rational_of(quantile.at("interval").at(1));
    const Rational farther = std::max(Rational(value - lower), Rational(upper - value));
    return at_grid_resolution(value, Rational(farther / 100));
  }
  std::string interval_cell(const Json& statistic, const Json& quantile) const {
    const Json& interval = quantile.at("interval");
    return "[" + end_text(interval.at(0)) + ", " + end_text(interval.at(1)) + "]" +
           level(statistic.at("alpha"));
  }

  // What was chosen as the range of a statistic; its own public range goes without saying.
  static std::string range_note(const Json& statistic) {
    if (!statistic.contains("range"))
      return "";  // reports of older versions, and what has no number of its own
    const Json& range = statistic.at("range");
    const std::string choice = range.at("choice");
    const std::string name = name_of(statistic) + ": ";
    if (choice == "public") return "";
    if (choice == "none") return name + "values and outputs are not clamped.\n";
    const auto end = [](const Json& bound) { return to_string(to_double_nearest(rational_of(bound))); };
    const Json& lower = range.at("lower");
    const Json& upper = range.at("upper");
    const std::string ends = lower.is_null()   ? end(upper) + " or less"
                             : upper.is_null() ? end(lower) + " or more"
                                               : "[" + end(lower) + ", " + end(upper) + "]";
    const std::string clamped = name + "values and outputs are clamped to " + ends;
    if (choice == "declared") {
      return clamped + ", as declared; accuracies are about the exact value clamped to it.\n";
    }
    const bool many = statistic.contains("bins") || statistic.contains("groups");
    return clamped + ", the public range widened so that a clamp binds with probability at most " +
           short_number(rational_of(range.at("gamma"))) + (many ? ", each number for itself.\n" : ".\n");
  }

  // What is certain of quantiles: nothing about ranks inside a bin, where rows cannot be told apart.
  static std::string quantile_note(const Json& statistic) {
    const Json& error = statistic.at("rank_error");
    const std::string rows = error.is_number() ? round_up_to_digits(rational_of(error), 3) : "any number of";
    const std::string every =
        statistic.contains("groups") ? "every quantile of every group" : "every quantile";
    return name_of(statistic) + ": with probability " + confidence(rational_of(statistic.at("alpha"))) +
           ", for " + every +
           " at once: the exact one lies in the interval [lower, upper] told with the\n  release, and ranks "
           "are right to " +
           rows + " rows at the edges around the released one: of N rows, at most q N + " + rows +
           "\n  lie below its bin and at least q N - " + rows +
           " below the end of its bin. Inside a bin rows cannot be told apart.\n";
  }

  // No "\xc2\xb1" stands without its level: in the header when it is the same everywhere, else behind each number.
  std::string header(const std::string& title) const {
    return same_alpha_ && !alpha_.empty() ? title + " " + confidence(parse_exact(alpha_, "alpha")) : title;
  }

  std::string accuracy_cell(const Json& part) const {
    const Json& accuracy = part.at("accuracy");
    if (!accuracy.is_object()) return "";
    const Json& tight = accuracy.at("tight");
    const std::string number = tight.is_number() ? round_up_to_digits(rational_of(tight), 3) : "unbounded";
    return "\xc2\xb1" + number + level(accuracy.at("alpha"));
  }

  // The probability that a cell holds with, where the header does not tell it for all.
  std::string level(const Json& alpha) const {
    return same_alpha_ ? "" : " (" + confidence(rational_of(alpha)) + ")";
  }

  std::string simultaneous_cell(const Json& part) const {
    const Json& accuracy = part.at("accuracy");
    if (!accuracy.is_object() || !accuracy.contains("simultaneous")) return "";
    const Json& number = accuracy.at("simultaneous");
    return "\xc2\xb1" + (number.is_number() ? round_up_to_digits(rational_of(number), 3) : "unbounded") +
           level(accuracy.at("alpha"));
  }

  const Json& json_;
  std::string alpha_;
  bool same_alpha_ = true;
  bool shows_accuracy_ = false;  // not intervals of quantiles alone
};

std::string data_line(const Json& json) {
  return shown_text(
      json.at("dataset").get<std::string>() + " (" + json.at("neighbors").get<std::string>() + " neighbors" +
      (json.contains("privacy_unit") ? ", unit " + json.at("privacy_unit").get<std::string>() + ", at most " +
                                           json.at("max_rows_per_unit").dump() + " rows each"
                                     : "") +
      (json.contains("where") ? ", where " + json.at("where").get<std::string>() : "") +
      (json.contains("size") ? ", " + json.at("size").dump() + " rows" : "") + ")");
}

// One line for each change that would save something. An epsilon that stays as it is goes without saying.
std::string savings_text(const Json& json) {
  std::string text;
  const auto shown = [](const Json& number) { return round_up_to_digits(rational_of(number), 3); };
  for (const Json& saving : json.at("savings")) {
    const Json& accuracy = saving.at("accuracy");
    text += shown_text(saving.at("statistic").get<std::string>()) + ": " +
            saving.at("change").get<std::string>() + " would give \xc2\xb1" +
            (accuracy.is_number() ? shown(accuracy) : "unbounded");
    for (const Json& statistic : json.at("statistics")) {
      if (statistic.at("name") != saving.at("statistic")) continue;
      if (const std::optional<std::string> alpha = alpha_of(statistic))
        text += " (" + confidence(parse_exact(*alpha, "alpha")) + ")";
      if (statistic.at("epsilon") != saving.at("epsilon"))
        text += " for epsilon " + short_number(rational_of(saving.at("epsilon")));
    }
    if (saving.contains("exact_probability")) {
      const Json& exact = saving.at("exact_probability");
      text += ", exact with probability " + shown(exact.at(1)) + " instead of " + shown(exact.at(0));
    }
    text += ".\n";
  }
  return text.empty() ? "" : "What other choices would give:\n" + text + "\n";
}

std::string report_text(const Plan& plan, const std::vector<ShownValues>& values, Json release,
                        const Rational& spent, const Rational& remaining) {
  Json json;
  json["release"] = std::move(release);
  json.update(data_json(plan.specification()));
  json["statistics"] = Json::array();
  for (std::size_t i = 0; i < plan.statistics().size(); ++i) {
    json["statistics"].push_back(statistic_json(plan.statistics()[i], values[i]));
  }
  json["certificate"] = certificate_json(plan.certificate());
  json["ledger"] = {{"spent", to_string(spent)}, {"remaining", to_string(remaining)}};
  return to_text(json);
}

// Numbers that a report lists for a statistic: of every bin, quantile or part of every group. In doubles, so that no
// product overflows.
double listed_values(const PlannedStatistic& statistic) {
  const std::size_t of_group =
      std::max({statistic.bins.size(), statistic.specification.quantiles.size(), std::size_t{1}});
  return static_cast<double>(of_group) * static_cast<double>(std::max(statistic.groups, std::size_t{1}));
}

[[noreturn]] void refuse_length(const Plan& plan, const std::string& how, double bytes) {
  const auto fewer = [](const auto& a, const auto& b) { return listed_values(a) < listed_values(b); };
  const PlannedStatistic& largest =
      *std::max_element(plan.statistics().begin(), plan.statistics().end(), fewer);
  constexpr double mebibyte = 1 << 20;
  const auto rounded = [](double number) { return Integer(std::ceil(number)).get_str(); };
  throw Error(
      ErrorCode::invalid_argument, "statistic",
      plan.specification().place(largest.specification) + "the report would have " + how + " " +
          rounded(bytes / mebibyte) + " MiB, and a ledger keeps at most " +
          std::to_string(Ledger::max_text_bytes >> 20) + " MiB; this statistic lists " +
          rounded(listed_values(largest)) +
          " of its values: use fewer keys, bins, categories or quantiles, or split the specification");
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
  // A report is made of small parts, written to a text that grows by doubling, and copied on its way into the ledger:
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

Json plan_json(const Plan& plan) {
  Json json = data_json(plan.specification());
  json["statistics"] = Json::array();
  for (const PlannedStatistic& statistic : plan.statistics()) {
    json["statistics"].push_back(statistic_json(statistic, ShownValues::none()));
  }
  json["certificate"] = certificate_json(plan.certificate());
  json["budget"] = {{"epsilon", to_string(plan.specification().budget)},
                    {"planned", to_string(plan.epsilon())}};
  json["savings"] = Json::array();
  for (const Saving& saving : plan.savings()) {
    Json entry = {{"statistic", saving.statistic},
                  {"change", saving.change},
                  {"accuracy", std::isfinite(saving.accuracy) ? Json(saving.accuracy) : Json()},
                  {"epsilon", to_string(saving.epsilon)}};
    if (saving.exact) entry["exact_probability"] = {*saving.exact_now, *saving.exact};
    json["savings"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

std::string Plan::to_json() const {
  const FloatEnvironment environment;
  return to_text(plan_json(*this));
}

std::string Plan::to_table(const TableStyle& style) const {
  const FloatEnvironment environment;
  const Json json = plan_json(*this);
  const StatisticTable table(json);
  return "Plan for " + data_line(json) + "\n\n" + table.plan(style) + "\n" + table.utility(style) +
         savings_text(json) + table.notes() + "This run costs epsilon " + short_number(epsilon_) +
         " of the " + short_number_down(specification_.budget) + " that [budget] allows.\n";
}

Report::Report(const Plan& plan, const std::vector<std::vector<std::vector<Dyadic>>>& values,
               std::optional<std::int64_t> release, const Rational& spent, const Rational& remaining) {
  const FloatEnvironment environment;
  std::vector<ShownValues> shown;
  for (const std::vector<std::vector<Dyadic>>& of_statistic : values)
    shown.push_back(ShownValues::of(of_statistic));
  json_ = report_text(plan, shown, release ? Json(*release) : Json(), spent, remaining);
}

Report::Rehearsal Report::rehearse(const Plan& plan) {
  const FloatEnvironment environment;
  check_number_of_values(plan);
  // Beyond what a ledger allows: its fractions have at most so many digits, their difference three times as many.
  Integer nines;
  mpz_ui_pow_ui(nines.get_mpz_t(), 10, 3 * Ledger::max_number_digits);
  const Rational longest_number(Integer(nines - 1), nines);
  const std::vector<ShownValues> longest(plan.statistics().size(), ShownValues::longest());
  const std::string text = report_text(plan, longest, Json(std::numeric_limits<std::int64_t>::max()),
                                       longest_number, longest_number);
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
  Report report{std::string(text)};
  try {
    report.to_table();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception&) {
    throw Error(ErrorCode::bad_data, "report", "report: the stored text is not a report of this program");
  }
  return report;
}

std::string Report::to_table(const TableStyle& style) const {
  const FloatEnvironment environment;
  const Json json = Json::parse(json_);
  const StatisticTable table(json);
  const Json& release = json.at("release");
  return (release.is_null() ? "Statistics" : "Release " + release.dump()) + " of " + data_line(json) +
         "\n\n" + table.report(style) + "\n" + table.notes() + "Ledger: epsilon " +
         short_number(rational_of(json.at("ledger").at("spent"))) + " spent, " +
         short_number_down(rational_of(json.at("ledger").at("remaining"))) + " remaining.\n";
}

}  // namespace snapdp
