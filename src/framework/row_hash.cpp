#include "framework/shared/row_hash.h"

#define XXH_INLINE_ALL  // the library is used as a header alone
#include <xxhash.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace snapdp::framework_internal {
namespace {

static_assert(std::endian::native == std::endian::little);

enum Tag : char { null_tag, integer_tag, real_tag, text_tag };

void append(std::string& content, Tag tag, std::uint64_t bits) {
  char bytes[1 + sizeof bits];
  bytes[0] = tag;
  std::memcpy(bytes + 1, &bits, sizeof bits);
  content.append(bytes, sizeof bytes);
}

constexpr int fraction_bits = 52;

// All by the bits: comparisons would take subnormals for 0 where the caller's float environment does.
// The integer that a real is, if it is one of 64 bits.
std::optional<std::int64_t> integer_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  constexpr std::uint64_t fraction = (std::uint64_t{1} << fraction_bits) - 1;
  if ((bits & ~sign) == 0) return 0;
  const int exponent = static_cast<int>((bits & ~sign) >> fraction_bits) - 1023;
  if (exponent < 0 || exponent > 63) return std::nullopt;
  if (exponent < fraction_bits && (bits & (fraction >> exponent)) != 0) return std::nullopt;
  if (exponent == 63 && bits != std::bit_cast<std::uint64_t>(-0x1p63)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

void append_real(std::string& content, double value) {
  if (const std::optional<std::int64_t> integer = integer_of(value)) {
    append(content, integer_tag, static_cast<std::uint64_t>(*integer));
    return;
  }
  constexpr std::uint64_t magnitude = ~(std::uint64_t{1} << 63);
  constexpr auto infinity = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::infinity());
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const bool nan = (bits & magnitude) > infinity;
  append(content, real_tag,
         nan ? std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()) : bits);
}

void append_cell(std::string& content, const Column& column, std::size_t row) {
  if (!column.valid(row)) {
    content.push_back(null_tag);
    return;
  }
  switch (column.type) {
    case AtomType::integer:
      append(content, integer_tag, static_cast<std::uint64_t>(column.integers()[row]));
      return;
    case AtomType::real:
      append_real(content, column.reals()[row]);
      return;
    case AtomType::text:
      break;
  }
  const std::string_view text = column.texts()[row];
  append(content, text_tag, text.size());
  content.append(text);
}

}  // namespace

void append_row_content(std::string& content, std::span<const Column> columns, std::size_t row) {
  for (const Column& column : columns) append_cell(content, column, row);
}

std::string row_content(std::span<const Column> columns, std::size_t row) {
  std::string content;
  append_row_content(content, columns, row);
  return content;
}

std::uint64_t hash_content(RowHashKey key, std::string_view content) {
  return XXH3_64bits_withSeed(content.data(), content.size(), static_cast<XXH64_hash_t>(key));
}

ContentCell take_cell(std::string_view& content) {
  ContentCell cell;
  std::size_t size = 1;
  const char tag = content.front();
  if (tag != null_tag) {
    std::memcpy(&cell.bits, content.data() + size, sizeof cell.bits);
    size += sizeof cell.bits;
    cell.type = tag == integer_tag ? AtomType::integer : tag == real_tag ? AtomType::real : AtomType::text;
  }
  if (tag == text_tag) {
    cell.text = content.substr(size, static_cast<std::size_t>(cell.bits));
    size += cell.text.size();
  }
  cell.bytes = content.substr(0, size);
  content.remove_prefix(size);
  return cell;
}

bool names_unit(const Column& column, std::size_t row) {
  if (!column.valid(row)) return false;
  switch (column.type) {
    case AtomType::integer:
      return true;
    case AtomType::real:
      return !std::isnan(column.reals()[row]);
    case AtomType::text:
      break;
  }
  return column.texts()[row].find_first_not_of(" \t\n\v\f\r") != std::string_view::npos;
}

}  // namespace snapdp::framework_internal
