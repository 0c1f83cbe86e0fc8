// The JSON of plans and reports, and reports from their JSON. docs/cli.md describes the keys.
#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "release/kinds/kind.h"
#include "release/report_model.h"
#include "release/report_numbers.h"
#include "snapdp/text.h"

namespace snapdp::release_internal {
namespace {

using Json = nlohmann::ordered_json;

// JSON text, two spaces a level.
class JsonText {
 public:
  JsonText& key(const char* name) {
    start();
    text_ += '"' + std::string(name) + "\": ";
    after_key_ = true;
    return *this;
  }
  void open(char bracket) {
    start();
    text_ += bracket;
    ++depth_;
    first_ = true;
  }
  void close(char bracket) {
    --depth_;
    if (!first_) new_line();
    first_ = false;
    text_ += bracket;
  }
  void raw(const std::string& value) {
    start();
    text_ += value;
  }
  void quote(const std::string& value) {
    raw(Json(value).dump(-1, ' ', false, Json::error_handler_t::replace));
  }

  void text(const char* name, const std::string& value) { key(name).quote(value); }
  void text(const char* name, const std::optional<std::string>& value) {
    if (value) text(name, *value);
  }
  // Words for people, where there are any.
  void words(const char* name, const std::string& value) {
    if (!value.empty()) text(name, value);
  }
  void integer(const char* name, std::uint64_t value) { key(name).raw(std::to_string(value)); }
  void flag(const char* name, bool value) { key(name).raw(value ? "true" : "false"); }
  // Beyond the largest double null.
  void real(const char* name, double value) { key(name).raw(ShownNumber::of(value).text); }
  void number(const char* name, const ShownNumber& value) { key(name).number(value); }
  void number(const ShownNumber& value) { value.quoted ? quote(value.text) : raw(value.text); }
  void nullable(const char* name, const std::optional<ShownNumber>& value) {
    value ? number(name, *value) : key(name).raw("null");
  }
  // `write` each item, as it is or as an object.
  template <typename Items, typename Write>
  void list(const char* name, const Items& items, const Write& write) {
    key(name).open('[');
    for (const auto& item : items) write(item);
    close(']');
  }
  template <typename Items, typename Write>
  void objects(const char* name, const Items& items, const Write& write) {
    list(name, items, [&](const auto& item) {
      open('{');
      write(item);
      close('}');
    });
  }
  void texts(const char* name, const std::vector<std::string>& values) {
    list(name, values, [&](const std::string& value) { quote(value); });
  }
  void reals(const char* name, double first, double second) {
    list(name, std::array{first, second}, [&](double value) { number(ShownNumber::of(value)); });
  }

  std::string finish() && { return escape_json(std::move(text_)) + "\n"; }

 private:
  void start() {
    if (after_key_) {
      after_key_ = false;
    } else if (depth_ > 0) {
      if (!first_) text_ += ',';
      new_line();
    }
    first_ = false;
  }
  void new_line() { text_ += '\n' + std::string(2 * depth_, ' '); }

