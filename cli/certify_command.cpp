// snapdp certify: the privacy loss of the mechanism that runs, enclosed on both sides.
#include <memory>
#include <nlohmann/json.hpp>

#include "certify_by_dilation.h"
#include "commands.h"
#include "mechanism_options.h"
#include "output.h"
#include "release/shared/suggestion.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/privacy/certificate.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

using Json = nlohmann::ordered_json;

// The noise that the options lead to.
Noise noise_of(const MechanismQuestion& given) {
  if (given.noise != NoiseKind::notes && given.epsilon) return given.mechanism(*given.epsilon).noise();
  Noise noise{.sensitivity = given.sensitivity,
              .lower = given.lower,
              .upper = given.upper,
              .kind = given.noise,
              .precision = given.precision.value_or(118)};
  if (given.scale) noise.scale = *given.scale;
  if (given.noise != NoiseKind::notes) {
    if (given.precision)
      refuse("--precision", ": exact mode has none; leave it out or choose --mode precision");
    if (given.noise == NoiseKind::exact) noise.grid = given.grid.resolve(*given.scale, given.integer);
    return noise;
  }
  given.require_range(precision_needs_range);
  if (!given.grid.is_automatic() && !given.grid.is_notes()) {
    refuse("--grid", " = \"" + to_string(given.grid) +
                         "\": precision mode has the notes' grid; leave it out, or choose --mode exact");
  }
  if (given.epsilon) {
    if (!given.precision) noise.precision = PrecisionSnapping::default_precision(*given.epsilon);
    if (*given.lower >= *given.upper)
      refuse("--lower", " = " + to_string(*given.lower) + ": must be less than --upper");
    noise.scale =
        precision_scale(*given.epsilon, given.sensitivity, *given.lower, *given.upper, noise.precision);
  }
  noise.grid = Grid::at_least(noise.scale.exact());
  return noise;
}

struct LossAnswer {
  Noise noise;
  Certificate certificate;
};

// The library names its parameters without dashes.
LossAnswer answered(const MechanismQuestion& given) {
  try {
    Noise noise = noise_of(given);
    Certificate certificate = certify(noise);
    return {std::move(noise), std::move(certificate)};
  } catch (const Error& error) {
    const std::string& parameter = error.parameter();
    if (parameter.starts_with("--")) throw;
    throw Error(error.code(), "--" + parameter, "--" + std::string(error.what()));
  }
}

std::string verdict(const Certificate& certificate) {
  if (!certificate.notes_claim) return "holds: exact mode is its limit";
  if (!certificate.notes_claim_holds()) return "VIOLATED: the witness exceeds it";
  return certificate.bound <= *certificate.notes_claim ? "holds: the proved bound is below it"
                                                       : "holds as far as the search saw; not proved";
}

struct CertifyArguments : MechanismArguments {
  std::string by = "law";
  std::string tolerance;
  std::string delta;
};

