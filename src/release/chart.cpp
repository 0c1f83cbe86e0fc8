#include "release/shared/chart.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace snapdp::release_internal::chart {
namespace {

// As printf does, whatever the locale.
std::string formatted(double value, std::chars_format format, int precision) {
  std::array<char, 400> text;
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value, format, precision);
  return std::string(text.data(), status == std::errc() ? end : text.data());
}

// Short, and the same for the same tick everywhere: 0.1, 250, 3e+06.
std::string tick_text(double value) {
  return formatted(value, std::chars_format::general, 6);
}

}  // namespace

std::string number(double value, int decimals) {
  std::string result = formatted(value, std::chars_format::fixed, decimals);
  return result == "-0.00" ? "0.00" : result;
}

std::string escaped(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

Ticks ticks(double from, double to, double step, int decimals) {
  Ticks result;
  for (int i = 0; from + i * step <= to + step / 2; ++i) {
    result.emplace_back(from + i * step, number(from + i * step, decimals));
  }
  return result;
}

Ticks round_ticks(double from, double to, int count) {
  const double rough = (to - from) / count;
  if (!(rough >= std::numeric_limits<double>::min()) || !std::isfinite(rough)) return {};
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  const double step = power * (factor < 1.5 ? 1 : factor < 3.5 ? 2 : factor < 7.5 ? 5 : 10);
  Ticks result;
  // Not more than a few times `count`.
  const double first = std::ceil(from / step - 1e-9);
  const double last = std::min(std::floor(to / step + 1e-9), first + 3 * count);
  for (int i = 0; first + i <= last; ++i) {
    const double multiple = first + i;
    const double value = multiple == 0 ? 0 : multiple * step;
    result.emplace_back(value, tick_text(value));
  }
  return result;
}

Ticks logarithmic_ticks(double from, double to) {
  if (!(from >= std::numeric_limits<double>::min()) || !std::isfinite(to)) return {};
  const int first = static_cast<int>(std::floor(std::log10(from)));
  const int last = static_cast<int>(std::ceil(std::log10(to)));
  constexpr int most_powers = 6;
  const int stride = std::max(1, (last - first) / most_powers);
  const bool fine = last - first <= 3;
  Ticks result;
  for (int power = first; power <= last; power += stride) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor > 1 && !fine) continue;
      const double value = factor * std::pow(10, power);
      if (value >= from * (1 - 1e-9) && value <= to * (1 + 1e-9))
        result.emplace_back(value, tick_text(value));
    }
  }
  return result;
}

double Axis::at(double value) const {
  return logarithmic ? std::log(value / from) / std::log(to / from) : (value - from) / (to - from);
}

Svg::Svg(int width, int height, std::string_view description) {
  const std::string size = std::to_string(width) + "\" height=\"" + std::to_string(height);
  text_ =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
      std::to_string(width) + " " + std::to_string(height) +
      "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\" fill=\"#222222\" role=\"img\">\n" +
      "<title>" + std::string(description) + "</title>\n" + "<rect width=\"" + size +
      "\" fill=\"#ffffff\"/>\n";
}

void Svg::label(double x, double y, const std::string& text, std::string_view anchor, std::string_view more) {
  add("<text x=\"" + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + std::string(anchor) + "\"" +
      std::string(more) + ">" + text + "</text>");
}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view style) {
  add("<path d=\"M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " + number(y2) + "\" " +
      std::string(style) + "/>");
}

Panel::Panel(Svg& svg, double left, double top, double width, double height, const std::string& title, Axis x,
             Axis y, double title_gap)
    : svg_(svg), left_(left), top_(top), width_(width), height_(height), x_(std::move(x)), y_(std::move(y)) {
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
  svg_.label(0, 0, y_.title, "middle",
             " transform=\"translate(" + number(left - title_gap) + " " + number(top + height / 2) +
                 ") rotate(-90)\"");
}

void Panel::curve(const std::function<double(double)>& f, double from, double to, int steps,
                  std::string_view color, std::string_view style) {
  std::vector<std::pair<double, double>> points;
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    const double x = x_.logarithmic ? from * std::pow(to / from, t) : from + (to - from) * t;
    points.emplace_back(x, f(x));
  }
  path(points, color, style);
}

void Panel::path(const std::vector<std::pair<double, double>>& points, std::string_view color,
                 std::string_view style) {
  std::string text = "<path fill=\"none\" stroke-linejoin=\"round\" stroke=\"" + std::string(color) + "\" " +
                     std::string(style) + " d=\"";
  bool first = true;
  for (const auto& [x, y] : points) {
    text += (first ? "M" : "L") + number(px(x), 1) + " " + number(py(y), 1);
    first = false;
  }
  svg_.add(text + "\"/>");
}

void Panel::bar(double from, double to, double height, std::string_view color) {
  const double top = std::min(py(height), py(0));
  svg_.add("<rect x=\"" + number(px(from)) + "\" y=\"" + number(top) + "\" width=\"" +
           number(px(to) - px(from)) + "\" height=\"" + number(std::abs(py(height) - py(0))) + "\" fill=\"" +
           std::string(color) + "\" fill-opacity=\"0.35\" stroke=\"" + std::string(color) + "\"/>");
}

void Panel::key(double x, int row, std::string_view color, const std::string& text, std::string_view style) {
  const double y = top_ + 16 + 18 * row;
  svg_.line(left_ + x, y - 4, left_ + x + 24, y - 4,
            "stroke=\"" + std::string(color) + "\" " + std::string(style));
  svg_.label(left_ + x + 30, y, text, "start");
}

void Panel::frame() {
  svg_.add("<rect x=\"" + number(left_) + "\" y=\"" + number(top_) + "\" width=\"" + number(width_) +
           "\" height=\"" + number(height_) + "\" fill=\"none\" stroke=\"#222222\"/>");
}

}  // namespace snapdp::release_internal::chart
