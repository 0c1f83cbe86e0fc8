// The privacy loss of precision mode: the notes' choice of its arithmetic, and what is proved about it.
#pragma once

#include "snapdp/mechanism/precision_snapping.h"

namespace snapdp::mechanism_internal {

// epsilon', scale and grid of the notes for these bounds; see precision_snapping.h. Of `coordinates` numbers that may
// differ, each is given its own loss by rounding. Needs epsilon > coordinates * 2^(1-precision); the scale may come out at
// or above `half_width`, where the notes' claim about the loss fails.
struct NotesArithmetic {
  Dyadic inner_epsilon;
  detail::PrecisionArithmetic arithmetic;
};
NotesArithmetic notes_arithmetic(const Rational& epsilon, const Dyadic& sensitivity, const Dyadic& half_width,
                                 long precision, std::size_t coordinates = 1);
// Scale and grid for an inner epsilon > 0, which is rounded down to `precision` bits.
NotesArithmetic arithmetic_of(const Rational& inner_epsilon, const Dyadic& sensitivity, long precision);

// The loss that the notes claim for values at most `sensitivity` apart, exactly:
// sensitivity / scale + 12 half_width eta / scale + 2 eta.
Rational notes_loss_claim(const detail::PrecisionArithmetic& arithmetic, const Rational& sensitivity,
                          const Dyadic& half_width);

// The proved loss between values at most d apart, less d / scale, rounded up. proofs/make_snapping.md derives it. Needs
// 0 < half_width < 2^(precision-7) scale and scale <= grid < 2 scale; half_width may be as small as one likes.
double precision_loss_excess_up(const detail::PrecisionArithmetic& arithmetic, const Dyadic& half_width);

}  // namespace snapdp::mechanism_internal
