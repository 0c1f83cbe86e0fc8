#include "snapdp/release/specification.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "numeric/shared/float_environment.h"
#include "release/declaration_reader.h"
#include "release/kinds/kind.h"
#include "release/shared/suggestion.h"
#include "release/toml_text.h"
#include "release/toml_values.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

// Of all kinds.
const std::vector<std::string> statistic_keys = {"name",
                                                 "title",
                                                 "kind",
                                                 "column",
                                                 "columns",
                                                 "y",
                                                 "x",
                                                 "type",
                                                 "bounds",
                                                 "epsilon",
                                                 "delta",
                                                 "rho",
                                                 "accuracy",
                                                 "alpha",
                                                 "grid",
                                                 "categories",
                                                 "edges",
                                                 "other",
                                                 "split",
                                                 "nonnegative",
                                                 "mode",
                                                 "precision",
                                                 "noise",
                                                 "weight",
                                                 "group_by",
                                                 "keys",
                                                 "max_groups_per_unit",
                                                 "max_rows_per_group_per_unit",
                                                 "differences",
                                                 "order",
                                                 "quantiles",
                                                 "k",
                                                 "resolution",
                                                 "row_grid",
                                                 "range",
                                                 "guesses",
                                                 "expected_mean",
                                                 "expected_deviation",
                                                 "expected_group_size"};

void find_foreign_keys(const TomlTable& table, const Kind& kind, Faults& faults) {
  for (const std::string& key : statistic_keys) {
    const auto has_key = [&](const Kind* other) { return other->has_key(key); };
    if (!table.has(key) || kind.has_key(key) || std::none_of(all_kinds().begin(), all_kinds().end(), has_key))
      continue;
    const std::string hint = key == "column" && kind.has_key("columns")   ? "columns = [\"x\", \"y\"]"
                             : key == "columns" && kind.has_key("column") ? "column = \"x\""
                                                                          : kind.instead_of(key);
    faults.hold([&] {
      table.refuse(key,
                   "does not apply to a " + kind.name() + (hint.empty() ? "; remove it" : "; use " + hint));
    });
  }
}

// y, and then each of x; together, with the column of the groups, no more than a chunk of rows holds.
std::vector<std::string> read_regression_columns(const TomlTable& table) {
  if (!table.has("y"))
    table.refuse_missing("y", "is missing; name the column that is to be explained, y = \"income\"");
  if (!table.has("x")) {
    table.refuse_missing("x", "is missing; list the columns that are to explain it, x = [\"age\", \"educ\"]");
  }
  std::vector<std::string> columns{get_name(table, "y")};
  const std::size_t most = Chunk::max_columns - (table.has("group_by") ? 2 : 1);
  std::vector<std::string> given = table.get_texts("x");
  if (given.empty() || given.size() > most) {
    table.refuse("x", "must name 1 to " + std::to_string(most) + " columns" +
                          (table.has("group_by") ? " beside y and the column of the groups" : " beside y"));
  }
  for (std::string& column : given) {
    if (column.size() > longest_name) table.refuse("x", "a name must not be longer than 256 bytes");
    if (column == columns.front())
      table.refuse("x", "names y, " + quoted_text(column) + ", which would explain itself; leave it out");
    if (std::find(columns.begin(), columns.end(), column) != columns.end())
      table.refuse("x", "names " + quoted_text(column) + " twice; remove one");
    if (column == intercept_name) {
      table.refuse("x", "must not name a column " + quoted_text(intercept_name) +
                            ", as reports call the constant term, which is always there; rename the column");
    }
    columns.push_back(std::move(column));
  }
  return columns;
}

std::vector<std::string> read_columns(const TomlTable& table, const Kind& kind) {
  if (kind.has_key("column")) return {get_name(table, "column")};
  if (kind.has_key("y")) return read_regression_columns(table);
  if (!kind.has_two_columns()) return {};
  std::vector<std::string> columns = table.get_texts("columns");
  if (columns.size() != 2) table.refuse("columns", "must name two columns, [\"x\", \"y\"]");
  for (const std::string& column : columns) {
    if (column.size() > longest_name) table.refuse("columns", "a name must not be longer than 256 bytes");
  }
  return columns;
}

// The type in which the columns are read: what is declared of them; where nothing is, what the statistic says.
void read_type(const TomlTable& table, const Declaration& data, const Kind& kind,
               StatisticSpecification& statistic) {
  if (table.has("type")) statistic.type = get_type(table, kind.takes_texts());
  bool all_integers = !statistic.columns.empty();
  bool any_declared = false;
  for (std::size_t i = 0; i < statistic.columns.size(); ++i) {
    const std::string& column = statistic.columns[i];
    const std::optional<AtomType>& declared = data.column(column).type;
    all_integers = all_integers && declared == AtomType::integer;
    any_declared = any_declared || declared;
    if (declared && table.has("type") && statistic.type != declared) {
      table.refuse("type", "column " + quoted_text(column) + " is declared as " + to_string(*declared) +
                               "; remove type");
    }
    if (declared == AtomType::text && !kind.takes_texts()) {
      table.refuse(kind.key_of_column(i),
                   "is declared as text, and a " + kind.name() + " needs numbers; choose another column");
    }
    if (declared == AtomType::text) statistic.type = AtomType::text;
  }
  if (!statistic.type && any_declared) statistic.type = all_integers ? AtomType::integer : AtomType::real;
}