  std::string text_;
  std::size_t depth_ = 0;
  bool first_ = true;
  bool after_key_ = false;
};

void write_certificate(JsonText& json, const ShownCertificate& certificate) {
  json.key("certificate").open('{');
  json.text("witness", certificate.witness);
  json.number("bound", certificate.bound);
  if (certificate.notes_claim) {
    json.text("notes_claim", certificate.notes_claim);
    json.flag("notes_claim_holds", certificate.notes_claim_holds);
  }
  json.close('}');
}

void write_accuracy(JsonText& json, const std::optional<ShownAccuracy>& accuracy) {
  json.key("accuracy");
  if (!accuracy) return json.raw("null");
  json.open('{');
  json.text("alpha", accuracy->alpha);
  json.real("conservative", accuracy->conservative);
  json.real("tight", accuracy->tight);
  if (accuracy->simultaneous) json.real("simultaneous", *accuracy->simultaneous);
  json.close('}');
}

void write_utility(JsonText& json, const std::optional<ShownUtility>& utility) {
  if (!utility) return;
  json.key("utility").open('{');
  json.real("conservative", utility->conservative);
  json.real("tight", utility->tight);
  json.real("laplace", utility->laplace);
  if (utility->law) {
    json.real("worst_bias", utility->law->worst_bias);
    json.real("binding_probability", utility->law->binding_probability);
  }
  if (utility->expected_bias) json.real("expected_bias", *utility->expected_bias);
  json.close('}');
}

void write_range(JsonText& json, const ShownRange& range) {
  json.key("range").open('{');
  json.text("choice", range.choice);
  json.nullable("lower", range.lower);
  json.nullable("upper", range.upper);
  if (range.gamma) json.number("gamma", *range.gamma);
  json.close('}');
}

// Constants, and what is computed from parts, have no mechanism of their own.
void write_noise(JsonText& json, const ShownMeasure& measure, const ShownNoise& noise) {
  json.number(measure.unit().c_str(), noise.epsilon);
  if (!measure.is_pure()) json.text("delta", to_string(noise.delta));
  json.nullable("sensitivity", noise.sensitivity);
  json.nullable("scale", noise.scale);
  json.nullable("grid", noise.grid);
  const bool has_mechanism = !noise.noise.empty();
  if (has_mechanism) {
    json.text("mode", noise.mode);
    if (noise.precision) json.key("precision").raw(std::to_string(*noise.precision));
    json.text("noise", noise.noise);
  }
  if (noise.range) write_range(json, *noise.range);
  json.text("loss_bound", noise.loss_bound);
  if (has_mechanism) json.text("loss_basis", noise.loss_basis);
  write_certificate(json, noise.certificate);
}

void write_quantile(JsonText& json, const ShownQuantile& quantile) {
  json.real("value", quantile.value);
  json.reals("interval", quantile.lower, quantile.upper);
}

void write_population(JsonText& json, const std::optional<ShownInterval>& population) {
  if (!population) return;
  json.key("population");
  json.open('{');
  json.text("alpha", population->alpha);
  json.reals("interval", population->lower, population->upper);
  json.close('}');
}

void write_values(JsonText& json, const ShownEntry& entry) {
  if (!entry.bins.empty()) {
    json.objects("bins", entry.bins, [&](const ShownBin& bin) {
      json.text("bin", bin.label);
      json.words("label", bin.words);
      if (bin.value) json.number("value", *bin.value);
      write_population(json, bin.population);
    });
  }
  if (!entry.chosen.empty()) {
    json.objects("top", entry.chosen, [&](const ShownChosen& chosen) {
      json.text("category", chosen.label);
      json.words("label", chosen.words);
    });
  }
  if (!entry.coefficients.empty()) {
    json.objects("coefficients", entry.coefficients, [&](const ShownCoefficient& coefficient) {
      json.text("name", coefficient.name);
      json.real("value", coefficient.value);
      json.reals("interval", coefficient.lower, coefficient.upper);
    });
  }
  if (entry.is_median()) {
    write_quantile(json, entry.quantiles.front());
  } else if (!entry.quantiles.empty()) {
    json.objects("quantiles", entry.quantiles, [&](const ShownQuantile& quantile) {
      json.text("q", quantile.q);
      write_quantile(json, quantile);
    });
  }
  if (entry.value) json.number("value", *entry.value);
  write_population(json, entry.population);
}

// The groups, or what is released of all rows.
void write_released(JsonText& json, const ShownStatistic& statistic) {
  if (statistic.groups.empty()) return write_values(json, statistic.all);
  json.objects("groups", statistic.groups, [&](const ShownEntry& group) {
    json.number("key", group.key);
    json.words("label", group.words);
    write_values(json, group);
    if (group.accuracy) write_accuracy(json, group.accuracy);
    if (group.parts.empty()) return;
    std::size_t next = 0;
    json.objects("parts", group.parts, [&](const ShownNumber& value) {
      json.text("name", statistic.parts[next++].name);
      json.number("value", value);
    });
  });
}

void write_parts(JsonText& json, const ShownMeasure& measure, const std::vector<ShownPart>& parts) {
  json.objects("parts", parts, [&](const ShownPart& part) {
    json.text("name", part.name);
    if (part.value) json.number("value", *part.value);
    if (part.centers.size() == 1) json.text("center", part.centers.front());
    if (part.centers.size() > 1) json.texts("centers", part.centers);
    write_noise(json, measure, part.noise);
    write_accuracy(json, part.accuracy);
    write_utility(json, part.utility);
  });
}

// What was asked.
void write_question(JsonText& json, const ShownStatistic& statistic) {
  json.text("name", statistic.name);
  json.words("title", statistic.title);
  json.text("kind", statistic.kind);
  if (!statistic.columns.empty()) json.texts("columns", statistic.columns);
  json.words("unit", statistic.unit);
  if (statistic.order) json.integer("order", static_cast<std::uint64_t>(*statistic.order));
  json.text("group_by", statistic.group_by);
  if (statistic.private_keys) json.text("keys", std::string("private"));
  if (statistic.groups_per_unit) {
    json.integer("max_groups_per_unit", statistic.groups_per_unit->max_groups);
    json.integer("max_rows_per_group_per_unit", statistic.groups_per_unit->max_rows);
  }
  if (const std::optional<ShownDifference>& difference = statistic.difference) {
    json.key("difference").open('{');
    json.text("of", difference->of);
    json.text("kind", difference->kind);
    json.list("groups", std::array{difference->first, difference->second},
              [&](const ShownNumber& key) { json.number(key); });
    if (difference->beware) json.flag("beware", true);
    json.close('}');
  }
  if (!statistic.row_grids.empty()) json.texts("row_grid", statistic.row_grids);
  if (statistic.bounds.empty()) return;
  json.list("bounds", statistic.bounds, [&](const std::pair<std::string, std::string>& ends) {
    json.open('[');
    json.quote(ends.first);
    json.quote(ends.second);
    json.close(']');
  });
}

// What a planned accuracy takes for granted.
void write_expected(JsonText& json, const std::optional<ShownStatistic::Expected>& expected) {
  if (!expected) return;
  json.key("expected");
  json.open('{');
  json.integer("rows", expected->rows);
  if (!expected->means.empty()) json.texts("mean", expected->means);
  if (!expected->deviations.empty()) json.texts("deviation", expected->deviations);
  json.close('}');
}

void write_statistic(JsonText& json, const ShownMeasure& measure, const ShownStatistic& statistic) {
  write_question(json, statistic);
  if (!statistic.parts.empty()) {
    write_accuracy(json, statistic.all.accuracy ? statistic.all.accuracy : statistic.accuracy);
    write_expected(json, statistic.expected);
    json.text("alpha", statistic.coefficient_alpha);
    write_released(json, statistic);
    write_utility(json, statistic.utility);
    write_parts(json, measure, statistic.parts);
    write_noise(json, measure, statistic.noise);
  } else if (statistic.hierarchy) {
    json.integer("edges", statistic.hierarchy->edges);
    json.integer("nodes", statistic.hierarchy->nodes);
    json.real("rank_error", statistic.hierarchy->rank_error);
    json.text("alpha", statistic.hierarchy->alpha);
    write_noise(json, measure, statistic.noise);
    write_accuracy(json, statistic.accuracy);
    write_released(json, statistic);
  } else if (statistic.choice) {
    json.integer("k", statistic.choice->count);
    json.integer("candidates", statistic.choice->candidates);
    json.real("gap", statistic.choice->gap);
    json.text("alpha", statistic.choice->alpha);
    write_released(json, statistic);
    write_noise(json, measure, statistic.noise);
    write_accuracy(json, statistic.accuracy);
  } else {
    write_released(json, statistic);
    if (statistic.constant) json.flag("constant", true);
    write_noise(json, measure, statistic.noise);
    write_accuracy(json, statistic.accuracy);
    write_utility(json, statistic.utility);
  }
}

void write_keys(JsonText& json, const ShownMeasure& measure, const ShownKeys& keys) {
  json.text("column", keys.column);
  json.number(measure.unit().c_str(), keys.epsilon);
  json.text("delta", to_string(keys.delta));
  if (keys.max_groups_per_unit) json.integer("max_groups_per_unit", *keys.max_groups_per_unit);
  json.integer("min_units", keys.min_units);
  json.integer("most", keys.most);
  json.text("likely_units", keys.likely);
  json.text("certain_units", keys.certain);
  json.texts("statistics", keys.statistics);
  if (!keys.shown) return;
  json.integer("shown", *keys.shown);
  if (keys.cut) json.flag("cut", true);
  if (keys.left_out) json.number("left_out", *keys.left_out);
}

// The keys that plans and reports have in common.
void write_body(JsonText& json, const ReportModel& model) {
  json.text("snapdp", model.version);
  json.text("dataset", model.dataset);
  json.words("title", model.title);
  json.words("headline", model.headline);
  json.text("neighbors", model.neighbors);
  if (model.size) json.integer("size", *model.size);
  if (model.privacy_unit) {
    json.text("privacy_unit", model.privacy_unit);
    json.integer("max_rows_per_unit", model.max_rows_per_unit);
  }
  json.text("where", model.where);
  json.objects("statistics", model.statistics,
               [&](const ShownStatistic& statistic) { write_statistic(json, model.measure, statistic); });
  if (!model.keys.empty()) {
    json.objects("keys", model.keys, [&](const ShownKeys& keys) { write_keys(json, model.measure, keys); });
  }
  write_certificate(json, *model.certificate);
}

void write_saving(JsonText& json, const ShownMeasure& measure, const Saving& saving) {
  json.text("statistic", saving.statistic);
  json.text("change", saving.change);
  json.real("accuracy", saving.accuracy);
  json.text(measure.unit().c_str(), to_string(saving.epsilon));
  if (saving.exact) json.reals("exact_probability", *saving.exact_now, *saving.exact);
}

void write_warning(JsonText& json, const ReportWarning& warning) {
  json.text("statistic", warning.statistic);
  if (warning.group) json.number("group", *warning.group);
  json.text("bin", warning.bin);
  json.text("q", warning.quantile);
  json.text("coefficient", warning.coefficient);
  json.text("kind", name_of(warning.what));
  json.text("message", message(warning));
}

// Reading.

ShownNumber number_in(const Json& json) {
  if (json.is_string()) return ShownNumber::quote(json.get<std::string>());
  return {json.dump()};
}

std::optional<ShownNumber> nullable_in(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return number_in(json);
}

template <typename Whole>
Whole whole_in(const Json& json) {
  if (!json.is_number_integer()) throw std::invalid_argument("not a whole number");
  return json.get<Whole>();
}

double double_in(const Json& json) {
  if (!json.is_number()) throw std::invalid_argument("not a number");
  return json.get<double>();
}

// Null where nothing bounds it.
double bound_in(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : double_in(json);
}

std::optional<ShownAccuracy> read_accuracy(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  ShownAccuracy accuracy;
  accuracy.alpha = json.at("alpha").get<std::string>();
  accuracy.tight = bound_in(json.at("tight"));
  if (json.contains("simultaneous")) accuracy.simultaneous = bound_in(json.at("simultaneous"));
  return accuracy;
}

ShownQuantile read_quantile(const Json& json) {
  const Json& interval = json.at("interval");
  return {"", double_in(json.at("value")), double_in(interval.at(0)), double_in(interval.at(1))};
}

std::string words_in(const Json& json, const char* name) {
  return json.contains(name) ? json.at(name).get<std::string>() : "";
}

std::optional<ShownInterval> read_population(const Json& json) {
  if (!json.contains("population")) return std::nullopt;
  const Json& population = json.at("population");
  const Json& interval = population.at("interval");
  return ShownInterval{population.at("alpha").get<std::string>(), double_in(interval.at(0)),
                       double_in(interval.at(1))};
}

ShownEntry read_entry(const Json& json) {
  ShownEntry entry;
  if (json.contains("quantiles")) {
    for (const Json& quantile : json.at("quantiles")) {
      entry.quantiles.push_back(read_quantile(quantile));
      entry.quantiles.back().q = quantile.at("q").get<std::string>();
    }
  } else if (json.contains("interval")) {
    entry.quantiles.push_back(read_quantile(json));
  } else if (json.contains("coefficients")) {
    // Null where nothing bounds them.
    const auto end = [](const Json& bound, double nothing) {
      return bound.is_null() ? nothing : double_in(bound);
    };
    constexpr double infinity = std::numeric_limits<double>::infinity();
    for (const Json& one : json.at("coefficients")) {
      const Json& interval = one.at("interval");
      entry.coefficients.push_back({one.at("name").get<std::string>(), double_in(one.at("value")),
                                    end(interval.at(0), -infinity), end(interval.at(1), infinity)});
    }
    if (entry.coefficients.empty()) throw std::invalid_argument("no coefficients");
  } else if (json.contains("top")) {
    for (const Json& chosen : json.at("top"))
      entry.chosen.push_back({chosen.at("category").get<std::string>(), words_in(chosen, "label")});
  } else if (json.contains("bins")) {
    for (const Json& bin : json.at("bins"))
      entry.bins.push_back({bin.at("bin").get<std::string>(), number_in(bin.at("value")),
                            words_in(bin, "label"), read_population(bin)});
  } else {
    entry.value = number_in(json.at("value"));
  }
  entry.population = read_population(json);
  return entry;
}

ShownRange read_range(const Json& json) {
  ShownRange range{json.at("choice").get<std::string>(), nullable_in(json.at("lower")),
                   nullable_in(json.at("upper")), std::nullopt};
  if (json.contains("gamma")) range.gamma = number_in(json.at("gamma"));
  return range;
}

// Of the mechanism what the writers show.
ShownNoise read_noise(const ShownMeasure& measure, const Json& json) {
  const auto given = [&](const char* name) -> std::optional<ShownNumber> {
    if (!json.contains(name)) return std::nullopt;
    return nullable_in(json.at(name));
  };
  ShownNoise noise;
  noise.epsilon = number_in(json.at(measure.unit()));
  if (!measure.is_pure()) noise.delta = number_in(json.at("delta")).rational();
  noise.sensitivity = given("sensitivity");
  noise.scale = given("scale");
  noise.grid = given("grid");
  noise.mode = words_in(json, "mode");
  noise.noise = words_in(json, "noise");
  noise.loss_bound = words_in(json, "loss_bound");
  noise.loss_basis = words_in(json, "loss_basis");
  if (json.contains("range")) noise.range = read_range(json.at("range"));
  return noise;
}

// Of the parts of a statistic, or of one of its groups.
std::optional<ShownNumber> value_in(const Json& part) {
  if (!part.contains("value")) return std::nullopt;
  return number_in(part.at("value"));
}

void read_question(const Json& json, ShownStatistic& statistic) {
  statistic.name = json.at("name").get<std::string>();
  statistic.title = words_in(json, "title");
  statistic.kind = words_in(json, "kind");
  statistic.unit = words_in(json, "unit");
  if (json.contains("columns")) statistic.columns = json.at("columns").get<std::vector<std::string>>();
  constexpr int highest_order = 4;
  if (json.contains("order")) statistic.order = std::clamp(whole_in<int>(json.at("order")), 1, highest_order);
  if (json.contains("group_by")) statistic.group_by = json.at("group_by").get<std::string>();
  statistic.private_keys = json.contains("keys");
  if (json.contains("difference")) {
    const Json& difference = json.at("difference");
    const Json& groups = difference.at("groups");
    statistic.difference =
        ShownDifference{difference.at("of").get<std::string>(), difference.at("kind").get<std::string>(),
                        number_in(groups.at(0)), number_in(groups.at(1)), difference.contains("beware")};
  }
  if (json.contains("row_grid")) statistic.row_grids = json.at("row_grid").get<std::vector<std::string>>();
  if (!json.contains("bounds")) return;
  for (const Json& ends : json.at("bounds"))
    statistic.bounds.emplace_back(ends.at(0).get<std::string>(), ends.at(1).get<std::string>());
}

ShownStatistic read_statistic(const ShownMeasure& measure, const Json& json) {
  ShownStatistic statistic;
  read_question(json, statistic);
  statistic.constant = json.contains("constant");
  statistic.noise = read_noise(measure, json);
  if (json.contains("parts")) {
    for (const Json& part : json.at("parts")) {
      statistic.parts.push_back({part.at("name").get<std::string>(),
                                 value_in(part),
                                 {},
                                 read_noise(measure, part),
                                 read_accuracy(part.at("accuracy")),
                                 {}});
    }
  }
  if (json.contains("rank_error")) {
    statistic.hierarchy.emplace();
    if (json.contains("edges")) statistic.hierarchy->edges = whole_in<std::size_t>(json.at("edges"));
    statistic.hierarchy->rank_error = bound_in(json.at("rank_error"));
    statistic.hierarchy->alpha = json.at("alpha").get<std::string>();
  }
  if (statistic.kind == kind_of(StatisticKind::regression).name())
    statistic.coefficient_alpha = json.at("alpha").get<std::string>();
  if (json.contains("gap")) {
    statistic.choice =
        ShownChoice{whole_in<std::size_t>(json.at("k")), whole_in<std::size_t>(json.at("candidates")),
                    bound_in(json.at("gap")), json.at("alpha").get<std::string>()};
  }
  statistic.accuracy = read_accuracy(json.at("accuracy"));
  if (!json.contains("groups")) {
    statistic.all = read_entry(json);
    return statistic;
  }
  for (const Json& group : json.at("groups")) {
    statistic.groups.push_back(read_entry(group));
    ShownEntry& entry = statistic.groups.back();
    entry.key = number_in(group.at("key"));
    entry.words = words_in(group, "label");
    if (group.contains("accuracy")) entry.accuracy = read_accuracy(group.at("accuracy"));
    if (!group.contains("parts")) continue;
    for (const Json& part : group.at("parts")) entry.parts.push_back(number_in(part.at("value")));
  }
  if (statistic.groups.empty()) throw std::invalid_argument("no groups");
  return statistic;
}

}  // namespace

namespace {

// Reports of older versions, and of pure budgets, say nothing of a measure.
void read_measure(const Json& ledger, ReportModel& model) {
  if (!ledger.contains("measure")) return;
  const std::optional<PrivacyMeasure> measure = parse_measure(ledger.at("measure").get<std::string>());
  if (!measure) throw std::invalid_argument("measure");
  model.measure = {*measure, number_in(ledger.at("delta")).rational()};
  if (!is_budget(PrivacyBudget(*measure, {1, model.measure.delta}))) throw std::invalid_argument("delta");
  model.spent_delta = number_in(ledger.at("spent_delta")).rational();
  model.remaining_delta = number_in(ledger.at("remaining_delta")).rational();
}

// A number of any size.
std::string digits_in(const Json& json) {
  std::string digits = json.get<std::string>();
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos)
    throw std::invalid_argument("not digits");
  return digits;
}

ShownKeys read_keys(const ShownMeasure& measure, const Json& json) {
  ShownKeys keys;
  keys.column = json.at("column").get<std::string>();
  keys.epsilon = number_in(json.at(measure.unit()));
  keys.delta = number_in(json.at("delta")).rational();
  if (json.contains("max_groups_per_unit"))
    keys.max_groups_per_unit = whole_in<std::uint64_t>(json.at("max_groups_per_unit"));
  keys.min_units = whole_in<std::uint64_t>(json.at("min_units"));
  keys.most = whole_in<std::uint64_t>(json.at("most"));
  keys.likely = digits_in(json.at("likely_units"));
  keys.certain = digits_in(json.at("certain_units"));
  keys.statistics = json.at("statistics").get<std::vector<std::string>>();
  keys.shown = whole_in<std::uint64_t>(json.at("shown"));
  keys.cut = json.contains("cut");
  if (json.contains("left_out")) keys.left_out = number_in(json.at("left_out"));
  return keys;
}

}  // namespace

