// What attacks have in common. Each attack is written once, as it would be tried on anybody's release: it must succeed
// on a naive mechanism, written in the test as people deploy it, and then fail on ours.
//
// An attack decides by exact reasoning (outputs that only one value can give, exact laws, equal bits) or by counting: an
// event of outputs is counted under two neighboring values, and exact binomial bounds give a lower bound on the privacy
// loss. Against ours that bound exceeds the true loss, which is at most epsilon, with probability at most false_alarm,
// 1e-9. Naive mechanisms draw from fixed seeds, so that what succeeds once always does.
#pragma once

#include <gmpxx.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "snapdp/mechanism/law.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/audit.h"
#include "snapdp/random/word_source.h"

namespace snapdp::attacks {

inline const Rational false_alarm(1, 1'000'000'000);

using Sampler = std::function<double()>;
using Event = std::function<bool(double)>;

inline std::vector<double> outputs(std::size_t count, const Sampler& draw) {
  std::vector<double> result(count);
  for (double& x : result) x = draw();
  return result;
}

inline EventCount count(const std::vector<double>& outputs, const Event& event) {
  EventCount result{0, outputs.size()};
  for (const double x : outputs) result.hits += event(x) ? 1U : 0U;
  return result;
}

// The loss that the event proves, in the direction named: it is likelier under the first.
inline double proved_loss(const std::vector<double>& likelier, const std::vector<double>& rarer,
                          const Event& event) {
  return loss_lower_bound(count(likelier, event), count(rarer, event), false_alarm);
}

// Laplace noise as textbooks have it: one uniform double, a multiple of 2^-53 in (0, 1), and std::log.
inline double textbook_laplace(std::mt19937_64& engine, double scale) {
  const double u = static_cast<double>((engine() >> 11) + 1) * 0x1p-53;
  return (engine() % 2 == 0 ? scale : -scale) * std::log(u);
}

// Ours, as `count` releases of one value by the system generator.
inline std::vector<double> released(const Snapping& mechanism, double value, std::size_t count) {
  std::vector<double> out(count);
  mechanism.release(std::vector<double>(count, value), out, thread_generator());
  return out;
}

// The recorded words for U = e^-distance, distance > 0, in its first 53 digits, and the sign.
inline std::vector<std::uint64_t> words_for(double distance, bool minus) {
  const double log2 = distance / std::log(2.0);
  const auto zeros = static_cast<long>(log2);                            // digits 0 after the point
  const double mantissa = std::exp2(static_cast<double>(zeros) - log2);  // in (1/2, 1]
  Integer digits(std::ldexp(mantissa, 53));
  long count = 63;
  while (count < zeros + 53) count += 64;
  digits <<= static_cast<unsigned long>(count - zeros - 53);
  std::vector<std::uint64_t> words;
  for (long last = count - 63; last >= 0; last -= 64) {
    Integer part = digits >> static_cast<unsigned long>(last);
    const unsigned long bits = words.empty() ? 63 : 64;
    mpz_fdiv_r_2exp(part.get_mpz_t(), part.get_mpz_t(), bits);
    const std::uint64_t word = part.get_ui();
    words.push_back(words.empty() ? word << 1 | (minus ? 1U : 0U) : word);
  }
  return words;
}

// Whether recorded words exist that make ours give `output` for `value`. Tried: U = e^(-|output - value| / scale), and
// more digits for what that leaves undecided.
inline bool can_give(const Snapping& mechanism, double value, double output) {
  const double noise = output - value;
  const double distance = std::fmax(std::fabs(noise) / mechanism.scale(), 0x1p-40);
  std::vector<std::uint64_t> words = words_for(distance, noise > 0);
  words.insert(words.end(), 8, 0x5555555555555555);
  RecordedTape tape(words);
  return mechanism.replay(Dyadic(value), tape) == Dyadic(output);
}

// The loss between two values when only noise of this law is drawn: the largest ln ratio of the probabilities of outputs
// at or beyond a point outside of both values, exact to rounding. For naive mechanisms whose noise is perfect and whose
// statistic is not.
inline double tail_loss(const Noise& noise, double value, double neighbor) {
  const OutputLaw of_value(noise, value);
  const OutputLaw of_neighbor(noise, neighbor);
  const double beyond = std::fmax(value, neighbor) + 4 * noise.scale.up();
  const double before = std::fmin(value, neighbor) - 4 * noise.scale.up();
  const double up = std::fabs(std::log(of_value.at_least(beyond) / of_neighbor.at_least(beyond)));
  const double down = std::fabs(std::log(of_value.cdf(before) / of_neighbor.cdf(before)));
  return std::fmax(up, down);
}

}  // namespace snapdp::attacks
