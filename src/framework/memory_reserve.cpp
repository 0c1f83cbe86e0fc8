#include "framework/shared/memory_reserve.h"

#include <algorithm>
#include <array>

namespace snapdp {

Integer framework_internal::most_steps(const Measurement& measurement) {
  // What a choice gives are indices.
  if (measurement.is_choice())
    return static_cast<unsigned long>(measurement.aggregation().output_domain().dimension);
  const Mechanism& mechanism = measurement.mechanism();
  Rational reach = 0;
  const auto include = [&](const Rational& end) { reach = std::max(reach, Rational(::abs(end))); };
  if (mechanism.lower()) include(Rational(*mechanism.lower()));
  if (mechanism.upper()) include(Rational(*mechanism.upper()));
  if (!mechanism.lower() || !mechanism.upper()) {
    include(scale_by_power_of_two(mechanism.sensitivity(), 63).rational());
    if (const std::optional<Bounds>& range = measurement.aggregation().output_domain().range) {
      include(range->lower().rational());
      include(range->upper().rational());
    }
    reach += scale_by_power_of_two(Dyadic(mechanism.scale()), 64).rational();
  }
  return ceil(Rational(reach / mechanism.grid().spacing().rational())) + 1;
}

void framework_internal::MemoryReserve::touch_stack() {
  constexpr std::size_t page = 4096;
  std::array<char, 16 * page> stack;
  volatile char* const bytes = stack.data();
  for (std::size_t place = 0; place < stack.size(); place += page) bytes[place] = 0;
}

namespace {

// Two copies of the scores, their exponents and the random words of a round: rationals of some numbers each, whose digits
// are those of the score and of the rate; and what exponentials take.
std::size_t choice_memory(const Measurement& measurement) {
  constexpr std::size_t of_candidate = 512;
  constexpr std::size_t of_exponentials = std::size_t{64} << 10;
  const Choice& choice = measurement.choice();
  const std::size_t digits = mpz_sizeinbase(choice.rate().get_num_mpz_t(), 2) / 8 +
                             mpz_sizeinbase(choice.rate().get_den_mpz_t(), 2) / 8;
  return of_exponentials + measurement.aggregation().output_domain().dimension * (of_candidate + 4 * digits);
}

}  // namespace

std::size_t framework_internal::memory_to_decide(const Measurement& measurement) {
  // The fast path takes none of it. MPFR's logarithm, the constants that it keeps for the thread, and the numbers around it
  // are some numbers of as many bits as tell one grid step, with 192 to spare for unlikely words: measured, at most 40 such
  // numbers, and 3 KiB where they are short.
  constexpr std::size_t numbers = 64;
  constexpr std::size_t spare = 192;
  constexpr std::size_t small_things = std::size_t{16} << 10;
  if (measurement.is_choice()) return choice_memory(measurement);
  const auto precision = static_cast<std::size_t>(measurement.mechanism().noise().precision);
  const std::size_t bits = mpz_sizeinbase(most_steps(measurement).get_mpz_t(), 2) + precision + spare;
  return small_things + numbers * (bits / 8);
}

std::size_t framework_internal::memory_to_draw(const Measurement& measurement) {
  constexpr std::size_t small = 128;  // bits that come in the allocation which a value has already
  // In the vectors that hand values on, and the first digits of a value that was 0.
  constexpr std::size_t of_place = 64;
  const std::size_t bits = mpz_sizeinbase(most_steps(measurement).get_mpz_t(), 2);
  const std::size_t growth = bits <= small ? 0 : bits / 8;
  return measurement.aggregation().output_domain().dimension * (of_place + growth);
}

}  // namespace snapdp
