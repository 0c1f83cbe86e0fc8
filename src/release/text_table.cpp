#include "snapdp/release/text_table.h"

#include <algorithm>
#include <cmath>

#include "snapdp/error.h"
#include "snapdp/numeric/float_environment.h"

namespace snapdp {
namespace {

// Code points, which is what a terminal's columns are for the scripts that need one cell a letter.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

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

// The nearest double, as far as doubles go, and 17 digits of whatever lies beyond.
std::string nearest_text(const Rational& value) {
  const double nearest = to_double_nearest(value);
  const bool is_double = std::isfinite(nearest) && (nearest != 0 || value == 0);
  constexpr int digits = 17;
  return is_double ? to_string(nearest) : round_up_to_digits(value, digits);
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

}  // namespace

void TextTable::add(std::vector<std::string> cells) {
  if (cells.size() > columns_.size()) {
    throw Error(ErrorCode::invalid_argument, "cells", "cells: more than the table has columns");
  }
  cells.resize(columns_.size());
  // Nothing in a cell may steer the terminal.
  for (std::string& cell : cells) {
    std::replace_if(
        cell.begin(), cell.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
        '?');
  }
  rows_.push_back(std::move(cells));
}

std::string TextTable::to_string(const TableStyle& style) const {
  std::vector<std::size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string value = cell(i);
      const std::string padding(std::max(widths[i], width(columns_[i].header)) - width(value), ' ');
      line += "  " + (columns_[i].align == Align::left ? value + padding : padding + value);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  };
  const std::string header = add_line([&](std::size_t i) { return columns_[i].header; });
  text += (style.color ? "\x1b[1m" + header + "\x1b[0m" : header) + "\n";
  for (const auto& row : rows_) text += add_line([&](std::size_t i) { return row[i]; }) + "\n";
  return text;
}

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

std::string short_number(const Rational& value) {
  const FloatEnvironment environment;
  constexpr std::size_t longest = 12;
  std::string exact = to_string(value);
  if (exact.size() <= longest && exact.find('/') == std::string::npos) return exact;
  return round_up_to_digits(value, 5);
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
