#include "engines/arrow/number_text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

namespace snapdp::engines_internal {
namespace {

__extension__ typedef unsigned __int128 UInt128;

constexpr int most_digits = 38;

constexpr std::array<UInt128, most_digits + 1> powers_of_ten = [] {
  std::array<UInt128, most_digits + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// The doubles nearest to them.
constexpr std::array<double, most_digits + 1> real_powers_of_ten = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12,
    1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25,
    1e26, 1e27, 1e28, 1e29, 1e30, 1e31, 1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38};

// Up to 18 digits are one machine word, and its nearest double; more are two, which are rounded one by one.
double nearest(Int128 value, int digits) {
  constexpr int digits_of_word = 18;
  if (digits <= digits_of_word) return static_cast<double>(static_cast<std::int64_t>(value));
  const auto lower = static_cast<std::uint64_t>(value);
  const auto upper = static_cast<std::int64_t>(value >> 64);
  if (upper == -1) return -static_cast<double>(~lower) - 1;
  return static_cast<double>(lower) + static_cast<double>(upper) * 0x1p64;
}

}  // namespace

double decimal_to_real(Int128 unscaled, int digits, int scale) {
  constexpr Int128 exact = Int128{1} << std::numeric_limits<double>::digits;
  const auto place = static_cast<std::size_t>(scale);
  const double power = real_powers_of_ten[place];
  if (scale == 0 || (unscaled >= -exact && unscaled <= exact)) return nearest(unscaled, digits) / power;
  const auto divisor = static_cast<Int128>(powers_of_ten[place]);
  return nearest(unscaled / divisor, digits) + nearest(unscaled % divisor, digits) / power;
}

char* write_decimal(Int128 unscaled, int digits, int scale, char* into) {
  // From behind. 2^127 has 39 digits.
  std::array<char, longest_number_text> text;
  char* const end = text.data() + text.size();
  char* at = end;
  UInt128 rest = unscaled < 0 ? -static_cast<UInt128>(unscaled) : static_cast<UInt128>(unscaled);
  const auto put = [&] {
    *--at = static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  };
  for (int i = 0; i < scale; ++i) put();
  if (scale > 0) *--at = '.';
  if (digits > scale || rest != 0) {
    do put();
    while (rest != 0);
  }
  if (unscaled < 0) *--at = '-';
  return std::copy(at, end, into);
}

char* write_real(double value, char* into) {
  char* const end = into + longest_number_text;
  if (std::trunc(value) == value && value >= -0x1p63 && value < 0x1p63)
    return std::to_chars(into, end, static_cast<std::int64_t>(value)).ptr;
  if (std::isinf(value)) return std::to_chars(into, end, value).ptr;
  // Numbers below 1e-4 have an exponent, and so have the whole ones that are left.
  const bool plain = std::abs(value) >= 1e-4 && std::abs(value) < 0x1p63;
  return std::to_chars(into, end, value, plain ? std::chars_format::fixed : std::chars_format::scientific)
      .ptr;
}

double half_to_real(std::uint16_t bits) {
  constexpr int fraction_bits = 10;
  constexpr int last_exponent = 0x1f;
  const double sign = (bits & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (bits >> fraction_bits) & last_exponent;
  const int fraction = bits & 0x3ff;
  if (exponent == last_exponent) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  // Subnormals have no leading 1.
  constexpr int lowest = -24;
  if (exponent == 0) return sign * std::ldexp(fraction, lowest);
  return sign * std::ldexp((1 << fraction_bits) + fraction, lowest + exponent - 1);
}

}  // namespace snapdp::engines_internal
