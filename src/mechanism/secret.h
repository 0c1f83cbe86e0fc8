// Random numbers in use, wiped on every way out, and the decisions on them that an observer may see.
#pragma once

// mpfr.h declares its integer functions only after gmp.h.
#include <gmp.h>
#include <mpfr.h>
#include <string.h>  // explicit_bzero

#include <array>
#include <cstddef>
#include <cstdint>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/random/word_source.h"

#if defined(SNAPDP_CHECK_SECRETS)
#include <valgrind/memcheck.h>
#endif

namespace snapdp::mechanism_internal {

// A decision that may depend on values and noise, of those that docs/timing.md lists: whether a sample is decided by the
// fast path, and whether an input or output is refused. tests/secrets has valgrind find every other branch and memory
// address that depends on them, by declaring them undefined; this declares the decision defined. Elsewhere it does
// nothing.
inline bool observable(bool decision) {
#if defined(SNAPDP_CHECK_SECRETS)
  VALGRIND_MAKE_MEM_DEFINED(&decision, sizeof decision);
#endif
  return decision;
}

template <std::size_t size>
struct SecretWords : std::array<std::uint64_t, size> {
  ~SecretWords() { snapdp::wipe(*this); }
};

template <std::size_t size>
struct SecretDoubles : std::array<double, size> {
  ~SecretDoubles() { explicit_bzero(this->data(), size * sizeof(double)); }
};

inline void wipe(Integer& value) {
  mpz_ptr raw = value.get_mpz_t();
  explicit_bzero(mpz_limbs_modify(raw, static_cast<mp_size_t>(mpz_size(raw))),
                 mpz_size(raw) * sizeof(mp_limb_t));
  mpz_limbs_finish(raw, 0);
}

// An MPFR number of fixed precision.
class SecretReal {
 public:
  explicit SecretReal(mpfr_prec_t precision) { mpfr_init2(value_, precision); }
  ~SecretReal() {
    explicit_bzero(mpfr_custom_get_significand(value_), mpfr_custom_get_size(mpfr_get_prec(value_)));
    mpfr_clear(value_);
  }
  SecretReal(const SecretReal&) = delete;
  SecretReal& operator=(const SecretReal&) = delete;
  mpfr_ptr get() { return value_; }

  Dyadic dyadic() const {
    Integer mantissa;
    const mpfr_exp_t exponent = mpfr_get_z_2exp(mantissa.get_mpz_t(), value_);
    return Dyadic(std::move(mantissa), exponent);
  }

 private:
  mpfr_t value_;
};

// MPFR keeps constants such as log 2 per thread. A function that computes with MPFR has one of these, thread_local.
struct MpfrCacheOfThread {
  ~MpfrCacheOfThread() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

}  // namespace snapdp::mechanism_internal
