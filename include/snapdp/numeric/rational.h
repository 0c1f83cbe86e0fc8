// Exact rationals: epsilons, budgets, sensitivities and distances. Nothing here rounds unless its name says
// so.
#pragma once

#include <gmpxx.h>

#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

// Refuses compilers that were told to change arithmetic. The proofs need IEEE 754 doubles: -ffast-math,
// -Ofast, and parts of these such as -ffinite-math-only or -funsafe-math-optimizations drop NaN, infinities,
// signs of zeros or the order of additions, and x87 registers (-mfpmath=387) round twice. Code that uses
// SnapDP is compiled without them too, because inline functions of these headers become part of it.
//
// What a host does at run time is another matter, which float_environment.h sees to: a rounding mode,
// flush-to-zero, and -ffast-math among the options of the linker, which switches the latter on at the start.
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) || \
    defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__)
#error "SnapDP must not be compiled with -ffast-math or a part of it: its proofs need IEEE 754 arithmetic."
#endif

#if defined(__FLT_EVAL_METHOD__) && (__FLT_EVAL_METHOD__ < 0 || __FLT_EVAL_METHOD__ == 2)
#error "SnapDP must not be compiled for x87 arithmetic, which rounds twice: use SSE2 (-msse2 -mfpmath=sse)."
#endif

namespace snapdp {

using Integer = mpz_class;

// GMP's rational, except that a double which is no number is an Error and not a signal (GMP raises SIGFPE):
// wherever a Rational is expected, a finite double stands for exactly the number it is, and NaN and the
// infinities throw invalid_argument. Arithmetic between a Rational and a double that may not be finite
// remains the caller's affair.
class Rational : public mpq_class {
 public:
  using mpq_class::mpq_class;
  Rational() = default;
  Rational(const mpq_class& value) : mpq_class(value) {}        // NOLINT: results of arithmetic are rationals
  Rational(mpq_class&& value) : mpq_class(std::move(value)) {}  // NOLINT
  Rational(double value) : mpq_class(of(value)) {}              // NOLINT
  Rational(float value) : mpq_class(of(value)) {}               // NOLINT

 private:
  static mpq_class of(double value);
};

// Reads "0.25", "1e-3", "1/4", "1_000" or a C99 hex float ("0x1p-2") as exactly the number it denotes. At
// most 100 digits and a decimal exponent of at most 400 in magnitude (2000 for the binary exponent of a hex
// float); anything else throws invalid_argument naming `parameter`.
Rational parse_rational(std::string_view text, std::string_view parameter);

// Reads back what to_string() wrote, exactly. People write short numbers and get parse_rational's limits;
// sums, quotients and products of them are longer, and a report that was paid for must be read whatever it
// says. The limits here, 65,536 digits and a decimal exponent of 8192, are beyond every number of a plan, a
// report or a ledger: the longest, a part's share of an epsilon that six fractions split, has less than
// 10,000 digits on either side of its bar.
Rational parse_exact(std::string_view text, std::string_view parameter);

// Whether `text` is what floating point writes for no finite number: "inf", "-Infinity", "NaN" ...
bool is_not_finite(std::string_view text);

// The shortest decimal that reads back as `value`: a double given as an epsilon means what its author typed,
// so 0.1 is one tenth. Throws on NaN and infinities.
Rational shortest_decimal(double value, std::string_view parameter);

// The number a finite double is. Throws on NaN and infinities.
Rational exact_rational(double value, std::string_view parameter);

// The nearest double in the named direction; `nearest` breaks ties to even. Correct for subnormal results. A
// magnitude above the largest double gives that double when rounding towards zero and an infinity otherwise.
double to_double_down(const Rational& value);
double to_double_up(const Rational& value);
double to_double_nearest(const Rational& value);

// floor(value).
Integer floor(const Rational& value);
// ceil(value).
Integer ceil(const Rational& value);

// A decimal when the number has a finite one of at most 40 significant digits, otherwise "p/q". parse_exact
// reads it back.
std::string to_string(const Rational& value);
std::ostream& operator<<(std::ostream& out, const Rational& value);
// The shortest decimal that reads back as `value` ("0.1", "1e+300", "inf", "nan").
std::string to_string(double value);
// The C99 hex float of `value`, in the normalised form 0x1.8000000000000p+3.
std::string to_hex(double value);

// Numbers with as many digits as people read, rounded to the safe side: what was spent or may be off upward,
// what remains or is allowed downward. The exact value stands in the JSON.

// `value` with at most `digits` significant digits, rounded up (towards +infinity): "0.0523", "1240",
// "3.1e+25".
std::string round_up_to_digits(const Rational& value, int digits);
// Likewise, rounded down (towards -infinity).
std::string round_down_to_digits(const Rational& value, int digits);
// A number exactly when that takes at most 12 characters, otherwise rounded up to 5 significant digits.
std::string short_number(const Rational& value);
// Likewise, rounded down.
std::string short_number_down(const Rational& value);
// `value` with as many decimals as tell neighbors on the grid apart; in scientific form where that takes 30
// or the value has more than 20 digits.
std::string at_grid_resolution(const Rational& value, const Rational& spacing);

}  // namespace snapdp
