// snapdp plot: the same numbers as pictures.
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "commands.h"
#include "mechanism_options.h"
#include "output.h"
#include "release/shared/chart.h"
#include "release/shared/mechanism_picture.h"
#include "snapdp/error.h"
#include "snapdp/release/law_chart.h"
#include "snapdp/text.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

using chart::Axis;
using chart::described;
using chart::Panel;
using chart::panel_of;
using chart::picture_height;
using chart::picture_width;
using chart::Svg;
using Points = std::vector<std::pair<double, double>>;

struct PlotArguments {
  MechanismArguments mechanism;
  std::string output;
};

// An axis around the values, with some air.
Axis linear_axis(double least, double greatest, const std::string& title) {
  if (!(greatest > least)) {
    const double air = least == 0 ? 1 : std::abs(least) / 2;
    least -= air;
    greatest += air;
  }
  const double air = (greatest - least) / 12;
  return {least - air, greatest + air, chart::round_ticks(least - air, greatest + air), title};
}

// Accuracy against epsilon, from an eighth of the epsilon asked about to eight times that.
std::string plot_accuracy(const MechanismQuestion& question) {
  if (question.noise == NoiseKind::gaussian)
    refuse("--noise",
           " = \"gaussian\": there is no epsilon to draw its accuracy against; choose laplace or geometric");
  const Rational chosen = question.chosen_epsilon();
  const Mechanism mechanism = question.mechanism(chosen);
  constexpr int steps = 384;
  Points conservative;
  Points tight;
  Points laplace;
  for (int i = 0; i <= steps; ++i) {
    const double factor = std::exp2(6.0 * i / steps - 3);
    const Rational epsilon = chosen * Rational(factor);
    try {
      const Accuracy accuracy = question.accuracy(question.mechanism(epsilon));
      const double x = to_double_nearest(epsilon);
      conservative.emplace_back(x, accuracy.conservative);
      tight.emplace_back(x, accuracy.tight);
      laplace.emplace_back(x, accuracy.laplace);
    } catch (const Error&) {
      continue;  // no such mechanism: noise wider than the bounds of precision mode, for example
    }
  }
  double least = std::numeric_limits<double>::infinity();
  double greatest = 0;
  for (const Points* points : {&conservative, &tight, &laplace}) {
    for (const auto& [x, y] : *points) {
      if (y > 0) least = std::min(least, y);
      greatest = std::max(greatest, y);
    }
  }
  if (!std::isfinite(greatest) || !(greatest > 0) || !(least <= greatest)) {
    refuse("--epsilon", ": the accuracies around it have no picture; choose one nearer to 1");
  }
  for (Points* points : {&tight, &conservative, &laplace}) {
    for (auto& [x, y] : *points) y = std::max(y, least);
  }
  const double e = to_double_nearest(chosen);
  const Axis x{e / 8, e * 8, chart::logarithmic_ticks(e / 8, e * 8), "privacy loss \xce\xb5", true};
  const Axis y{least / 1.25, greatest * 1.25, chart::logarithmic_ticks(least / 1.25, greatest * 1.25),
               "accuracy, in the unit of the statistic", true};
  Svg svg(picture_width, picture_height, "Accuracy against epsilon");
  Panel panel = panel_of(
      svg,
      "Accuracy at \xce\xb1 = " + short_number(question.alpha.value()) + ": " + described(mechanism, false) +
          (mechanism.kind() == NoiseKind::exact ? ", grid " + to_string(question.grid) : ""),
      x, y);
  panel.path(conservative, chart::gray);
  panel.path(tight, chart::blue);
  panel.path(laplace, chart::orange, chart::dashed);
  panel.path({{e, y.from}, {e, y.to}}, chart::green, "stroke-width=\"1\" stroke-dasharray=\"2 3\"");
  constexpr double keys = 420;
  panel.key(keys, 0, chart::gray, "conservative");
  panel.key(keys, 1, chart::blue, "tight");
  panel.key(keys, 2, chart::orange, "Laplace, without rounding", chart::dashed);
  panel.key(keys, 3, chart::green,
            "\xce\xb5 = " + short_number(chosen) + ": \xc2\xb1" +
                round_up_to_digits(Rational(question.accuracy(mechanism).tight), 4),
            "stroke-width=\"1\" stroke-dasharray=\"2 3\"");
  panel.frame();
  return svg.finish();
}

// The values whose bias is drawn: the range; from the only bound to where it is no longer felt, the grid alone being;
// or, without bounds, two steps of the grid.
std::pair<double, double> values_with_bias(const Noise& noise) {
  const double spacing = noise.grid.spacing().to_double_up();
  constexpr double scales = 8;
  const double felt = std::ceil(scales * noise.scale.up() / spacing + 3) * spacing;
  if (noise.lower) return {*noise.lower, noise.upper.value_or(*noise.lower + felt)};
  if (noise.upper) return {*noise.upper - felt, *noise.upper};
  return {-spacing, spacing};
}

