// Cells of text tables, one a line: make_parse against parse_rational and the C library.
#include <locale.h>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "fuzz/fuzz.h"
#include "snapdp/framework/transformation.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

// A decimal of at most 100 digits as parse_rational reads it; nothing for other texts.
std::optional<Rational> decimal(std::string_view cell) {
  const std::string_view text = trimmed(cell);
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos)
    return std::nullopt;
  std::optional<Rational> number;
  fuzz::refuses([&] { number = parse_rational(text, "cell"); });
  return number;
}

void check_real(std::string_view cell, bool valid, double value) {
  SNAPDP_FUZZ_CHECK(!valid || !std::isnan(value));
  const std::optional<Rational> number = decimal(cell);
  if (!number) return;
  const double nearest = to_double_nearest(*number);
  SNAPDP_FUZZ_CHECK(valid == std::isfinite(nearest));
  SNAPDP_FUZZ_CHECK(!valid || value == nearest);
}

void check_integer(std::string_view cell, bool valid, std::int64_t value) {
  const std::optional<Rational> number = decimal(cell);
  if (!number) return;
  const bool fits = number->get_den() == 1 && mpz_fits_slong_p(number->get_num_mpz_t()) != 0;
  SNAPDP_FUZZ_CHECK(valid == fits);
  SNAPDP_FUZZ_CHECK(!valid || Rational(value) == *number);
}

void run(fuzz::Input input) {
  std::vector<std::string_view> cells;
  while (!input.empty() && cells.size() < block_rows) cells.push_back(input.line());
  static const Transformation reals =
      make_parse(untrusted_domain({AtomType::text}), symmetric_distance(), {AtomType::real});
  static const Transformation integers =
      make_parse(untrusted_domain({AtomType::text}), symmetric_distance(), {AtomType::integer});
  Scratch& scratch = Scratch::of_thread();
  const Chunk as_reals = reals.functions().front()->apply(Chunk(cells), scratch);
  SNAPDP_FUZZ_CHECK(reals.output_domain().contains(as_reals) && as_reals.length == cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i)
    check_real(cells[i], as_reals.column[0].valid(i), as_reals.column[0].reals()[i]);
  const Chunk as_integers = integers.functions().front()->apply(Chunk(cells), scratch);
  for (std::size_t i = 0; i < cells.size(); ++i)
    check_integer(cells[i], as_integers.column[0].valid(i), as_integers.column[0].integers()[i]);
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
