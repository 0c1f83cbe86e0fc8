// Numbers between their stored forms, doubles and texts, as the DuckDB source has them to the bit: which rows are released
// must not hang on the engine that reads them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace snapdp::engines_internal {

__extension__ typedef __int128 Int128;

// No text below is longer.
inline constexpr std::size_t longest_number_text = 48;

// Of the value unscaled / 10^scale of a decimal with at most `digits` digits, 1 to 38, of which `scale` stand behind the
// point.
double decimal_to_real(Int128 unscaled, int digits, int scale);
// With all digits behind the point, "-0.50", and none before it where the type has none: ".50". Returns the end.
char* write_decimal(Int128 unscaled, int digits, int scale, char* into);

// The digits of a whole number of 64 bits, else the shortest text from which the same double is read. Not for NaN.
char* write_real(double value, char* into);

// A float of 16 bits.
double half_to_real(std::uint16_t bits);

}  // namespace snapdp::engines_internal