std::vector<Rational> read_split(const TomlTable& table, const std::vector<std::string>& parts,
                                 Neighbors neighbors) {
  if (parts.size() < 2) {
    table.refuse("split", "does not apply to this kind under " + to_string(neighbors) +
                              ", where it is released as one number; remove it");
  }
  std::vector<Rational> weights = table.get_numbers("split");
  const bool positive =
      std::all_of(weights.begin(), weights.end(), [](const Rational& weight) { return weight > 0; });
  if (weights.size() == parts.size() && positive) return weights;
  std::string names;
  std::string ones;
  for (const std::string& part : parts) {
    names += (names.empty() ? "" : ", ") + part;
    ones += ones.empty() ? "1" : ", 1";
  }
  table.refuse("split", "must have " + std::to_string(parts.size()) + " weights above 0, [" + names +
                            "], for example [" + ones + "]");
}

// rho and delta, which are of Gaussian noise alone, in a budget that counts them.
void read_gaussian_price(const TomlTable& table, const PrivacyBudget& budget, const std::string& given,
                         StatisticSpecification& statistic) {
  const bool gaussian = statistic.noise == NoiseKind::gaussian;
  for (const char* key : {"rho", "delta"}) {
    if (table.has(key) && !gaussian)
      table.refuse(key, "is of Gaussian noise; add noise = \"gaussian\", or give an epsilon alone");
  }
  if (given == "rho") {
    if (budget.measure != PrivacyMeasure::zcdp)
      table.refuse("rho", "needs a budget of rho; give epsilon and delta here, or rho under [budget]");
    statistic.rho = table.get_positive("rho");
  }
  if (table.has("delta")) {
    if (given != "epsilon" && given != "accuracy")
      table.refuse("delta", "goes with an epsilon or an accuracy; remove it");
    statistic.delta = table.get_positive("delta");
    if (*statistic.delta >= 1) table.refuse("delta", "must be less than 1; choose one such as 1e-6");
    return;
  }
  const bool needs_delta =
      given == "epsilon" || (given == "accuracy" && budget.measure == PrivacyMeasure::approximate);
  if (gaussian && needs_delta) {
    table.refuse_missing("delta",
                         "is missing: Gaussian noise is private at an epsilon only but for a delta; "
                         "give delta = \"1e-6\", or where [budget] has a rho, rho in place of epsilon");
  }
}

// epsilon, rho, accuracy or weight. A statistic that is a public constant needs none.
void read_price(const TomlTable& table, bool constant, const PrivacyBudget& budget,
                StatisticSpecification& statistic) {
  const std::vector<std::string> prices = {"epsilon", "rho", "accuracy", "weight"};
  std::string given;
  for (const std::string& price : prices) {
    if (!table.has(price)) continue;
    if (!given.empty())
      table.refuse(price,
                   "cannot stand beside " + given + ", because each decides the price; remove one of them");
    given = price;
  }
  if (given == "epsilon") statistic.epsilon = table.get_positive("epsilon");
  if (given == "accuracy") statistic.accuracy = table.get_positive("accuracy");
  if (given == "weight") statistic.weight = table.get_positive("weight");
  read_gaussian_price(table, budget, given, statistic);
  const std::string why_not = kind_of(statistic).why_not("accuracy");
  if (statistic.accuracy && !why_not.empty()) table.refuse("accuracy", why_not);
  if (given.empty() && !constant) {
    table.refuse_missing("epsilon",
                         "is missing; give epsilon = \"0.1\", or accuracy = \"0.5\" and alpha = \"0.05\", or "
                         "weight = 1 for a share of the budget");
  }
}

Rational read_alpha(const TomlTable& table) {
  Rational alpha = table.get_number("alpha");
  if (!(alpha > 0 && alpha < 1)) {
    table.refuse("alpha",
                 "must lie strictly between 0 and 1; it is the probability of an error beyond the accuracy");
  }
  return alpha;
}

void check_size(const TomlTable& table, const Specification& specification, const Kind& kind) {
  if (kind.is_second_moment() && specification.data.size && *specification.data.size < 2) {
    table.refuse("kind", "needs size >= 2, because it divides by size - 1; size = " +
                             std::to_string(*specification.data.size));
  }
}

const std::string grid_rule = "must be \"auto\", \"notes\" or a power of two from \"2^" +
                              std::to_string(GridChoice::least_exponent) + "\" to \"2^" +
                              std::to_string(GridChoice::greatest_exponent) + "\"";

GridChoice read_grid(const TomlDocument& document, const TomlTable& table) {
  const toml::node& node = table.get("grid");
  const auto* text = node.as_string();
  try {
    if (text != nullptr) return GridChoice::parse(text->get());
  } catch (const Error&) {
    table.refuse("grid", grid_rule + GridChoice::hint(text->get()));
  }
  table.refuse("grid", grid_rule + GridChoice::hint(document.shown(node)));
}

// "auto", "none" or a power of two.
RowGridChoice read_row_grid(const TomlDocument& document, const TomlTable& table) {
  const auto* text = table.get("row_grid").as_string();
  const std::string given = text != nullptr ? text->get() : document.shown(table.get("row_grid"));
  if (given == "none") return {};
  if (given == "auto") return {RowGridChoice::Kind::automatic, Grid(0)};
  try {
    if (text != nullptr) return {RowGridChoice::Kind::fixed, GridChoice::parse(given).resolve(1, false)};
  } catch (const Error&) {
    // Said below.
  }
  table.refuse("row_grid", "must be \"auto\", \"none\" or a power of two, \"2^-20\" for example" +
                               GridChoice::hint(given));
}

