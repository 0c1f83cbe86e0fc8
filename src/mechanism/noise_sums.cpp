// See proofs/noise_sums.md for what is proved. Everything here is computed in double arithmetic with its errors bounded
// by slack that is orders of magnitude larger; results are rounded up to 20 bits, which also makes them the same
// whatever last bits the host's exponential and logarithm have.
#include "mechanism/shared/noise_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "mechanism/double_formulas.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp::mechanism_internal {

using numeric_internal::FloatEnvironment;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Term {
  const ErrorLaw* law;
  double weight;  // in magnitude, a little too large
  double times;   // a whole number

  double size() const { return weight * law->scale; }
};
using Sum = std::vector<Term>;

double enlarged(double weight) {
  return std::fabs(weight) * (1 + 0x1p-40) + 0x1p-45;
}

// x^n for a whole number n.
double power(double x, double n) {
  double result = 1;
  auto left = static_cast<unsigned long long>(n);
  while (left > 0) {
    if (left % 2 == 1) result *= x;
    x *= x;
    left /= 2;
  }
  return result;
}

double largest_size(const Sum& sum) {
  double largest = 0;
  for (const Term& term : sum) largest = std::max(largest, term.size());
  return largest;
}

double variance(const Sum& sum) {
  double result = 0;
  for (const Term& term : sum) result += 2 * term.times * term.size() * term.size();
  return result;
}

// How far rounding may move the whole sum.
double largest_off(const std::vector<Sum>& sums) {
  double largest = 0;
  for (const Sum& sum : sums) {
    double off = 0;
    for (const Term& term : sum) off += term.times * term.weight * term.law->off;
    largest = std::max(largest, off);
  }
  return largest;
}

template <typename Property>
double largest_of(const std::vector<Sum>& sums, const Property& property) {
  double largest = 0;
  for (const Sum& sum : sums) largest = std::max(largest, property(sum));
  return largest;
}

// ---- Moment generating functions, for Chernoff's bound ----

// E exp(t X) of Laplace noise, for 0 < t scale < 1.
double laplace_moment(const Term& term, double t) {
  const double x = t * term.size();
  return 1 / (1 - x * x);
}

// The same of its positive part: clamping may cut the rest off.
double positive_moment(const Term& term, double t) {
  const double x = t * term.size();
  return (1 - x / 2) / (1 - x);
}

// E exp(t X) of the error of the rounded value, at the worst value, for 0 < t scale < 1.
double rounded_moment(const Term& term, double t) {
  constexpr double slack = 1 + 0x1p-44;
  const ErrorLaw& law = *term.law;
  if (law.kind == NoiseKind::geometric) {
    const double rate = 1 / law.scale;
    const double theta = t * term.weight;
    const double all = std::expm1(-rate);
    return all * all / (std::expm1(theta - rate) * std::expm1(-theta - rate)) * slack;
  }
  const double c = law.grid / law.scale;
  const double theta = t * term.weight * law.grid;
  const double below = -std::exp(-c / 2) / 2;
  const double up = below + std::sinh(c / 2) / std::expm1(c - theta);
  const double down = below + std::sinh(c / 2) / std::expm1(c + theta);
  // Of a value f steps of the grid above an output.
  const auto at = [&](double f) {
    return std::exp(-theta * f) + up * std::exp((c - theta) * f) + down * std::exp(-(c + theta) * f);
  };
  const double factor = slack * std::exp(t * term.weight * law.drift);
  if (law.on_grid) return at(0) * factor;
  double largest = std::max(at(-0.5), at(0.5));
  // It is stationary where a quadratic polynomial of z = exp(c f) vanishes.
  const double root = theta * theta + 4 * (c - theta) * up * (c + theta) * down;
  if (root >= 0 && up > 0) {
    for (const double sign : {-1.0, 1.0}) {
      const double z = (theta + sign * std::sqrt(root)) / (2 * (c - theta) * up);
      if (z > 0 && std::fabs(std::log(z)) <= c / 2) largest = std::max(largest, at(std::log(z) / c));
    }
  }
  return largest * factor;
}