// Of Gaussian noise, of --scale, --epsilon and --delta two: the third, enclosed.
void certify_gaussian(const CertifyArguments& arguments) {
  const auto number = [](const std::string& text, const std::string& option) -> std::optional<Rational> {
    if (text.empty()) return std::nullopt;
    return parse_rational(text, option);
  };
  if (arguments.mode != "exact") {
    refuse("--noise",
           " = \"gaussian\": precision mode is defined for Laplace noise only; choose --mode exact");
  }
  const std::optional<Rational> scale = number(arguments.scale, "--scale");
  const std::optional<Rational> epsilon = number(arguments.epsilon, "--epsilon");
  const std::optional<Rational> delta = number(arguments.delta, "--delta");
  if (scale.has_value() + epsilon.has_value() + delta.has_value() != 2)
    refuse("--delta", ": of --scale, --epsilon and --delta give two, and the third is found");
  if (arguments.sensitivity.empty())
    refuse("--sensitivity", ": is missing; give the most that neighboring datasets differ, of vectors in L2");
  const Rational sensitivity = parse_rational(arguments.sensitivity, "--sensitivity");
  if (sensitivity <= 0) refuse("--sensitivity", " = " + arguments.sensitivity + ": must be greater than 0");
  if (epsilon && *epsilon < 0) refuse("--epsilon", " = " + arguments.epsilon + ": must not be negative");
  const Rational squared = sensitivity * sensitivity;
  std::string found;
  Enclosure enclosure;
  std::optional<Rational> rho;
  try {
    if (scale) rho = gaussian_rho(squared, *scale);
    if (!delta) {
      found = "delta";
      enclosure = gaussian_delta(*rho, *epsilon);
    } else if (!epsilon) {
      found = "epsilon";
      enclosure = gaussian_epsilon(*rho, *delta);
    } else {
      found = "scale";
      enclosure = gaussian_scale(squared, *epsilon, *delta);
    }
  } catch (const Error& error) {
    throw Error(error.code(), "--" + error.parameter(), "--" + std::string(error.what()));
  }
  constexpr int digits = 30;
  const std::string low = round_down_to_digits(enclosure.lower, digits);
  const std::string high = round_up_to_digits(enclosure.upper, digits);
  const auto given = [](const std::optional<Rational>& value) {
    return value ? Json(to_string(*value)) : Json();
  };
  if (arguments.json) {
    Json json = {
        {"noise", "gaussian"},       {"scale", given(scale)}, {"sensitivity", to_string(sensitivity)},
        {"epsilon", given(epsilon)}, {"delta", given(delta)}, {"rho", given(rho)}};
    json[found] = Json::array({low, high});
    write_standard_output(json.dump(2) + "\n");
    return;
  }
  std::string text = found + ": [" + low + ", " + high + "]\n";
  if (rho) text += "rho: " + to_string(*rho) + "\n";
  write_standard_output(text);
}

void certify_mechanism(const CertifyArguments& arguments) {
  if (arguments.noise == "gaussian" && arguments.by == "law") return certify_gaussian(arguments);
  if (!arguments.delta.empty()) refuse("--delta", ": applies only with --noise gaussian; leave it out");
  if (arguments.by == "dilation") {
    if (arguments.epsilon.empty() && arguments.scale.empty())
      refuse("--epsilon", ": give --epsilon, --scale, or both: the claim and the noise");
    certify_by_dilation(arguments, arguments.tolerance);
    return;
  }
  if (arguments.by != "law") {
    const std::vector<std::string> names = {"law", "dilation"};
    refuse("--by", " = " + quoted_text(arguments.by) + ": must be " + either_of(names) +
                       did_you_mean(arguments.by, names));
  }
  for (const auto& [option, text] :
       {std::pair("--value", arguments.value), {"--tolerance", arguments.tolerance}}) {
    if (!text.empty()) refuse(option, ": applies only with --by dilation; leave it out");
  }
  if (arguments.epsilon.empty() == arguments.scale.empty()) {
    refuse("--epsilon", ": give either --epsilon or --scale");
  }
  const MechanismQuestion given(arguments);
  const auto [noise, certificate] = answered(given);
  const bool precise = noise.kind == NoiseKind::notes;
  if (arguments.json) {
    Json json = {{"witness", certificate.witness_text()},
                 {"bound", certificate.bound_text()},
                 {"notes_claim", certificate.notes_claim_text()},
                 {"notes_claim_holds", certificate.notes_claim_holds()},
                 {"mode", mode_name(noise.kind)},
                 {"noise", noise_name(noise.kind)}};
    json["epsilon"] = given.epsilon ? Json(to_string(*given.epsilon)) : Json();
    json["within_epsilon"] = given.epsilon ? Json(certificate.bound <= *given.epsilon) : Json();
    json["sensitivity"] = to_string(noise.sensitivity.rational());
    json["scale"] = to_string(noise.scale.exact());
    json["grid"] = to_string(noise.grid.spacing());
    json["precision"] = precise ? Json(noise.precision) : Json();
    write_standard_output(json.dump(2) + "\n");
    return;
  }
  TextTable table(
      {{"certificate", TextTable::Align::left}, {"largest privacy loss", TextTable::Align::left}});
  table.add({"witness", certificate.witness_text() + "  occurs"});
  table.add({"bound", certificate.bound_text() + "  is never exceeded"});
  table.add({"notes' claim", certificate.notes_claim_text() + "  " + verdict(certificate)});
  if (given.epsilon) {
    table.add(
        {"epsilon", short_number(*given.epsilon) +
                        (certificate.bound <= *given.epsilon ? "  is kept" : "  is not proved to be kept")});
  }
  table.add({"sensitivity", short_number(noise.sensitivity.rational())});
  table.add({"noise scale", short_number(noise.scale.exact())});
  table.add({"grid", to_string(noise.grid)});
  if (precise) table.add({"precision", std::to_string(noise.precision) + " bits"});
  const std::string clamps = clamp_text(noise.lower, noise.upper);
  if (!clamps.empty()) table.add({"clamped to", clamps});
  write_standard_output(table.to_string(style_of_standard_output()));
}

}  // namespace

