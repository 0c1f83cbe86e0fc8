#include "snapdp/mechanism/gaussian_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "numeric/shared/normal_guess.h"
#include "snapdp/error.h"
#include "snapdp/numeric/dyadic.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

using certified::Undecided;
using certified::Wide;

[[noreturn]] void refuse(const char* parameter, const Rational& given, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, parameter,
              std::string(parameter) + " = " + to_string(given) + ": " + rule);
}

void check_rho(const Rational& rho) {
  if (rho < 0)
    refuse("rho", rho, "must not be negative: half the squared sensitivity over the squared scale");
}
void check_epsilon(const Rational& epsilon) {
  if (epsilon < 0) refuse("epsilon", epsilon, "must not be negative: the privacy loss to allow");
}
void check_delta(const Rational& delta) {
  if (delta <= 0 || delta >= 1)
    refuse("delta", delta,
           "must lie strictly between 0 and 1, such as 1e-6: Gaussian noise is never private with delta 0");
}

Rational power_of_two(long exponent) {
  return Dyadic(Integer(1), exponent).rational();
}

// What is asked of an evaluation: how many bits of the result are right.
constexpr long usual_bits = 112;
constexpr mpfr_prec_t most_bits = 12'288;
// Beyond e^it, MPFR has no numbers.
constexpr double greatest_exponent = 7e8;

struct Evaluated {
  Enclosure delta;
  // About -d delta / d epsilon and d delta / d ln rho.
  Rational by_epsilon;
  Rational by_log_rho;
};

Rational lower_or(const Wide& number, const Rational& otherwise) {
  try {
    return lower_end(number);
  } catch (const Undecided&) {
    return otherwise;
  }
}
Rational upper_or(const Wide& number, const Rational& otherwise) {
  try {
    return upper_end(number);
  } catch (const Undecided&) {
    return otherwise;
  }
}

// rho > 0. With x = epsilon / mu and h = mu / 2:  delta = P(Z >= x - h) - e^epsilon P(Z >= x + h).
Evaluated evaluate_once(const Rational& rho, const Rational& epsilon) {
  const Wide mu = sqrt(Wide(Rational(2 * rho)));
  const Wide x = Wide(epsilon) / mu;
  const Wide half = ldexp(mu, -1);
  const Wide near = normal_tail(x - half);
  // d delta / d mu = phi(x - mu / 2), and d mu / d ln rho = mu / 2.
  const Wide distance = x - half;
  const Wide density = exp(-ldexp(distance * distance, -1)) / sqrt(ldexp(Wide::pi(), 1));
  Evaluated result;
  result.by_log_rho = lower_or(density * half, 0);
  const Rational most = std::min(Rational(1), upper_or(near, 1));
  if (epsilon > Rational(greatest_exponent)) {
    result.delta = {0, most};
    return result;
  }
  const Wide far = exp(Wide(epsilon)) * normal_tail(x + half);
  const Wide delta = epsilon == 0 ? ldexp(normal_mass(half), 1) : near - far;
  result.delta.lower = std::max(Rational(0), lower_or(delta, 0));
  result.delta.upper = std::min(most, upper_or(delta, most));
  result.by_epsilon = lower_or(far, 0);
  return result;
}

Evaluated evaluate(const Rational& rho, const Rational& epsilon, long right_bits) {
  const Rational least = power_of_two(-65536);
  Evaluated result;
  for (mpfr_prec_t bits = right_bits + 80;; bits *= 2) {
    const Wide::Precision precision(bits, false);
    result = evaluate_once(rho, epsilon);
    const Enclosure& delta = result.delta;
    const bool is_narrow = delta.upper - delta.lower <= delta.lower * power_of_two(-right_bits);
    if (is_narrow || delta.upper <= least || bits >= most_bits || epsilon > Rational(greatest_exponent))
      return result;
  }
}

// Numbers of the searches need no more bits than what they are compared by.
Rational shortened(const Rational& value, long bits) {
  const Wide::Precision precision(bits + 32, false);
  return lower_end(Wide(value));
}

