#include "snapdp/numeric/rational.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

// How long a number may be.
struct Limits {
  std::size_t digits;  // of a numerator or denominator
  long decimal_exponent;
  long binary_exponent;
};
constexpr long max_decimal_exponent = 400;
constexpr Limits of_people{100, max_decimal_exponent, 2000};
// Far beyond what any plan, report or ledger holds; reading 64 MiB of such numbers still ends.
constexpr Limits of_ours{std::size_t{1} << 16, 1L << 13, 1L << 15};

[[noreturn]] void refuse(std::string_view text, std::string_view parameter, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, std::string(parameter),
              std::string(parameter) + " = " + quoted_text(text) + ": " + rule);
}

Integer power(unsigned long base, long exponent) {
  Integer result;
  mpz_ui_pow_ui(result.get_mpz_t(), base, static_cast<unsigned long>(exponent));
  return result;
}

bool is_digit(char c, bool hex) {
  return (c >= '0' && c <= '9') || (hex && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

// One number without a fraction bar: [sign] digits [. digits] [exponent], decimal or 0x hex.
Rational parse_number(std::string_view text, const Limits& limits, std::string_view whole,
                      std::string_view parameter) {
  constexpr const char* form =
      "is not a number; write a decimal such as 0.25 or 1e-3, a fraction such as 1/4, or a hex float such as "
      "0x1p-2";
  std::size_t i = 0;
  bool negative = false;
  if (i < text.size() && (text[i] == '+' || text[i] == '-')) negative = text[i++] == '-';
  const bool hex = text.size() > i + 1 && text[i] == '0' && (text[i + 1] == 'x' || text[i + 1] == 'X');
  if (hex) i += 2;
  std::string digits;
  long fraction_digits = 0;
  bool point = false;
  for (; i < text.size(); ++i) {
    if (is_digit(text[i], hex)) {
      digits += text[i];
      if (point) ++fraction_digits;
    } else if (text[i] == '.' && !point) {
      point = true;
    } else if (text[i] == '_' && i > 0 && i + 1 < text.size() && is_digit(text[i - 1], hex) &&
               is_digit(text[i + 1], hex)) {
      continue;
    } else {
      break;
    }
    if (digits.size() > limits.digits) {
      refuse(whole, parameter, "has more than " + std::to_string(limits.digits) + " digits; shorten it");
    }
  }
  if (digits.empty()) refuse(whole, parameter, form);
  long exponent = 0;
  if (i < text.size()) {
    const char marker = text[i];
    const bool marks = hex ? (marker == 'p' || marker == 'P') : (marker == 'e' || marker == 'E');
    if (!marks) refuse(whole, parameter, form);
    ++i;
    if (i + 1 < text.size() && text[i] == '+' && text[i + 1] != '-') ++i;  // from_chars takes a minus alone
    const auto [end, status] = std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    if (status == std::errc::result_out_of_range) {
      refuse(
          whole, parameter,
          "has too large an exponent; at most " + std::to_string(limits.decimal_exponent) + " in magnitude");
    }
    if (status != std::errc() || end != text.data() + text.size()) refuse(whole, parameter, form);
  }
  const long limit = hex ? limits.binary_exponent : limits.decimal_exponent;
  if (exponent > limit || exponent < -limit) {
    refuse(whole, parameter, "has too large an exponent; at most " + std::to_string(limit) + " in magnitude");
  }
  Rational value(Integer(digits, hex ? 16 : 10));
  const long shift = exponent - (hex ? 4 * fraction_digits : fraction_digits);
  const Integer factor = power(hex ? 2 : 10, std::abs(shift));
  if (shift >= 0) {
    value *= factor;
  } else {
    value /= factor;
  }
  return negative ? Rational(-value) : value;
}

Rational parse_quotient(std::string_view text, const Limits& limits, std::string_view parameter) {
  std::string_view trimmed = text;
  while (!trimmed.empty() && trimmed.front() == ' ') trimmed.remove_prefix(1);
  while (!trimmed.empty() && trimmed.back() == ' ') trimmed.remove_suffix(1);
  if (is_not_finite(trimmed)) refuse(text, parameter, "must be a finite number");
  const std::size_t bar = trimmed.find('/');
  if (bar == std::string_view::npos) return parse_number(trimmed, limits, text, parameter);
  const Rational numerator = parse_number(trimmed.substr(0, bar), limits, text, parameter);
  const Rational denominator = parse_number(trimmed.substr(bar + 1), limits, text, parameter);
  if (denominator == 0) refuse(text, parameter, "divides by zero");
  return numerator / denominator;
}

void require_finite(double value, std::string_view parameter) {
  if (!std::isfinite(value)) {
    throw Error(ErrorCode::invalid_argument, std::string(parameter),
                std::string(parameter) + " = " + to_string(value) + ": must be a finite number");
  }
}

enum class Direction { down, up, nearest };

// Rounds |numerator/denominator| to a double; `up` here means away from zero.
double round_magnitude(const Integer& numerator, const Integer& denominator, Direction direction) {
  // q = floor(n/d * 2^shift) gets at least 54 bits, or reaches down to the last subnormal place 2^-1074.
  const long bits = static_cast<long>(mpz_sizeinbase(numerator.get_mpz_t(), 2)) -
                    static_cast<long>(mpz_sizeinbase(denominator.get_mpz_t(), 2));
  // The leading bit of n/d has exponent bits-1 or bits; 53 bits are wanted, one place more is checked below.
  long place = std::max(bits - 53, -1074L);
  Integer quotient;
  Integer remainder;
  for (;;) {
    Integer n = numerator;
    Integer d = denominator;
    if (place < 0) {
      n <<= static_cast<unsigned long>(-place);
    } else {
      d <<= static_cast<unsigned long>(place);
    }
    mpz_fdiv_qr(quotient.get_mpz_t(), remainder.get_mpz_t(), n.get_mpz_t(), d.get_mpz_t());
    if (mpz_sizeinbase(quotient.get_mpz_t(), 2) <= 53) {
      if (remainder != 0) {
        if (direction == Direction::up) {
          ++quotient;
        } else if (direction == Direction::nearest) {
          const int side = cmp(Integer(remainder * 2), d);
          if (side > 0 || (side == 0 && mpz_odd_p(quotient.get_mpz_t()))) ++quotient;
        }
      }
      break;
    }
    ++place;
  }
  const double result = std::ldexp(quotient.get_d(), static_cast<int>(std::min(place, 2000L)));
  if (std::isinf(result) && direction == Direction::down) return std::numeric_limits<double>::max();
  return result;
}

double round(const Rational& value, Direction direction) {
  const FloatEnvironment environment;
  if (sgn(value) == 0) return 0.0;
  const bool negative = sgn(value) < 0;
  if (negative && direction != Direction::nearest) {
    direction = direction == Direction::up ? Direction::down : Direction::up;
  }
  const double magnitude = round_magnitude(Integer(::abs(value.get_num())), value.get_den(), direction);
  // Zero is always +0.
  return negative && magnitude != 0 ? -magnitude : magnitude;
}

// Digits and a decimal exponent as plain text ("0.001", "1500") or, when long, in scientific form.
std::string decimal_text(const std::string& digits, long exponent) {
  const long count = static_cast<long>(digits.size());
  if (exponent >= 0 && count + exponent <= 40)
    return digits + std::string(static_cast<std::size_t>(exponent), '0');
  if (exponent < 0 && -exponent < count) {
    return digits.substr(0, static_cast<std::size_t>(count + exponent)) + "." +
           digits.substr(static_cast<std::size_t>(count + exponent));
  }
  if (exponent < 0 && -exponent <= 40) {
    return "0." + std::string(static_cast<std::size_t>(-exponent - count), '0') + digits;
  }
  std::string text = digits.substr(0, 1);
  if (count > 1) text += "." + digits.substr(1);
  return text + "e" + std::to_string(exponent + count - 1);
}

}  // namespace

mpq_class Rational::of(double value) {
  const FloatEnvironment environment;
  require_finite(value, "value");
  return mpq_class(value);
}

bool is_not_finite(std::string_view text) {
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  const auto is = [text](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), [](char c, char lower) {
      return c == lower || (c >= 'A' && c <= 'Z' && c - 'A' + 'a' == lower);
    });
  };
  return is("inf") || is("infinity") || is("nan");
}

