#include "mechanism_options.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "release/shared/suggestion.h"
#include "snapdp/error.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

Rational positive(const std::string& text, const std::string& option) {
  Rational value = parse_rational(text, option);
  if (value <= 0) refuse(option, " = " + text + ": must be greater than 0");
  return value;
}

std::optional<Rational> positive_if_given(const std::string& text, const std::string& option) {
  if (text.empty()) return std::nullopt;
  return positive(text, option);
}

std::optional<double> rounded(const std::string& text, const std::string& option,
                              double (*round)(const Rational&)) {
  if (text.empty()) return std::nullopt;
  const double value = round(parse_rational(text, option));
  if (!std::isfinite(value)) refuse(option, " = " + text + ": is beyond the largest double, 1.8e308");
  return value == 0 ? 0.0 : value;
}

// Exactly when it is a dyadic number, otherwise rounded up: noise for a little more protects what was meant. What Gaussian
// noise does to a value has nothing to do with it.
Dyadic sensitivity_of(const std::string& text, NoiseKind noise) {
  if (text.empty() && noise == NoiseKind::gaussian) return 1;
  if (text.empty()) refuse("--sensitivity", ": is missing; give the most that neighboring datasets differ");
  const Rational exact = positive(text, "--sensitivity");
  const double up = to_double_up(exact);
  if (!std::isfinite(up)) refuse("--sensitivity", " = " + text + ": is beyond the largest double, 1.8e308");
  const bool dyadic = mpz_popcount(exact.get_den_mpz_t()) == 1;
  return dyadic ? to_dyadic(exact, "--sensitivity") : Dyadic(up);
}

// "auto", "notes", "2^k", and a power of two written as any other number.
GridChoice grid_of(const std::string& text) {
  if (text == "auto" || text == "notes" || text.find('^') != std::string::npos) {
    return GridChoice::parse(text, "--grid");
  }
  const std::string rule = ": must be auto, notes or a power of two such as 2^-10 or 0x1p-10";
  Rational spacing;
  try {
    spacing = parse_rational(text, "--grid");
  } catch (const Error&) {
    refuse("--grid", " = " + quoted_text(text) + rule);
  }
  if (spacing <= 0) refuse("--grid", " = " + text + rule);
  const Grid grid = Grid::at_least(spacing);
  if (grid.spacing().rational() != spacing) refuse("--grid", " = " + text + rule);
  return GridChoice(grid);
}

bool is_second(const std::string& text, const std::string& option, const std::vector<std::string>& names) {
  if (text == names[0] || text == names[1]) return text == names[1];
  refuse(option, " = " + quoted_text(text) + ": must be " + either_of(names) + did_you_mean(text, names));
}

NoiseKind noise_of(const MechanismArguments& arguments) {
  const bool notes = is_second(arguments.mode, "--mode", {"exact", "precision"});
  const std::vector<std::string> names = {"laplace", "geometric", "gaussian"};
  if (std::find(names.begin(), names.end(), arguments.noise) == names.end()) {
    refuse("--noise", " = " + quoted_text(arguments.noise) + ": must be " + either_of(names) +
                          did_you_mean(arguments.noise, names));
  }
  if (notes && arguments.noise != "laplace") {
    refuse("--noise", " = \"" + arguments.noise +
                          "\": precision mode is defined for Laplace noise only; choose --mode exact");
  }
  if (notes) return NoiseKind::notes;
  if (arguments.noise == "gaussian") return NoiseKind::gaussian;
  return arguments.noise == "geometric" ? NoiseKind::geometric : NoiseKind::exact;
}

std::optional<long> precision_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const Rational bits = parse_rational(text, "--precision");
  if (bits.get_den() != 1 || bits < PrecisionSnapping::least_precision ||
      bits > PrecisionSnapping::greatest_precision) {
    refuse("--precision", " = " + text + ": must be a whole number of bits from " +
                              std::to_string(PrecisionSnapping::least_precision) + " to " +
                              std::to_string(PrecisionSnapping::greatest_precision));
  }
  return bits.get_num().get_si();
}

std::optional<Rational> not_negative(const std::string& text, const std::string& option) {
  if (text.empty()) return std::nullopt;
  Rational value = parse_rational(text, option);
  if (value < 0) refuse(option, " = " + text + ": must not be negative");
  return value;
}

}  // namespace

const char* const precision_needs_range =
    "precision mode needs --lower and --upper, as its loss grows with the range; give both, or choose --mode "
    "exact";

const char* const numbers_footer =
    "Numbers are decimals, fractions such as 1/3 or C99 hex floats such as 0x1p-2. Epsilon, accuracies and "
    "rates are\n"
    "taken exactly; a sensitivity that is no binary fraction is rounded up to a double, bounds are rounded "
    "outward, a\n"
    "value to the nearest double. Nothing here looks at data: a value is a guess. docs/utility.md explains "
    "the numbers.";

namespace {

void add(CLI::App& command, const char* name, std::string& value, const std::string& text, const char* type) {
  command.add_option(name, value, text)->type_name(type);
}

}  // namespace

