// Elementwise operations on columns: what the framework's row transformations run on blocks of rows.
//
// `out` has room for `rows` values; it may be the same array as `in` but must not overlap it otherwise. A
// validity bitmap has one bit a row, least significant bit first, set when the row is not null; row i is bit
// `offset` + i. No byte beyond the last row's bit is read. A null bitmap pointer means that no row is null;
// the values behind null rows are read but never matter. Results do not depend on the instruction set; one
// that this machine lacks is refused (invalid_argument).
#pragma once

#include <cstddef>
#include <cstdint>

#include "snapdp/numeric/instruction_set.h"

namespace snapdp::numeric_internal {

// out[i] = in[i] clamped to [lower, upper]; lower <= upper. Infinities clamp, zero becomes +0, and a NaN (the
// caller's mistake: impute or drop first) becomes `lower`.
void clamp_doubles(const double* in, double* out, std::size_t rows, double lower, double upper,
                   InstructionSet kernel = best_instruction_set());
void clamp_integers(const std::int64_t* in, std::int64_t* out, std::size_t rows, std::int64_t lower,
                    std::int64_t upper, InstructionSet kernel = best_instruction_set());

// out[i] = value where row i is null or NaN, in[i] elsewhere.
void impute_doubles(const double* in, const std::uint8_t* validity, std::size_t offset, double* out,
                    std::size_t rows, double value, InstructionSet kernel = best_instruction_set());
void impute_integers(const std::int64_t* in, const std::uint8_t* validity, std::size_t offset,
                     std::int64_t* out, std::size_t rows, std::int64_t value,
                     InstructionSet kernel = best_instruction_set());

// Moves the rows that are neither null nor NaN to the front of `out`, in order, and returns how many there
// are. What lies behind them in `out` is unspecified.
std::size_t drop_doubles(const double* in, const std::uint8_t* validity, std::size_t offset, double* out,
                         std::size_t rows, InstructionSet kernel = best_instruction_set());
std::size_t drop_integers(const std::int64_t* in, const std::uint8_t* validity, std::size_t offset,
                          std::int64_t* out, std::size_t rows,
                          InstructionSet kernel = best_instruction_set());

// Whether any row is null.
bool has_nulls(const std::uint8_t* validity, std::size_t offset, std::size_t rows);

// keeps[i] becomes 0 where row i is null, and where it is NaN; the others stay as they are. Returns how many such rows
// there are.
std::size_t mark_nulls(const std::uint8_t* validity, std::size_t offset, std::size_t rows,
                       std::uint8_t* keeps);
std::size_t mark_missing_doubles(const double* in, const std::uint8_t* validity, std::size_t offset,
                                 std::size_t rows, std::uint8_t* keeps);

}  // namespace snapdp::numeric_internal