ShownNumber ShownNumber::of(double value) {
  return {Json(value).dump()};
}

std::string plan_json(const ReportModel& model) {
  JsonText json;
  json.open('{');
  write_body(json, model);
  json.key("budget").open('{');
  json.text(model.measure.unit().c_str(), to_string(model.budget.amount.value));
  if (!model.measure.is_pure()) json.text("delta", to_string(model.budget.amount.delta));
  json.text("planned", to_string(model.planned));
  if (!model.measure.is_pure()) json.text("planned_delta", to_string(model.planned_delta));
  json.close('}');
  json.texts("unpaid", model.unpaid);
  json.objects("warnings", model.plan_warnings, [&](const PlanWarning& warning) {
    if (!warning.statistic.empty()) json.text("statistic", warning.statistic);
    json.text("message", warning.message);
  });
  json.objects("savings", model.savings,
               [&](const Saving& saving) { write_saving(json, model.measure, saving); });
  json.close('}');
  return std::move(json).finish();
}

std::string report_json(const ReportModel& model) {
  JsonText json;
  json.open('{');
  json.key("release").raw(model.release ? std::to_string(*model.release) : "null");
  write_body(json, model);
  json.objects("warnings", model.warnings,
               [&](const ReportWarning& warning) { write_warning(json, warning); });
  json.key("ledger").open('{');
  json.number("spent", model.spent);
  json.number("remaining", model.remaining);
  if (!model.measure.is_pure()) {
    json.text("measure", to_string(model.measure.measure));
    json.text("delta", to_string(model.measure.delta));
    json.text("spent_delta", to_string(model.spent_delta));
    json.text("remaining_delta", to_string(model.remaining_delta));
  }
  json.close('}');
  json.close('}');
  return std::move(json).finish();
}