// Why a statistic has no noisy number of its own that `key`, a range or a guess, could be about; empty when it has one.
std::string without_own_number(const Specification& specification, const StatisticSpecification& statistic,
                               const std::string& key) {
  const Kind& kind = kind_of(statistic);
  if (std::string why_not = kind.why_not(key); !why_not.empty()) return why_not;
  std::string parts;
  for (const std::string& part :
       parts_of(statistic.kind, specification.data.neighbors, statistic.columns.size()))
    parts += (parts.empty() ? "" : ", ") + part;
  if (!parts.empty()) {
    return "does not apply to a " + kind.name() + " under " + to_string(specification.data.neighbors) +
           ", which is computed from noisy parts (" + parts +
           ") and clamped to what its bounds allow; remove it";
  }
  if (specification.is_constant(statistic))
    return "does not apply to a public constant, which is released exactly; remove it";
  return "";
}

// An end of a range: a number, or "none".
std::optional<Rational> read_end(const TomlDocument& document, const TomlTable& table,
                                 const toml::node& end) {
  if (end.is_string() && end.as_string()->get() == "none") return std::nullopt;
  if (end.is_floating_point() && !std::isfinite(end.as_floating_point()->get())) {
    document.refuse(end, table.context(), "range",
                    R"(an end is a finite number, or "none" where there is none)");
  }
  return document.number(end, table.context(), "range");
}

// range: constants, "none" or { gamma = "0.01" }.
RangeChoice read_range(const TomlDocument& document, const TomlTable& table, Faults& faults) {
  const std::string rule = R"(must be [lower, upper], "none" (no clamps) or { gamma = "0.01" })";
  const toml::node& node = table.get("range");
  if (const auto* text = node.as_string()) {
    if (text->get() != "none") table.refuse("range", rule + did_you_mean(text->get(), {"none"}));
    return RangeChoice::none();
  }
  if (node.is_table()) {
    const TomlTable widened(document, *node.as_table(), table.context() + "range: ", {"gamma"}, faults);
    const Rational gamma = widened.get_number("gamma");
    if (gamma <= 0 || gamma >= 1) {
      widened.refuse("gamma",
                     "must lie strictly between 0 and 1; it is the probability that a clamp may bind with");
    }
    return RangeChoice::widened(FailureRate(gamma));
  }
  const toml::array* ends = node.as_array();
  if (ends == nullptr) table.refuse("range", rule);
  if (ends->size() != 2)
    table.refuse("range", R"(must have two ends, [lower, upper]; give both, or "none" in place of one)");
  std::optional<Rational> lower = read_end(document, table, (*ends)[0]);
  std::optional<Rational> upper = read_end(document, table, (*ends)[1]);
  if (!lower && !upper) table.refuse("range", R"(has no end; write range = "none")");
  if (lower && upper && *lower >= *upper) {
    table.refuse("range", *lower == *upper
                              ? "its ends are equal, so that every output would be this constant; "
                                "widen it"
                              : "the lower end must not be above the upper one; swap them");
  }
  return RangeChoice::fixed(std::move(lower), std::move(upper));
}

// guesses: numbers, or pairs of a number and its weight.
void read_guesses(const TomlDocument& document, const TomlTable& table, StatisticSpecification& statistic) {
  const toml::array& guesses = table.get_array("guesses");
  if (guesses.empty()) table.refuse("guesses", "must have at least one entry; or remove it");
  if (guesses.size() > Specification::max_bins) {
    table.refuse("guesses", "has more than " + std::to_string(Specification::max_bins) +
                                " entries; give fewer, with weights");
  }
  for (const toml::node& guess : guesses) {
    const toml::array* pair = guess.as_array();
    if (pair != nullptr && pair->size() != 2) {
      document.refuse(guess, table.context(), "guesses",
                      "must be a number, or a pair of a number and its weight, [40, 2]");
    }
    const auto number = [&](const toml::node& node) {
      return document.number(node, table.context(), "guesses");
    };
    statistic.guesses.push_back(number(pair == nullptr ? guess : (*pair)[0]));
    statistic.guess_weights.push_back(pair == nullptr ? Rational(1) : number((*pair)[1]));
    if (statistic.guess_weights.back() <= 0)
      document.refuse(guess, table.context(), "guesses", "the weight must be greater than 0");
  }
}

// range and guesses, which are about one noisy number, or about each of many alike.
void read_own_number(const TomlDocument& document, const TomlTable& table, const Specification& specification,
                     StatisticSpecification& statistic, Faults& faults) {
  for (const char* key : {"range", "guesses"}) {
    if (!table.has(key)) continue;
    const std::string why = without_own_number(specification, statistic, key);
    if (!why.empty()) table.refuse(key, why);
  }
  if (table.has("range")) statistic.range = read_range(document, table, faults);
  if (table.has("guesses")) read_guesses(document, table, statistic);
}

