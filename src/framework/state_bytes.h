// The byte form of an aggregation's state. All integers are little-endian.
//
//   magic      8 bytes   "SNDPAGG" and a zero
//   version    u32       1
//   identity   u32 length, then that many bytes: the aggregation's description
//   rows       u64       at most 2^63
//   count      u32       the number of totals, at most 1,000,000
//   totals     each: i64 exponent in [-4400, 4400], u8 sign (0 zero, 1 positive, 2 negative), u32 length of
//   the
//              mantissa, at most 1088, and its bytes, the last of them not zero; the mantissa is odd, or
//              absent for 0
//   checksum   32 bytes  SHA-256 of everything before it
//
// There is one byte form for each state. The checksum is for accidents; what a hostile file could claim is
// checked by Fold::restore.
#pragma once

#include <string>
#include <string_view>

#include "snapdp/framework/aggregation.h"

namespace snapdp::framework_internal {

std::string write_state(const std::string& identity, const Totals& totals);
// Throws bad_data for malformed bytes and mismatch for another identity.
Totals read_state(std::string_view bytes, const std::string& identity);

}  // namespace snapdp::framework_internal
