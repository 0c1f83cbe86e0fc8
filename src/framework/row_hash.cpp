#include "snapdp/framework/row_hash.h"

#define XXH_INLINE_ALL  // the library is used as a header alone
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace snapdp {
namespace {

static_assert(std::endian::native == std::endian::little);

void append(std::string& content, char tag, std::uint64_t bits) {
  char bytes[1 + sizeof bits];
  bytes[0] = tag;
  std::memcpy(bytes + 1, &bits, sizeof bits);
  content.append(bytes, sizeof bytes);
}

void append_cell(std::string& content, const Column& column, std::size_t row) {
  if (!column.valid(row)) {
    content.push_back('\0');
    return;
  }
  switch (column.type) {
    case AtomType::integer:
      append(content, 1, static_cast<std::uint64_t>(column.integers()[row]));
      return;
    case AtomType::real: {
      const double value = column.reals()[row];
      const double canonical = std::isnan(value) ? std::numeric_limits<double>::quiet_NaN()
                               : value == 0      ? 0.0
                                                 : value;
      append(content, 2, std::bit_cast<std::uint64_t>(canonical));
      return;
    }
    case AtomType::text:
      break;
  }
  const std::string_view text = column.texts()[row];
  append(content, 3, text.size());
  content.append(text);
}

void append_row(std::string& content, std::span<const Column> columns, std::size_t row) {
  for (const Column& column : columns) append_cell(content, column, row);
}

}  // namespace

std::string row_content(std::span<const Column> columns, std::size_t row) {
  std::string content;
  append_row(content, columns, row);
  return content;
}

void hash_rows(RowHashKey key, std::span<const Column> columns, std::size_t length, std::uint64_t* hashes) {
  std::string content;
  for (std::size_t row = 0; row < length; ++row) {
    content.clear();
    append_row(content, columns, row);
    hashes[row] = XXH3_64bits_withSeed(content.data(), content.size(), static_cast<XXH64_hash_t>(key));
  }
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

}  // namespace snapdp
