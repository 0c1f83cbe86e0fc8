// Texts of numbers as specifications, options and ledgers hold them, and doubles as callers give them.
#include <locale.h>

#include <cmath>
#include <limits>

#include "fuzz/fuzz.h"
#include "privacy/ledger_format.h"
#include "snapdp/mechanism/noise.h"
#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/grid.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/release/specification.h"
#include "snapdp/text.h"

namespace snapdp {

using namespace privacy_internal;

namespace {

void check_canonical(const Rational& number) {
  Rational canonical = number;
  canonical.canonicalize();
  SNAPDP_FUZZ_CHECK(number.get_den() > 0);
  SNAPDP_FUZZ_CHECK(canonical.get_num() == number.get_num() && canonical.get_den() == number.get_den());
}

// The three directions, and the grids around a number.
void check_roundings(const Rational& number) {
  const double down = to_double_down(number);
  const double up = to_double_up(number);
  const double nearest = to_double_nearest(number);
  SNAPDP_FUZZ_CHECK(std::isinf(down) ? down < 0 : Rational(down) <= number);
  SNAPDP_FUZZ_CHECK(std::isinf(up) ? up > 0 : Rational(up) >= number);
  SNAPDP_FUZZ_CHECK(nearest == down || nearest == up);
  SNAPDP_FUZZ_CHECK(down == up || std::nextafter(down, up) == up);
  SNAPDP_FUZZ_CHECK(!(down == 0 && std::signbit(down)) && !(up == 0 && std::signbit(up)));
  if (std::isfinite(down) && std::isfinite(up) && down != up) {
    const Rational below = number - Rational(down);
    const Rational above = Rational(up) - number;
    SNAPDP_FUZZ_CHECK(below == above || (nearest == down) == (below < above));
  }
  SNAPDP_FUZZ_CHECK(Rational(floor(number)) <= number && number < Rational(floor(number)) + 1);
  SNAPDP_FUZZ_CHECK(ceil(number) == -floor(Rational(-number)));
  if (number > 0) {
    SNAPDP_FUZZ_CHECK(Grid::at_least(number).spacing().rational() >= number);
    SNAPDP_FUZZ_CHECK(Grid::at_most(number).spacing().rational() <= number);
  }
  for (const int digits : {1, 3, 17}) {
    SNAPDP_FUZZ_CHECK(parse_exact(round_up_to_digits(number, digits), "shown") >= number);
  }
}

// What is written is read back as the same number, also where it is too long for people: 100e400 is 1e402.
void check_text(const Rational& number) {
  const std::string text = to_string(number);
  SNAPDP_FUZZ_CHECK(parse_exact(text, "number") == number);
  fuzz::refuses([&] { SNAPDP_FUZZ_CHECK(parse_rational(text, "number") == number); });
  if (mpz_popcount(number.get_den_mpz_t()) == 1) {
    const Dyadic dyadic = to_dyadic(number, "number");
    SNAPDP_FUZZ_CHECK(dyadic.rational() == number && to_string(dyadic) == text);
    SNAPDP_FUZZ_CHECK(dyadic.to_double_nearest() == to_double_nearest(number));
    const double down = to_double_down(number);
    SNAPDP_FUZZ_CHECK(dyadic.is_double() == (std::isfinite(down) && Rational(down) == number));
  } else {
    SNAPDP_FUZZ_CHECK(fuzz::refuses([&] { to_dyadic(number, "number"); }));
  }
}

void check_double(double value) {
  if (!std::isfinite(value)) {
    SNAPDP_FUZZ_CHECK(fuzz::refuses([&] { static_cast<void>(Rational(value)); }));
    SNAPDP_FUZZ_CHECK(fuzz::refuses([&] { static_cast<void>(Dyadic(value)); }));
    SNAPDP_FUZZ_CHECK(fuzz::refuses([&] { shortest_decimal(value, "value"); }));
    SNAPDP_FUZZ_CHECK(fuzz::refuses([&] { exact_rational(value, "value"); }));
    return;
  }
  SNAPDP_FUZZ_CHECK(to_double_nearest(shortest_decimal(value, "value")) == value);
  SNAPDP_FUZZ_CHECK(parse_rational(to_hex(value), "value") == exact_rational(value, "value"));
  const Dyadic dyadic(value);
  SNAPDP_FUZZ_CHECK(dyadic.is_double() && dyadic.rational() == Rational(value));
  SNAPDP_FUZZ_CHECK(dyadic.to_double_down() == value && dyadic.to_double_up() == value);
}

// Decimals and hex floats are those of the C library.
void check_against_library(std::string_view text, const Rational& number) {
  if (text.find_first_of("/_ ") != std::string_view::npos) return;
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  SNAPDP_FUZZ_CHECK(strtod_l(std::string(text).c_str(), nullptr, c_locale) == to_double_nearest(number));
}

void run(std::string_view text) {
  if (text.size() >= 8)
    check_double(fuzz::Input(reinterpret_cast<const std::uint8_t*>(text.data()), 8).value<double>());
  Rational number;
  if (!fuzz::refuses([&] { number = parse_rational(text, "number"); })) {
    check_canonical(number);
    check_roundings(number);
    check_text(number);
    check_against_library(text, number);
  }
  GridChoice grid;
  if (!fuzz::refuses([&] { grid = GridChoice::parse(text); })) {
    SNAPDP_FUZZ_CHECK(GridChoice::parse(to_string(grid)) == grid);
  }
  Neighbors neighbors{};
  if (!fuzz::refuses([&] { neighbors = parse_neighbors(text, "neighbors"); })) {
    SNAPDP_FUZZ_CHECK(to_string(neighbors) == text);
  }
  if (const auto amount = ledger_format::parse_number(text)) {
    check_canonical(*amount);
    SNAPDP_FUZZ_CHECK(*amount >= 0 && ledger_format::number_text(*amount) == text);
  }
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run(snapdp::fuzz::text_of(data, size));
  return 0;
}
