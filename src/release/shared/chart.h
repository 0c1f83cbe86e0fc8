// Line and bar charts as SVG: the figures of the documentation and snapdp plot. The same numbers give the same text.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace snapdp::release_internal::chart {

// Colours that remain apart for colour-blind readers (Okabe and Ito, Color Universal Design, 2008).
inline constexpr std::string_view blue = "#0072b2";
inline constexpr std::string_view orange = "#d55e00";
inline constexpr std::string_view green = "#009e73";
inline constexpr std::string_view gray = "#707070";

inline constexpr std::string_view solid = "stroke-width=\"2\"";
inline constexpr std::string_view broad = "stroke-width=\"6\" stroke-opacity=\"0.35\"";
inline constexpr std::string_view dashed = "stroke-width=\"2\" stroke-dasharray=\"6 4\"";

std::string number(double value, int decimals = 2);
// Text with &, <, > and quotes as entities: for text and attributes of SVG and HTML.
std::string escaped(std::string_view text);

using Ticks = std::vector<std::pair<double, std::string>>;

// Ticks from one number to another, both included.
Ticks ticks(double from, double to, double step, int decimals = 0);
// About `count` round numbers inside [from, to], from < to.
Ticks round_ticks(double from, double to, int count = 6);
// Powers of ten and, where few fit, their 2 and 5 multiples, inside [from, to], 0 < from < to.
Ticks logarithmic_ticks(double from, double to);

struct Axis {
  double from;
  double to;
  Ticks ticks;
  std::string title;
  bool logarithmic = false;

  // The position of `value` between the ends, from 0 to 1.
  double at(double value) const;
};

class Svg {
 public:
  Svg(int width, int height, std::string_view description);

  void add(const std::string& element) { text_ += element + "\n"; }
  void label(double x, double y, const std::string& text, std::string_view anchor,
             std::string_view more = "");
  void line(double x1, double y1, double x2, double y2, std::string_view style);
  std::string finish() const { return text_ + "</svg>\n"; }

 private:
  std::string text_;
};

// One chart of a picture, its place in pixels.
class Panel {
 public:
  Panel(Svg& svg, double left, double top, double width, double height, const std::string& title, Axis x,
        Axis y, double title_gap = 42);

  double px(double x) const { return left_ + width_ * x_.at(x); }
  double py(double y) const { return top_ + height_ * (1 - y_.at(y)); }

  void curve(const std::function<double(double)>& f, double from, double to, int steps,
             std::string_view color, std::string_view style = solid);
  // A line through points, in order.
  void path(const std::vector<std::pair<double, double>>& points, std::string_view color,
            std::string_view style = solid);
  void bar(double from, double to, double height, std::string_view color);
  // An entry of the legend, in the panel's upper corner: row 0 is on top.
  void key(double x, int row, std::string_view color, const std::string& text,
           std::string_view style = solid);
  void frame();

 private:
  Svg& svg_;
  double left_;
  double top_;
  double width_;
  double height_;
  Axis x_;
  Axis y_;
};

}  // namespace snapdp::release_internal::chart
