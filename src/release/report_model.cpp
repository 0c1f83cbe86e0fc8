#include "release/report_model.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "framework/shared/memory_reserve.h"
#include "release/differences.h"
#include "release/kinds/kind.h"
#include "release/kinds/population.h"
#include "release/report_numbers.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/privacy/composition_bounds.h"
#include "snapdp/version.h"

namespace snapdp::release_internal {
namespace {

// Numbers that a JSON reader's double holds exactly; integers are exact in it up to 2^53.
ShownNumber number_of(const Dyadic& value, bool integer) {
  const Dyadic largest(Integer(1), 53);
  const bool whole = integer && value.is_integer();
  if (whole && abs(value) <= largest) return {value.rational().get_num().get_str()};
  if (whole || !value.is_double()) return ShownNumber::quote(to_string(value));
  return ShownNumber::of(value.to_double_nearest());
}

bool is_integer(const PlannedMeasurement& planned) {
  return planned.measurement.aggregation().output_domain().integer;
}

std::size_t bits(const Integer& value) {
  return mpz_sizeinbase(value.get_mpz_t(), 2);
}

// As long as number_of() whatever the mechanism may give, or longer. Between two bounds all outputs are doubles or
// integers.
ShownNumber longest_value(const PlannedMeasurement& planned) {
  const Mechanism& mechanism = planned.measurement.mechanism();
  if (mechanism.lower() && mechanism.upper() && !is_integer(planned)) return ShownNumber::of(longest_double);
  // All binary digits are ones, so that the fraction does not reduce.
  const Integer ones = (Integer(1) << bits(framework_internal::most_steps(planned.measurement))) - 1;
  std::string text = mechanism.grid().value(Integer(-ones)).rational().get_str();
  // Fewer than 41 digits are written as a decimal, which with its sign, point and zeros or exponent is shorter than this.
  constexpr std::size_t longest_decimal = 50;
  if (text.size() < longest_decimal) text.resize(longest_decimal, '9');
  return ShownNumber::quote(std::move(text));
}

// What values and outputs are clamped to, and by whose choice.
ShownRange range_of(const Mechanism& mechanism, const RangeChoice& choice) {
  ShownRange range{to_string(choice.kind()), {}, {}, {}};
  if (mechanism.lower()) range.lower = ShownNumber::quote(to_string(Dyadic(*mechanism.lower())));
  if (mechanism.upper()) range.upper = ShownNumber::quote(to_string(Dyadic(*mechanism.upper())));
  if (choice.gamma()) range.gamma = ShownNumber::quote(to_string(choice.gamma()->value()));
  return range;
}

ShownCertificate certificate_of(const Certificate& certificate) {
  ShownCertificate shown{certificate.witness_text(), ShownNumber::quote(certificate.bound_text()), {}, true};
  if (certificate.notes_claim) {
    shown.notes_claim = certificate.notes_claim_text();
    shown.notes_claim_holds = certificate.notes_claim_holds();
  }
  return shown;
}

ShownNoise noise_of_choice(const PlannedMeasurement& planned) {
  const Choice& choice = planned.measurement.choice();
  ShownNoise noise;
  noise.epsilon = ShownNumber::quote(to_string(planned.epsilon));
  noise.sensitivity = ShownNumber::quote(to_string(choice.sensitivity()));
  noise.mode = mode_name(NoiseKind::exact);
  noise.noise = "permute-and-flip";
  noise.loss_bound = to_string(planned.loss_bound);
  noise.loss_basis = "proved";
  noise.certificate = certificate_of(planned.certificate);
  return noise;
}

ShownNoise noise_of(const PlannedMeasurement& planned, const RangeChoice& range) {
  if (planned.measurement.is_choice()) return noise_of_choice(planned);
  const Mechanism& mechanism = planned.measurement.mechanism();
  ShownNoise noise;
  noise.epsilon = ShownNumber::quote(to_string(planned.epsilon));
  noise.delta = planned.delta;
  noise.sensitivity = ShownNumber::quote(to_string(mechanism.sensitivity()));
  noise.scale = ShownNumber::quote(to_string(Dyadic(mechanism.scale())));
  noise.grid = ShownNumber::quote(to_string(mechanism.grid().spacing()));
  noise.mode = mode_name(mechanism.kind());
  if (mechanism.kind() == NoiseKind::notes) noise.precision = mechanism.noise().precision;
  noise.noise = noise_name(mechanism.kind());
  noise.range = range_of(mechanism, range);
  noise.loss_bound = to_string(planned.loss_bound);
  noise.loss_basis = mechanism.loss_is_proved() ? "proved" : "claimed by the notes";
  noise.certificate = certificate_of(planned.certificate);
  return noise;
}

// Where the values may lie that the mechanism clamps and adds noise to, in terms of its noise about the origin: the
// public range as far as it lies between the bounds. Nothing without bounds; a single bound itself, where a clamp is likeliest.
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
// the statistic may have between the bounds; unknown where outputs lie more than 2^53 grid steps out, beyond what the law is
// computed for.
ShownUtility utility_of(const PlannedMeasurement& planned) {
  const Mechanism& mechanism = planned.measurement.mechanism();
  const Accuracy& accuracy = planned.accuracy;
  ShownUtility utility{accuracy.conservative, accuracy.tight, accuracy.laplace, ShownUtility::Law{}, {}};
  const Noise noise = mechanism.noise().centered();
  try {
    const std::optional<StatisticRange> values = values_of(planned.measurement, noise);
    const bool both = noise.lower && noise.upper;
    const StatisticDomain& domain = planned.measurement.aggregation().output_domain();
    std::optional<Grid> grid;
    if (domain.integer) grid = mechanism.noise().centered(domain.grid);
    const WorstBias worst = both ? worst_bias(noise, *values, grid) : worst_bias(noise, grid);
    utility.law->worst_bias = std::abs(worst.bias);
    utility.law->binding_probability = values ? binding_probability(noise, *values) : 0.0;
  } catch (const Error&) {
    return utility;
  }
  return utility;
}

// Value `index` of part `part`, as it is.
ShownNumber part_number(const PlannedStatistic& statistic, const ShownValues& values, std::size_t part,
                        std::size_t index) {
  const PlannedMeasurement& planned = statistic.measurements[part];
  if (values.released() == nullptr) return longest_value(planned);
  return number_of((*values.released())[part][index], is_integer(planned));
}

// A key as the specification has it: a text, or a number.
ShownNumber key_of(const StatisticSpecification& specification, std::size_t group) {
  if (!specification.key_texts.empty()) return ShownNumber::quote(specification.key_texts[group]);
  const Rational& key = specification.key_numbers[group];
  if (key.get_den() == 1 && key.get_num().fits_slong_p()) return {key.get_num().get_str()};
  return ShownNumber::of(to_double_nearest(key));  // finite: the plan refuses keys beyond the doubles
}

// What the parts give, and how far it may be off. `group` counts groups; each part has one number a group.
void add_composed(ShownEntry& entry, const PlannedStatistic& statistic, const ShownValues& values,
                  std::size_t group) {
  const std::string alpha = to_string(statistic.specification.alpha);
  const bool grouped = statistic.groups > 0;
  if (values.released() == nullptr) {
    entry.value = ShownNumber::of(longest_double);
    entry.accuracy = ShownAccuracy{alpha, longest_double, longest_double, {}};
    if (grouped) entry.accuracy->simultaneous = longest_double;
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
  const Composed conservative =
      composed([](const PlannedMeasurement& part) { return part.accuracy.conservative; });
  const NoisyParts noisy = noisy_parts_of(statistic, values, group);
  const auto accuracy = [&](const Rational& rate) {
    return kind_of(statistic.specification).joint_accuracy(noisy, statistic.bounds, rate);
  };
  const double tight = accuracy(statistic.specification.alpha);
  entry.value = ShownNumber::of(conservative.value);
  entry.accuracy = ShownAccuracy{alpha, std::max(conservative.accuracy, tight), tight, {}};
  if (grouped) {
    const Rational groups(Integer(static_cast<unsigned long>(statistic.groups)));
    entry.accuracy->simultaneous = accuracy(Rational(statistic.specification.alpha / groups));
  }
}

// What is released of all rows, or of group `group`.
ShownEntry entry_of(const PlannedStatistic& statistic, const ShownValues& values, std::size_t group) {
  ShownEntry entry;
  if (statistic.groups > 0) entry.key = key_of(statistic.specification, group);
  entry.population = population_mean_of(statistic, values, group, statistic.specification.alpha);
  const Kind& kind = kind_of(statistic.specification);
  if (statistic.specification.split.empty() || kind.has_coefficients())
    kind.add_values(entry, statistic, values, group);
  if (statistic.specification.split.empty() || !values.any()) return entry;
  if (!kind.has_coefficients()) add_composed(entry, statistic, values, group);
  if (statistic.groups == 0) return entry;
  entry.parts.reserve(statistic.measurements.size());
  for (std::size_t i = 0; i < statistic.measurements.size(); ++i)
    entry.parts.push_back(part_number(statistic, values, i, group));
  return entry;
}

ShownPart part_of(const PlannedStatistic& statistic, const ShownValues& values, std::size_t index) {
  const PlannedMeasurement& planned = statistic.measurements[index];
  ShownPart part;
  part.name = planned.part;
  if (values.any() && statistic.groups == 0) part.value = part_number(statistic, values, index, 0);
  for (const Dyadic& center : planned.centers) part.centers.push_back(to_string(center));
  part.noise = noise_of(planned, statistic.specification.range);
  part.accuracy = ShownAccuracy{to_string(part_alpha(statistic.specification)),
                                planned.accuracy.conservative,
                                planned.accuracy.tight,
                                {}};
  if (!values.any()) part.utility = utility_of(planned);
  return part;
}

// A statistic that is computed from parts has the sum of their losses, and its own accuracy before the release.
void add_parts(ShownStatistic& shown, const PlannedStatistic& statistic, const ShownValues& values) {
  for (std::size_t i = 0; i < statistic.measurements.size(); ++i)
    shown.parts.push_back(part_of(statistic, values, i));
  shown.noise.epsilon = ShownNumber::quote(to_string(statistic.cost.value));
  shown.noise.delta = statistic.cost.delta;
  shown.noise.loss_bound = to_string(statistic.loss_bound);
  shown.noise.certificate = certificate_of(statistic.certificate);
  if (values.any() || !statistic.accuracy) return;
  if (statistic.expected_rows) {
    shown.expected = ShownStatistic::Expected{};
    shown.expected->rows = *statistic.expected_rows;
    for (const Rational& mean : statistic.specification.expected_means)
      shown.expected->means.push_back(to_string(mean));
    for (const Rational& deviation : statistic.specification.expected_deviations)
      shown.expected->deviations.push_back(to_string(deviation));
  }
  const StatisticAccuracy& accuracy = *statistic.accuracy;
  shown.accuracy =
      ShownAccuracy{to_string(statistic.specification.alpha), accuracy.conservative, accuracy.tight, {}};
  shown.utility = ShownUtility{accuracy.conservative, accuracy.tight, accuracy.laplace, {}, {}};
}

void add_constant(ShownStatistic& shown, const PlannedStatistic& statistic) {
  const StatisticSpecification& specification = statistic.specification;
  const bool integer = specification.columns.empty() || specification.type == AtomType::integer;
  shown.constant = true;
  shown.all.value = number_of(*statistic.constant, integer);
  const ShownNumber none = ShownNumber::quote("0");
  shown.noise.epsilon = none;
  shown.noise.sensitivity = shown.noise.scale = shown.noise.grid = none;
  shown.noise.loss_bound = none.text;
  shown.noise.certificate = certificate_of(statistic.certificate);
  shown.accuracy = ShownAccuracy{to_string(specification.alpha), 0, 0, {}};
}

// What is released itself has one mechanism.
void add_mechanism(ShownStatistic& shown, const PlannedStatistic& statistic, const ShownValues& values) {
  const StatisticSpecification& specification = statistic.specification;
  shown.noise = noise_of(statistic.measurements.front(), specification.range);
  if (const std::optional<HierarchyLayout>& layout = statistic.hierarchy) {
    shown.hierarchy = ShownHierarchy{layout->leaves() + 1, layout->nodes(), statistic.rank_error,
                                     to_string(specification.alpha)};
    return;  // in rows, at the edges: rank_error; in values: intervals
  }
  if (statistic.gap) {
    shown.choice = ShownChoice{specification.top_count, statistic.bins.size(), *statistic.gap,
                               to_string(specification.alpha)};
    return;
  }
  shown.accuracy = ShownAccuracy{to_string(specification.alpha), statistic.accuracy->conservative,
                                 statistic.accuracy->tight, statistic.accuracy->simultaneous};
  if (values.any()) return;
  shown.utility = utility_of(statistic.measurements.front());
  shown.utility->expected_bias = statistic.expected_bias;
}

ShownStatistic statistic_of(const PlannedStatistic& statistic, const ShownValues& values) {
  const StatisticSpecification& specification = statistic.specification;
  ShownStatistic shown;
  shown.name = specification.name;
  shown.title = specification.title;
  shown.kind = to_string(specification.kind);
  shown.columns = specification.columns;
  if (kind_of(specification).has_key("order")) shown.order = specification.order;
  shown.group_by = specification.group_by;
  shown.private_keys = specification.private_keys;
  shown.groups_per_unit = specification.groups_per_unit;
  // Of quantiles: the outer edges.
  for (const Bounds& bounds : statistic.bounds)
    shown.bounds.emplace_back(to_string(bounds.lower()), to_string(bounds.upper()));
  for (const Grid grid : statistic.row_grids) shown.row_grids.push_back(to_string(grid.spacing()));
  if (statistic.constant) {
    add_constant(shown, statistic);
    return shown;
  }
  if (kind_of(specification).has_coefficients()) shown.coefficient_alpha = to_string(specification.alpha);
  if (specification.split.empty()) {
    add_mechanism(shown, statistic, values);
  } else {
    add_parts(shown, statistic, values);
  }
  if (statistic.groups == 0) shown.all = entry_of(statistic, values, 0);
  shown.groups.reserve(statistic.groups);
  for (std::size_t group = 0; group < statistic.groups; ++group)
    shown.groups.push_back(entry_of(statistic, values, group));
  return shown;
}

// What people call the groups, the bins and the unit of what is asked.
void add_words(ShownStatistic& statistic, const Declaration& data) {
  if (statistic.group_by) {
    const ColumnDeclaration& column = data.column(*statistic.group_by);
    for (ShownEntry& group : statistic.groups) group.words = column.label_of(group.key.text);
  }
  if (statistic.columns.size() != 1) return;
  const ColumnDeclaration& column = data.column(statistic.columns.front());
  const Kind* kind = find_kind(statistic.kind);
  if (kind != nullptr && kind->has_unit_of_column()) statistic.unit = column.unit;
  const auto label = [&](ShownEntry& entry) {
    for (ShownBin& bin : entry.bins) bin.words = column.label_of(bin.label);
    for (ShownChosen& chosen : entry.chosen) chosen.words = column.label_of(chosen.label);
  };
  label(statistic.all);
  for (ShownEntry& group : statistic.groups) label(group);
}

ShownKeys keys_of(const PlannedKeys& planned, const Declaration& data) {
  const KeysSpecification& asked = planned.specification;
  ShownKeys shown;
  shown.column = asked.column;
  shown.epsilon = ShownNumber::quote(to_string(planned.cost.value));
  shown.delta = planned.cost.delta;
  if (data.privacy_unit) shown.max_groups_per_unit = asked.max_groups;
  shown.min_units = asked.min_units;
  shown.most = asked.most;
  shown.likely = planned.likely.get_str();
  shown.certain = planned.certain.get_str();
  shown.statistics = planned.statistics;
  if (planned.shown) {
    shown.shown = planned.shown->groups;
    shown.cut = planned.shown->cut;
    if (planned.shown->left_out.value > 0)
      shown.left_out = ShownNumber::quote(to_string(planned.shown->left_out.value));
  }
  return shown;
}

ReportModel model_of(const Plan& plan, const std::vector<ShownValues>& values) {
  const Declaration& data = plan.specification().data;
  ReportModel model;
  model.measure = {plan.specification().budget.measure, plan.specification().budget.amount.delta};
  model.version = version();
  model.dataset = data.dataset;
  model.title = data.title;
  model.headline = plan.specification().headline;
  model.neighbors = to_string(data.neighbors);
  model.size = data.size;
  model.privacy_unit = data.privacy_unit;
  model.max_rows_per_unit = data.max_rows_per_unit;
  if (data.where) model.where = data.where->text();
  for (std::size_t i = 0; i < plan.statistics().size(); ++i) {
    const PlannedStatistic& planned = plan.statistics()[i];
    ShownStatistic shown = statistic_of(planned, values[i]);
    add_words(shown, data);
    std::vector<ShownStatistic> differences = differences_of(planned, shown, values[i]);
    model.statistics.push_back(std::move(shown));
    std::move(differences.begin(), differences.end(), std::back_inserter(model.statistics));
  }
  for (const PlannedKeys& keys : plan.private_keys()) model.keys.push_back(keys_of(keys, data));
  model.certificate = certificate_of(plan.certificate());
  return model;
}

}  // namespace

ShownNumber released_number(const PlannedStatistic& planned, const ShownValues& values, std::size_t index) {
  const PlannedMeasurement& measurement = planned.measurements.front();
  if (values.released() == nullptr) return longest_value(measurement);
  const Dyadic& value = values.released()->front()[index];
  const bool becomes_zero = planned.specification.nonnegative && value < Dyadic(0);
  return number_of(becomes_zero ? Dyadic(0) : value, is_integer(measurement));
}

Rational ShownMeasure::as_epsilon(const Rational& amount) const {
  if (measure != PrivacyMeasure::zcdp) return amount;
  return *zcdp_to_epsilon(std::max(Rational(0), amount), Rational(delta / 2));
}

std::string ShownMeasure::reservation() const {
  return is_pure() ? "" : ", except with probability " + short_number(delta);
}

std::string ShownMeasure::epsilon_beside(const Rational& amount) const {
  if (measure != PrivacyMeasure::zcdp) return "";
  return " (epsilon " + short_number(as_epsilon(amount)) + ")";
}

ReportModel model_of_plan(const Plan& plan, bool savings, const std::optional<LedgerBalance>& ledger) {
  ReportModel model = model_of(plan, std::vector<ShownValues>(plan.statistics().size(), ShownValues::none()));
  model.budget = plan.specification().budget;
  model.planned = plan.cost().value;
  model.planned_delta = plan.cost().delta;
  model.unpaid = plan.unpaid();
  model.plan_warnings = plan.warnings(ledger);
  if (savings) model.savings = plan.savings();
  return model;
}

ReportModel model_of_report(const Plan& plan, const std::vector<ShownValues>& values,
                            std::optional<std::int64_t> release, const PrivacyAmount& spent,
                            const PrivacyAmount& remaining) {
  ReportModel model = model_of(plan, values);
  model.release = release;
  model.spent = ShownNumber::quote(to_string(spent.value));
  model.remaining = ShownNumber::quote(to_string(remaining.value));
  model.spent_delta = spent.delta;
  model.remaining_delta = remaining.delta;
  mark_differences(model);
  const bool stand_ins = std::any_of(values.begin(), values.end(), [](const ShownValues& of_statistic) {
    return of_statistic.are_stand_ins();
  });
  model.warnings = stand_ins ? longest_warnings(model) : warnings_of(model);
  return model;
}

}  // namespace snapdp::release_internal