// The R of Chernoff's bound: P(X > R) <= E exp(t (X - R)) for each sum, with one t > 0 for all. Any t will do; the
// bound is quasiconvex in it, and golden section comes near the best.
template <typename Moment>
double chernoff(const std::vector<Sum>& sums, double alpha, const JointTail& joint, const Moment& moment,
                int rounds, double farthest = 1) {
  const double end = farthest / largest_of(sums, largest_size);
  std::vector<double> moments(sums.size());
  const auto radius = [&](double t) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      moments[i] = 1;
      for (const Term& term : sums[i]) moments[i] *= power(moment(term, t), term.times);
    }
    const double together = joint(moments);
    return together < infinity ? std::log(together / alpha) / t : infinity;
  };
  // About where a normal sum has its best t.
  const double normal = std::sqrt(2 * std::max(1.0, -std::log(alpha)) / largest_of(sums, variance)) / end;
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double low = 0;
  double high = 1 - 0x1p-20;
  double left = std::min(normal / (1 + normal), high / 2);
  double right = low + (high - low) * ratio;
  double at_left = radius(left * end);
  double at_right = radius(right * end);
  for (int i = 0; i < rounds; ++i) {
    if (at_left <= at_right) {
      high = right;
      right = left;
      at_right = at_left;
      left = high - (high - low) * ratio;
      if (left >= right) left = (low + right) / 2;
      at_left = radius(left * end);
    } else {
      low = left;
      left = right;
      at_left = at_right;
      right = low + (high - low) * ratio;
      if (right <= left) right = (left + high) / 2;
      at_right = radius(right * end);
    }
  }
  return std::min(at_left, at_right);
}

double largest_tail(const std::vector<double>& tails) {
  return *std::max_element(tails.begin(), tails.end());
}

// ---- Characteristic functions ----

// Upper bounds of P(X > R) for sums of Laplace noises. With a square wave of half period P in the place of the sign,
//     P(X > R) <= 1/2 - sum_k phi(w_k) sin(w_k R) / (pi (k + 1/2)) + P(X >= R + P),  w_k = (k + 1/2) pi / (P / 2),
// phi(w) = prod 1 / (1 + (size w)^2) the characteristic function.
class Inversion {
 public:
  // `half_period` is such that P(X >= half_period) <= unseen.
  Inversion(const std::vector<Sum>& sums, double half_period, double unseen)
      : frequency_(2 * std::numbers::pi / half_period),
        coefficients_(sums.size()),
        slack_(sums.size(), unseen) {
    for (std::size_t i = 0; i < sums.size(); ++i) expand(sums[i], unseen, i);
  }

  // One for each sum.
  void tails(double radius, std::vector<double>& tails) {
    sines_.clear();
    const double half = frequency_ * radius / 2;
    double sine = std::sin(half);
    double cosine = std::cos(half);
    const double turn_sine = std::sin(2 * half);
    const double turn_cosine = std::cos(2 * half);
    for (std::size_t k = 0; k < most_terms_; ++k) {
      sines_.push_back(sine);
      const double next = sine * turn_cosine + cosine * turn_sine;
      cosine = cosine * turn_cosine - sine * turn_sine;
      sine = next;
    }
    for (std::size_t i = 0; i < coefficients_.size(); ++i) {
      double sum = 0;
      for (std::size_t k = 0; k < coefficients_[i].size(); ++k) sum += coefficients_[i][k] * sines_[k];
      tails[i] = std::max(0.5 - sum, 0.0) + slack_[i];
    }
  }

 private:
  static constexpr std::size_t limit = 512;

  // What is left out after K terms is at most 1.125 phi(w_K) (1 + 1 / (a w_K)^2) / pi, a the largest size.
  void expand(const Sum& sum, double enough, std::size_t index) {
    const double largest = largest_size(sum);
    double operations = 0;
    for (const Term& term : sum) operations += 4 * term.times + 64;
    double left_out = infinity;
    std::vector<double>& coefficients = coefficients_[index];
    while (true) {
      const double k = static_cast<double>(coefficients.size()) + 0.5;
      double inverse = 1;
      for (const Term& term : sum) {
        const double x = term.size() * frequency_ * k;
        inverse *= power(1 + x * x, term.times);
      }
      const double phi = 1 / inverse;  // 0 when that is beyond the doubles
      const double x = largest * frequency_ * k;
      left_out = 1.125 * phi * (1 + 1 / (x * x)) / std::numbers::pi;
      if ((k > 1 && left_out <= enough) || coefficients.size() == limit) break;
      coefficients.push_back(phi / (std::numbers::pi * k));
    }
    most_terms_ = std::max(most_terms_, coefficients.size());
    // A term's relative error is that of its operations, and the sum over k of 1 / (pi (k + 1/2)) is below 4.
    const double arithmetic = 4 * (operations + 8 * static_cast<double>(coefficients.size())) * 0x1p-53;
    slack_[index] += left_out + arithmetic;
  }

