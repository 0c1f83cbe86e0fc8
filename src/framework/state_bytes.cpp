#include "framework/state_bytes.h"

#include <algorithm>

#include "framework/shared/byte_form.h"
#include "framework/shared/digest.h"
#include "snapdp/error.h"

namespace snapdp::framework_internal {
namespace {

constexpr std::string_view magic("SNDPAGG\0", 8);
constexpr std::uint32_t version = 1;
constexpr std::uint32_t max_totals = 1'000'000;
constexpr std::int64_t max_exponent = 4400;
constexpr std::uint32_t max_mantissa_bytes = 1088;

[[noreturn]] void refuse(const char* what) {
  throw Error(ErrorCode::bad_data, "state",
              std::string("state: its byte form ") + what + "; recompute the state from the rows");
}

std::string checksum(std::string_view bytes) {
  return sha256(bytes, "state");
}

void append(std::string& bytes, const Dyadic& value) {
  append_number(bytes, static_cast<std::int64_t>(value.exponent()));
  append_number(bytes, static_cast<std::uint8_t>(value.sign() == 0 ? 0 : value.sign() > 0 ? 1 : 2));
  std::string mantissa((mpz_sizeinbase(value.mantissa().get_mpz_t(), 2) + 7) / 8, '\0');
  std::size_t count = 0;
  mpz_export(mantissa.data(), &count, -1, 1, 0, 0, value.mantissa().get_mpz_t());
  mantissa.resize(count);
  append_number(bytes, static_cast<std::uint32_t>(mantissa.size()));
  bytes += mantissa;
}

Dyadic read_dyadic(ByteReader& reader) {
  const auto exponent = reader.number<std::int64_t>();
  const auto sign = reader.number<std::uint8_t>();
  const auto length = reader.number<std::uint32_t>();
  if (exponent < -max_exponent || exponent > max_exponent || sign > 2 || length > max_mantissa_bytes) {
    refuse("holds a number out of range");
  }
  const std::string_view bytes = reader.take(length);
  if ((sign == 0) != bytes.empty() || (sign == 0 && exponent != 0))
    refuse("holds a number that is not canonical");
  if (!bytes.empty() && (bytes.back() == '\0' || (bytes.front() & 1) == 0)) {
    refuse("holds a number that is not canonical");
  }
  Integer mantissa;
  mpz_import(mantissa.get_mpz_t(), bytes.size(), -1, 1, 0, 0, bytes.data());
  return Dyadic(sign == 2 ? Integer(-mantissa) : mantissa, static_cast<long>(exponent));
}

}  // namespace

std::string write_state(const std::string& identity, const Totals& totals) {
  std::string bytes(magic);
  append_number(bytes, version);
  append_number(bytes, static_cast<std::uint32_t>(identity.size()));
  bytes += identity;
  append_number(bytes, totals.rows);
  append_number(bytes, static_cast<std::uint32_t>(totals.values.size()));
  for (const Dyadic& value : totals.values) append(bytes, value);
  return bytes + checksum(bytes);
}

Totals read_state(std::string_view bytes, const std::string& identity) {
  if (bytes.size() < magic.size() + digest_bytes || bytes.substr(0, magic.size()) != magic) {
    refuse("is not one of SnapDP's states");
  }
  const std::string_view body = bytes.substr(0, bytes.size() - digest_bytes);
  if (bytes.substr(body.size()) != checksum(body)) refuse("is truncated or altered");
  ByteReader reader(body.substr(magic.size()), [] { refuse("is truncated"); });
  if (reader.number<std::uint32_t>() != version) refuse("has a version that this library does not know");
  const auto identity_length = reader.number<std::uint32_t>();
  const std::string_view found = reader.take(identity_length);
  if (found != identity) {
    throw Error(ErrorCode::mismatch, "state",
                "state: it belongs to another aggregation than \"" + identity + "\"; states do not mix");
  }
  Totals totals;
  totals.rows = reader.number<std::uint64_t>();
  if (totals.rows > most_rows) refuse("claims more than 2^63 rows");
  const auto count = reader.number<std::uint32_t>();
  if (count > max_totals) refuse("holds too many totals");
  totals.values.reserve(std::min<std::size_t>(count, reader.left()));
  for (std::uint32_t i = 0; i < count; ++i) totals.values.push_back(read_dyadic(reader));
  if (reader.left() != 0) refuse("is longer than its contents");
  return totals;
}

}  // namespace snapdp::framework_internal