void add_certify(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<CertifyArguments>();
  CLI::App* command =
      tool.add_subcommand("certify", "The privacy loss of the mechanism that runs, enclosed.");
  add_noise_options(*command, *arguments, "--scale", "values and outputs are clamped to it");
  command->add_option("--scale", arguments->scale, "The scale of the noise, instead of --epsilon")
      ->type_name("S");
  command->add_option("--delta", arguments->delta, "With --noise gaussian: the delta to allow")
      ->type_name("D");
  command
      ->add_option("--by", arguments->by,
                   "law: the largest loss; dilation: every set of outputs, by intervals (law)")
      ->type_name("B");
  command->add_option("--value", arguments->value, "With --by dilation: the value to check")->type_name("V");
  command->add_option("--tolerance", arguments->tolerance, "With --by dilation: how wide delta may be (1e-9)")
      ->type_name("T");
  commands[command] = {
      [arguments] { certify_mechanism(*arguments); },
      "  snapdp certify --epsilon 1 --sensitivity 1\n"
      "  snapdp certify --epsilon 1 --sensitivity 1 --lower 0 --upper 100 --mode precision\n"
      "  snapdp certify --scale 100 --sensitivity 1 --lower -1 --upper 1 --mode precision "
      "--precision 53 --json\n"
      "  snapdp certify --epsilon 1 --sensitivity 1 --lower 0 --upper 20 --by dilation\n"
      "  snapdp certify --noise gaussian --scale 4 --sensitivity 1 --delta 1e-6\n"
      "  snapdp certify --scale 1 --epsilon 0.9 --sensitivity 1 --by dilation   (refuted)\n"};
  command->footer(
      "witness: a loss that two values at most the sensitivity apart really have, rounded down. bound: a "
      "loss that\n"
      "no two have, rounded up. In exact mode they agree. In precision mode the witness is the largest that "
      "a search "
      "finds,\n"
      "from exact probabilities, and the bound is the proved one; also where a release is refused (a scale "
      "of half "
      "the\n"
      "range or more). notes_claim: sensitivity/scale + 12 B eta/scale + 2 eta, B half the range, eta = "
      "2^-precision;\n"
      "in exact mode its limit. JSON: decimal strings of 30 digits or more, within_epsilon whether the bound "
      "is "
      "at most\n"
      "epsilon. The proofs are in proofs/certify.md.\n"
      "Gaussian noise has no loss that is never exceeded. Of its --scale (standard deviation), --epsilon and "
      "--delta give\n"
      "two: the least third is enclosed, `delta: [low, high]`, and rho = sensitivity^2 / (2 scale^2) of "
      "zero-concentrated\n"
      "privacy printed. JSON: the third as [low, high], of 30 digits, low rounded down and high up.\n"
      "--by dilation encloses, for --value or the ends and the middle of the range, the least delta such "
      "that "
      "no set of\n"
      "outputs is more likely than e^epsilon times what a neighboring value gives it, plus delta. Exact mode "
      "and "
      "Laplace\n"
      "noise. With --epsilon and --scale: that claim of that noise. Exit code 1: the claim is false.\n\n" +
      std::string(numbers_footer));
}

}  // namespace snapdp::cli
