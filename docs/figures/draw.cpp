// Draws the figures of docs/mechanism.md from the library:
//
//   draw FOLDER           writes law.svg, loss.svg, accuracy.svg and bias.svg there
//   draw --check FOLDER   exits with 1, naming them, when some are not what it would write
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "release/shared/chart.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/law.h"

namespace {

using namespace snapdp::release_internal::chart;  // NOLINT: this program only draws
using snapdp::AccuracyQuery;
using snapdp::Grid;
using snapdp::Noise;
using snapdp::OutputLaw;

constexpr int width = 760;
constexpr int height = 330;

double laplace_density(double x) {
  return std::exp(-std::abs(x)) / 2;
}

// P(out) / grid beside the density of Laplace noise; scale 1, value 0.3.
std::string law() {
  constexpr double value = 0.3;
  const auto density = [](double x) { return laplace_density(x - value); };
  Svg svg(width, height, "The law of an output on two grids, beside the Laplace density");
  const Axis x{-4.5, 4.5, ticks(-4, 4, 2), "output"};
  const Axis y{0, 0.55, ticks(0, 0.5, 0.1, 1), "probability / grid"};
  {
    Panel panel(svg, 60, 40, 300, 230, "Grid 1, that of the notes", x, y);
    const OutputLaw on_grid({.scale = 1, .grid = Grid(0)}, value);
    for (int k = -4; k <= 4; ++k) panel.bar(k - 0.5, k + 0.5, on_grid.probability(k), blue);
    panel.curve(density, -4.5, 4.5, 360, orange);
    panel.key(8, 0, blue, "snapped");
    panel.key(8, 1, orange, "Laplace");
    panel.frame();
  }
  {
    Panel panel(svg, 440, 40, 300, 230, "Grid 1/1024, the automatic one", x, y);
    const OutputLaw on_grid({.scale = 1, .grid = Grid(-10)}, value);
    const double spacing = 0x1p-10;
    const auto per_grid = [&](double at) {
      const double output = std::floor(at / spacing + 0.5) * spacing;
      return on_grid.probability(output) / spacing;
    };
    panel.curve(per_grid, -4.5, 4.5, 360, blue, broad);
    panel.curve(density, -4.5, 4.5, 360, orange);
    panel.key(8, 0, blue, "snapped", broad);
    panel.key(8, 1, orange, "Laplace");
    panel.frame();
  }
  return svg.finish();
}

// ln P(out | 0) / P(out | 1) for neighbors 0 and 1: never beyond epsilon = 1.
std::string loss() {
  Svg svg(width, height, "The privacy loss of every output stays within epsilon");
  const Axis x{-4.5, 5.5, ticks(-4, 5, 1), "output"};
  Axis y{-1.4, 1.4, ticks(-1, 1, 1), "privacy loss"};
  y.ticks = {{-1, "-ε"}, {0, "0"}, {1, "ε"}};
  const auto panel_of = [&](double left, const std::string& title, std::optional<double> lower,
                            std::optional<double> upper) {
    Panel panel(svg, left, 40, 300, 230, title, x, y);
    const Noise noise{.scale = 1, .grid = Grid(0), .lower = lower, .upper = upper};
    const OutputLaw here(noise, 0);
    const OutputLaw there(noise, 1);
    for (int k = lower ? static_cast<int>(*lower) : -4; k <= (upper ? *upper : 5); ++k) {
      panel.bar(k - 0.4, k + 0.4, std::log(here.probability(k) / there.probability(k)), blue);
    }
    for (const double bound : {-1.0, 1.0}) {
      panel.curve([&](double) { return bound; }, -4.5, 5.5, 1, orange, dashed);
    }
    panel.frame();
  };
  panel_of(60, "Without bounds", std::nullopt, std::nullopt);
  panel_of(440, "Clamped to [-2, 3]", -2, 3);
  return svg.finish();
}

// Accuracy at alpha = 0.05 against epsilon, sensitivity 1.
std::string accuracy() {
  const auto query = [](double epsilon, long finer) {
    const double scale = 1 / epsilon;
    return AccuracyQuery{
        .noise = {.scale = scale, .grid = Grid(Grid::at_least(snapdp::Rational(scale)).exponent() - finer)},
        .alpha = 0.05};
  };
  const auto laplace = [&](double e) { return continuous_accuracy(query(e, 0)); };
  const auto conservative = [&](double e) { return conservative_accuracy(query(e, 0)); };
  const auto tight = [&](double e) { return tight_accuracy(query(e, 0)); };
  const auto automatic = [&](double e) { return tight_accuracy(query(e, 10)); };

  const double last = 7.999;  // at 8 the grid halves

  Svg svg(width, height, "Accuracy against epsilon, absolute and relative to Laplace noise");
  const std::vector<std::pair<double, std::string>> epsilons = {
      {0.125, "1/8"}, {0.25, "1/4"}, {0.5, "1/2"}, {1, "1"}, {2, "2"}, {4, "4"}, {8, "8"}};
  const Axis x{0.125, 8, epsilons, "ε", true};
  {
    const Axis y{0.25, 40, {{0.3, "0.3"}, {1, "1"}, {3, "3"}, {10, "10"}, {30, "30"}}, "95 % accuracy", true};
    Panel panel(svg, 60, 40, 300, 230, "Sensitivity 1, α = 0.05", x, y);
    panel.curve(conservative, 0.125, last, 600, gray);
    panel.curve(tight, 0.125, last, 600, blue);
    panel.curve(automatic, 0.125, last, 600, green);
    panel.key(120, 0, gray, "conservative, Λ");
    panel.key(120, 1, blue, "tight, Λ");
    panel.key(120, 2, green, "tight, Λ/1024");
    panel.frame();
  }
  {
    const Axis y{0.95, 1.55, ticks(1, 1.5, 0.1, 1), "ratio to Laplace"};
    Panel panel(svg, 440, 40, 300, 230, "The same, over Laplace’s", x, y);
    panel.curve([&](double e) { return conservative(e) / laplace(e); }, 0.125, last, 1200, gray);
    panel.curve([&](double e) { return tight(e) / laplace(e); }, 0.125, last, 1200, blue);
    panel.curve([&](double e) { return automatic(e) / laplace(e); }, 0.125, last, 1200, green);
    panel.key(8, 0, gray, "conservative, Λ");
    panel.key(8, 1, blue, "tight, Λ");
    panel.key(8, 2, green, "tight, Λ/1024");
    panel.frame();
  }
  return svg.finish();
}

// Bias of values near the upper bound of [0, 20], scale 1.
std::string bias() {
  const auto at_grid = [](Grid grid) {
    return [grid](double value) {
      return snapdp::bias({.scale = 1, .grid = grid, .lower = 0, .upper = 20}, value);
    };
  };
  Svg svg(width, height, "Bias near a bound, and what a coarse grid adds");
  const Axis x{10, 20, ticks(10, 20, 2), "exact statistic"};
  {
    const Axis y{-0.6, 0.2, ticks(-0.6, 0.2, 0.2, 1), "bias"};
    Panel panel(svg, 60, 40, 300, 230, "Noise of scale 1 clamped to [0, 20]", x, y);
    panel.curve(at_grid(Grid(-10)), 10, 20, 400, green);
    panel.curve(at_grid(Grid(0)), 10, 20, 400, blue, dashed);
    panel.key(8, 8, green, "grid 1/1024");
    panel.key(8, 9, blue, "grid 1", dashed);
    panel.frame();
  }
  {
    const Axis y{-2.5, 2.5, ticks(-2, 2, 1), "bias"};
    Panel panel(svg, 440, 40, 300, 230, "Grids coarser than the noise", x, y);
    panel.curve(at_grid(Grid(3)), 10, 20, 800, orange);
    panel.curve(at_grid(Grid(2)), 10, 20, 800, gray);
    panel.curve(at_grid(Grid(0)), 10, 20, 400, blue, dashed);
    panel.key(8, 0, orange, "grid 8");
    panel.key(108, 0, gray, "grid 4");
    panel.key(200, 0, blue, "grid 1", dashed);
    panel.frame();
  }
  return svg.finish();
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc == 3 && std::string_view(argv[1]) == "--check";
  if (argc != (check ? 3 : 2)) {
    std::cerr << "usage: draw [--check] FOLDER\n";
    return 2;
  }
  const std::string folder = argv[argc - 1];
  bool stale = false;
  for (const auto& [name, svg] : {std::pair<const char*, std::string>{"law.svg", law()},
                                  {"loss.svg", loss()},
                                  {"accuracy.svg", accuracy()},
                                  {"bias.svg", bias()}}) {
    const std::string path = folder + "/" + name;
    if (!check) {
      std::ofstream(path, std::ios::binary) << svg;
    } else if (contents(path) != svg) {
      std::cerr << path << " is not what this program draws; run it with " << folder << "\n";
      stale = true;
    }
  }
  return stale ? 1 : 0;
}
