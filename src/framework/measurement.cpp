#include "snapdp/framework/measurement.h"

#include <algorithm>

#include "framework/shared/paid.h"
#include "numeric/shared/certified.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/framework/composition.h"
#include "snapdp/mechanism/gaussian_loss.h"

namespace snapdp {

using namespace numeric_internal;
using namespace framework_internal;

namespace {

Rational neighbor_distance(std::uint64_t distance) {
  if (distance == 0) {
    throw Error(ErrorCode::invalid_argument, "distance",
                "distance = 0: neighboring datasets are at least 1 apart; give the rows that one unit may "
                "contribute");
  }
  return Rational(Integer(static_cast<unsigned long>(distance)));
}

// The L1 sensitivity, of what differs between neighbors.
Rational positive_sensitivity(const Aggregation& aggregation, std::uint64_t distance) {
  Rational sensitivity = aggregation.sensitivity(neighbor_distance(distance));
  if (sensitivity == 0) {
    throw Error(
        ErrorCode::invalid_argument, "sensitivity",
        "sensitivity = 0: neighboring datasets give the same statistic, so it is a public constant; release "
        "the constant itself, without noise and without spending");
  }
  return sensitivity;
}

// Before the statistic is rounded to its grid: what mechanisms clamp to unless told otherwise.
std::optional<StatisticRange> unrounded_range(const StatisticDomain& statistic) {
  if (!statistic.range) return std::nullopt;
  return StatisticRange{statistic.range->lower().to_double_down(), statistic.range->upper().to_double_up()};
}

// The mechanism's own words are about its bounds; whoever chose them wrote a range.
[[noreturn]] void rethrow_about_range(const Error& error) {
  const bool bound = error.parameter() == "lower" || error.parameter() == "upper";
  throw Error(error.code(), bound ? "range" : error.parameter(),
              bound ? "range: its end " + std::string(error.what()) : error.what());
}

Mechanism clamped_mechanism(MechanismOptions mechanism, const RangeChoice& choice,
                            const std::optional<StatisticRange>& own) {
  try {
    const OutputRange range = resolve(choice, own, mechanism);
    mechanism.lower = range.lower;
    mechanism.upper = range.upper;
    return Mechanism(mechanism);
  } catch (const Error& error) {
    if (choice.kind() == RangeChoice::Kind::own) throw;
    rethrow_about_range(error);
  }
}

// In how many numbers two statistics at most `distance` > 0 apart can differ. Each that differs does so by a step of the
// grid at least.
std::size_t differing(const StatisticDomain& domain, const Rational& distance) {
  const Integer steps = floor(Rational(distance / domain.grid.spacing().rational()));
  const Integer dimension(static_cast<unsigned long>(domain.dimension));
  return std::clamp(steps, Integer(1), dimension).get_ui();
}

[[noreturn]] void refuse_price(const char* parameter, const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, parameter, std::string(parameter) + ": " + rule);
}

// Gaussian noise has a rho, or an epsilon with a delta; other noise has an epsilon alone.
void require_price(const NoiseOptions& options) {
  if (options.noise != NoiseKind::gaussian) {
    if (options.rho) refuse_price("rho", "is of Gaussian noise; give an epsilon");
    if (options.delta) refuse_price("delta", "is of Gaussian noise; give an epsilon alone");
    return;
  }
  if (options.rho && (options.delta || options.epsilon.value() != 0))
    refuse_price("rho", "stands for an epsilon and a delta; give one or the others");
  if (options.rho && *options.rho <= 0)
    refuse_price("rho", "= " + to_string(*options.rho) + " must be greater than 0");
  if (!options.rho && !options.delta)
    refuse_price("delta", "is missing: Gaussian noise has no pure epsilon; give a delta, or a rho alone");
}

// sqrt(value), to the next double.
double square_root_up(const Rational& value) {
  return certified::certify([&](auto zero) {
    using Real = decltype(zero);
    return round_up(sqrt(Real(value)), 0);
  });
}

double gaussian_scale_for(const Rational& squared_sensitivity, const NoiseOptions& options) {
  if (!options.rho) return gaussian_scale_up(squared_sensitivity, options.epsilon.value(), *options.delta);
  return square_root_up(Rational(squared_sensitivity / (2 * *options.rho)));
}

Mechanism mechanism_for(const Aggregation& aggregation, const NoiseOptions& options) {
  require_price(options);
  const Rational sensitivity = positive_sensitivity(aggregation, options.distance);
  const StatisticDomain& statistic = aggregation.output_domain();
  MechanismOptions mechanism{.epsilon = options.epsilon.value(),
                             .sensitivity = to_dyadic(sensitivity, "sensitivity"),
                             .grid = options.grid,
                             .integer = statistic.integer && options.noise != NoiseKind::notes,
                             .noise = options.noise,
                             .precision = options.precision,
                             .coordinates = differing(statistic, sensitivity)};
  if (options.noise == NoiseKind::gaussian) {
    const Rational squared = aggregation.squared_sensitivity(neighbor_distance(options.distance));
    mechanism.scale = gaussian_scale_for(squared, options);
    mechanism.sensitivity = Dyadic(square_root_up(squared));
  }
  // What is widened must hold the values that the noise is added to.
  const bool widened = options.range.kind() == RangeChoice::Kind::widened;
  return clamped_mechanism(mechanism, options.range,
                           widened ? public_range(statistic) : unrounded_range(statistic));
}

Relation privacy_for(const Aggregation& aggregation, const Mechanism& mechanism) {
  if (mechanism.kind() == NoiseKind::gaussian) {
    const auto rho = [aggregation, scale = Rational(mechanism.scale())](const Rational& d_in) {
      return gaussian_rho(aggregation.squared_sensitivity(d_in), scale);
    };
    return Relation([rho](const Rational& d_in, const Rational& loss) { return loss >= rho(d_in); }, rho);
  }
  // The noise is on values whose (absolute or L1) distance the stability relation bounds.
  const auto loss = [mechanism, domain = aggregation.output_domain()](const Rational& distance) {
    return distance == 0 ? Rational(0) : mechanism.loss_bound(distance, differing(domain, distance));
  };
  const Relation noise(
      [loss](const Rational& distance, const Rational& epsilon) { return epsilon >= loss(distance); }, loss);
  return Relation::chain(aggregation.stability(), noise);
}

// Of one number after the other, so that each step is monotone: proofs/make_top.md.
Choice choice_for(const Aggregation& aggregation, const TopOptions& options) {
  const std::size_t numbers = aggregation.output_domain().dimension;
  if (options.count > numbers) {
    throw Error(ErrorCode::invalid_argument, "count",
                "count = " + std::to_string(options.count) + ": must be at most " + std::to_string(numbers) +
                    ", the number of candidates");
  }
  return Choice({.epsilon = options.epsilon.value(),
                 .sensitivity = positive_sensitivity(aggregation, options.distance),
                 .monotone = true,
                 .count = options.count});
}

Relation privacy_for(const Aggregation& aggregation, const Choice& choice) {
  const auto loss = [scale = choice.scale()](const Rational& distance) { return Rational(distance / scale); };
  const Relation chosen(
      [loss](const Rational& distance, const Rational& epsilon) { return epsilon >= loss(distance); }, loss);
  return Relation::chain(aggregation.stability(), chosen);
}

[[noreturn]] void refuse_kind(bool is_choice) {
  throw Error(ErrorCode::mismatch, "measurement",
              is_choice ? "measurement: it is a choice, which adds no noise to a number; ask for choice()"
                        : "measurement: it adds noise to numbers and chooses none; ask for mechanism()");
}

}  // namespace

