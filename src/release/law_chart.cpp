#include "snapdp/release/law_chart.h"

#include <algorithm>
#include <cmath>

#include "release/shared/mechanism_picture.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/text.h"

namespace snapdp {

using namespace release_internal::chart;

namespace {
using Points = std::vector<std::pair<double, double>>;
}  // namespace

std::string law_chart(const Mechanism& mechanism, const std::optional<double>& value) {
  const Noise noise = mechanism.noise().centered();
  const double origin = mechanism.noise().origin().to_double_nearest();
  const double middle = value ? mechanism.noise().centered(*value) : middle_value(noise);
  const OutputLaw law(noise, middle);
  const double center = law.value() < noise.lower.value_or(law.value())   ? *noise.lower
                        : law.value() > noise.upper.value_or(law.value()) ? *noise.upper
                                                                          : law.value();
  const double spacing = noise.grid.spacing().to_double_up();
  constexpr double scales = 6;
  const double reach = std::max(scales * noise.scale.up(), 3 * spacing);
  const double from = std::max(center - reach, noise.lower.value_or(center - reach));
  const double to = std::min(center + reach, noise.upper.value_or(center + reach));
  const auto laplace = [&](double x) {
    return std::exp(-std::abs(x - center) / noise.scale.up()) / (2 * noise.scale.up()) * spacing;
  };
  constexpr double most_bars = 80;
  const bool bars = (to - from) / spacing <= most_bars;
  const auto cell = [&](double at) {  // the output whose cell `at` lies in
    const double output = std::floor(at / spacing + 0.5) * spacing;
    return std::clamp(output, noise.lower.value_or(output), noise.upper.value_or(output));
  };
  const double first = bars ? std::floor(from / spacing + 0.5) : 0;
  const double last = bars ? std::floor(to / spacing + 0.5) : 0;
  const int cells = static_cast<int>(last - first);
  // A bound collects a tail: among many narrow cells its probability is written, not drawn.
  double highest = laplace(center);
  Points curve;
  if (bars) {
    for (int i = 0; i <= cells; ++i)
      highest = std::max(highest, law.probability(cell((first + i) * spacing)));
    if (noise.lower) highest = std::max(highest, law.probability(*noise.lower));
    if (noise.upper) highest = std::max(highest, law.probability(*noise.upper));
  } else {
    constexpr int steps = 720;
    for (int i = 0; i <= steps; ++i) {
      const double output = cell(from + (to - from) * i / steps);
      if (output == noise.lower || output == noise.upper) continue;
      const double probability = law.probability(output);
      curve.emplace_back(output + origin, probability);
      highest = std::max(highest, probability);
    }
  }
  const double margin = bars ? spacing * 0.7 : (to - from) / 40;
  const double axis_from = from + origin - margin;
  const double axis_to = to + origin + margin;
  const Axis x{axis_from, axis_to, round_ticks(axis_from, axis_to, 8),
               "output, in the unit of the statistic"};
  const double ceiling = highest * 1.15;
  const Axis y{0, ceiling, round_ticks(0, ceiling), "probability of the output"};
  Svg svg(picture_width, picture_height, "The law of the output");
  Panel panel = panel_of(
      svg, "Output for the value " + short_number(Rational(middle + origin)) + ": " + described(mechanism), x,
      y);
  if (bars) {
    const auto draw_bar = [&](double output) {
      panel.bar(output + origin - spacing * 0.4, output + origin + spacing * 0.4, law.probability(output),
                blue);
    };
    if (noise.lower && from == *noise.lower) draw_bar(from);
    for (int i = 0; i <= cells; ++i) {
      const double output = (first + i) * spacing;
      if (output <= from && noise.lower && from == *noise.lower) continue;
      if (output >= to && noise.upper && to == *noise.upper) continue;
      draw_bar(output);
    }
    if (noise.upper && to == *noise.upper) draw_bar(to);
  } else {
    panel.path(curve, blue, broad);
  }
  const double laplace_from = std::max(from, noise.lower.value_or(from));
  Points density;
  constexpr int density_steps = 720;
  for (int i = 0; i <= density_steps; ++i) {
    const double at = laplace_from + (to - laplace_from) * i / density_steps;
    density.emplace_back(at + origin, laplace(at));
  }
  panel.path(density, orange);
  // The legend goes where the law is low.
  const double keys = center - from > to - center ? 12 : 430;
  int row = 0;
  panel.key(keys, row++, blue, noise.kind == NoiseKind::geometric ? "geometric" : "snapped",
            bars ? solid : broad);
  panel.key(keys, row++, orange, "Laplace density \xc3\x97 grid");
  const auto collected = [&](double bound, double shown) {
    if (bars) return;
    panel.key(keys, row++, gray,
              "P(" + to_string(shown) + ") = " + round_up_to_digits(Rational(law.probability(bound)), 3),
              "stroke-width=\"0\"");
  };
  if (noise.lower && from == *noise.lower) collected(*noise.lower, *mechanism.lower());
  if (noise.upper && to == *noise.upper) collected(*noise.upper, *mechanism.upper());
  panel.frame();
  return svg.finish();
}

}  // namespace snapdp
