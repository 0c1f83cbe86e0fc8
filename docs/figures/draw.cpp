// Draws the figures of docs/mechanism.md from the library:
//
//   draw FOLDER           writes law.svg, loss.svg, accuracy.svg and bias.svg there
//   draw --check FOLDER   exits with 1, naming them, when some are not what it would write
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/bias.h"
#include "snapdp/mechanism/law.h"

namespace {

using snapdp::AccuracyQuery;
using snapdp::Grid;
using snapdp::OutputLaw;
using snapdp::OutputNoise;

// Colours that remain apart for colour-blind readers (Okabe and Ito, Color Universal Design, 2008).
constexpr std::string_view blue = "#0072b2";
constexpr std::string_view orange = "#d55e00";
constexpr std::string_view green = "#009e73";
constexpr std::string_view gray = "#707070";

std::string number(double value, int decimals = 2) {
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  std::string result(text.data());
  return result == "-0.00" ? "0.00" : result;
}

struct Axis {
  double from;
  double to;
  std::vector<std::pair<double, std::string>> ticks;
  std::string title;
  bool logarithmic = false;

  // The position of `value` between the ends, from 0 to 1.
  double at(double value) const {
    return logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
  }
};

// Ticks from one number to another, both included.
std::vector<std::pair<double, std::string>> ticks(double from, double to, double step, int decimals = 0) {
  std::vector<std::pair<double, std::string>> result;
  for (int i = 0; from + i * step <= to + step / 2; ++i) {
    result.emplace_back(from + i * step, number(from + i * step, decimals));
  }
  return result;
}

class Svg {
 public:
  Svg(int width, int height, std::string_view description) {
    const std::string size = std::to_string(width) + "\" height=\"" + std::to_string(height);
    text_ =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
        std::to_string(width) + " " + std::to_string(height) +
        "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\" role=\"img\">\n" +
        "<title>" + std::string(description) + "</title>\n" + "<rect width=\"" + size +
        "\" fill=\"#ffffff\"/>\n";
  }

  void add(const std::string& element) { text_ += element + "\n"; }
  void label(double x, double y, const std::string& text, std::string_view anchor,
             std::string_view more = "") {
    add("<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) + "\"" +
        std::string(more) + ">" + text + "</text>");
  }
  void line(double x1, double y1, double x2, double y2, std::string_view style) {
    add("<path d=\"M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " + number(y2) + "\" " +
        std::string(style) + "/>");
  }
  std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

constexpr std::string_view solid = "stroke-width=\"2\"";
constexpr std::string_view broad = "stroke-width=\"6\" stroke-opacity=\"0.35\"";
constexpr std::string_view dashed = "stroke-width=\"2\" stroke-dasharray=\"6 4\"";

class Panel {
 public:
  Panel(Svg& svg, double left, double top, double width, double height, const std::string& title, Axis x,
        Axis y)
      : svg_(svg),
        left_(left),
        top_(top),
        width_(width),
        height_(height),
        x_(std::move(x)),
        y_(std::move(y)) {
    svg_.label(left, top - 10, title, "start", " font-weight=\"bold\"");
    for (const auto& [value, text] : x_.ticks) {
      svg_.line(px(value), top, px(value), top + height, "stroke=\"#e4e4e4\"");
      svg_.label(px(value), top + height + 16, text, "middle");
    }
    for (const auto& [value, text] : y_.ticks) {
      svg_.line(left, py(value), left + width, py(value), "stroke=\"#e4e4e4\"");
      svg_.label(left - 6, py(value) + 4, text, "end");
    }
    svg_.label(left + width / 2, top + height + 34, x_.title, "middle");
    svg_.label(
        0, 0, y_.title, "middle",
        " transform=\"translate(" + number(left - 42) + " " + number(top + height / 2) + ") rotate(-90)\"");
  }

  double px(double x) const { return left_ + width_ * x_.at(x); }
  double py(double y) const { return top_ + height_ * (1 - y_.at(y)); }

  void curve(const std::function<double(double)>& f, double from, double to, int steps,
             std::string_view color, std::string_view style = solid) {
    std::string path = "<path fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + std::string(color) +
                       "\" " + std::string(style) + " d=\"";
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      const double x = x_.logarithmic ? from * std::pow(to / from, t) : from + (to - from) * t;
      path += (i == 0 ? "M" : "L") + number(px(x), 1) + " " + number(py(f(x)), 1);
    }
    svg_.add(path + "\"/>");
  }
  void bar(double from, double to, double height, std::string_view color) {
    const double top = std::min(py(height), py(0));
    svg_.add("<rect x=\"" + number(px(from)) + "\" y=\"" + number(top) + "\" width=\"" +
             number(px(to) - px(from)) + "\" height=\"" + number(std::abs(py(height) - py(0))) +
             "\" fill=\"" + std::string(color) + "\" fill-opacity=\"0.35\" stroke=\"" + std::string(color) +
             "\"/>");
  }
  // An entry of the legend, in the panel's upper corner: row 0 is on top.
  void key(double x, int row, std::string_view color, const std::string& text,
           std::string_view style = solid) {
    const double y = top_ + 16 + 18 * row;
    svg_.line(left_ + x, y - 4, left_ + x + 24, y - 4,
              "stroke=\"" + std::string(color) + "\" " + std::string(style));
    svg_.label(left_ + x + 30, y, text, "start");
  }
  void frame() {
    svg_.add("<rect x=\"" + number(left_) + "\" y=\"" + number(top_) + "\" width=\"" + number(width_) +
             "\" height=\"" + number(height_) + "\" fill=\"none\" stroke=\"#222222\"/>");
  }

 private:
  Svg& svg_;
  double left_;
  double top_;
  double width_;
  double height_;
  Axis x_;
  Axis y_;
};

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
    const OutputNoise noise{.scale = 1, .grid = Grid(0), .lower = lower, .upper = upper};
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
    return AccuracyQuery{.scale = scale,
                         .grid = Grid(Grid::at_least(snapdp::Rational(scale)).exponent() - finer),
                         .alpha = 0.05};
  };
  const auto laplace = [&](double e) { return laplace_accuracy(query(e, 0)); };
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