  double frequency_;
  std::vector<std::vector<double>> coefficients_;
  std::vector<double> slack_;  // what no radius takes away
  std::vector<double> sines_;
  std::size_t most_terms_ = 0;
};

// An R with joint(P(X > R)) <= alpha that is not above `start`, which is one.
double inverted(const std::vector<Sum>& sums, double alpha, const JointTail& joint, double start) {
  const double unseen = alpha * 0x1p-12;
  const double reach = chernoff(sums, unseen, largest_tail, laplace_moment, 8);
  if (!(reach < infinity) || !(start < infinity)) return start;
  // Where P(X <= R - half period) is little too the bound loses little. Few bits, so that no last bit of a logarithm
  // shows.
  int exponent = 0;
  const double mantissa = std::frexp(reach + start, &exponent);
  Inversion inversion(sums, std::ldexp(std::ceil(mantissa * 64) + 1, exponent - 6), unseen);
  std::vector<double> tails(sums.size());
  double low = 0;
  double high = start;
  while (high - low > high * 0x1p-12) {
    const double middle = (low + high) / 2;
    inversion.tails(middle, tails);
    (joint(tails) <= alpha ? high : low) = middle;
  }
  return high;
}

// ---- Gaussian noise ----

[[noreturn]] void refuse_mixture() {
  throw Error(
      ErrorCode::invalid_argument, "noise",
      "noise: a sum of Gaussian and of other noise has no bound here; give all parts one kind of noise");
}

bool is_gaussian(const Sum& sum) {
  return std::all_of(sum.begin(), sum.end(),
                     [](const Term& term) { return term.law->kind == NoiseKind::gaussian; });
}

bool has_gaussian(const Sum& sum) {
  return std::any_of(sum.begin(), sum.end(),
                     [](const Term& term) { return term.law->kind == NoiseKind::gaussian; });
}

// A sum of Gaussian noises is Gaussian, and its tails are known.
double gaussian_radius(const std::vector<Sum>& sums, double alpha, const JointTail& joint) {
  std::vector<double> deviations;
  for (const Sum& sum : sums) deviations.push_back(std::sqrt(variance(sum) / 2) * (1 + 0x1p-40));
  std::vector<double> tails(sums.size());
  const auto is_rare = [&](double radius) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const double z = deviations[i] > 0 ? radius / deviations[i] * (1 - 0x1p-40) : infinity;
      // In proportion to e^(-z^2/2), which the host's function may miss by a few last places; not below the doubles.
      tails[i] = normal_tail(z) * (1 + 0x1p-30) + 0x1p-1060;
    }
    return joint(tails) <= alpha;
  };
  double low = 0;
  double high = *std::max_element(deviations.begin(), deviations.end());
  while (!is_rare(high)) {
    low = high;
    high *= 2;
    if (!(high < infinity)) return infinity;
  }
  while (high - low > high * 0x1p-24) {
    const double middle = low + (high - low) / 2;
    (is_rare(middle) ? high : low) = middle;
  }
  return high;
}

// E exp(t X+) of Gaussian noise: clamping may cut anything off.
double positive_gaussian_moment(const Term& term, double t) {
  const double x = t * term.size();
  return (0.5 + std::exp(x * x / 2) * (1 - normal_tail(x))) * (1 + 0x1p-40);
}

double round_up_to_20_bits(double value) {
  if (!(value < infinity)) return infinity;
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value * (1 + 0x1p-30), &exponent);
  return std::ldexp(std::ceil(std::ldexp(mantissa, 20)), exponent - 20);
}