std::optional<StatisticRange> public_range(const StatisticDomain& statistic) {
  const FloatEnvironment environment;
  if (!statistic.range) return std::nullopt;
  const Rational step = statistic.grid.spacing().rational();
  const Integer first = floor(Rational(statistic.range->lower().rational() / step));
  const Integer last = ceil(Rational(statistic.range->upper().rational() / step));
  return StatisticRange{to_double_down(Rational(first) * step), to_double_up(Rational(last) * step)};
}

Measurement::Measurement(Aggregation aggregation, const NoiseOptions& options)
    : aggregation_(std::move(aggregation)),
      distance_(neighbor_distance(options.distance)),
      mechanism_(mechanism_for(aggregation_, options)),
      privacy_(privacy_for(aggregation_, mechanism())),
      price_(price_for(options)) {}

Measurement::Measurement(Aggregation aggregation, const TopOptions& options)
    : aggregation_(std::move(aggregation)),
      distance_(neighbor_distance(options.distance)),
      mechanism_(choice_for(aggregation_, options)),
      privacy_(privacy_for(aggregation_, choice())),
      price_(privacy_.holds(distance_, epsilon()) ? epsilon() : loss(distance_)) {}

PrivacyMeasure Measurement::measure() const {
  const bool gaussian = !is_choice() && mechanism().kind() == NoiseKind::gaussian;
  return gaussian ? PrivacyMeasure::zcdp : PrivacyMeasure::pure;
}