// mode, precision and noise: which mechanism.
void read_mechanism(const TomlTable& table, const Specification& specification,
                    StatisticSpecification& statistic) {
  if (table.has("mode") && table.get_choice("mode", {"exact", "precision"}) == "precision") {
    statistic.noise = NoiseKind::notes;
    const bool declared = statistic.range.lower() && statistic.range.upper();
    if (statistic.range.kind() == RangeChoice::Kind::none ||
        (statistic.range.kind() == RangeChoice::Kind::fixed && !declared)) {
      table.refuse("mode",
                   "needs a range with both ends finite; declare range = [lower, upper], or use mode = "
                   "\"exact\"");
    }
    const bool private_size = specification.data.neighbors == Neighbors::add_remove;
    if (!declared && (private_size || statistic.columns.empty())) {
      table.refuse("mode",
                   "needs a public range with both ends finite, which depends on a public number of "
                   "rows; declare constants, range = [lower, upper], where one number is released, or use "
                   "mode = \"exact\", or neighbors = \"change-one\"");
    }
    if (statistic.grid.is_explicit()) {
      table.refuse("grid", "does not go with mode = \"precision\", which has the notes' grid; remove it");
    }
  }
  if (table.has("precision")) {
    if (statistic.noise != NoiseKind::notes) {
      table.refuse("precision", "applies only with mode = \"precision\"; remove it or set the mode");
    }
    const std::uint64_t bits = table.get_count("precision");
    if (bits < PrecisionSnapping::least_precision || bits > PrecisionSnapping::greatest_precision) {
      table.refuse("precision", "must lie between " + std::to_string(PrecisionSnapping::least_precision) +
                                    " and " + std::to_string(PrecisionSnapping::greatest_precision) +
                                    " bits");
    }
    statistic.precision = static_cast<long>(bits);
  }
  if (!table.has("noise")) return;
  const std::string noise = table.get_choice("noise", {"laplace", "geometric", "gaussian"});
  if (noise == "gaussian") {
    if (statistic.noise == NoiseKind::notes)
      table.refuse("noise",
                   "does not go with mode = \"precision\", which is Laplace noise; remove one of them");
    if (specification.budget.measure == PrivacyMeasure::pure) {
      table.refuse(
          "noise",
          "has no pure epsilon; give [budget] a delta, or a rho and a delta in place of its epsilon, as "
          "the ledger has them, or use Laplace noise");
    }
    statistic.noise = NoiseKind::gaussian;
  }
  if (noise == "geometric") {
    if (!kind_of(statistic).is_integer(statistic)) {
      table.refuse(
          "noise",
          "is for counts, range_count, histograms, distinct, quantiles and sums with type = \"integer\"; use "
          "Laplace noise");
    }
    if (statistic.noise == NoiseKind::notes) {
      table.refuse("noise", "is exact and does not go with mode = \"precision\"; remove one of them");
    }
    if (statistic.grid.is_explicit() || statistic.grid.is_notes()) {
      table.refuse("grid",
                   "does not go with noise = \"geometric\", whose outputs are the integers; remove it");
    }
    statistic.noise = NoiseKind::geometric;
  }
}

// A number for each column: alone, or in a list when there are two.
std::vector<Rational> read_expected(const TomlTable& table, const std::string& key, const Kind& kind) {
  if (!kind.has_two_columns()) return {table.get_number(key)};
  std::vector<Rational> numbers = table.get_numbers(key);
  if (numbers.size() != 2) table.refuse(key, "must have a number for each of the two columns, [10, 20]");
  return numbers;
}

// Guesses at the data. They must be possible: of values in [a, b] with mean m the variance is at most (m - a)(b - m),
// but for the factor n / (n - 1) (Bhatia and Davis).
void read_expectations(const TomlTable& table, const Specification& specification,
                       StatisticSpecification& statistic) {
  const Kind& kind = kind_of(statistic);
  for (const std::string key : {"expected_mean", "expected_deviation"}) {
    if (!table.has(key)) continue;
    if (specification.is_constant(statistic))
      table.refuse(key, "does not apply to a public constant, which is released exactly; remove it");
    if (parts_of(statistic.kind, specification.data.neighbors).empty()) {
      table.refuse(key, "does not apply to a " + kind.name() + " under " +
                            to_string(specification.data.neighbors) +
                            ", whose accuracy does not depend on the data; remove it");
    }
    const bool private_rows =
        !specification.data.size && !specification.data.expected_size && !table.has("group_by");
    if (private_rows)
      table.refuse(key, "needs expected_size under [data], about how many rows there are; add it");
  }
  if (table.has("expected_mean")) statistic.expected_means = read_expected(table, "expected_mean", kind);
  if (table.has("expected_deviation"))
    statistic.expected_deviations = read_expected(table, "expected_deviation", kind);
  if (kind.is_second_moment() && !statistic.expected_means.empty() && statistic.expected_deviations.empty())
    table.refuse("expected_mean", "says little without expected_deviation; add it, or remove expected_mean");
  for (std::size_t i = 0; i < statistic.bounds.size(); ++i) {
    const DecimalBounds& bounds = statistic.bounds[i];
    Rational mean = (bounds.lower + bounds.upper) / 2;
    if (!statistic.expected_means.empty()) mean = statistic.expected_means[i];
    if (mean < bounds.lower || mean > bounds.upper)
      table.refuse("expected_mean", "must lie between the bounds, to which values are clamped");
    if (statistic.expected_deviations.empty()) continue;
    const Rational& deviation = statistic.expected_deviations[i];
    if (deviation <= 0) table.refuse("expected_deviation", "must be greater than 0");
    if (deviation * deviation > (mean - bounds.lower) * (bounds.upper - mean)) {
      table.refuse("expected_deviation",
                   "no values between the bounds have such a standard deviation about " + to_string(mean) +
                       "; guess a smaller one, or expected_mean");
    }
  }
}

const std::vector<std::string> group_limit_keys = {"max_groups_per_unit", "max_rows_per_group_per_unit"};

// Both limits together bound what a unit contributes; either alone would drop rows and leave the noise as it is.
std::optional<GroupLimit> read_group_limit(const TomlTable& table, const Specification& specification) {
  for (std::size_t i = 0; i < group_limit_keys.size(); ++i) {
    const std::string& key = group_limit_keys[i];
    const std::string& other = group_limit_keys[1 - i];
    if (!table.has(key)) continue;
    if (!specification.data.privacy_unit)
      table.refuse(key, "applies only with privacy_unit under [data]; name the unit, or remove it");
    if (!table.has(other)) {
      table.refuse(key, "alone would drop rows without less noise; say " + other +
                            " too, so that a unit has at most groups times rows, or remove it");
    }
  }
  if (!table.has(group_limit_keys[0])) return std::nullopt;
  return GroupLimit{.max_groups = table.get_count(group_limit_keys[0]),
                    .max_rows = table.get_count(group_limit_keys[1])};
}