// Bias against the exact statistic.
std::string plot_bias(const MechanismQuestion& question) {
  const Mechanism mechanism = question.mechanism(question.chosen_epsilon());
  const Noise noise = mechanism.noise().centered();
  const double origin = mechanism.noise().origin().to_double_nearest();
  const auto [from, to] = values_with_bias(noise);
  constexpr int steps = 960;
  if (!std::isfinite((to - from) * steps)) {
    refuse("--epsilon",
           ": the values to draw lie near or beyond the largest double; raise it, or bring bounds nearer");
  }
  const bool integers = question.integer && mechanism.kind() != NoiseKind::notes;
  Points curve;
  double least = 0;
  double greatest = 0;
  const auto add = [&](double guess) {
    const double value = bias(noise, guess);
    if (!curve.empty() && guess + origin <= curve.back().first) return;
    curve.emplace_back(guess + origin, value);
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  };
  for (int i = 0; i <= steps; ++i) {
    const double guess = i == steps ? to : from + (to - from) * i / steps;
    add(integers ? std::round(guess) : guess);
  }
  const WorstBias worst =
      worst_bias(noise, question.integer ? std::optional(mechanism.noise().centered(Grid(0))) : std::nullopt);
  const double worst_value = worst.guess + origin;
  least = std::min(least, worst.bias);
  greatest = std::max(greatest, worst.bias);
  const Axis x{from + origin, to + origin, chart::round_ticks(from + origin, to + origin, 8),
               "exact statistic"};
  Svg svg(picture_width, picture_height, "Bias against the exact statistic");
  const Axis y = linear_axis(least, greatest, "bias, in the unit of the statistic");
  Panel panel = panel_of(svg, "Bias: " + described(mechanism), x, y);
  panel.path({{x.from, 0}, {x.to, 0}}, chart::gray, "stroke-width=\"1\"");
  panel.path(curve, chart::blue);
  // The legend goes where the bias is small: an upper bound alone leaves that below.
  const bool only_upper = noise.upper && !noise.lower;
  const double keys = only_upper ? 130 : 330;
  const int row = only_upper ? 15 : 0;
  panel.key(keys, row, chart::blue, "E[output] - statistic");
  const auto rounded = [](double value) {  // away from zero
    const std::string digits = round_up_to_digits(Rational(std::abs(value)), 4);
    return value < 0 ? "-" + digits : digits;
  };
  constexpr std::string_view thin = "stroke-width=\"1\" stroke-dasharray=\"2 3\"";
  panel.path({{worst_value, 0}, {worst_value, worst.bias}}, chart::orange);
  panel.key(keys, row + 1, chart::orange, "worst: " + rounded(worst.bias) + " at " + rounded(worst_value));
  if (question.value && *question.value >= x.from && *question.value <= x.to) {
    panel.path({{*question.value, y.from}, {*question.value, y.to}}, chart::green, thin);
    panel.key(keys, row + 2, chart::green,
              "value " + rounded(*question.value) + ": " +
                  rounded(bias(noise, mechanism.noise().centered(*question.value))),
              thin);
  }
  panel.frame();
  return svg.finish();
}

// The probability of each output about the value, and what a Laplace density gives a cell of the grid.
std::string plot_law(const MechanismQuestion& question) {
  return law_chart(question.mechanism(question.chosen_epsilon()), question.value);
}

// A picture is SVG whatever its name says, so the name must say so too. Devices and pipes have none.
void check_name(const std::string& output) {
  if (is_device(output)) return;
  std::string extension = target_of(output).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (extension != ".svg")
    refuse("--output",
           ": " + quoted_path(output) + ": a picture is SVG, and its file's name must end in .svg");
}

void add_kind(CLI::App& plot, Commands& commands, const char* name, const char* description,
              std::string (*draw)(const MechanismQuestion&), const char* example) {
  const auto arguments = std::make_shared<PlotArguments>();
  CLI::App* command = plot.add_subcommand(name, description);
  command
      ->add_option("-o,--output", arguments->output,
                   "Where the picture goes, SVG, with mode 0666 less the umask")
      ->type_name("FILE.svg")
      ->required();
  add_mechanism_options(*command, arguments->mechanism);
  commands[command] = {[arguments, draw] {
                         if (arguments->mechanism.json) refuse("--json", ": a picture is SVG; leave it out");
                         check_name(arguments->output);
                         const MechanismQuestion question(arguments->mechanism);
                         const std::string svg =
                             naming_option("epsilon", "--epsilon", [&] { return draw(question); });
                         write_file(arguments->output, svg, Readers::umask);
                       },
                       example,
                       [arguments] {
                         return Files{.written = {{"--output", arguments->output}}};
                       }};
}

}  // namespace

void add_plot(CLI::App& tool, Commands& commands) {
  CLI::App* plot = tool.add_subcommand("plot", "Draw accuracy, bias or the law of the outputs as SVG.");
  plot->require_subcommand(1);
  const char* accuracy_example =
      "  snapdp plot accuracy --epsilon 1 --sensitivity 1 --grid notes -o accuracy.svg\n";
  const char* bias_example =
      "  snapdp plot bias --epsilon 1 --sensitivity 1 --lower 0 --upper 20 -o bias.svg\n";
  const char* law_example =
      "  snapdp plot law --epsilon 1 --sensitivity 1 --grid notes --value 0.3 -o law.svg\n";
  commands[plot].examples = std::string(accuracy_example) + bias_example + law_example;
  add_kind(*plot, commands, "accuracy", "Accuracy against epsilon.", plot_accuracy, accuracy_example);
  add_kind(*plot, commands, "bias", "Bias against the exact statistic.", plot_bias, bias_example);
  add_kind(*plot, commands, "law", "The probability of each output.", plot_law, law_example);
}

}  // namespace snapdp::cli
