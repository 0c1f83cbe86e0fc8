#include "certify_by_dilation.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "commands.h"
#include "output.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"
#include "snapdp/privacy/dilation.h"

namespace snapdp::cli {

using namespace release_internal;
namespace {

using Json = nlohmann::ordered_json;

// The noise that the options lead to, and the loss that is claimed of it: --epsilon, or else what the scale gives.
DilationQuestion question_of(const MechanismQuestion& given) {
  if (given.noise == NoiseKind::notes) {
    refuse("--by",
           " = \"dilation\": arithmetic of p bits takes finitely many values, which a dilation may miss "
           "(proofs/snapping.md); choose --mode exact, or leave --by out");
  }
  if (given.precision)
    refuse("--precision", ": exact mode has none; leave it out or choose --mode precision");
  DilationQuestion question{
      .noise = {
          .sensitivity = given.sensitivity, .lower = given.lower, .upper = given.upper, .kind = given.noise}};
  if (!given.scale) {
    const Mechanism mechanism = given.mechanism(*given.epsilon);  // which says what it refuses
    question.noise = mechanism.noise();
    question.epsilon = *given.epsilon;
    return question;
  }
  const Rational sensitivity = given.sensitivity.rational();
  if (sensitivity > greatest_dilation * *given.scale) {
    const std::string limit = std::to_string(greatest_dilation);
    refuse("--scale", " = " + to_string(*given.scale) + ": dilations are checked up to e^" + limit +
                          ", a sensitivity of " + limit + " noise scales");
  }
  const double scale = to_double_nearest(*given.scale);
  if (Rational(scale) != *given.scale) {
    refuse("--scale", " = " + to_string(*given.scale) + ": must be a double to be dilated, such as " +
                          to_string(scale) + " or 0x1.8p-2");
  }
  question.noise.scale = scale;
  question.noise.grid =
      given.noise == NoiseKind::geometric ? Grid(0) : given.grid.resolve(*given.scale, false);
  question.epsilon = given.epsilon ? *given.epsilon : Rational(sensitivity / *given.scale);
  return question;
}

// --value, or else both ends of the range and what lies between.
std::vector<double> values_of(const MechanismQuestion& given) {
  if (given.value) return {*given.value};
  std::vector<double> values{middle_value({.lower = given.lower, .upper = given.upper, .kind = given.noise})};
  if (given.lower) values.push_back(*given.lower);
  if (given.upper) values.push_back(*given.upper);
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

struct Checks {
  DilationQuestion question;
  std::vector<DilationCheck> checks;
  Enclosure delta;  // the largest

  bool holds() const { return delta.lower == 0; }
};

// The library names its parameters without dashes.
Checks checks_of(const MechanismQuestion& given, const std::string& tolerance) {
  try {
    Checks result{question_of(given), {}, {0, 0}};
    if (!tolerance.empty()) result.question.tolerance = parse_rational(tolerance, "--tolerance");
    for (const double value : values_of(given)) {
      const DilationCheck& check =
          result.checks.emplace_back(check_dilation(result.question, Rational(value)));
      result.delta.lower = std::max(result.delta.lower, check.delta.lower);
      result.delta.upper = std::max(result.delta.upper, check.delta.upper);
    }
    return result;
  } catch (const Error& error) {
    const std::string& parameter = error.parameter();
    if (parameter.starts_with("--")) throw;
    throw Error(error.code(), "--" + parameter, "--" + std::string(error.what()));
  }
}

Json enclosure_json(const Enclosure& delta) {
  return Json::array({to_double_down(delta.lower), to_double_up(delta.upper)});
}

Json json_of(const Checks& result) {
  const auto bound = [](const std::optional<double>& end) { return end ? Json(*end) : Json(); };
  const DilationQuestion& question = result.question;
  Json json = {{"by", "dilation"},
               {"holds", result.holds()},
               {"delta", enclosure_json(result.delta)},
               {"tolerance", to_string(question.tolerance)},
               {"epsilon", to_string(question.epsilon)},
               {"sensitivity", to_string(question.noise.sensitivity.rational())},
               {"scale", to_string(question.noise.scale.exact())},
               {"grid", to_string(question.noise.grid.spacing())},
               {"lower", bound(question.noise.lower)},
               {"upper", bound(question.noise.upper)},
               {"checks", Json::array()}};
  for (const DilationCheck& check : result.checks) {
    json["checks"].push_back({{"value", to_double_nearest(check.value)},
                              {"shifts", {to_string(check.shifts.from), to_string(check.shifts.to)}},
                              {"outputs", check.outputs},
                              {"delta", enclosure_json(check.delta)}});
  }
  return json;
}

constexpr int shown_digits = 3;

std::string shown_up(const Rational& value) {
  return round_up_to_digits(value, shown_digits);
}
std::string shown_down(const Rational& value) {
  const std::string mirrored = round_up_to_digits(Rational(-value), shown_digits);
  return mirrored.starts_with('-') ? mirrored.substr(1) : mirrored;
}

std::string text_of(const Checks& result) {
  const DilationQuestion& question = result.question;
  const TableStyle style = style_of_standard_output();
  TextTable summary({{"certificate", TextTable::Align::left}, {"by dilation", TextTable::Align::left}});
  const std::string epsilon = short_number(question.epsilon);
  summary.add(
      {"claim", "P(y in O) <= e^" + epsilon + " P(y' in O) + delta for outputs O of neighbors y, y'"});
  summary.add({"verdict", result.holds()
                              ? "holds for the values below, delta at most " + shown_up(result.delta.upper)
                              : "FALSE: delta is at least " + shown_down(result.delta.lower)});
  summary.add({"sensitivity", short_number(question.noise.sensitivity.rational())});
  summary.add({"noise scale", short_number(question.noise.scale.exact())});
  summary.add({"grid", to_string(question.noise.grid)});
  const std::string clamps = clamp_text(question.noise.lower, question.noise.upper);
  if (!clamps.empty()) summary.add({"clamped to", clamps});
  TextTable table({{"value", TextTable::Align::right},
                   {"every s from", TextTable::Align::right},
                   {"to", TextTable::Align::right},
                   {"every union of", TextTable::Align::right},
                   {"delta from", TextTable::Align::right},
                   {"to", TextTable::Align::right}});
  for (const DilationCheck& check : result.checks) {
    table.add({to_string(to_double_nearest(check.value)), short_number(check.shifts.from),
               short_number(check.shifts.to), std::to_string(check.outputs) + " outputs",
               shown_down(check.delta.lower), shown_up(check.delta.upper)});
  }
  return summary.to_string(style) + "\n" + table.to_string(style) +
         "\nChecked for these values alone, in interval arithmetic; that it holds for all is proved in "
         "proofs/snapping.md.\n";
}

}  // namespace

void certify_by_dilation(const MechanismArguments& arguments, const std::string& tolerance) {
  const MechanismQuestion given(arguments);
  const Checks result = checks_of(given, tolerance);
  write_standard_output(arguments.json ? json_of(result).dump(2) + "\n" : text_of(result));
  if (!result.holds()) throw ExitWith{1};
}

}  // namespace snapdp::cli
