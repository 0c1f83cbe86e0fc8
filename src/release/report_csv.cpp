// Reports as comma-separated values, RFC 4180.
#include <cmath>

#include "release/report_model.h"
#include "release/report_numbers.h"

namespace snapdp::release_internal {
namespace {

// Between quotes where the text has a comma, a quote or the end of a line.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// A key that came from the rows: where spreadsheets would compute it, a ' comes first, as they show texts.
std::string cell_of_found_key(const std::string& text) {
  const bool computes =
      !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
  return cell(computes ? "'" + text : text);
}

// The double next to the end, outward; blank where there is none.
std::string end(const std::optional<Rational>& end, double (*round)(const Rational&)) {
  if (!end) return "";
  const double rounded = round(*end);
  return std::isfinite(rounded) ? to_string(rounded) : "";
}

// Two fields, blank where nothing is told of the population.
std::string population(const ShownInterval* interval) {
  if (interval == nullptr) return ",";
  const auto field = [](double end) { return std::isfinite(end) ? to_string(end) : ""; };
  return field(interval->lower) + "," + field(interval->upper);
}

}  // namespace

std::string report_csv(const ReportModel& model) {
  std::string text =
      "statistic,group,bin,value,lower,upper,alpha,epsilon,population_lower,population_upper\r\n";
  for (const ShownStatistic& statistic : model.statistics) {
    const std::string name = cell(statistic.name);
    const std::string alpha = alpha_of(statistic).value_or("0");
    for_each_number(model, statistic, [&](const ReportedNumber& number) {
      const std::string group = number.entry == &statistic.all ? "" : number.entry->key.text;
      const std::string bin = number.bin != nullptr           ? number.bin->label
                              : number.quantile != nullptr    ? number.quantile->q
                              : number.chosen != nullptr      ? to_string(number.value)
                              : number.coefficient != nullptr ? number.coefficient->name
                                                              : "";
      for (const std::string& field :
           {name, statistic.private_keys && number.entry->key.quoted ? cell_of_found_key(group) : cell(group),
            cell(bin), cell(released_text(number)), end(number.interval.lower, to_double_down),
            end(number.interval.upper, to_double_up), alpha, statistic.noise.epsilon.text})
        text += field + ",";
      text += population(number.population) + "\r\n";
    });
  }
  return text;
}

}  // namespace snapdp::release_internal
