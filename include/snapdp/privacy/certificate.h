// Certificates: the privacy loss of the mechanism that runs, enclosed on both sides.
//
//   Mechanism mechanism({.epsilon = Rational(1, 4), .sensitivity = Dyadic(1), .lower = 0, .upper = 100});
//   Certificate certificate = certify(mechanism);
//   certificate.witness;   // two neighboring values and an output really have this loss
//   certificate.bound;     // no neighboring values and no set of outputs have more
//
// The loss is ln(P(output | y) / P(output | y')), at its largest over all values y and y' at most the
// sensitivity apart and all outputs. Both ends are rigorous: the witness is rounded down, the bound up.
//
// Exact mode and geometric noise: the law is exactly the real one, and the largest loss has a closed form, so
// that the ends agree. Precision mode: the witness is found by a search over values and outputs; the
// probabilities it compares are exact, with every rounding of the arithmetic in them. The bound is the proved
// one. The notes' claim is set beside them. proofs/make_snapping.md and proofs/certify.md derive the
// formulas.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "snapdp/mechanism/choice.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp {

struct Certificate {
  Rational witness = 0;
  Rational bound = 0;
  // Only of one number in precision mode: what the notes claim, which may lie below the bound, where it is
  // not proved, and even below the witness, where it is false.
  std::optional<Rational> notes_claim = {};
  // How many bits the arithmetic has; absent in exact mode.
  std::optional<long> precision = {};

  bool notes_claim_holds() const { return !notes_claim || witness <= *notes_claim; }
  // Whether it shows a loss of at most epsilon: by the bound; in precision mode also by the notes' claim, as
  // long as no witness contradicts it. An empty certificate shows nothing.
  bool covers(const Rational& epsilon) const;
  // Decimals with enough digits to tell the ends apart, 30 at least: the witness rounded down, the others up.
  std::string witness_text() const;
  std::string bound_text() const;
  std::string notes_claim_text()
      const;  // of the bound in exact mode, to which the claim tends with more bits
};

// How many pairs of values the search of precision mode looks at: more find larger losses. Left out, as many
// as take about a second: 40,000 up to 250 bits, fewer for more. Exact mode needs none.
struct CertificateEffort {
  std::optional<std::size_t> pairs = {};
};

// Also of noise that no mechanism adds: any scale, and in precision mode bounds closer together than it.
// Throws invalid_argument naming the parameter that is out of range. Values are reals, of geometric noise
// integers; the grid of precision mode is the notes', whatever the noise says.
Certificate certify(const Noise& noise, const CertificateEffort& effort = {});
inline Certificate certify(const Mechanism& mechanism, const CertificateEffort& effort = {}) {
  return certify(mechanism.noise(), effort);
}

// Of a choice among so many candidates: its bound is epsilon, and for one of two or more candidates that is
// the largest loss there is. Of several rounds the witness is what the first of them loses. See
// proofs/choice.md.
Certificate certify(const Choice& choice, std::size_t candidates);

// The scale that precision mode gives its noise for this epsilon, between these bounds; see
// precision_snapping.h.
Rational precision_scale(const Rational& epsilon, const Dyadic& sensitivity, double lower, double upper,
                         long precision);

// Of several releases about the same rows: the bounds add up. The witness is the largest of theirs, as
// whoever sees all the outputs sees each one.
Certificate compose_certificates(std::span<const Certificate> parts);

}  // namespace snapdp