// differences: pairs of keys.
void read_differences(const TomlDocument& document, const TomlTable& table,
                      StatisticSpecification& statistic) {
  const toml::array& pairs = table.get_array("differences");
  const Kind& kind = kind_of(statistic);
  if (!kind.is_one_number()) {
    table.refuse("differences", "does not apply to kind = " + quoted_text(kind.name()) +
                                    ", which is more than one number; remove it");
  }
  if (statistic.range.kind() == RangeChoice::Kind::fixed) {
    table.refuse("differences",
                 "do not go with a declared range: outputs would be clamped to it before they are compared; "
                 "remove one of them");
  }
  if (pairs.empty()) table.refuse("differences", "must have at least one entry; or remove it");
  if (pairs.size() > Specification::max_statistics) {
    table.refuse("differences",
                 "has more than " + std::to_string(Specification::max_statistics) + " entries; use fewer");
  }
  const auto refuse = [&](const toml::node& node, const std::string& rule) {
    document.refuse(node, table.context(), "differences", rule);
  };
  const auto group_of = [&](const toml::node& node) {
    std::size_t group = 0;
    std::size_t groups = 0;
    if (statistic.key_texts.empty()) {
      const Rational key = document.number(node, table.context(), "differences");
      const auto& keys = statistic.key_numbers;
      groups = keys.size();
      group = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), key) - keys.begin());
    } else {
      const auto& keys = statistic.key_texts;
      groups = keys.size();
      const auto* text = node.as_string();
      if (text == nullptr) refuse(node, "must name keys of the groups, texts in quotes");
      group = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), text->get()) - keys.begin());
    }
    if (group == groups) refuse(node, "is none of the keys of group_by; name two of them");
    return group;
  };
  for (const toml::node& node : pairs) {
    const toml::array* pair = node.as_array();
    if (pair == nullptr || pair->size() != 2)
      refuse(node, "must be pairs of keys, [[\"a\", \"b\"]] for what a has more than b");
    const std::pair<std::size_t, std::size_t> groups{group_of((*pair)[0]), group_of((*pair)[1])};
    if (groups.first == groups.second) refuse(node, "a group does not differ from itself; name two groups");
    const auto& known = statistic.differences;
    if (std::find(known.begin(), known.end(), groups) != known.end())
      refuse(node, "names a difference twice; remove one");
    statistic.differences.push_back(groups);
  }
}

// keys = "private": by what [keys.NAME] says of the column.
void read_private_keys(const TomlTable& table, const Specification& specification,
                       StatisticSpecification& statistic) {
  static_cast<void>(table.get_choice("keys", {"private"}));
  const auto& known = specification.private_keys;
  const auto keys = std::find_if(known.begin(), known.end(), [&](const KeysSpecification& each) {
    return each.column == *statistic.group_by;
  });
  if (keys == known.end()) {
    std::vector<std::string> columns;
    for (const KeysSpecification& each : known) columns.push_back(each.column);
    table.refuse("keys", "needs a table [keys." + toml_key(*statistic.group_by) +
                             "] with the epsilon and delta that choosing the groups costs" +
                             did_you_mean(*statistic.group_by, columns));
  }
  statistic.private_keys = true;
  statistic.key_type = keys->type;
  if (table.has("differences"))
    table.refuse("differences", "compares groups that are declared, and these are not; remove it");
  if (statistic.noise == NoiseKind::notes)
    table.refuse("mode", "must be \"exact\" where the keys are private; remove it");
}

void read_public_keys(const TomlTable& table, const Specification& specification,
                      StatisticSpecification& statistic) {
  const ColumnDeclaration& declared = specification.data.column(*statistic.group_by);
  PublicValues keys = declared.values;
  if (table.has("keys")) {
    keys = get_values(table, "keys", "key", std::nullopt);
  } else if (keys.empty()) {
    table.refuse_missing("keys",
                         "is missing; list the public keys of the groups, keys = [1, 2, 3], here or under "
                         "[columns.NAME]. Keys found in the data would reveal who is in them; where nobody "
                         "knows them, keys = \"private\" with a [keys.NAME] chooses those that may be shown");
  }
  statistic.key_type = declared.type.value_or(keys.texts.empty() ? AtomType::real : AtomType::text);
  if ((statistic.key_type == AtomType::text) == keys.texts.empty()) {
    table.refuse("keys",
                 "column " + quoted_text(*statistic.group_by) + " is declared as " +
                     to_string(statistic.key_type) +
                     (keys.texts.empty() ? "; put the keys in quotes" : "; write the keys without quotes"));
  }
  statistic.key_numbers = std::move(keys.numbers);
  statistic.key_texts = std::move(keys.texts);
}