// `clamped` is the probability that clamping moves any of the noises. Where that is little it is taken off alpha,
// otherwise every noise counts as clamped at its worst.
double error_of(const std::vector<Sum>& sums, double alpha, const JointTail& joint, double clamped,
                bool of_rounded_law) {
  if (largest_of(sums, largest_size) == 0) return 0;
  if (!(alpha > 0)) return infinity;
  const double off = largest_off(sums);
  if (std::any_of(sums.begin(), sums.end(), has_gaussian)) {
    if (!std::all_of(sums.begin(), sums.end(), is_gaussian)) refuse_mixture();
    if (clamped <= alpha / 8) return round_up_to_20_bits(gaussian_radius(sums, alpha - clamped, joint) + off);
    constexpr double farthest = 36;  // of t size, at which the moment is still a double
    return round_up_to_20_bits(chernoff(sums, alpha, joint, positive_gaussian_moment, 24, farthest) + off);
  }
  if (clamped > alpha / 8)
    return round_up_to_20_bits(chernoff(sums, alpha, joint, positive_moment, 16) + off);
  const double rest = alpha - clamped;
  const bool single = sums.size() == 1 && sums[0].size() == 1 && sums[0][0].times == 1;
  if (single && !of_rounded_law) return round_up_to_20_bits(-std::log(2 * rest) * sums[0][0].size() + off);
  double best = inverted(sums, rest, joint, chernoff(sums, rest, joint, laplace_moment, 16)) + off;
  // Chernoff's bound is looser by a fifth or more; it gains where rounding, taken at its worst, is more than that.
  constexpr double much = 1.0 / 5;
  if (of_rounded_law && off > best * much)
    best = std::min(best, chernoff(sums, rest, joint, rounded_moment, 16));
  return round_up_to_20_bits(best);
}

}  // namespace

ErrorLaw::ErrorLaw(const Noise& noise, const OutputRange& values, bool integers)
    : scale(noise.scale.up()), kind(noise.kind), grid(noise.grid.spacing().to_double_up()) {
  const FloatEnvironment environment;
  drift = to_double_up(Rational(noise.arithmetic_error() + noise.output_error()));
  off = kind == NoiseKind::geometric ? std::min(1.0, 0.5 + 1 / (8 * scale))
                                     : (grid / 2 + drift) * (1 + 0x1p-50);
  on_grid = integers && kind != NoiseKind::notes && noise.grid.exponent() <= 0;
  moved = 1;
  if (on_grid) {
    const double q = std::exp(-grid / scale);
    moved = (kind == NoiseKind::geometric ? 2 * q / (1 + q) : std::sqrt(q)) * (1 + 0x1p-40);
    if (kind == NoiseKind::gaussian) moved = 2 * normal_tail(grid / (2 * scale)) * (1 + 0x1p-40);
  }
  clamped = 0;
  const auto add = [&](const std::optional<double>& bound, const std::optional<double>& value, double sign) {
    if (!bound) return;
    const double room = value ? sign * (*bound - *value) * (1 - 0x1p-50) - off : 0.0;
    const double tail = kind == NoiseKind::gaussian ? normal_tail(room / scale) : std::exp(-room / scale) / 2;
    clamped += room > 0 ? tail * (1 + 0x1p-40) : 1.0;
  };
  add(noise.lower, values.lower, -1);
  add(noise.upper, values.upper, 1);
}

double error_of_sums(const ErrorLaw& law, double noises, const std::vector<WeightedNoises>& sums,
                     double alpha, const JointTail& joint) {
  const FloatEnvironment environment;
  std::vector<Sum> all;
  for (const WeightedNoises& weighted : sums) {
    all.emplace_back();
    for (const WeightedNoise& noise : weighted)
      all.back().push_back({&law, enlarged(noise.weight), noise.times});
  }
  return error_of(all, alpha, joint, law.clamped * noises, true);
}

double error_of_sum(const std::vector<NoisyTerm>& terms, double alpha) {
  const FloatEnvironment environment;
  Sum sum;
  double clamped = 0;
  double rest = alpha;
  for (const NoisyTerm& term : terms) {
    if (term.law.moved <= alpha / 16) {  // as good as exact
      rest -= term.law.moved;
      continue;
    }
    sum.push_back({&term.law, enlarged(term.weight), 1});
    clamped += term.law.clamped;
  }
  return error_of({sum}, rest, largest_tail, clamped, false);
}

}  // namespace snapdp::mechanism_internal
