#include "release/shown_digits.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace snapdp::release_internal {
namespace {

constexpr const char* minus = "\xe2\x88\x92";

Integer rounded(const Rational& value, Toward toward) {
  switch (toward) {
    case Toward::below:
      return floor(value);
    case Toward::above:
      return ceil(value);
    case Toward::nearest:
      break;
  }
  return floor(Rational(value + Rational(1, 2)));
}

std::string with_commas(std::string digits) {
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

// `digits` 10^place, digits > 0.
std::string scientific_text(std::string digits, long place) {
  const long exponent = place + static_cast<long>(digits.size()) - 1;
  if (digits.size() > 1) digits.insert(1, ".");
  return digits + "e" + (exponent < 0 ? minus + std::to_string(-exponent) : std::to_string(exponent));
}

}  // namespace

Rational power_of_ten(long exponent) {
  Integer power;
  mpz_ui_pow_ui(power.get_mpz_t(), 10, static_cast<unsigned long>(std::labs(exponent)));
  return exponent >= 0 ? Rational(power) : Rational(Integer(1), power);
}

long exponent_of(const Rational& value) {
  if (value <= 0) return 0;
  // mpz_sizeinbase is the number of digits or one more.
  const auto digits = [](const Integer& number) {
    return static_cast<long>(mpz_sizeinbase(number.get_mpz_t(), 10));
  };
  long exponent = digits(value.get_num()) - digits(value.get_den()) + 1;
  while (power_of_ten(exponent) > value) --exponent;
  return exponent;
}

Rational round_at(const Rational& value, long place, Toward toward) {
  const Rational unit = power_of_ten(place);
  return Rational(Rational(rounded(Rational(value / unit), toward)) * unit);
}

long last_place(const Rational& accuracy) {
  const long exponent = exponent_of(accuracy);
  const bool two_digits = Rational(accuracy / power_of_ten(exponent)) < Rational(355, 100);
  return two_digits ? exponent - 1 : exponent;
}

std::string decimal_text(const Rational& value, long place, Toward toward) {
  constexpr long longest_plain = 15;
  constexpr long most_digits = 17;
  if (value == 0) return "0";
  const long exponent = exponent_of(Rational(::abs(value)));
  place = std::max(place, exponent - most_digits + 1);
  const Integer units = rounded(Rational(value / power_of_ten(place)), toward);
  if (units == 0) return "0";
  const std::string sign = units < 0 ? minus : "";
  std::string digits = Integer(::abs(units)).get_str();
  if (exponent >= longest_plain || -place > longest_plain) return sign + scientific_text(digits, place);
  if (place >= 0) return sign + with_commas(digits + std::string(static_cast<std::size_t>(place), '0'));
  const auto decimals = static_cast<std::size_t>(-place);
  if (digits.size() <= decimals) digits.insert(0, decimals - digits.size() + 1, '0');
  const std::size_t point = digits.size() - decimals;
  return sign + with_commas(digits.substr(0, point)) + "." + digits.substr(point);
}

std::string declared_text(const Rational& value) {
  const double nearest = to_double_nearest(value);
  if (!std::isfinite(nearest)) return decimal_text(value, 0, Toward::nearest);
  const Rational decimal = shortest_decimal(nearest, "value");
  long place = 0;
  for (Rational scaled = decimal; scaled.get_den() != 1; scaled *= 10) --place;
  const auto ends_in_zero = [&] { return Rational(decimal / power_of_ten(place + 1)).get_den() == 1; };
  while (decimal != 0 && ends_in_zero()) ++place;
  return decimal_text(decimal, place, Toward::nearest);
}

std::string percent_text(const Rational& percent, Toward toward) {
  constexpr long most_decimals = 6;
  if (percent <= 0) return "0";
  if (percent >= 100) return "100";
  // Two digits of what is left to 0 or to 100.
  const Rational distance = std::min(percent, Rational(100 - percent));
  const long place = std::clamp(exponent_of(distance) - 1, -most_decimals, 0L);
  return round_at(percent, place, toward) >= 100 ? "100" : decimal_text(percent, place, toward);
}

std::string ascii_number(std::string text) {
  for (std::size_t at = text.find(minus); at != std::string::npos; at = text.find(minus))
    text.replace(at, 3, "-");
  return text;
}

}  // namespace snapdp::release_internal