// ln(a / b), about, for positive a and b.
Rational log_ratio(const Rational& a, const Rational& b, long bits) {
  const Wide::Precision precision(bits + 64, false);
  return lower_end(log(Wide(Rational(a / b))));
}

// Whether a point is on the side of the root where delta(point) <= delta, where that is certain.
std::optional<bool> keeps(const Enclosure& found, const Rational& delta) {
  if (found.upper <= delta) return true;
  if (found.lower > delta) return false;
  return std::nullopt;
}

// ln delta is concave in epsilon: delta = e^epsilon times the integral of e^-l P(L > l) from epsilon on, L the normal loss,
// and integrals of log-concave functions are. So Newton's method, from an epsilon that keeps delta, comes down to the root.
Rational newton_epsilon(const Rational& rho, const Rational& delta, long bits) {
  // rho + 2 sqrt(rho ln(1/delta)) is enough (Bun and Steinke 2016, Proposition 1.3).
  const double size = to_double_up(rho);
  Rational epsilon(size + 2 * std::sqrt(size * -guess_log(delta)));
  for (int i = 0; i < 300; ++i) {
    const Evaluated at = evaluate(rho, epsilon, bits);
    if (at.delta.lower <= 0 || at.by_epsilon <= 0) {
      epsilon /= 2;
      continue;
    }
    const Rational step = log_ratio(at.delta.lower, delta, bits) * at.delta.lower / at.by_epsilon;
    Rational next = shortened(epsilon + step, bits);
    if (next <= 0) next = epsilon / 1024;
    const bool is_near = abs(Rational(next - epsilon)) <= next * power_of_two(-(bits - 8));
    epsilon = std::move(next);
    if (is_near) break;
  }
  return epsilon;
}

// Newton's method for ln delta as a function of ln rho, kept between two points that are known to be on either side.
Rational newton_rho(const Rational& epsilon, const Rational& delta, long bits) {
  const double log_rate = -guess_log(delta);
  const double loss = to_double_down(epsilon);
  const double root = loss / (std::sqrt(log_rate + loss) + std::sqrt(log_rate));
  // delta(epsilon) <= delta(0) <= mu / sqrt(2 pi).
  Rational low = std::max(Rational(root * root * 0.999), Rational(delta * delta));
  Rational high = 0;  // none yet
  Rational rho = low;
  for (int i = 0; i < 2000; ++i) {
    const Evaluated at = evaluate(rho, epsilon, bits);
    const std::optional<bool> kept = keeps(at.delta, delta);
    if (!kept) return rho;
    (*kept ? low : high) = rho;
    Rational next = 0;
    if (at.delta.lower > 0 && at.by_log_rho > 0) {
      const Rational step = log_ratio(at.delta.lower, delta, bits) * at.delta.lower / at.by_log_rho;
      if (abs(step) < 60) {
        const Wide::Precision precision(bits + 32, false);
        next = lower_end(Wide(rho) * exp(-Wide(step)));
      }
    }
    if (next != 0 && abs(Rational(next - rho)) <= rho * power_of_two(-(bits - 8))) return next;
    if (next > low && (high == 0 || next < high)) {
      rho = next;
    } else if (high == 0) {
      rho = low * 16;
    } else {
      const Wide::Precision precision(bits + 32, false);
      rho = lower_end(sqrt(Wide(low) * Wide(high)));
    }
  }
  return rho;
}

// Certain points on both sides of a root, relatively 2^-100 apart, from a guess that is better than that; none when the
// evaluations there are not certain. `is_inside` says of a point whether it keeps delta.
template <typename Inside>
std::optional<Enclosure> certain(const Rational& guess, bool keeps_below, const Inside& is_inside) {
  if (guess <= 0) return std::nullopt;
  const Rational margin = guess * power_of_two(-101);
  const Rational below = shortened(guess - margin, usual_bits + 16);
  const Rational above = shortened(guess + margin, usual_bits + 16);
  if (below <= 0 || is_inside(below) != std::optional(keeps_below) ||
      is_inside(above) != std::optional(!keeps_below))
    return std::nullopt;
  return Enclosure{below, above};
}