// group_by, keys, the limits of a unit's groups and what groups are compared.
void read_groups(const TomlDocument& document, const TomlTable& table, const Specification& specification,
                 StatisticSpecification& statistic) {
  if (!table.has("group_by")) {
    for (const std::string key : {"keys", "max_groups_per_unit", "max_rows_per_group_per_unit",
                                  "expected_group_size", "differences"}) {
      if (table.has(key)) table.refuse(key, "applies only with group_by; name the column, or remove it");
    }
    return;
  }
  statistic.group_by = get_name(table, "group_by");
  if (specification.data.neighbors == Neighbors::change_one) {
    table.refuse(
        "group_by",
        "is not available under change-one: a replaced row may move between groups, and the size of a "
        "group is not public; use neighbors = \"add-remove\"");
  }
  if (table.has("keys") && table.get("keys").is_string()) {
    read_private_keys(table, specification, statistic);
  } else {
    read_public_keys(table, specification, statistic);
  }
  statistic.groups_per_unit = read_group_limit(table, specification);
  if (table.has("expected_group_size"))
    statistic.expected_group_size = table.get_count("expected_group_size");
  if (table.has("differences")) read_differences(document, table, statistic);
  if (specification.is_constant(statistic)) {
    table.refuse("group_by", "does not go with a statistic that is a public constant; remove the statistic");
  }
}

// Reads one statistic; what is wrong with it goes to `faults`, each thing once: what can only be judged by something
// that is wrong itself is passed over.
class StatisticReader {
 public:
  StatisticReader(const TomlDocument& document, const toml::table& node, std::size_t number,
                  const Specification& specification, Faults& faults)
      : document_(document),
        table_(document, node, context_of(node, number), statistic_keys, faults),
        specification_(specification),
        faults_(faults) {}

  StatisticSpecification read() && {
    statistic_.line = table_.line();
    faults_.hold([&] { statistic_.name = get_name(table_, "name"); });
    if (table_.has("title")) faults_.hold([&] { statistic_.title = get_name(table_, "title"); });
    if (!faults_.hold([&] { read_kind(); })) return std::move(statistic_);
    const Kind& kind = kind_of(statistic_);
    find_foreign_keys(table_, kind, faults_);
    faults_.hold([&] { check_size(table_, specification_, kind); });
    const bool values_are_known = read_values(kind);
    faults_.hold([&] { kind.read_more({document_, table_, specification_.data}, statistic_); });
    read_parts();
    if (table_.has("nonnegative"))
      faults_.hold([&] { statistic_.nonnegative = table_.get_flag("nonnegative"); });
    if (values_are_known) {
      const bool range_is_known =
          faults_.hold([&] { read_own_number(document_, table_, specification_, statistic_, faults_); });
      if (range_is_known) faults_.hold([&] { read_mechanism(table_, specification_, statistic_); });
      faults_.hold([&] { read_expectations(table_, specification_, statistic_); });
    }
    faults_.hold([&] { read_groups(document_, table_, specification_, statistic_); });
    faults_.hold([&] {
      // Bounds that cannot be read might be those of a constant, which needs no price.
      read_price(table_, !values_are_known || specification_.is_constant(statistic_), specification_.budget,
                 statistic_);
    });
    if (table_.has("alpha")) faults_.hold([&] { statistic_.alpha = read_alpha(table_); });
    return std::move(statistic_);
  }

 private:
  static std::string context_of(const toml::table& node, std::size_t number) {
    const auto* name = node.get_as<std::string>("name");
    return name != nullptr ? "statistic " + quoted_text(name->get()) + ": "
                           : "[[statistic]] number " + std::to_string(number) + ": ";
  }

  void read_kind() {
    std::vector<std::string> names;
    for (const Kind* kind : all_kinds()) names.push_back(kind->name());
    if (!table_.has("kind")) table_.refuse_missing("kind", "is missing; it is " + either_of(names));
    const std::string chosen = table_.get_choice("kind", names);
    for (const Kind* kind : all_kinds()) {
      if (kind->name() == chosen) statistic_.kind = kind->id();
    }
  }

  // The columns, their type, and their public values or bounds; whether all of that is known.
  bool read_values(const Kind& kind) {
    const Declaration& data = specification_.data;
    const bool columns_are_known = faults_.hold([&] { statistic_.columns = read_columns(table_, kind); });
    if (kind.takes_texts() && table_.has("other")) {
      faults_.hold([&] { statistic_.other = table_.get_choice("other", {"drop", "bin"}) == "bin"; });
    }
    return columns_are_known && faults_.hold([&] { read_type(table_, data, kind, statistic_); }) &&
           faults_.hold([&] {
             kind.read_values({document_, table_, data}, statistic_);
           });
  }

  // The parts' split, and the grid, which is the parts' too.
  void read_parts() {
    const std::vector<std::string> parts =
        parts_of(statistic_.kind, specification_.data.neighbors, statistic_.columns.size());
    statistic_.split.assign(parts.size(), 1);
    // How many parts a regression has is not known before its columns are.
    const bool parts_are_known = !kind_of(statistic_).has_coefficients() || !statistic_.columns.empty();
    if (table_.has("split") && parts_are_known) {
      faults_.hold([&] { statistic_.split = read_split(table_, parts, specification_.data.neighbors); });
    }
    if (sums_reals()) statistic_.row_grid = specification_.data.row_grid;
    if (table_.has("row_grid")) {
      faults_.hold([&] {
        const RowGridChoice choice = read_row_grid(document_, table_);
        if (!sums_reals()) {
          table_.refuse("row_grid", "applies only to statistics that sum real cells; remove it");
        }
        statistic_.row_grid = choice;
      });
    }
    if (!table_.has("grid")) return;
    faults_.hold([&] {
      const GridChoice grid = read_grid(document_, table_);
      if (!parts.empty() && grid.is_explicit()) {
        table_.refuse(
            "grid",
            "must be \"auto\" or \"notes\": the parts that this statistic is computed from differ in scale");
      }
      statistic_.grid = grid;
    });
  }