PrivacyLoss Measurement::price_for(const NoiseOptions& options) const {
  if (measure() == PrivacyMeasure::pure)
    return privacy_.holds(distance_, epsilon()) ? epsilon() : loss(distance_);
  const Rational proved = loss(distance_);
  if (options.rho) return PrivacyLoss::gaussian(std::max(*options.rho, proved));
  constexpr int digits = 20;
  return PrivacyLoss::gaussian(parse_exact(round_up_to_digits(proved, digits), "rho"),
                               {options.epsilon.value(), *options.delta});
}

const Mechanism& Measurement::mechanism() const {
  const auto* const mechanism = std::get_if<Mechanism>(&mechanism_);
  if (mechanism == nullptr) refuse_kind(true);
  return *mechanism;
}

const Choice& Measurement::choice() const {
  const auto* const choice = std::get_if<Choice>(&mechanism_);
  if (choice == nullptr) refuse_kind(false);
  return *choice;
}

const Rational& Measurement::epsilon() const {
  return is_choice() ? choice().epsilon() : mechanism().epsilon();
}

std::size_t Measurement::released_count() const {
  return is_choice() ? choice().count() : aggregation_.output_domain().dimension;
}

Accuracy Measurement::accuracy(const FailureRate& alpha) const {
  const FloatEnvironment environment;
  const StatisticDomain& statistic = aggregation_.output_domain();
  if (is_choice()) {
    // Gaps are multiples of the grid: beyond a there is none before the next one that is at least a.
    const Rational spacing = statistic.grid.spacing().rational();
    const Integer steps = ceil(Rational(Rational(choice().accuracy(statistic.dimension, alpha)) / spacing));
    const double gap = pinned(to_double_up(spacing * Rational(std::max(Integer(0), Integer(steps - 1)))));
    return {gap, gap, gap};
  }
  // An integer statistic is exact on its grid; any other was rounded to it, by at most half its spacing.
  if (statistic.integer) return accuracy_of({mechanism().noise(), alpha, 0, statistic.grid});
  return accuracy_of({mechanism().noise(), alpha, Rational(statistic.grid.spacing().rational() / 2)});
}

Release Measurement::release(const Chunk& rows, BudgetAccountant& accountant) const {
  return Composition(*this).release(rows, accountant);
}

void Measurement::check(const std::vector<Dyadic>& statistic) const {
  const std::string wrong = misfit(aggregation_.output_domain(), statistic);
  if (wrong.empty()) return;
  throw Error(ErrorCode::mismatch, "statistic",
              "statistic: it is not in the output domain, " + describe(Domain(aggregation_.output_domain())) +
                  ": " + wrong + "; nothing is released of it. Correct the aggregation, \"" +
                  aggregation_.description() + "\"");
}

std::vector<Dyadic> Measurement::draw(std::vector<Dyadic> statistic, const Paid& paid) const {
  if (const auto* const choice = std::get_if<Choice>(&mechanism_)) {
    std::vector<Rational> scores;
    scores.reserve(statistic.size());
    for (const Dyadic& value : statistic) scores.push_back(value.rational());
    std::vector<Dyadic> chosen;
    for (const std::size_t index : choice->choose(scores, paid.generator()))
      chosen.emplace_back(static_cast<std::int64_t>(index));
    return chosen;
  }
  for (Dyadic& value : statistic) value = mechanism().release(value, paid.generator());
  return statistic;
}

}  // namespace snapdp
