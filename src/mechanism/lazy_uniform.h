// A real uniform on [0, 1), drawn as far as a decision needs.
#pragma once

#include <cstdint>

#include "mechanism/secret.h"
#include "snapdp/mechanism/probability.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/random/word_source.h"

namespace snapdp::mechanism_internal {

class LazyUniform {
 public:
  // `word` holds the first 64 binary digits after the point, its highest bit first; `words` the further ones.
  LazyUniform(std::uint64_t word, WordSource& words)
      : digits_(static_cast<unsigned long>(word)), words_(words) {}
  ~LazyUniform() { wipe(digits_); }
  LazyUniform(const LazyUniform&) = delete;
  LazyUniform& operator=(const LazyUniform&) = delete;

  // Whether it is below a number, of which enclosure(bits) gives bounds that come together as bits grow. Ends with
  // probability 1.
  template <typename Enclosure>
  bool is_below(const Enclosure& enclosure) {
    for (;;) {
      // digits <= 2^count U < digits + 1. 64 bits more than there are digits: the enclosure is then narrower than what is
      // known of U.
      const ProbabilityBounds bounds = enclosure(count_ + 64);
      Integer next = digits_ + 1;
      const bool below = Rational(next) <= scaled(bounds.low);
      wipe(next);
      if (below) return true;
      if (Rational(digits_) >= scaled(bounds.high)) return false;
      more();
    }
  }

  // floor(count U), uniform on 0 ... count - 1; count > 0.
  Integer index_below(const Integer& count) {
    for (;;) {
      Integer first = count * digits_;
      Integer last = first + count - 1;
      mpz_fdiv_q_2exp(first.get_mpz_t(), first.get_mpz_t(), static_cast<mp_bitcnt_t>(count_));
      mpz_fdiv_q_2exp(last.get_mpz_t(), last.get_mpz_t(), static_cast<mp_bitcnt_t>(count_));
      if (first == last) return first;
      more();
    }
  }

 private:
  Rational scaled(Rational value) const {
    mpq_mul_2exp(value.get_mpq_t(), value.get_mpq_t(), static_cast<mp_bitcnt_t>(count_));
    return value;
  }
  void more() {
    const std::uint64_t word = words_.next();
    digits_ <<= 64;
    digits_ += static_cast<unsigned long>(word);
    count_ += 64;
  }

  Integer digits_;
  long count_ = 64;
  WordSource& words_;
};

}  // namespace snapdp::mechanism_internal
