#include <bit>
#include <string>

#include "snapdp/error.h"
#include "snapdp/numeric/exact_sum.h"

namespace snapdp {
namespace {

constexpr int lowest_exponent = -2148;  // 2 * -1074
constexpr int highest_exponent = 2140;
constexpr std::size_t digit_count = 134;  // the last one starts at 2^2108 and has 63 bits and the sign
constexpr std::uint64_t digit_mask = 0xffffffff;
// Every addition changes a digit by less than 2^32, so |digit| <= 2^32 (pending + 1): far below 2^63.
constexpr std::uint32_t most_pending = std::uint32_t{1} << 30;

struct Decomposed {
  std::uint64_t mantissa;
  unsigned position;  // value = +-mantissa * 2^(position - 1074)
  bool negative;
};

Decomposed decompose(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1);
  const auto exponent = static_cast<unsigned>((bits >> 52) & 0x7ff);
  const bool negative = (bits >> 63) != 0;
  if (exponent == 0) return {fraction, 0, negative};
  return {fraction | (std::uint64_t{1} << 52), exponent - 1, negative};
}

}  // namespace

Integer to_integer(Int128 value) {
  const Int128 magnitude =
      (value.high >> 63) != 0 ? Int128{~value.low + 1, ~value.high + (value.low == 0 ? 1 : 0)} : value;
  const std::uint64_t words[] = {magnitude.low, magnitude.high};
  Integer result;
  mpz_import(result.get_mpz_t(), 2, -1, sizeof(words[0]), 0, 0, words);
  if ((value.high >> 63) != 0) result = -result;
  return result;
}

void WideSum::add_bits(std::uint64_t high, std::uint64_t low, unsigned position, bool negative) {
  if (digits_.empty()) digits_.assign(digit_count, 0);
  if (pending_ == most_pending) carry();
  ++pending_;
  const std::uint64_t words[] = {low & digit_mask, low >> 32, high & digit_mask, high >> 32};
  const unsigned shift = position % 32;
  const std::size_t used = high == 0 ? 2 : 4;
  std::int64_t* digit = digits_.data() + position / 32;
  std::uint64_t rest = 0;
  for (std::size_t i = 0; i <= used; ++i) {
    if (i < used) rest += words[i] << shift;
    const auto part = static_cast<std::int64_t>(rest & digit_mask);
    digit[i] += negative ? -part : part;
    rest >>= 32;
  }
}

void WideSum::add(double value) {
  const Decomposed v = decompose(value);
  add_bits(0, v.mantissa, v.position + 1074, v.negative);
}

void WideSum::add_product(double x, double y) {
  __extension__ using Wide = unsigned __int128;
  const Decomposed a = decompose(x);
  const Decomposed b = decompose(y);
  const Wide product = static_cast<Wide>(a.mantissa) * b.mantissa;
  add_bits(static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product),
           a.position + b.position, a.negative != b.negative);
}

void WideSum::add(const Dyadic& value, std::string_view parameter) {
  if (value.sign() == 0) return;
  const auto bits = static_cast<long>(mpz_sizeinbase(value.mantissa().get_mpz_t(), 2));
  if (value.exponent() < lowest_exponent || value.exponent() > highest_exponent ||
      bits > highest_exponent - value.exponent()) {
    throw Error(ErrorCode::invalid_argument, std::string(parameter),
                std::string(parameter) +
                    ": the number given is no sum of doubles or of products of doubles: its bits "
                    "must lie between 2^-2148 and 2^2140; pass a total that a sum returned");
  }
  if (digits_.empty()) digits_.assign(digit_count, 0);
  if (pending_ == most_pending) carry();
  ++pending_;
  const auto position = static_cast<unsigned>(value.exponent() - lowest_exponent);
  Integer shifted;
  mpz_mul_2exp(shifted.get_mpz_t(), value.mantissa().get_mpz_t(), position % 32);
  std::uint32_t words[digit_count] = {};
  std::size_t used = 0;
  mpz_export(words, &used, -1, sizeof(words[0]), 0, 0, shifted.get_mpz_t());
  for (std::size_t i = 0; i < used; ++i) {
    const auto part = static_cast<std::int64_t>(words[i]);
    digits_[position / 32 + i] += value.sign() < 0 ? -part : part;
  }
}

void WideSum::merge(const WideSum& other) {
  if (other.digits_.empty()) return;
  if (digits_.empty()) {
    *this = other;
    return;
  }
  // Both are at most most_pending, so one of them carried leaves |digit| <= 2^32 (2^30 + 3).
  if (pending_ + other.pending_ >= most_pending) carry();
  WideSum carried;
  const WideSum* from = &other;
  if (pending_ + other.pending_ >= most_pending) {
    carried = other;
    carried.carry();
    from = &carried;
  }
  for (std::size_t i = 0; i < digit_count; ++i) digits_[i] += from->digits_[i];
  pending_ += from->pending_ + 1;
}

void WideSum::carry() {
  for (std::size_t i = 0; i + 1 < digit_count; ++i) {
    const std::int64_t over = digits_[i] >> 32;  // floor, so what stays is in [0, 2^32)
    digits_[i] -= over * (std::int64_t{1} << 32);
    digits_[i + 1] += over;
  }
  pending_ = 0;
}

Dyadic WideSum::total() const {
  if (digits_.empty()) return {};
  WideSum carried = *this;
  carried.carry();
  std::uint32_t words[digit_count - 1];
  for (std::size_t i = 0; i + 1 < digit_count; ++i) words[i] = static_cast<std::uint32_t>(carried.digits_[i]);
  Integer result;
  mpz_import(result.get_mpz_t(), digit_count - 1, -1, sizeof(words[0]), 0, 0, words);
  Integer top;
  mpz_set_si(top.get_mpz_t(), carried.digits_.back());
  mpz_mul_2exp(top.get_mpz_t(), top.get_mpz_t(), 32 * (digit_count - 1));
  result += top;
  return {result, lowest_exponent};
}

}  // namespace snapdp