  bool sums_reals() const {
    return kind_of(statistic_).sums_cells() && statistic_.type.value_or(AtomType::real) == AtomType::real;
  }

  const TomlDocument& document_;
  const TomlTable table_;
  const Specification& specification_;
  Faults& faults_;
  StatisticSpecification statistic_;
};

std::vector<StatisticSpecification> read_statistics(const TomlDocument& document, const TomlTable& root,
                                                    const Specification& specification, Faults& faults) {
  if (!root.has("statistic"))
    root.refuse_missing("[[statistic]]", "is missing; ask for at least one statistic");
  const toml::array* nodes = root.get("statistic").as_array();
  if (nodes == nullptr || !nodes->is_homogeneous(toml::node_type::table)) {
    root.refuse("statistic", "must be tables headed [[statistic]], with two brackets");
  }
  if (nodes->size() > Specification::max_statistics) {
    throw Error(ErrorCode::invalid_argument, "statistic",
                specification.name + ": more than " + std::to_string(Specification::max_statistics) +
                    " statistics; split the specification");
  }
  std::vector<StatisticSpecification> statistics;
  std::set<std::string> names;
  std::set<std::string> differences;  // which reports list beside the statistics
  for (const toml::node& node : *nodes) {
    statistics.push_back(
        StatisticReader(document, *node.as_table(), statistics.size() + 1, specification, faults).read());
    const StatisticSpecification& statistic = statistics.back();
    if (!statistic.name.empty() && !names.insert(statistic.name).second) {
      faults.add(
          Error(ErrorCode::invalid_argument, "name",
                specification.place(statistic) + "another statistic has the same name; rename one of them"));
    }
    for (const auto& groups : statistic.differences) {
      if (!differences.insert(statistic.name_of_difference(groups)).second) {
        faults.add(Error(ErrorCode::invalid_argument, "differences",
                         specification.place(statistic) + "differences: two would be called " +
                             quoted_text(statistic.name_of_difference(groups)) +
                             " in the report; remove one, or rename the statistic"));
      }
    }
  }
  for (const StatisticSpecification& statistic : statistics) {
    if (differences.count(statistic.name) == 0) continue;
    faults.add(Error(ErrorCode::invalid_argument, "name",
                     specification.place(statistic) +
                         "a difference has the same name in the report; rename this statistic"));
  }
  return statistics;
}

}  // namespace

std::vector<std::string> parts_of(StatisticKind kind, Neighbors neighbors, std::size_t columns) {
  std::vector<std::string> names;
  for (KindPart& part : kind_of(kind).parts(neighbors, columns)) {
    if (!part.name.empty()) names.push_back(std::move(part.name));
  }
  return names;
}

std::string to_string(StatisticKind kind) {
  return kind_of(kind).name();
}

std::string StatisticSpecification::key_text(std::size_t group) const {
  return key_texts.empty() ? to_string(key_numbers.at(group)) : key_texts.at(group);
}

std::string StatisticSpecification::name_of_difference(
    const std::pair<std::size_t, std::size_t>& groups) const {
  return name + ": " + key_text(groups.first) + " - " + key_text(groups.second);
}

Specification Specification::read(const std::filesystem::path& path,
                                  const std::optional<Declaration>& declared) {
  return parse(read_toml_file(path, "specification"), path.string(), path.parent_path(), declared);
}

