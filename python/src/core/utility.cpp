// What a release will be worth, known beforehand: accuracy, law, bias and bounds of a mechanism. The numbers are those of
// the tool's commands of these names.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/bindings.h"
#include "core/noise.h"
#include "core/numbers.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/release/law_chart.h"

namespace snapdp::python {
namespace {

std::optional<double> nearest(const std::optional<std::string>& text, const char* parameter) {
  if (!text) return std::nullopt;
  const double value = to_double_nearest(parse_rational(*text, parameter));
  if (!std::isfinite(value))
    throw Error(ErrorCode::invalid_argument, parameter,
                std::string(parameter) + " = " + *text + ": is beyond the largest double, 1.8e308");
  return value == 0 ? 0.0 : value;
}

FailureRate rate(const std::string& text, const char* parameter) {
  return {parse_rational(text, parameter), parameter};
}

// The probability of an error larger than `at`: for the value, or else the largest over all values.
double miss_of(const NoiseQuestion& question, const Mechanism& mechanism, const std::optional<double>& value,
               const Rational& at) {
  if (value) return ReleaseLaw(mechanism.noise(), *value).miss(at);
  const bool exact = mechanism.kind() == NoiseKind::exact;
  return worst_miss(mechanism.noise(), at, exact ? question.values() : std::nullopt);
}

Facts accuracy(const NoiseQuestion& question, const std::optional<std::string>& target,
               const std::string& alpha, const std::optional<std::string>& value_text,
               const std::optional<std::string>& at_text) {
  const FailureRate failure = rate(alpha, "alpha");
  const std::optional<double> value = nearest(value_text, "value");
  question.check_value(value);
  std::optional<Rational> at;
  if (at_text) at = not_negative(*at_text, "at");
  std::optional<Rational> least;
  Accuracy result{};
  std::optional<double> for_value;
  std::optional<double> miss;
  Rational epsilon;
  {
    const nb::gil_scoped_release unlocked;
    if (target) least = question.epsilon_for(positive(*target, "target_accuracy"), failure);
    epsilon = question.epsilon ? *question.epsilon : least ? *least : question.required_epsilon();
    const Mechanism mechanism = question.mechanism(epsilon);
    result = accuracy_of({mechanism.noise(), failure, 0, question.values()});
    if (value) for_value = ReleaseLaw(mechanism.noise(), *value).accuracy(failure);
    if (at) miss = miss_of(question, mechanism, value, *at);
  }
  Facts facts;
  facts["epsilon"] = to_string(epsilon);
  facts["least_epsilon"] = least ? nb::object(nb::str(to_string(*least).c_str())) : nb::none();
  facts["tight"] = result.tight;
  facts["conservative"] = result.conservative;
  facts["laplace"] = result.laplace;
  facts["for_value"] = nb::cast(for_value);
  facts["miss"] = nb::cast(miss);
  return facts;
}

Facts law(const NoiseQuestion& question, const std::optional<std::string>& value_text, std::size_t most) {
  const std::optional<double> value = nearest(value_text, "value");
  question.check_value(value);
  const Mechanism mechanism = question.mechanism(question.required_epsilon());
  OutputLaw::Table rows;
  double mean = 0;
  double variance = 0;
  const double at = value ? *value : middle_value(mechanism.noise());
  {
    const nb::gil_scoped_release unlocked;
    const ReleaseLaw released(mechanism.noise(), at);
    rows = released.table(most);
    mean = released.mean();
    variance = released.centered().variance();
  }
  std::vector<std::pair<double, double>> outputs;
  outputs.reserve(rows.outputs.size());
  for (const OutputProbability& row : rows.outputs) outputs.emplace_back(row.output, row.probability);
  const bool below = !mechanism.lower() || rows.outputs.front().output != *mechanism.lower();
  const bool above = !mechanism.upper() || rows.outputs.back().output != *mechanism.upper();
  Facts facts;
  facts["value"] = at;
  facts["mean"] = mean;
  facts["variance"] = variance;
  facts["outputs"] = nb::cast(outputs);
  facts["below"] = below ? rows.below : 0.0;
  facts["above"] = above ? rows.above : 0.0;
  facts["cut"] = rows.cut;
  return facts;
}

// The same law as a picture.
std::string drawn_law(const NoiseQuestion& question, const std::optional<std::string>& value_text) {
  const std::optional<double> value = nearest(value_text, "value");
  question.check_value(value);
  const Mechanism mechanism = question.mechanism(question.required_epsilon());
  const nb::gil_scoped_release unlocked;
  return law_chart(mechanism, value);
}

Facts bias_of(const NoiseQuestion& question, const std::optional<std::string>& value_text,
              const std::vector<std::pair<std::string, std::string>>& guesses) {
  const std::optional<double> value = nearest(value_text, "value");
  question.check_value(value);
  std::vector<Rational> values;
  std::vector<Rational> weights;
  for (const auto& [guess, weight] : guesses) {
    values.push_back(parse_rational(guess, "values"));
    weights.push_back(positive(weight, "values"));
  }
  const Mechanism mechanism = question.mechanism(question.required_epsilon());
  return bias_facts(mechanism.noise(), question.integer, value, values, weights);
}

// (lower, upper, binding probability) of the least bounds around the statistic's range.
std::tuple<double, double, double> bound(const NoiseQuestion& question, const std::string& gamma) {
  question.require_range("bounds are chosen around the statistic's own public range");
  const FailureRate failure = rate(gamma, "gamma");
  const nb::gil_scoped_release unlocked;
  const ChosenBounds chosen = minimal_mechanism(question.free_options(question.required_epsilon()),
                                                {*question.lower, *question.upper}, failure)
                                  .bounds;
  return {chosen.lower, chosen.upper, chosen.binding_probability};
}

}  // namespace

Facts bias_facts(const Noise& noise, bool integer, const std::optional<double>& value,
                 const std::vector<Rational>& guesses, const std::vector<Rational>& weights) {
  const Noise centered = noise.centered();
  std::optional<double> at_value;
  std::optional<double> expected;
  WorstBias worst{};
  {
    const nb::gil_scoped_release unlocked;
    if (value) at_value = bias(centered, noise.centered(*value));
    if (!guesses.empty()) expected = expected_bias(noise, guesses, weights);
    worst = worst_bias(centered, integer ? std::optional(noise.centered(Grid(0))) : std::nullopt);
  }
  Facts facts;
  facts["at_value"] = nb::cast(at_value);
  facts["expected"] = nb::cast(expected);
  facts["worst"] = std::abs(worst.bias);
  facts["worst_value"] = (Dyadic(worst.guess) + noise.origin()).to_double_nearest();
  return facts;
}

void bind_utility(nb::module_& module) {
  nb::class_<NoiseQuestion>(module, "NoiseQuestion")
      .def(nb::init<const std::optional<std::string>&, const std::string&, const std::optional<std::string>&,
                    const std::optional<std::string>&, const std::string&, const std::string&,
                    const std::optional<long>&, const std::string&, bool>(),
           nb::arg("epsilon").none(), nb::arg("sensitivity"), nb::arg("lower").none(),
           nb::arg("upper").none(), nb::arg("grid"), nb::arg("mode"), nb::arg("precision").none(),
           nb::arg("noise"), nb::arg("integer"));
  module.def("accuracy", &accuracy, nb::arg("question"), nb::arg("target").none(), nb::arg("alpha"),
             nb::arg("value").none(), nb::arg("at").none());
  module.def("law", &law, nb::arg("question"), nb::arg("value").none(), nb::arg("most"));
  module.def("law_chart", &drawn_law, nb::arg("question"), nb::arg("value").none());
  module.def("bias", &bias_of, nb::arg("question"), nb::arg("value").none(), nb::arg("guesses"));
  module.def("bound", &bound, nb::arg("question"), nb::arg("gamma"));
}

}  // namespace snapdp::python