constexpr long search_bits[] = {128, 256, 768, 3072};

}  // namespace

Rational gaussian_rho(const Rational& squared_sensitivity, const Rational& scale) {
  if (squared_sensitivity < 0)
    refuse("squared_sensitivity", squared_sensitivity, "must not be negative: the square of a distance");
  if (scale <= 0) refuse("scale", scale, "must be positive: the standard deviation of the noise");
  return squared_sensitivity / (2 * scale * scale);
}

Enclosure gaussian_delta(const Rational& rho, const Rational& epsilon) {
  const FloatEnvironment environment;
  check_rho(rho);
  if (rho != 0) return evaluate(rho, epsilon, usual_bits).delta;
  if (epsilon >= 0) return {0, 0};
  const Wide::Precision precision(usual_bits + 80, false);
  const Wide least = -expm1(Wide(epsilon));
  return {lower_end(least), upper_end(least)};
}

Enclosure gaussian_epsilon(const Rational& rho, const Rational& delta) {
  const FloatEnvironment environment;
  check_rho(rho);
  check_delta(delta);
  if (rho == 0) return {0, 0};
  std::optional<bool> at_zero;
  for (const long bits : search_bits) {
    if (!at_zero) at_zero = keeps(evaluate(rho, 0, bits).delta, delta);
    if (at_zero == std::optional(true)) return {0, 0};
    const auto is_inside = [&](const Rational& epsilon) {
      return keeps(evaluate(rho, epsilon, bits).delta, delta);
    };
    if (const auto found = certain(newton_epsilon(rho, delta, bits), false, is_inside)) return *found;
  }
  const double size = to_double_up(rho);
  return {0, Rational(size + 2 * std::sqrt(size * -guess_log(delta))) * Rational(1.0625)};
}

Enclosure gaussian_largest_rho(const Rational& epsilon, const Rational& delta) {
  const FloatEnvironment environment;
  check_epsilon(epsilon);
  check_delta(delta);
  for (const long bits : search_bits) {
    const auto is_inside = [&](const Rational& rho) {
      return keeps(evaluate(rho, epsilon, bits).delta, delta);
    };
    if (const auto found = certain(newton_rho(epsilon, delta, bits), true, is_inside)) return *found;
  }
  refuse("epsilon", epsilon,
         "is too large, or delta = " + to_string(delta) + " too small or too near 1, for a bound");
}

Enclosure gaussian_scale(const Rational& squared_sensitivity, const Rational& epsilon,
                         const Rational& delta) {
  const FloatEnvironment environment;
  if (squared_sensitivity <= 0) {
    refuse("squared_sensitivity", squared_sensitivity,
           "must be positive; a statistic no row can change is a public constant: release it as such");
  }
  const Enclosure rho = gaussian_largest_rho(epsilon, delta);
  const Wide::Precision precision(usual_bits + 80, false);
  const auto scale = [&](const Rational& at) { return sqrt(Wide(Rational(squared_sensitivity / (2 * at)))); };
  return {lower_end(scale(rho.upper)), upper_end(scale(rho.lower))};
}

double gaussian_scale_up(const Rational& squared_sensitivity, const Rational& epsilon,
                         const Rational& delta) {
  const FloatEnvironment environment;
  const Enclosure scale = gaussian_scale(squared_sensitivity, epsilon, delta);
  const double least = to_double_up(scale.lower);
  const double most = to_double_up(scale.upper);
  if (!(least >= std::numeric_limits<double>::min()) || !std::isfinite(most)) {
    refuse("squared_sensitivity", squared_sensitivity,
           "the scale of the noise would be no normal double; express the statistic in another unit");
  }
  if (least == most) return least;
  const Enclosure found = gaussian_delta(gaussian_rho(squared_sensitivity, Rational(least)), epsilon);
  return found.upper <= delta ? least : most;
}

}  // namespace snapdp