Rational parse_rational(std::string_view text, std::string_view parameter) {
  return parse_quotient(text, of_people, parameter);
}

Rational parse_exact(std::string_view text, std::string_view parameter) {
  return parse_quotient(text, of_ours, parameter);
}

Rational shortest_decimal(double value, std::string_view parameter) {
  require_finite(value, parameter);
  return parse_rational(to_string(value), parameter);
}

Rational exact_rational(double value, std::string_view parameter) {
  require_finite(value, parameter);
  return Rational(value);
}

double to_double_down(const Rational& value) {
  return round(value, Direction::down);
}
double to_double_up(const Rational& value) {
  return round(value, Direction::up);
}
double to_double_nearest(const Rational& value) {
  return round(value, Direction::nearest);
}

Integer floor(const Rational& value) {
  Integer result;
  mpz_fdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

Integer ceil(const Rational& value) {
  Integer result;
  mpz_cdiv_q(result.get_mpz_t(), value.get_num_mpz_t(), value.get_den_mpz_t());
  return result;
}

std::string to_string(const Rational& value) {
  if (value == 0) return "0";
  Integer rest = value.get_den();
  const unsigned long twos = mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), Integer(2).get_mpz_t());
  const unsigned long fives = mpz_remove(rest.get_mpz_t(), rest.get_mpz_t(), Integer(5).get_mpz_t());
  // A denominator 2^i 5^j needs max(i, j) decimal places; beyond a few hundred no short decimal is left.
  const auto places = static_cast<long>(std::max(twos, fives));
  if (rest == 1 && places <= max_decimal_exponent) {
    const Rational scaled = value * power(10, places);
    Integer digits = ::abs(scaled.get_num());
    const auto zeros =
        static_cast<long>(mpz_remove(digits.get_mpz_t(), digits.get_mpz_t(), Integer(10).get_mpz_t()));
    const std::string text = digits.get_str();
    if (text.size() <= 40) return (value < 0 ? "-" : "") + decimal_text(text, zeros - places);
  }
  return value.get_str();
}

std::ostream& operator<<(std::ostream& out, const Rational& value) {
  return out << to_string(value);
}

std::string to_string(double value) {
  const FloatEnvironment environment;
  char buffer[32];
  const auto [end, status] = std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, status == std::errc() ? end : buffer);
}

std::string to_hex(double value) {
  const FloatEnvironment environment;
  char buffer[40];
  const auto [end, status] =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::hex, 13);
  std::string text(buffer, status == std::errc() ? end : buffer);
  if (!std::isfinite(value)) return to_string(value);
  if (value == 0) text = "0.0p+0";
  return (std::signbit(value) ? "-0x" : "0x") + text;
}

}  // namespace snapdp