namespace {

// A probability that a table's `key` is to be.
Rational read_probability(const TomlTable& table, const std::string& key) {
  Rational value = table.get_positive(key);
  if (value >= 1)
    table.refuse(key, "is a probability of failing and must be less than 1; choose one such as 1e-6");
  return value;
}

// epsilon, epsilon and delta, or rho and delta.
PrivacyBudget read_budget(const TomlTable& table) {
  PrivacyBudget budget;
  if (table.has("delta")) {
    budget.measure = PrivacyMeasure::approximate;
    budget.amount.delta = read_probability(table, "delta");
  }
  if (!table.has("rho")) {
    budget.amount.value = table.get_positive("epsilon");
    return budget;
  }
  if (table.has("epsilon"))
    table.refuse("rho", "cannot stand beside epsilon: a run counts in one of them; remove one");
  if (!table.has("delta")) {
    table.refuse_missing(
        "delta",
        "is missing: rho is read as an epsilon at a delta; give that of the ledger, delta = \"1e-6\"");
  }
  budget.measure = PrivacyMeasure::zcdp;
  budget.amount.value = table.get_positive("rho");
  return budget;
}

KeysSpecification read_keys_table(const TomlTable& table, const std::string& column,
                                  const Specification& specification, Faults& faults) {
  const Declaration& data = specification.data;
  KeysSpecification keys;
  keys.column = column;
  keys.line = table.line();
  if (data.neighbors == Neighbors::change_one) {
    table.refuse_missing("keys",
                         "is not available under change-one, as group_by is not; use neighbors = "
                         "\"add-remove\"");
  }
  if (specification.budget.measure == PrivacyMeasure::pure) {
    table.refuse_missing(
        "delta",
        "needs a budget with a delta: no rule without one shows a group that nobody declared; "
        "add delta = \"1e-6\" to [budget], or list the keys");
  }
  const std::optional<AtomType> declared = data.column(column).type;
  if (declared == AtomType::real) {
    table.refuse_missing("type",
                         "is declared as real, and reals are no keys; declare the column as integer or text");
  }
  keys.type = declared.value_or(AtomType::text);
  for (const char* key : {"epsilon", "delta"}) {
    if (!table.has(key))
      table.refuse_missing(key,
                           "is missing; give what choosing the groups may cost, epsilon = \"0.5\" and delta "
                           "= \"1e-6\"");
  }
  faults.hold([&] { keys.epsilon = table.get_positive("epsilon"); });
  faults.hold([&] { keys.delta = read_probability(table, "delta"); });
  if (data.privacy_unit && !table.has("max_groups_per_unit")) {
    table.refuse_missing("max_groups_per_unit",
                         "is missing: a unit may be in several groups; say in how many of them it counts, "
                         "max_groups_per_unit = 1 shows the most of small groups");
  }
  if (!data.privacy_unit && table.has("max_groups_per_unit"))
    table.refuse("max_groups_per_unit",
                 "applies only with privacy_unit under [data]; name the unit, or remove it");
  if (table.has("max_groups_per_unit"))
    faults.hold([&] { keys.max_groups = table.get_count("max_groups_per_unit"); });
  if (table.has("min_units")) faults.hold([&] { keys.min_units = table.get_count("min_units"); });
  if (table.has("most")) {
    faults.hold([&] {
      keys.most = table.get_count("most");
      if (keys.most > Specification::max_bins)
        table.refuse("most", "must be at most " + std::to_string(Specification::max_bins));
    });
  }
  return keys;
}

// [keys.NAME], a table a column.
void read_keys(const TomlDocument& document, const TomlTable& root, Specification& specification,
               Faults& faults) {
  if (!root.has("keys")) return;
  constexpr std::size_t longest = 240;  // a ledger's charge has a word more
  for (const auto& [key, node] : root.get_table("keys")) {
    const std::string name(key.str());
    const auto* table = node.as_table();
    if (table == nullptr || name.empty() || name.size() > longest) {
      faults.add(Error(ErrorCode::invalid_argument, "keys",
                       document.place(node.source()) + "keys: " + quoted_text(name) +
                           ": must be a table headed [keys.NAME], with the name of a column of at most " +
                           std::to_string(longest) + " bytes"));
      continue;
    }
    const TomlTable keys(document, *table, "[keys." + toml_key(name) + "]: ",
                         {"epsilon", "delta", "max_groups_per_unit", "min_units", "most"}, faults);
    KeysSpecification& read = specification.private_keys.emplace_back();
    read.column = name;  // which statistics look for, whatever is wrong with the rest
    faults.hold([&] { read = read_keys_table(keys, name, specification, faults); });
  }
}

// Keys that are paid for are used.
void check_keys_are_used(const Specification& specification, Faults& faults) {
  for (const KeysSpecification& keys : specification.private_keys) {
    const auto uses = [&](const StatisticSpecification& statistic) {
      return statistic.private_keys && statistic.group_by == keys.column;
    };
    if (std::any_of(specification.statistics.begin(), specification.statistics.end(), uses)) continue;
    faults.add(Error(ErrorCode::invalid_argument, "keys",
                     specification.place(keys) +
                         "no statistic is by these keys; ask for one with group_by = " +
                         quoted_text(keys.column) + " and keys = \"private\", or remove the table"));
  }
}

}  // namespace

Specification Specification::parse(std::string_view text, const std::string& name,
                                   const std::filesystem::path& folder,
                                   const std::optional<Declaration>& declared) {
  const FloatEnvironment environment;
  const TomlDocument document(text, name);
  Faults faults;
  const TomlTable root(document, document.root(), "", root_keys(), faults);
  Specification specification;
  specification.text = text;
  specification.name = document.name();
  specification.folder = folder;
  if (root.has("label")) faults.hold([&] { specification.label = get_name(root, "label"); });
  if (root.has("headline")) faults.hold([&] { specification.headline = get_name(root, "headline"); });
  std::optional<Declaration> data;
  faults.hold([&] {
    if (!declared && !root.has("data")) {
      root.refuse_missing(
          "[data]",
          "is missing; it says what is public about the data. Write it, or name what the custodian "
          "wrote: --ledger FILE or --declaration FILE");
    }
    data = declared ? amended_declaration(document, *declared, faults)
                    : read_declaration(document, folder, faults);
  });
  if (const toml::node_view path = document.root()["data"]["path"]; path.is_string())
    specification.stated_path = folder / path.as_string()->get();
  faults.hold([&] {
    if (!root.has("budget"))
      root.refuse_missing("[budget]", "is missing; its epsilon caps what this run may cost");
    specification.budget = read_budget(
        TomlTable(document, root.get_table("budget"), "[budget]: ", {"epsilon", "delta", "rho"}, faults));
  });
  // Statistics are judged by what is declared.
  if (data) {
    specification.data = *std::move(data);
    faults.hold([&] { read_keys(document, root, specification, faults); });
    const bool keys_are_known = faults.size() == 0;
    faults.hold([&] { specification.statistics = read_statistics(document, root, specification, faults); });
    if (keys_are_known) check_keys_are_used(specification, faults);
  }
  faults.refuse_any();
  return specification;
}

bool Specification::is_constant(const StatisticSpecification& statistic) const {
  return kind_of(statistic).is_constant(data.neighbors, statistic);
}

std::uint64_t Specification::rows_apart(const StatisticSpecification& statistic) const {
  return make_unit_limit(data.max_rows_per_unit, statistic.groups_per_unit).most_rows();
}

std::string Specification::place(const KeysSpecification& keys) const {
  return name + ":" + std::to_string(keys.line) + ": [keys." + toml_key(keys.column) + "]: ";
}

std::string Specification::place(const StatisticSpecification& statistic) const {
  return name + ":" + std::to_string(statistic.line) + ": statistic " + quoted_text(statistic.name) + ": ";
}

}  // namespace snapdp
