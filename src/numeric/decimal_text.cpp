#include <cmath>
#include <optional>

#include "numeric/shared/float_environment.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

Integer power_of_ten(long exponent) {
  Integer result;
  mpz_ui_pow_ui(result.get_mpz_t(), 10, static_cast<unsigned long>(exponent));
  return result;
}

// floor(log10(value)) for value > 0.
long decimal_exponent(const Rational& value) {
  const long digits = static_cast<long>(mpz_sizeinbase(value.get_num_mpz_t(), 10)) -
                      static_cast<long>(mpz_sizeinbase(value.get_den_mpz_t(), 10));
  for (long exponent = digits + 1;; --exponent) {
    const Rational power = exponent >= 0 ? Rational(power_of_ten(exponent))
                                         : Rational(Rational(1) / Rational(power_of_ten(-exponent)));
    if (value >= power) return exponent;
  }
}

// index / 10^decimals as plain decimal text.
std::string fixed_point(const Integer& index, long decimals) {
  std::string digits = Integer(::abs(index)).get_str();
  if (decimals > 0) {
    const auto places = static_cast<std::size_t>(decimals);
    if (digits.size() <= places) digits.insert(0, places + 1 - digits.size(), '0');
    digits.insert(digits.size() - places, ".");
  }
  return (index < 0 ? "-" : "") + digits;
}

// The nearest double, as far as doubles go, and 17 digits of whatever lies beyond.
std::string nearest_text(const Rational& value) {
  const double nearest = to_double_nearest(value);
  const bool is_double = std::isfinite(nearest) && (nearest != 0 || value == 0);
  constexpr int digits = 17;
  return is_double ? to_string(nearest) : round_up_to_digits(value, digits);
}

constexpr int short_digits = 5;

// The number itself, when that is a decimal of few characters.
std::optional<std::string> short_exactly(const Rational& value) {
  const FloatEnvironment environment;
  constexpr std::size_t longest = 12;
  std::string exact = to_string(value);
  if (exact.size() > longest || exact.find('/') != std::string::npos) return std::nullopt;
  return exact;
}

}  // namespace

std::string round_up_to_digits(const Rational& value, int digits) {
  const FloatEnvironment environment;
  if (value == 0) return "0";
  const Rational magnitude = abs(value);
  const long exponent = decimal_exponent(magnitude);
  constexpr long longest_plain = 15;
  if (exponent > longest_plain || exponent < -6) {
    // Scientific: the mantissa in plain form, and the power of ten after it.
    const Rational power = exponent >= 0 ? Rational(power_of_ten(exponent))
                                         : Rational(Rational(1) / Rational(power_of_ten(-exponent)));
    return round_up_to_digits(value / power, digits) + "e" + (exponent < 0 ? "-" : "+") +
           std::to_string(exponent < 0 ? -exponent : exponent);
  }
  const long decimals = digits - 1 - exponent;
  if (decimals >= 0) {
    std::string text = fixed_point(ceil(value * Rational(power_of_ten(decimals))), decimals);
    if (decimals > 0) {
      text.erase(text.find_last_not_of('0') + 1);
      if (text.back() == '.') text.pop_back();
    }
    return text;
  }
  const Integer unit = power_of_ten(-decimals);
  return Integer(ceil(value / Rational(unit)) * unit).get_str();
}

std::string round_down_to_digits(const Rational& value, int digits) {
  const std::string negated = round_up_to_digits(-value, digits);
  return negated[0] == '-' ? negated.substr(1) : negated == "0" ? negated : "-" + negated;
}

std::string short_number(const Rational& value) {
  const std::optional<std::string> exact = short_exactly(value);
  return exact ? *exact : round_up_to_digits(value, short_digits);
}

std::string short_number_down(const Rational& value) {
  const std::optional<std::string> exact = short_exactly(value);
  return exact ? *exact : round_down_to_digits(value, short_digits);
}

std::string at_grid_resolution(const Rational& value, const Rational& spacing) {
  const FloatEnvironment environment;
  long decimals = 0;
  constexpr long most_decimals = 30;
  if (spacing > 0) {
    for (Rational step = 1; step > spacing && decimals < most_decimals; step /= 10) ++decimals;
  }
  if (abs(value) >= Rational(power_of_ten(20)) || decimals == most_decimals) return nearest_text(value);
  const Rational scaled = value * Rational(power_of_ten(decimals)) + Rational(1, 2);
  return fixed_point(floor(scaled), decimals);
}

}  // namespace snapdp
