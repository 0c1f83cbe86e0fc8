#include "mechanism/option_checks.h"

#include <limits>

#include "snapdp/error.h"
#include "snapdp/numeric/grid.h"

namespace snapdp::mechanism_internal::option_checks {

void refuse(const std::string& parameter, const std::string& given, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + " = " + given + ": " + rule);
}

std::string shown(const Rational& value) {
  std::string text = to_string(value);
  if (text.size() <= 40) return text;
  return value > 0 ? "about " + to_string(Grid::at_most(value)) : text.substr(0, 40) + "...";
}

Rational checked_epsilon(Rational epsilon) {
  if (epsilon.get_den() == 0)
    refuse("epsilon", epsilon.get_num().get_str() + "/0", "must be a positive number");
  epsilon.canonicalize();
  if (epsilon <= 0)
    refuse("epsilon", shown(epsilon), "must be positive: the privacy loss to allow, such as 1/4");
  return epsilon;
}

Dyadic checked_sensitivity(const Dyadic& sensitivity) {
  if (sensitivity.sign() < 0) {
    refuse("sensitivity", shown(sensitivity.rational()),
           "must not be negative: the largest distance between neighbouring values");
  }
  if (sensitivity.sign() == 0) {
    refuse("sensitivity", "0",
           "neighbouring data give the same value, so it is a public constant: release it as such, without "
           "noise");
  }
  return sensitivity;
}

double checked_scale(const Rational& epsilon, const Dyadic& sensitivity) {
  const Rational exact = sensitivity.rational() / epsilon;
  const double scale = to_double_up(exact);
  if (scale < std::numeric_limits<double>::min() || scale == std::numeric_limits<double>::infinity()) {
    refuse("epsilon", shown(epsilon),
           "the noise scale sensitivity / epsilon = " + shown(sensitivity.rational()) + " / " +
               shown(epsilon) +
               " must be a double between 2^-1022 and 2^1024: choose another epsilon, or express the "
               "statistic in "
               "another unit");
  }
  return scale;
}

const Rational& checked_distance(const Rational& distance) {
  if (distance < 0) refuse("distance", shown(distance), "must not be negative: how far apart two values are");
  return distance;
}

void check_order(const std::optional<double>& lower, const std::optional<double>& upper) {
  if (!lower || !upper) return;
  if (*lower > *upper) {
    refuse("lower", to_string(*lower), "must be below upper = " + to_string(*upper) + "; swap the bounds");
  }
  if (*lower == *upper) {
    refuse("lower", to_string(*lower),
           "equals upper, so every output is this public constant: release it as such, without noise");
  }
}

}  // namespace snapdp::mechanism_internal::option_checks
