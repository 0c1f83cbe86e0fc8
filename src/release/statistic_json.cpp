#include "release/statistic_json.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "framework/shared/memory_reserve.h"
#include "release/kinds/kind.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/bias.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/version.h"

namespace snapdp::release_internal {
namespace {

// Numbers that a JSON reader's double holds exactly; integers are exact in it up to 2^53.
Json value_json(const Dyadic& value, bool integer) {
  const Dyadic largest(Integer(1), 53);
  if (integer && value.is_integer() && abs(value) <= largest) return value.rational().get_num().get_si();
  if ((integer && value.is_integer()) || !value.is_double()) return to_string(value);
  return value.to_double_nearest();
}

bool is_integer(const PlannedMeasurement& planned) {
  return planned.measurement.aggregation().output_domain().integer;
}

std::size_t bits(const Integer& value) {
  return mpz_sizeinbase(value.get_mpz_t(), 2);
}

// As long as value_json of whatever the mechanism may give, or longer. Between two bounds all outputs are doubles or
// integers.
Json longest_value(const PlannedMeasurement& planned) {
  const Mechanism& mechanism = planned.measurement.mechanism();
  if (mechanism.lower() && mechanism.upper() && !is_integer(planned)) return longest_double;
  // All binary digits are ones, so that the fraction does not reduce.
  const Integer ones = (Integer(1) << bits(framework_internal::most_steps(planned.measurement))) - 1;
  std::string text = mechanism.grid().value(Integer(-ones)).rational().get_str();
  // Fewer than 41 digits are written as a decimal, which with its sign, point and zeros or exponent is shorter than this.
  constexpr std::size_t longest_decimal = 50;
  if (text.size() < longest_decimal) text.resize(longest_decimal, '9');
  return text;
}

// Accuracies beyond the largest double are null.
Json accuracy_number(double accuracy) {
  return std::isfinite(accuracy) ? Json(accuracy) : Json();
}

Json accuracy_json(const Rational& alpha, double conservative, double tight) {
  return {{"alpha", to_string(alpha)},
          {"conservative", accuracy_number(conservative)},
          {"tight", accuracy_number(tight)}};
}

// What values and outputs are clamped to, and by whose choice; ends as text, null where there is none.
Json range_json(const Mechanism& mechanism, const RangeChoice& choice) {
  const auto end = [](const std::optional<double>& bound) {
    return bound ? Json(to_string(Dyadic(*bound))) : Json();
  };
  Json json = {{"choice", to_string(choice.kind())},
               {"lower", end(mechanism.lower())},
               {"upper", end(mechanism.upper())}};
  if (choice.gamma()) json["gamma"] = to_string(choice.gamma()->value());
  return json;
}

void add_mechanism(Json& json, const PlannedMeasurement& planned, const RangeChoice& range) {
  const Measurement& measurement = planned.measurement;
  json["epsilon"] = to_string(planned.epsilon);
  json["sensitivity"] = to_string(measurement.mechanism().sensitivity());
  json["scale"] = to_string(Dyadic(measurement.mechanism().scale()));
  json["grid"] = to_string(measurement.mechanism().grid().spacing());
  const Mechanism& mechanism = measurement.mechanism();
  json["mode"] = mode_name(mechanism.kind());
  if (mechanism.kind() == NoiseKind::notes) json["precision"] = mechanism.noise().precision;
  json["noise"] = noise_name(mechanism.kind());
  json["range"] = range_json(mechanism, range);
  json["loss_bound"] = to_string(mechanism.stated_loss());
  json["loss_basis"] = mechanism.loss_is_proved() ? "proved" : "claimed by the notes";
  json["certificate"] = certificate_json(planned.certificate);
}

// Where the values may lie that the mechanism clamps and adds noise to, in terms of its noise about the origin: the public range
// as far as it lies between the bounds. Nothing without bounds; a single bound itself, where a clamp is likeliest.
std::optional<StatisticRange> values_of(const Measurement& measurement, const Noise& noise) {
  if (!noise.lower && !noise.upper) return std::nullopt;
  StatisticRange values{noise.lower.value_or(*(noise.lower ? noise.lower : noise.upper)),
                        noise.upper.value_or(*(noise.upper ? noise.upper : noise.lower))};
  const std::optional<StatisticRange> own = public_range(measurement.aggregation().output_domain());
  if (!own) return values;
  const Rational origin = measurement.mechanism().noise().origin().rational();
  const double lowest = to_double_down(Rational(own->lower) - origin);
  const double highest = to_double_up(Rational(own->upper) - origin);
  if (noise.lower) values.lower = std::max(*noise.lower, lowest);
  if (noise.upper) values.upper = std::min(*noise.upper, highest);
  return values;
}

// What is known beforehand about one noisy number. The bias and the probability of a clamp are for the worst value that
// the statistic may have between the bounds; null where outputs lie more than 2^53 grid steps out, beyond what the law is
// computed for.
Json utility_json(const PlannedMeasurement& planned) {
  const Mechanism& mechanism = planned.measurement.mechanism();
  Json json = {{"conservative", accuracy_number(planned.accuracy.conservative)},
               {"tight", accuracy_number(planned.accuracy.tight)},
               {"laplace", accuracy_number(planned.accuracy.laplace)}};
  json["worst_bias"] = nullptr;
  json["binding_probability"] = nullptr;
  const Noise noise = mechanism.noise().centered();
  try {
    const std::optional<StatisticRange> values = values_of(planned.measurement, noise);
    const bool both = noise.lower && noise.upper;
    const StatisticDomain& domain = planned.measurement.aggregation().output_domain();
    std::optional<Grid> grid;
    if (domain.integer) grid = mechanism.noise().centered(domain.grid);
    const WorstBias worst = both ? worst_bias(noise, *values, grid) : worst_bias(noise, grid);
    json["worst_bias"] = accuracy_number(std::abs(worst.bias));
    json["binding_probability"] = values ? binding_probability(noise, *values) : 0.0;
  } catch (const Error&) {
    return json;
  }
  return json;
}

Dyadic post_process(const Dyadic& value, const StatisticSpecification& specification) {
  return specification.nonnegative && value < Dyadic(0) ? Dyadic(0) : value;
}

// Value `index` of measurement `part`, as it is: of parts.
Json part_json(const PlannedStatistic& statistic, const ShownValues& values, std::size_t part,
               std::size_t index) {
  const PlannedMeasurement& planned = statistic.measurements[part];
  if (values.released() == nullptr) return longest_value(planned);
  return value_json((*values.released())[part][index], is_integer(planned));
}

// A key as the specification has it: a text, or a number.
Json key_json(const StatisticSpecification& specification, std::size_t group) {
  if (!specification.key_texts.empty()) return specification.key_texts[group];
  const Rational& key = specification.key_numbers[group];
  if (key.get_den() == 1 && key.get_num().fits_slong_p()) return key.get_num().get_si();
  return to_double_nearest(key);  // finite: the plan refuses keys beyond the doubles
}

// What the parts give, and how far it may be off. `group` counts groups; each part has one number a group.
void add_composed_value(Json& json, const PlannedStatistic& statistic, const ShownValues& values,
                        std::size_t group) {
  if (values.released() == nullptr) {
    json["value"] = longest_double;
    json["accuracy"] = accuracy_json(statistic.specification.alpha, longest_double, longest_double);
    if (statistic.groups > 0) json["accuracy"]["simultaneous"] = longest_double;
    return;
  }
  const auto composed = [&](const std::function<double(const PlannedMeasurement&)>& accuracy) {
    ReleasedParts parts;
    for (std::size_t i = 0; i < statistic.measurements.size(); ++i) {
      const PlannedMeasurement& part = statistic.measurements[i];
      parts[part.part] = {(*values.released())[i][group], accuracy(part)};
    }
    return kind_of(statistic.specification).compose(parts, statistic.bounds);
  };
  const Composed tight = composed([](const PlannedMeasurement& part) { return part.accuracy.tight; });
  const Composed conservative =
      composed([](const PlannedMeasurement& part) { return part.accuracy.conservative; });
  json["value"] = tight.value;
  json["accuracy"] = accuracy_json(statistic.specification.alpha, conservative.accuracy, tight.accuracy);
  if (statistic.groups == 0) return;
  const Composed all = composed([](const PlannedMeasurement& part) { return part.simultaneous; });
  json["accuracy"]["simultaneous"] = accuracy_number(all.accuracy);
}

// What is released itself, or the same of each group.
void add_released(Json& json, const PlannedStatistic& statistic, const ShownValues& values) {
  const Kind& kind = kind_of(statistic.specification);
  if (statistic.groups == 0) {
    kind.add_values(json, statistic, values, 0);
    return;
  }
  json["groups"] = Json::array();
  for (std::size_t group = 0; group < statistic.groups; ++group) {
    Json entry = {{"key", key_json(statistic.specification, group)}};
    kind.add_values(entry, statistic, values, group);
    json["groups"].push_back(std::move(entry));
  }
}

// What is read off hierarchies of counts: what holds is a number of rows at the edges around a quantile, and an interval of
// values after the release; for all quantiles of all groups at once.
void add_hierarchy(Json& json, const PlannedStatistic& statistic, const ShownValues& values) {
  json["edges"] = statistic.hierarchy->leaves() + 1;
  json["nodes"] = statistic.hierarchy->nodes();
  json["rank_error"] = accuracy_number(statistic.rank_error);
  json["alpha"] = to_string(statistic.specification.alpha);
  add_mechanism(json, statistic.measurements.front(), statistic.specification.range);
  json["accuracy"] = nullptr;  // in rows, at the edges: rank_error; in values: interval
  add_released(json, statistic, values);
}

// A statistic that is computed from parts: the parts, the value, and how far it may be off.
void add_composed(Json& json, const PlannedStatistic& statistic, const ShownValues& values) {
  const Rational& alpha = statistic.specification.alpha;
  Json parts = Json::array();
  for (std::size_t i = 0; i < statistic.measurements.size(); ++i) {
    const PlannedMeasurement& planned = statistic.measurements[i];
    Json part = {{"name", planned.part}};
    if (values.any() && statistic.groups == 0) part["value"] = part_json(statistic, values, i, 0);
    std::vector<std::string> centers;
    for (const Dyadic& center : planned.centers) centers.push_back(to_string(center));
    if (centers.size() == 1) part["center"] = centers.front();
    if (centers.size() > 1) part["centers"] = centers;
    add_mechanism(part, planned, statistic.specification.range);
    part["accuracy"] = accuracy_json(part_alpha(statistic.specification), planned.accuracy.conservative,
                                     planned.accuracy.tight);
    if (!values.any()) part["utility"] = utility_json(planned);
    parts.push_back(std::move(part));
  }
  json["accuracy"] = nullptr;
  if (statistic.groups > 0) {
    // Each group has its own accuracy.
    json["groups"] = Json::array();
    for (std::size_t group = 0; group < statistic.groups; ++group) {
      Json entry = {{"key", key_json(statistic.specification, group)}};
      if (values.any()) {
        add_composed_value(entry, statistic, values, group);
        entry["parts"] = Json::array();
        for (std::size_t i = 0; i < statistic.measurements.size(); ++i) {
          entry["parts"].push_back(
              {{"name", statistic.measurements[i].part}, {"value", part_json(statistic, values, i, group)}});
        }
      }
      json["groups"].push_back(std::move(entry));
    }
  } else if (values.any()) {
    add_composed_value(json, statistic, values, 0);
  } else if (statistic.accuracy) {
    json["accuracy"] = accuracy_json(alpha, statistic.accuracy->conservative, statistic.accuracy->tight);
    json["utility"] = {{"conservative", accuracy_number(statistic.accuracy->conservative)},
                       {"tight", accuracy_number(statistic.accuracy->tight)},
                       {"laplace", accuracy_number(statistic.accuracy->laplace)}};
  }
  json["parts"] = std::move(parts);
  json["epsilon"] = to_string(statistic.epsilon);
  json["sensitivity"] = nullptr;  // each part has its own
  json["scale"] = nullptr;
  json["grid"] = nullptr;
  json["loss_bound"] = to_string(statistic.loss_bound);
  json["certificate"] = certificate_json(statistic.certificate);
}

}  // namespace

Json single_json(const PlannedStatistic& statistic, const ShownValues& values, std::size_t index) {
  const PlannedMeasurement& planned = statistic.measurements.front();
  if (values.released() == nullptr) return longest_value(planned);
  return value_json(post_process(values.released()->front()[index], statistic.specification),
                    is_integer(planned));
}

Json certificate_json(const Certificate& certificate) {
  Json json = {{"witness", certificate.witness_text()}, {"bound", certificate.bound_text()}};
  if (certificate.notes_claim) {
    json["notes_claim"] = certificate.notes_claim_text();
    json["notes_claim_holds"] = certificate.notes_claim_holds();
  }
  return json;
}

Json statistic_json(const PlannedStatistic& statistic, const ShownValues& values) {
  const StatisticSpecification& specification = statistic.specification;
  Json json = {{"name", specification.name}, {"kind", to_string(specification.kind)}};
  if (!specification.columns.empty()) json["columns"] = specification.columns;
  kind_of(specification).add_keys(json, specification);
  if (specification.group_by) json["group_by"] = *specification.group_by;
  if (const std::optional<GroupLimit>& limit = specification.groups_per_unit) {
    json["max_groups_per_unit"] = limit->max_groups;
    json["max_rows_per_group_per_unit"] = limit->max_rows;
  }
  if (!statistic.bounds.empty() && !statistic.hierarchy) {
    json["bounds"] = Json::array();
    for (const Bounds& bounds : statistic.bounds) {
      json["bounds"].push_back(Json::array({to_string(bounds.lower()), to_string(bounds.upper())}));
    }
  }
  const Rational& alpha = specification.alpha;
  if (statistic.constant) {
    const bool integer = specification.columns.empty() || specification.type == AtomType::integer;
    json["value"] = value_json(*statistic.constant, integer);
    json["constant"] = true;
    for (const char* key : {"epsilon", "sensitivity", "scale", "grid", "loss_bound"}) json[key] = "0";
    json["certificate"] = certificate_json(statistic.certificate);
    json["accuracy"] = accuracy_json(alpha, 0, 0);
    return json;
  }
  if (!specification.split.empty()) {
    add_composed(json, statistic, values);
    return json;
  }
  if (statistic.hierarchy) {
    add_hierarchy(json, statistic, values);
    return json;
  }
  add_released(json, statistic, values);
  add_mechanism(json, statistic.measurements.front(), specification.range);
  json["accuracy"] = accuracy_json(alpha, statistic.accuracy->conservative, statistic.accuracy->tight);
  if (statistic.accuracy->simultaneous) {
    json["accuracy"]["simultaneous"] = accuracy_number(*statistic.accuracy->simultaneous);
  }
  if (!values.any()) {
    json["utility"] = utility_json(statistic.measurements.front());
    if (statistic.expected_bias) json["utility"]["expected_bias"] = accuracy_number(*statistic.expected_bias);
  }
  return json;
}

Json data_json(const Specification& specification) {
  Json json = {{"snapdp", version()},
               {"dataset", specification.data.dataset},
               {"neighbors", to_string(specification.data.neighbors)}};
  if (specification.data.size) json["size"] = *specification.data.size;
  if (specification.data.privacy_unit) {
    json["privacy_unit"] = *specification.data.privacy_unit;
    json["max_rows_per_unit"] = specification.data.max_rows_per_unit;
  }
  if (specification.data.where) json["where"] = specification.data.where->text();
  return json;
}

std::string to_text(const Json& json) {
  return escape_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

std::string confidence(const Rational& alpha) {
  const std::string percent = to_string(Rational((1 - alpha) * 100));
  constexpr std::size_t longest = 7;
  if (percent.size() <= longest) return percent + "%";
  return "1 - " + short_number(alpha);
}

}  // namespace snapdp::release_internal