ReportModel read_report(std::string_view text) {
  const Json json = Json::parse(text);
  ReportModel model;
  model.version = words_in(json, "snapdp");
  model.dataset = json.at("dataset").get<std::string>();
  model.title = words_in(json, "title");
  model.headline = words_in(json, "headline");
  model.neighbors = json.at("neighbors").get<std::string>();
  if (json.contains("size")) model.size = whole_in<std::uint64_t>(json.at("size"));
  if (json.contains("privacy_unit")) {
    model.privacy_unit = json.at("privacy_unit").get<std::string>();
    model.max_rows_per_unit = whole_in<std::uint64_t>(json.at("max_rows_per_unit"));
  }
  if (json.contains("where")) model.where = json.at("where").get<std::string>();
  read_measure(json.at("ledger"), model);
  for (const Json& statistic : json.at("statistics"))
    model.statistics.push_back(read_statistic(model.measure, statistic));
  if (json.contains("keys")) {
    for (const Json& keys : json.at("keys")) model.keys.push_back(read_keys(model.measure, keys));
  }
  if (json.contains("certificate")) {
    model.certificate.emplace();
    model.certificate->bound = number_in(json.at("certificate").at("bound"));
  }
  if (!json.at("release").is_null()) model.release = whole_in<std::int64_t>(json.at("release"));
  model.spent = number_in(json.at("ledger").at("spent"));
  model.remaining = number_in(json.at("ledger").at("remaining"));
  model.warnings = warnings_of(model);
  return model;
}

}  // namespace snapdp::release_internal
