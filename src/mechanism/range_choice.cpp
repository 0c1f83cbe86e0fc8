#include <cmath>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/bounds.h"

namespace snapdp {

using namespace numeric_internal;

namespace {

[[noreturn]] void refuse(const std::string& rule) {
  throw Error(ErrorCode::invalid_argument, "range", "range" + rule);
}

std::string shown(const std::optional<double>& lower, const std::optional<double>& upper) {
  return "[" + (lower ? to_string(*lower) : "none") + ", " + (upper ? to_string(*upper) : "none") + "]";
}

std::optional<double> outward(const std::optional<Rational>& end, double (*round)(const Rational&)) {
  if (!end) return std::nullopt;
  const double rounded = round(*end);
  if (!std::isfinite(rounded)) {
    refuse(": the end " + to_string(*end) +
           " is beyond the largest double, 1.8e308; choose a nearer one, or none");
  }
  return rounded + 0.0;  // -0 becomes +0
}

OutputRange constants(const RangeChoice& choice, bool integer) {
  const auto down = [](const Rational& end) { return to_double_down(Rational(floor(end))); };
  const auto up = [](const Rational& end) { return to_double_up(Rational(ceil(end))); };
  if (integer) return {outward(choice.lower(), down), outward(choice.upper(), up)};
  return {outward(choice.lower(), to_double_down), outward(choice.upper(), to_double_up)};
}

OutputRange around(const StatisticRange& own, double half_width) {
  const Rational middle = (Rational(own.lower) + Rational(own.upper)) / 2;
  return {outward(Rational(middle - Rational(half_width)), to_double_down),
          outward(Rational(middle + Rational(half_width)), to_double_up)};
}

NotesBoundQuery notes_query(const FailureRate& gamma, const StatisticRange& own,
                            const MechanismOptions& options, long precision) {
  return {.sensitivity = options.sensitivity.rational(),
          .half_range = Rational((Rational(own.upper) - Rational(own.lower)) / 2),
          .gamma = gamma,
          .precision = precision};
}

OutputRange widened(const FailureRate& gamma, const StatisticRange& own, MechanismOptions options) {
  if (options.noise == NoiseKind::notes) {
    if (options.coordinates > 1)
      refuse(
          " with gamma: in precision mode it is for statistics of one number; give constants, or use mode = "
          "\"exact\"");
    const long precision =
        options.precision ? *options.precision : PrecisionSnapping::default_precision(options.epsilon);
    return around(own, notes_half_width(notes_query(gamma, own, options, precision), options.epsilon));
  }
  options.lower.reset();
  options.upper.reset();
  const Mechanism unclamped(options);
  const ChosenBounds chosen = minimal_bounds(unclamped.noise(), own, gamma);
  return {chosen.lower + 0.0, chosen.upper + 0.0};
}

}  // namespace

RangeChoice RangeChoice::fixed(std::optional<Rational> lower, std::optional<Rational> upper) {
  if (!lower && !upper) refuse(": neither end is given; for no clamps choose none");
  if (lower && upper && *lower > *upper) {
    refuse(" = [" + to_string(*lower) + ", " + to_string(*upper) +
           "]: the lower end must not be above the upper one; swap them");
  }
  if (lower && upper && *lower == *upper) {
    refuse(" = [" + to_string(*lower) + ", " + to_string(*upper) +
           "]: between equal ends every output is one public constant; widen the range");
  }
  RangeChoice choice;
  choice.kind_ = Kind::fixed;
  choice.lower_ = std::move(lower);
  choice.upper_ = std::move(upper);
  return choice;
}

RangeChoice RangeChoice::none() {
  RangeChoice choice;
  choice.kind_ = Kind::none;
  return choice;
}

RangeChoice RangeChoice::widened(FailureRate gamma) {
  RangeChoice choice;
  choice.kind_ = Kind::widened;
  choice.gamma_ = std::move(gamma);
  return choice;
}

std::string to_string(RangeChoice::Kind kind) {
  switch (kind) {
    case RangeChoice::Kind::fixed:
      return "declared";
    case RangeChoice::Kind::none:
      return "none";
    case RangeChoice::Kind::widened:
      return "gamma";
    case RangeChoice::Kind::own:
      break;
  }
  return "public";
}

OutputRange resolve(const RangeChoice& choice, const std::optional<StatisticRange>& own,
                    const MechanismOptions& options) {
  const FloatEnvironment environment;
  switch (choice.kind()) {
    case RangeChoice::Kind::none:
      return {};
    case RangeChoice::Kind::fixed: {
      OutputRange range = constants(choice, options.integer);
      const bool above = own && range.lower && *range.lower >= own->upper;
      const bool below = own && range.upper && *range.upper <= own->lower;
      if (above || below) {
        refuse(" = " + shown(range.lower, range.upper) + ": the statistic always lies in " +
               shown(own->lower, own->upper) +
               ", so that every value would be clamped to one end; choose a range that overlaps it");
      }
      return range;
    }
    case RangeChoice::Kind::widened:
      if (!own) {
        refuse(
            ": gamma widens the public range of a statistic, and this one has none: it depends on the "
            "private "
            "rows, and "
            "a range that did too would give them away; declare constants, range = [lower, upper], or "
            "\"none\"");
      }
      return widened(*choice.gamma(), *own, options);
    case RangeChoice::Kind::own:
      break;
  }
  if (!own) return {};
  return {own->lower, own->upper};
}

RangeChoice widened_for_accuracy(const FailureRate& gamma, const StatisticRange& own,
                                 const MechanismOptions& options, const Rational& accuracy,
                                 const FailureRate& alpha) {
  const FloatEnvironment environment;
  constexpr long enough = 118;  // a smaller epsilon takes more bits, for which the formula holds all the more
  const NotesBoundQuery query = notes_query(gamma, own, options, options.precision.value_or(enough));
  const OutputRange range = around(own, notes_half_width_for_accuracy(query, accuracy, alpha));
  return RangeChoice::fixed(Rational(*range.lower), Rational(*range.upper));
}

}  // namespace snapdp
