#include "release/shared/mechanism_picture.h"

#include <cmath>
#include <limits>

#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::release_internal::chart {
namespace {

constexpr double left = 84;
constexpr double top = 44;
constexpr double inner_width = 648;
constexpr double inner_height = 332;
constexpr double title_gap = 62;

// Whether a double holds every number on the axis and tells its ends apart.
bool is_drawable(const Axis& axis) {
  if (axis.logarithmic && !(axis.from >= std::numeric_limits<double>::min())) return false;
  return std::isfinite(axis.to - axis.from) && axis.to > axis.from;
}

}  // namespace

Panel panel_of(Svg& svg, const std::string& title, const Axis& x, const Axis& y) {
  if (!is_drawable(x) || !is_drawable(y)) {
    throw Error(ErrorCode::invalid_argument, "epsilon",
                "epsilon: the numbers to draw are too large, too small or too near to each other for "
                "doubles; choose one "
                "nearer to 1, or bring bounds and value nearer to 0");
  }
  return Panel(svg, left, top, inner_width, inner_height, escaped(title), x, y, title_gap);
}

std::string described(const Mechanism& mechanism, bool with_epsilon) {
  std::string text = with_epsilon ? "\xce\xb5 = " + short_number(mechanism.epsilon()) + ", " : "";
  text += "sensitivity " + short_number(mechanism.sensitivity().rational());
  const std::string clamps = clamp_text(mechanism.lower(), mechanism.upper());
  if (!clamps.empty()) text += ", clamped to " + clamps;
  if (mechanism.kind() == NoiseKind::notes) text += ", precision mode";
  if (mechanism.kind() == NoiseKind::geometric) return text + ", geometric noise";
  return with_epsilon ? text + ", grid " + to_string(mechanism.grid()) : text;
}

std::string clamp_text(const std::optional<double>& lower, const std::optional<double>& upper) {
  if (lower && upper) return "[" + to_string(*lower) + ", " + to_string(*upper) + "]";
  if (lower) return to_string(*lower) + " or more";
  return upper ? to_string(*upper) + " or less" : "";
}

}  // namespace snapdp::release_internal::chart