void add_noise_options(CLI::App& command, MechanismArguments& arguments, const std::string& epsilon,
                       const std::string& bounds) {
  add(command, "--epsilon", arguments.epsilon, "The privacy loss; or give " + epsilon, "E");
  add(command, "--sensitivity", arguments.sensitivity, "The most that neighboring datasets differ", "D");
  add(command, "--lower", arguments.lower, "The lower end of the range: " + bounds, "L");
  add(command, "--upper", arguments.upper, "The upper end; one end alone clamps on its side", "U");
  add(command, "--grid", arguments.grid, "auto, notes or a power of two such as 2^-10 (auto)", "G");
  add(command, "--mode", arguments.mode, "exact or precision (exact); precision needs the range", "M");
  add(command, "--precision", arguments.precision, "Bits of precision mode (118, or more for a tiny epsilon)",
      "P");
  add(command, "--noise", arguments.noise, "laplace, geometric for integer statistics, or gaussian (laplace)",
      "N");
  command.add_flag("--integer", arguments.integer,
                   "The statistic is an integer, as counts are: accuracies are those of integers");
  command.add_flag("--json", arguments.json, "Print JSON instead of a table");
  command.footer(numbers_footer);
}

void add_mechanism_options(CLI::App& command, MechanismArguments& arguments, const std::string& bounds) {
  add_noise_options(command, arguments, "--target-accuracy", bounds);
  add(command, "--scale", arguments.scale, "Of Gaussian noise, in place of --epsilon: its standard deviation",
      "S");
  add(command, "--value", arguments.value, "A guess at the exact statistic", "V");
  add(command, "--alpha", arguments.alpha, "The probability that an accuracy may be missed (0.05)", "A");
  add(command, "--target-accuracy", arguments.target, "Find the least epsilon that is this accurate", "A");
  add(command, "--at", arguments.at, "Also the probability of an error larger than this", "A");
  add(command, "--gamma", arguments.gamma, "The probability that a chosen bound may bind (0.05)", "G");
}

MechanismQuestion::MechanismQuestion(const MechanismArguments& arguments)
    : epsilon(positive_if_given(arguments.epsilon, "--epsilon")),
      scale(positive_if_given(arguments.scale, "--scale")),
      sensitivity(sensitivity_of(arguments.sensitivity, noise_of(arguments))),
      has_sensitivity(!arguments.sensitivity.empty()),
      lower(rounded(arguments.lower, "--lower", to_double_down)),
      upper(rounded(arguments.upper, "--upper", to_double_up)),
      value(rounded(arguments.value, "--value", to_double_nearest)),
      grid(grid_of(arguments.grid)),
      noise(noise_of(arguments)),
      precision(precision_of(arguments.precision)),
      integer(arguments.integer || noise == NoiseKind::geometric),
      alpha(parse_rational(arguments.alpha, "--alpha"), "--alpha"),
      target(positive_if_given(arguments.target, "--target-accuracy")),
      at(not_negative(arguments.at, "--at")),
      gamma(parse_rational(arguments.gamma, "--gamma"), "--gamma") {
  if (noise == NoiseKind::gaussian && !scale)
    refuse(
        "--scale",
        ": is missing; Gaussian noise takes its standard deviation. certify --epsilon E --delta D finds it");
  if (!epsilon && !target && !scale)
    refuse("--epsilon", ": is missing; give it, or --target-accuracy, or both");
  if (has_range() && *lower > *upper) {
    refuse("--lower",
           " = " + arguments.lower + ": must be less than --upper = " + arguments.upper + "; swap them");
  }
  if (integer && value && *value != std::floor(*value)) {
    refuse("--value", " = " + arguments.value + ": must be a whole number, because " +
                          (noise == NoiseKind::geometric ? "--noise is geometric" : "of --integer"));
  }
}

void MechanismQuestion::require_range(const std::string& why) const {
  if (!has_range()) refuse(lower ? "--upper" : "--lower", ": is missing; " + why);
}

MechanismOptions MechanismQuestion::options(const Rational& loss) const {
  if (has_range() && *lower == *upper) {
    refuse("--lower", " = " + to_string(*lower) +
                          ": must be less than --upper: between equal bounds the statistic is a public "
                          "constant and needs no noise");
  }
  if (noise == NoiseKind::notes) require_range(precision_needs_range);
  MechanismOptions between = free_options(loss);
  between.lower = lower;
  between.upper = upper;
  return between;
}

MechanismOptions MechanismQuestion::free_options(const Rational& loss) const {
  return {.epsilon = loss,
          .sensitivity = sensitivity,
          .grid = grid,
          .integer = integer && noise != NoiseKind::notes,
          .noise = noise,
          .precision = precision,
          .scale = noise == NoiseKind::gaussian ? std::optional(to_double_up(*scale)) : std::nullopt};
}

Rational MechanismQuestion::epsilon_for(const Rational& accuracy) const {
  MechanismOptions asked = options(0);
  asked.integer = integer;
  return naming_option("accuracy", "--target-accuracy",
                       [&] { return epsilon_for_accuracy(asked, accuracy, alpha); });
}

Rational MechanismQuestion::chosen_epsilon() const {
  if (noise == NoiseKind::gaussian) {
    if (epsilon) refuse("--epsilon", ": Gaussian noise takes its --scale; leave one of them out");
    if (target)
      refuse("--target-accuracy", ": finds an epsilon, which Gaussian noise has none of; leave it out");
    return 0;
  }
  if (scale) refuse("--scale", ": is of Gaussian noise; give --epsilon, or --noise gaussian");
  return epsilon ? *epsilon : epsilon_for(*target);
}

}  // namespace snapdp::cli
