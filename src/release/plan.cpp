#include "snapdp/release/plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "numeric/shared/float_environment.h"
#include "release/differences.h"
#include "release/faults.h"
#include "release/kinds/cells.h"
#include "release/kinds/kind.h"
#include "release/shared/suggestion.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/gaussian_loss.h"
#include "snapdp/mechanism/law.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

// What is planned is a multiple of 2^-60.
Rational epsilon_unit() {
  constexpr unsigned places = 60;
  return Rational(Integer(1), Integer(1) << places);
}

Rational rounded_up(const Rational& epsilon) {
  return Rational(ceil(Rational(epsilon / epsilon_unit())) * epsilon_unit());
}

class StatisticPlanner {
 public:
  StatisticPlanner(const Specification& specification, const StatisticSpecification& statistic)
      : specification_(specification), statistic_(statistic), kind_(kind_of(statistic)) {
    planned_.specification = statistic;
    range_ = kind_.range(specification.data, statistic);
  }

  PlannedStatistic plan() && {
    planned_.of_population = specification_.data.population;
    planned_.public_rows = specification_.data.size;
    kind_.prepare(specification_.data, planned_);
    plan_row_grids();
    NumberRange range = kind_.public_range(statistic_.bounds, specification_.data.size, statistic_.order);
    planned_.least = std::move(range.lower);
    planned_.greatest = std::move(range.upper);
    if (specification_.is_constant(statistic_)) {
      planned_.constant = kind_.constant(specification_.data, planned_);
      planned_.accuracy = StatisticAccuracy{};
      return std::move(planned_);
    }
    planned_.groups = std::max(statistic_.key_numbers.size(), statistic_.key_texts.size());
    if (statistic_.split.empty()) {
      add(build(kind_.parts(specification_.data.neighbors, statistic_.columns.size()).front()));
    } else {
      add_parts();
    }
    check_differences(planned_);
    std::vector<Certificate> certificates;
    for (PlannedMeasurement& part : planned_.measurements) {
      planned_.loss += part.loss;
      planned_.cost = planned_.cost + PrivacyAmount(part.epsilon, part.delta);
      part.certificate = certificate_of(part);
      part.loss_bound = stated_bound(part);
      planned_.loss_bound += part.loss_bound;
      certificates.push_back(part.certificate);
    }
    planned_.certificate = compose_certificates(certificates);
    if (!statistic_.guesses.empty()) {
      planned_.expected_bias = expected_bias(planned_.measurements.front().measurement.mechanism().noise(),
                                             statistic_.guesses, statistic_.guess_weights);
    }
    return std::move(planned_);
  }

 private:
  // Of the mechanism that will run, in the run's measure.
  Certificate certificate_of(const PlannedMeasurement& part) const {
    if (is_gaussian()) return certificate_of_gaussian(part);
    const Measurement& measurement = part.measurement;
    Certificate certificate = measurement.is_choice() ? certify(measurement.choice(), planned_.bins.size())
                                                      : certify(measurement.mechanism(), {.pairs = 1'000});
    if (measure() != PrivacyMeasure::zcdp) return certificate;
    return {.witness = 0, .bound = pure_to_zcdp(certificate.bound)};
  }

  // rho is exactly what the noise has before it is rounded to the grid. Nothing is claimed of what rounding hides.
  Certificate certificate_of_gaussian(const PlannedMeasurement& part) const {
    const Rational rho = part.measurement.loss(distance());
    if (measure() == PrivacyMeasure::zcdp) return {.witness = 0, .bound = rho};
    const PrivacyAmount& asked = *part.loss.gaussian_cost;
    const bool kept = gaussian_delta(rho, asked.value).upper <= asked.delta;
    return {.witness = 0, .bound = kept ? asked.value : gaussian_epsilon(rho, asked.delta).upper};
  }

  // In precision mode the notes' claim may be lower than what is proved.
  Rational stated_bound(const PlannedMeasurement& part) const {
    if (is_gaussian()) return part.certificate.bound;
    const Measurement& measurement = part.measurement;
    const Rational stated =
        measurement.is_choice() ? measurement.choice().epsilon() : measurement.mechanism().stated_loss();
    return measure() == PrivacyMeasure::zcdp ? pure_to_zcdp(stated) : stated;
  }

  // No measurement of the run has more, or its Gaussian noise a sensitivity that is larger against its scale: as
  // epsilon tanh(epsilon / 2) <= rho, and likewise sqrt(2 rho), is at most 2 rho + 2.
  Rational largest_epsilon() const {
    const Rational& most = specification_.budget.amount.value;
    return measure() == PrivacyMeasure::pure ? most : Rational(2 * most + 2);
  }

  PrivacyMeasure measure() const { return specification_.budget.measure; }
  bool is_gaussian() const { return statistic_.noise == NoiseKind::gaussian; }

  struct Part {
    std::string name;
    std::vector<std::string> columns;
    std::vector<Dyadic> centers;
    Aggregation aggregation;
  };

  Part build(const KindPart& part) const {
    const StatisticRows rows = StatisticRows(specification_.data, planned_).ordered(part.order);
    Part built{part.name, statistic_.columns, {}, aggregate(part.aggregation(rows))};
    for (std::size_t i = 0; i < part.order.size(); ++i) built.columns[i] = statistic_.columns[part.order[i]];
    if (statistic_.group_by) built.columns.insert(built.columns.begin(), *statistic_.group_by);
    for (const std::size_t column : part.centers) built.centers.push_back(planned_.bounds[column].middle());
    return built;
  }

  // So fine that moving all cells by half a spacing moves no sum of them, or of their products, by more than 2^-10 of its
  // noise: a sum of k-th powers moves by at most rows * k (w/2)^(k-1) spacing / 2 for bounds w apart, and has noise of
  // scale (w/2)^k / epsilon or more, epsilon being at most the budget. Finer than that as long as powers of cells on it
  // have 62 bits; never so fine that the bounds are more than 2^51 spacings from 0.
  Grid automatic_row_grid(const Bounds& bounds) const {
    constexpr std::uint64_t most_rows = std::uint64_t{1} << 40;
    constexpr long least_bits = 22;
    constexpr long product_bits = 62;
    constexpr long most_from_zero = 51;
    const long power = kind_.is_second_moment() ? 2 : statistic_.order;
    const std::uint64_t rows =
        specification_.data.size.value_or(specification_.data.expected_size.value_or(most_rows));
    const Rational scales = Rational(Integer(static_cast<unsigned long>(rows))) * power * largest_epsilon();
    const long needed = 10 + Grid::at_least(scales).exponent();
    const long bits = std::max(needed, std::min(least_bits, product_bits / power));
    const long fine = Grid::at_most(bounds.width().rational()).exponent() - bits;
    const Dyadic farthest = std::max(abs(bounds.lower()), abs(bounds.upper()));
    return Grid(std::max(fine, Grid::at_least(farthest.rational()).exponent() - most_from_zero));
  }

  void plan_row_grids() {
    if (statistic_.row_grid.kind == RowGridChoice::Kind::none || specification_.is_constant(statistic_))
      return;
    for (const Bounds& bounds : planned_.bounds) {
      planned_.row_grids.push_back(statistic_.row_grid.kind == RowGridChoice::Kind::fixed
                                       ? statistic_.row_grid.grid
                                       : automatic_row_grid(bounds));
    }
  }

  // A statistic of the rows as they come: anything may occur. A count takes no column, and so any. With groups, one
  // statistic for each.
  Aggregation aggregate(const Partial<Aggregation>& statistic) const {
    const Metric metric = metric_of(specification_.data.neighbors);
    std::vector<AtomType> types(statistic_.columns.size(), statistic_.type.value_or(AtomType::real));
    if (!statistic_.group_by) {
      const VectorDomain domain = untrusted_domain(types);
      return statistic(specification_.data.size ? domain.of_size(*specification_.data.size) : domain, metric);
    }
    types.insert(types.begin(), statistic_.key_type);
    return make_grouped(untrusted_domain(types), metric, keys(), statistic);
  }

  Bins keys() const {
    // Of private keys any one key stands for all.
    if (statistic_.key_texts.empty() && statistic_.key_numbers.empty())
      return statistic_.key_type == AtomType::text ? Bins::texts({"-"}) : Bins::numbers({Dyadic(0)});
    if (!statistic_.key_texts.empty()) return Bins::texts(statistic_.key_texts);
    return Bins::numbers(cell_values(statistic_.key_numbers, statistic_.key_type, "keys"));
  }

  // What is released itself.
  void add(const Part& part) {
    fix_range(part.aggregation);
    planned_.asked = asked() ? *asked() : epsilon_for(part.aggregation);
    add_part(part, planned_.asked, statistic_.delta, statistic_.alpha);
    const PlannedMeasurement& only = planned_.measurements.back();
    planned_.accuracy = StatisticAccuracy{only.accuracy.conservative, only.accuracy.tight,
                                          only.accuracy.laplace, std::nullopt};
    if (!planned_.bins.empty() || planned_.groups > 0) planned_.accuracy->simultaneous = only.simultaneous;
    kind_.conclude(planned_);
  }

  // What was asked for itself: an epsilon, or a rho.
  std::optional<Rational> asked() const { return statistic_.rho ? statistic_.rho : statistic_.epsilon; }

  void add_part(const Part& part, const Rational& epsilon, const std::optional<Rational>& delta,
                const Rational& alpha) {
    Measurement measurement = measurement_of(part.aggregation, epsilon, delta);
    PrivacyLoss loss = is_gaussian() ? measurement.price() : PrivacyLoss(epsilon);
    const PrivacyAmount cost = loss.in(measure());
    const Accuracy accuracy = measurement.accuracy(alpha);
    const std::size_t numbers = part.aggregation.output_domain().dimension;
    const Rational share = alpha / Rational(Integer(static_cast<unsigned long>(numbers)));
    const bool of_each = numbers > 1 && !measurement.is_choice();
    const double simultaneous = of_each ? measurement.accuracy(share).tight : accuracy.tight;
    planned_.measurements.push_back({part.name,
                                     part.columns,
                                     part.centers,
                                     std::move(measurement),
                                     std::move(loss),
                                     cost.value,
                                     cost.delta,
                                     0,
                                     accuracy,
                                     simultaneous,
                                     {}});
  }

  // Of Gaussian noise without a delta, `epsilon` is its rho.
  Measurement measurement_of(const Aggregation& aggregation, const Rational& epsilon,
                             const std::optional<Rational>& delta = std::nullopt) const {
    if (kind_.is_choice()) {
      return aggregation >> make_top({.epsilon = epsilon,
                                      .count = statistic_.top_count,
                                      .distance = specification_.rows_apart(statistic_)});
    }
    const bool by_rho = is_gaussian() && !delta;
    return aggregation >> make_snapping({.epsilon = by_rho ? Rational(0) : epsilon,
                                         .delta = delta,
                                         .rho = by_rho ? std::optional<Rational>(epsilon) : std::nullopt,
                                         .grid = statistic_.grid,
                                         .noise = statistic_.noise,
                                         .precision = statistic_.precision,
                                         .distance = specification_.rows_apart(statistic_),
                                         .range = range_});
  }

  // How many rows neighbors are apart.
  Rational distance() const {
    return Rational(Integer(static_cast<unsigned long>(specification_.rows_apart(statistic_))));
  }

  // Precision mode wants its range before its noise, and so before the epsilon that is searched for.
  void fix_range(const Aggregation& aggregation) {
    const std::optional<StatisticRange> own = public_range(aggregation.output_domain());
    const bool widened = statistic_.range.kind() == RangeChoice::Kind::widened && own;
    if (!widened || statistic_.noise != NoiseKind::notes || !statistic_.accuracy) return;
    const MechanismOptions options{
        .sensitivity = to_dyadic(aggregation.sensitivity(distance()), "sensitivity"),
        .noise = statistic_.noise,
        .precision = statistic_.precision};
    range_ = widened_for_accuracy(*statistic_.range.gamma(), *own, options, *statistic_.accuracy,
                                  statistic_.alpha);
  }

  // The width of the range that values and outputs are clamped to, where it does not depend on epsilon; of a widened
  // one that of the public range: to be no nearer than that takes no release.
  std::optional<double> known_width(const StatisticDomain& domain) const {
    if (statistic_.range.kind() == RangeChoice::Kind::fixed) {
      const OutputRange range = resolve(statistic_.range, std::nullopt, {.integer = domain.integer});
      if (!range.lower || !range.upper) return std::nullopt;
      return to_double_up(Rational(Rational(*range.upper) - Rational(*range.lower)));
    }
    if (statistic_.range.kind() == RangeChoice::Kind::none || !domain.range) return std::nullopt;
    return domain.range->width().to_double_up();
  }

  // What least_epsilon() should try besides, in precision mode. Nothing for real statistics.
  std::optional<Rational> last_epsilon_on_integers(const Aggregation& aggregation) const {
    if (!aggregation.output_domain().integer) return std::nullopt;
    const Rational sensitivity = aggregation.sensitivity(distance());
    try {
      const Measurement measurement = measurement_of(aggregation, 2 * sensitivity);
      return last_epsilon_on_grid(sensitivity, *measurement.mechanism().lower(),
                                  *measurement.mechanism().upper(), aggregation.output_domain().grid);
    } catch (const Error&) {
      return std::nullopt;  // nor is there a mechanism where the grid is so fine
    }
  }

  // The least epsilon, to a thousandth and rounded up, with which what is read off the noisy numbers is as accurate as
  // the specification asks. An evaluation may take milliseconds, and the accuracy is about proportional to 1 / epsilon.
  Rational epsilon_for_reading(const Aggregation& aggregation) const {
    const double target = to_double_down(kind_.accuracy_asked(specification_.data, statistic_));
    const auto accuracy = [&](const Rational& epsilon) {
      try {
        return *kind_.accuracy_of_noise(planned_, measurement_of(aggregation, epsilon).mechanism().noise());
      } catch (const Error&) {  // in precision mode, where the noise would exceed the bounds
        return std::numeric_limits<double>::infinity();
      }
    };
    const double at_one = accuracy(1);
    Rational enough =
        std::isfinite(at_one) && target > 0 ? rounded_up(Rational(at_one) / Rational(target)) : 1;
    constexpr int most_doublings = 60;
    for (int i = 0; !(accuracy(enough) <= target); ++i) {
      if (i == most_doublings) refuse_unreachable();
      enough *= 2;
    }
    Rational too_little = enough / 2;
    for (; too_little < enough && accuracy(too_little) <= target;
         too_little = rounded_up(Rational(enough / 2)))
      enough = too_little;
    constexpr int halvings = 10;
    for (int i = 0; i < halvings; ++i) {
      const Rational middle = rounded_up(Rational((enough + too_little) / 2));
      (accuracy(middle) <= target ? enough : too_little) = middle;
    }
    return enough;
  }

  // The least rho, or the epsilon that it is at the delta asked for.
  Rational gaussian_price_for(const Aggregation& aggregation) const {
    if (kind_.has_key("resolution")) return as_asked(epsilon_for_reading(aggregation));
    const auto reaches = [&](const Rational& rho) {
      return measurement_of(aggregation, rho).accuracy(statistic_.alpha).tight <= *statistic_.accuracy;
    };
    return as_asked(searched_epsilon(reaches));
  }

  // A rho that was searched for, in what the specification counts.
  Rational as_asked(const Rational& rho) const {
    return statistic_.delta ? rounded_up(gaussian_epsilon(rho, *statistic_.delta).upper) : rho;
  }

  // The least epsilon with which the aggregation is as accurate as the specification asks.
  Rational epsilon_for(const Aggregation& aggregation) const {
    if (is_gaussian()) return gaussian_price_for(aggregation);
    if (kind_.has_key("resolution")) return epsilon_for_reading(aggregation);
    if (statistic_.noise == NoiseKind::notes) {
      // The noise and the grid follow from epsilon by the arithmetic of the mode, so epsilon is searched for. Where
      // the mode refuses an epsilon, because the noise would exceed the bounds, it is too little.
      const auto reaches = [&](const Rational& epsilon) {
        return measurement_of(aggregation, epsilon).accuracy(statistic_.alpha).tight <= *statistic_.accuracy;
      };
      return searched_epsilon(reaches, last_epsilon_on_integers(aggregation));
    }
    const StatisticDomain& domain = aggregation.output_domain();
    EpsilonQuery query{.sensitivity = aggregation.sensitivity(distance()),
                       .accuracy = *statistic_.accuracy,
                       .alpha = statistic_.alpha};
    query.grid = statistic_.grid;
    query.integer = domain.integer;
    query.noise = statistic_.noise;
    if (!domain.integer) query.rounding_error = domain.grid.spacing().rational() / 2;
    query.range = known_width(domain);
    return epsilon_for_accuracy(query);
  }

  // The largest variance and covariance that two rows can have, which bound what is computed from noisy parts.
  void check_composed_range() const {
    for (std::size_t i = 0; i < planned_.bounds.size() * planned_.bounds.size(); ++i) {
      const Bounds& a = planned_.bounds[i / planned_.bounds.size()];
      const Bounds& b = planned_.bounds[i % planned_.bounds.size()];
      const Rational largest = a.width().rational() * b.width().rational() / 2;
      if (std::isfinite(to_double_up(largest))) continue;
      refuse("bounds", " = [" + to_string(b.lower().to_double_nearest()) + ", " +
                           to_string(b.upper().to_double_nearest()) +
                           "]: variances and covariances of such numbers may be beyond the largest double, "
                           "1.8e308; declare tighter bounds, or another unit");
    }
  }

  void add_parts() {
    if (kind_.is_second_moment()) check_composed_range();
    std::vector<Part> parts;
    for (const KindPart& part : kind_.parts(specification_.data.neighbors, statistic_.columns.size()))
      parts.push_back(build(part));
    if (asked()) {
      plan_parts(parts, *asked(), statistic_.delta);
      return;
    }
    plan_parts(parts, 1);
    if (!planned_.accuracy) refuse_accuracy();
    // How far off any guess in the public range may be: the parts say nothing at all.
    const std::optional<double> nothing_known =
        composed_accuracy([](const PlannedMeasurement&) { return std::numeric_limits<double>::infinity(); });
    const Rational guess(nothing_known.value_or(2));  // of correlations
    if (*statistic_.accuracy >= guess) {
      refuse("accuracy", " = " + to_string(*statistic_.accuracy) +
                             ": is not below the width of the public range, " + to_string(guess) +
                             "; any guess is that accurate");
    }
    const auto reaches = [&](const Rational& epsilon) {
      plan_parts(parts, epsilon);
      return planned_.accuracy->tight <= *statistic_.accuracy;
    };
    const Rational enough = searched_epsilon(reaches);
    if (is_gaussian() && statistic_.delta) {
      // Parts of an epsilon and a delta are not those of their rho, but the price falls with the noise alike.
      const auto reaches_at_delta = [&](const Rational& epsilon) {
        plan_parts(parts, epsilon, statistic_.delta);
        return planned_.accuracy->tight <= *statistic_.accuracy;
      };
      reaches_at_delta(searched_epsilon(reaches_at_delta));
      return;
    }
    reaches(enough);
  }

  [[noreturn]] void refuse_accuracy() const {
    const std::string given = " = " + to_string(*statistic_.accuracy) + ": ";
    const std::string kind = kind_.name();
    if (const std::string why = kind_.no_planned_accuracy(); !why.empty()) refuse("accuracy", given + why);
    if (statistic_.group_by) {
      refuse("accuracy",
             given + "how far the " + kind +
                 " of a group may be off depends on the number of its rows, which is not public; guess it, "
                 "expected_group_size = 100, or give epsilon or weight instead");
    }
    refuse("accuracy",
           given + "how far a " + kind +
               " under add-remove may be off depends on the number of rows; add expected_size under "
               "[data], or give epsilon instead");
  }

  // The least epsilon that reaches the accuracy asked for.
  Rational searched_epsilon(const std::function<bool(const Rational&)>& reaches,
                            const std::optional<Rational>& also = std::nullopt) const {
    const std::optional<Rational> epsilon = least_epsilon(reaches, also);
    if (epsilon) return *epsilon;
    refuse_unreachable();
  }

  [[noreturn]] void refuse_unreachable() const {
    refuse("accuracy", " = " + to_string(*statistic_.accuracy) +
                           ": no epsilon reaches it with this grid and mode; ask for less, or use mode = "
                           "\"exact\" and grid = \"auto\"");
  }

  // The parts share epsilon by the split, and alpha equally.
  void plan_parts(const std::vector<Part>& parts, const Rational& epsilon,
                  const std::optional<Rational>& delta = std::nullopt) {
    planned_.asked = epsilon;
    planned_.measurements.clear();
    const Rational weights = std::accumulate(statistic_.split.begin(), statistic_.split.end(), Rational(0));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Rational share = statistic_.split[i] / weights;
      add_part(parts[i], Rational(epsilon * share),
               delta ? std::optional<Rational>(*delta * share) : std::nullopt, part_alpha(statistic_));
    }
    planned_.accuracy.reset();
    if (is_guessed()) {
      planned_.accuracy = expected_accuracy();
      if (planned_.accuracy) planned_.expected_rows = rows();
      return;
    }
    const std::optional<std::uint64_t> size = rows();
    if (!size) return;
    NoisyParts noisy;
    for (const PlannedMeasurement& part : planned_.measurements)
      noisy[part.part] = noisy_part(part, Dyadic(0));
    const std::optional<double> tight =
        kind_.planned_joint_accuracy(noisy, planned_.bounds, *size, statistic_.alpha);
    if (!tight) return;
    const auto accuracy = [&](double Accuracy::*which) {
      return composed_accuracy([which](const PlannedMeasurement& part) { return part.accuracy.*which; });
    };
    planned_.accuracy = StatisticAccuracy{std::max(*tight, *accuracy(&Accuracy::conservative)), *tight,
                                          *accuracy(&Accuracy::laplace), std::nullopt};
  }

  // How many rows the statistic has, as far as that is public or guessed.
  std::optional<std::uint64_t> rows() const {
    if (statistic_.group_by) return statistic_.expected_group_size;
    return specification_.data.size ? specification_.data.size : specification_.data.expected_size;
  }

  bool is_guessed() const {
    return !statistic_.expected_means.empty() || !statistic_.expected_deviations.empty();
  }

  // What a report would say of rows as they are guessed, if no noise were drawn; of two columns for the worst of
  // several correlations.
  std::optional<StatisticAccuracy> expected_accuracy() const {
    const std::optional<std::uint64_t> size = rows();
    if (!size || (kind_.is_second_moment() && *size < 2)) return std::nullopt;
    ExpectedRows expected{
        Rational(Integer(static_cast<unsigned long>(*size))), {}, statistic_.expected_deviations};
    for (std::size_t i = 0; i < planned_.bounds.size(); ++i) {
      const bool known = !statistic_.expected_means.empty();
      expected.means.push_back(
          known ? Rational(statistic_.expected_means[i] - planned_.bounds[i].middle().rational())
                : Rational(0));
    }
    StatisticAccuracy worst;
    for (const Rational& correlation : kind_.has_two_columns()
                                           ? std::vector<Rational>{-1, Rational(-1, 2), 0, Rational(1, 2), 1}
                                           : std::vector<Rational>{0}) {
      NoisyParts noisy;
      for (const PlannedMeasurement& part : planned_.measurements)
        noisy[part.part] = noisy_part(part, expected_part(part.part, expected, correlation));
      const auto composed = [&](double Accuracy::*which) {
        ReleasedParts parts;
        for (const PlannedMeasurement& part : planned_.measurements)
          parts[part.part] = {noisy[part.part].value, part.accuracy.*which};
        return kind_.compose(parts, planned_.bounds).accuracy;
      };
      const double tight = kind_.joint_accuracy(noisy, planned_.bounds, statistic_.alpha);
      worst.tight = std::max(worst.tight, tight);
      worst.conservative = std::max({worst.conservative, tight, composed(&Accuracy::conservative)});
      worst.laplace = std::max(worst.laplace, composed(&Accuracy::laplace));
    }
    return worst;
  }

  // What is known beforehand of the value that is computed from the parts: nothing without a size.
  std::optional<double> composed_accuracy(
      const std::function<double(const PlannedMeasurement&)>& accuracy) const {
    const std::optional<std::uint64_t> size = rows();
    if (!size) return std::nullopt;
    PartAccuracies parts;
    for (const PlannedMeasurement& part : planned_.measurements) parts[part.part] = accuracy(part);
    return kind_.planned_accuracy(parts, planned_.bounds, *size);
  }

  const Specification& specification_;
  const StatisticSpecification& statistic_;
  const Kind& kind_;
  RangeChoice range_;  // as the specification has it, or the constants that follow from it
  PlannedStatistic planned_;
};

// Plans a statistic anew with one thing changed.
class SavingFinder {
 public:
  SavingFinder(const Specification& specification, const PlannedStatistic& planned)
      : specification_(specification), planned_(planned), now_(planned.specification) {}

  std::optional<Saving> exact_mode() const {
    if (now_.noise != NoiseKind::notes) return std::nullopt;
    StatisticSpecification changed = now_;
    changed.noise = NoiseKind::exact;
    changed.precision.reset();
    return if_worth(saving(changed, "mode = \"exact\""));
  }

  std::optional<Saving> fine_grid() const {
    if (now_.noise != NoiseKind::exact || now_.grid.is_automatic()) return std::nullopt;
    StatisticSpecification changed = now_;
    changed.grid = GridChoice::automatic();
    return if_worth(saving(changed, "grid = \"auto\""));
  }

  std::optional<Saving> geometric_noise() const {
    const PlannedMeasurement& part = planned_.measurements.front();
    if (now_.noise != NoiseKind::exact || !part.measurement.aggregation().output_domain().integer) {
      return std::nullopt;
    }
    StatisticSpecification changed = now_;
    changed.noise = NoiseKind::geometric;
    changed.grid = GridChoice::automatic();
    std::optional<Saving> saving = this->saving(changed, "noise = \"geometric\"");
    if (!saving) return std::nullopt;
    const Mechanism& mechanism = part.measurement.mechanism();
    if (now_.epsilon) {
      saving->exact_now = OutputLaw({.scale = mechanism.scale(), .grid = mechanism.grid()}, 0).probability(0);
      saving->exact = OutputLaw({.scale = mechanism.scale(), .kind = NoiseKind::geometric}, 0).probability(0);
      constexpr double often = 1.05;
      if (saving->accuracy < planned_.accuracy->tight * worth || *saving->exact > often * *saving->exact_now)
        return saving;
      return std::nullopt;
    }
    return if_worth(saving);
  }

  // In twentieths.
  std::optional<Saving> best_split() const {
    if (planned_.measurements.size() != 2) return std::nullopt;  // a mean
    constexpr int parts = 20;
    StatisticSpecification best = now_;
    double least = planned_.accuracy->tight;
    for (int i = 1; i < parts; ++i) {
      StatisticSpecification changed = now_;
      const int divisor = std::gcd(i, parts);
      changed.split = {Rational(i / divisor), Rational((parts - i) / divisor)};
      changed.accuracy.reset();
      (now_.rho || (now_.noise == NoiseKind::gaussian && !now_.delta) ? changed.rho : changed.epsilon) =
          planned_.asked;
      const std::optional<Saving> found = saving(changed, "");
      if (!found || found->accuracy >= least) continue;
      least = found->accuracy;
      best.split = changed.split;
    }
    return if_worth(
        saving(best, "split = [" + to_string(best.split[0]) + ", " + to_string(best.split[1]) + "]"));
  }

 private:
  static constexpr double worth = 0.99;

  // Nothing when the change is refused.
  std::optional<Saving> saving(const StatisticSpecification& changed, const std::string& change) const {
    try {
      const PlannedStatistic other = StatisticPlanner(specification_, changed).plan();
      if (!other.accuracy) return std::nullopt;
      return Saving{now_.name, change, other.accuracy->tight, other.cost.value, std::nullopt, std::nullopt};
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::optional<Saving> if_worth(std::optional<Saving> saving) const {
    if (!saving) return saving;
    const bool enough = !now_.accuracy ? saving->accuracy < planned_.accuracy->tight * worth
                                       : saving->epsilon < planned_.cost.value * Rational(worth);
    return enough ? saving : std::nullopt;
  }

  const Specification& specification_;
  const PlannedStatistic& planned_;
  const StatisticSpecification& now_;
};

}  // namespace

namespace {

// Shares of `left` by weight, each rounded down to a multiple of 2^-60, so that their sum does not exceed it.
Rational share_of(const Rational& left, const Rational& weight, const Rational& weights) {
  return Rational(Rational(floor(Rational(left * weight / weights / epsilon_unit()))) * epsilon_unit());
}

// The largest epsilon, a multiple of 2^-60, that costs at most this rho.
Rational epsilon_within(const Rational& rho) {
  Integer low = 1;  // 2^-120 / 2, far below one unit of rho
  Integer high = ceil(Rational((2 * rho + 2) / epsilon_unit()));
  while (high - low > 1) {
    const Integer middle = (low + high) / 2;
    (pure_to_zcdp(Rational(middle * epsilon_unit())) <= rho ? low : high) = middle;
  }
  return Rational(low * epsilon_unit());
}

// What is chosen, as the library takes it.
PrivateKeys private_keys_of(const KeysSpecification& asked) {
  return {{asked.column, asked.type}, asked.epsilon,   asked.delta,
          asked.max_groups,           asked.min_units, asked.most};
}

PlannedKeys planned_keys(const Specification& specification, const RowSelection& selection,
                         const KeysSpecification& keys) {
  PlannedKeys planned;
  planned.specification = keys;
  planned.loss = PrivacyLoss::approximate(keys.epsilon, keys.delta);
  for (const StatisticSpecification& statistic : specification.statistics) {
    if (statistic.private_keys && statistic.group_by == keys.column)
      planned.statistics.push_back(statistic.name);
  }
  planned.cost = planned.loss.in(specification.budget.measure);
  const SelectionLaw law = law_of(private_keys_of(keys), selection);
  const Integer hidden = Integer(static_cast<unsigned long>(keys.min_units)) - 1;
  planned.certain = law.first_certain() + hidden;
  Integer too_few = 0;
  Integer likely = law.first_certain();
  while (likely - too_few > 1) {
    const Integer middle = (likely + too_few) / 2;
    (law.probability(middle).low >= Rational(1, 2) ? likely : too_few) = middle;
  }
  planned.likely = likely + hidden;
  return planned;
}

}  // namespace

Plan::Plan(Specification specification) : specification_(std::move(specification)) {
  const FloatEnvironment environment;
  if (specification_.data.where)
    selection_.where = specification_.data.where->bind(specification_.data.types());
  if (specification_.data.privacy_unit)
    selection_.unit =
        RowSelection::UnitLimit{*specification_.data.privacy_unit, specification_.data.max_rows_per_unit};
  for (const KeysSpecification& keys : specification_.private_keys) {
    private_keys_.push_back(planned_keys(specification_, selection_, keys));
    cost_ = cost_ + private_keys_.back().cost;
  }
  // Those with a weight share what the others leave.
  Rational weights = 0;
  Rational gaussian_weights = 0;
  std::vector<std::optional<PlannedStatistic>> planned;
  Faults faults;
  const auto plan = [&](const StatisticSpecification& statistic) {
    std::optional<PlannedStatistic> result;
    faults.hold([&] {
      try {
        result = StatisticPlanner(specification_, statistic).plan();
        cost_ = cost_ + result->cost;
      } catch (const Error& error) {
        throw Error(error.code(), error.parameter(), specification_.place(statistic) + error.what());
      }
    });
    return result;
  };
  for (const StatisticSpecification& statistic : specification_.statistics) {
    planned.emplace_back();
    if (statistic.weight && !specification_.is_constant(statistic)) {
      weights += *statistic.weight;
      if (statistic.noise == NoiseKind::gaussian) gaussian_weights += *statistic.weight;
    } else {
      planned.back() = plan(statistic);
    }
  }
  faults.refuse_any();
  const PrivacyAmount left = specification_.budget.remaining(cost_);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    StatisticSpecification statistic = specification_.statistics[i];
    if (!planned[i]) {
      const Rational share = left.value > 0 ? share_of(left.value, *statistic.weight, weights) : Rational(0);
      const bool gaussian = statistic.noise == NoiseKind::gaussian;
      const bool zcdp = specification_.budget.measure == PrivacyMeasure::zcdp;
      if (share == 0 || (gaussian && !zcdp && left.delta <= 0)) {
        unpaid_.push_back(statistic.name);
        continue;
      }
      if (gaussian && zcdp) {
        statistic.rho = share;
      } else {
        statistic.epsilon = zcdp ? epsilon_within(share) : share;
        // Of the delta, Gaussian statistics alone have a share.
        if (gaussian) statistic.delta = Rational(left.delta * *statistic.weight / gaussian_weights);
      }
      planned[i] = plan(statistic);
      faults.refuse_any();
    }
    statistics_.push_back(*std::move(planned[i]));
  }
}

void Plan::require_affordable() const {
  const PrivacyBudget& budget = specification_.budget;
  const std::string unit = unit_of(budget.measure);
  if (const std::string over = budget.exceeded_by(cost_); !over.empty()) {
    const bool delta = over == "delta";
    throw Error(ErrorCode::budget_refused, "budget." + over,
                specification_.name + ": the statistics cost " + over + " " +
                    short_number(delta ? cost_.delta : cost_.value) +
                    " together, but [budget] allows this run " +
                    short_number_down(delta ? budget.limit().delta : budget.amount.value) +
                    "; ask for less or raise budget." + over);
  }
  if (unpaid_.empty()) return;
  const auto unpaid = std::find_if(
      specification_.statistics.begin(), specification_.statistics.end(),
      [&](const StatisticSpecification& statistic) { return statistic.name == unpaid_.front(); });
  throw Error(ErrorCode::budget_refused, "weight",
              specification_.place(*unpaid) + "weight = " + to_string(*unpaid->weight) +
                  ": the statistics with " + (unit == "rho" ? "a rho" : "an epsilon") +
                  " or accuracy leave nothing of budget." + unit + " = " +
                  short_number_down(budget.amount.value) + " to share; ask for less or raise budget." + unit);
}

Certificate Plan::certificate() const {
  std::vector<Certificate> certificates;
  for (const PlannedStatistic& statistic : statistics_) certificates.push_back(statistic.certificate);
  // Of choosing keys the claimed loss, and of what was left out afterwards.
  for (const PlannedKeys& keys : private_keys_) {
    certificates.push_back({.witness = 0, .bound = keys.cost.value});
    if (keys.shown && keys.shown->left_out.value > 0)
      certificates.push_back({.witness = 0, .bound = keys.shown->left_out.value});
  }
  return compose_certificates(certificates);
}

namespace {

std::optional<FoldRequest::GroupLimit> group_limit_of(const StatisticSpecification& asked) {
  if (!asked.groups_per_unit) return std::nullopt;
  return FoldRequest::GroupLimit{*asked.group_by, asked.groups_per_unit->max_groups,
                                 asked.groups_per_unit->max_rows};
}

}  // namespace

namespace {

void require_public_keys(const Plan& plan) {
  if (plan.private_keys().empty()) return;
  throw Error(
      ErrorCode::mismatch, "keys",
      plan.specification().name + ": [keys." + plan.private_keys().front().specification.column +
          "]: which keys there are is asked where the rows are, right before the release; release from "
          "a file, an Arrow stream or a connected database, or list the keys");
}

}  // namespace

Composition Plan::composition() const {
  require_public_keys(*this);
  std::vector<TablePart> parts;
  for (const PlannedStatistic& statistic : statistics_) {
    for (const PlannedMeasurement& planned : statistic.measurements)
      parts.push_back({planned.columns, planned.measurement, group_limit_of(statistic.specification)});
  }
  return make_on_table(selection_, std::move(parts));
}

PrivateGroups Plan::private_groups() const {
  std::vector<PrivateKeys> keys;
  for (const PlannedKeys& planned : private_keys_) keys.push_back(private_keys_of(planned.specification));
  const auto parts_of = [this](const std::vector<KeyValues>& values) {
    std::vector<GroupsPart> parts;
    const Plan plan = with_keys(values);
    for (const PlannedStatistic& statistic : plan.statistics()) {
      const StatisticSpecification& asked = statistic.specification;
      std::optional<std::size_t> by;
      for (std::size_t i = 0; i < private_keys_.size(); ++i) {
        if (asked.private_keys && asked.group_by == private_keys_[i].specification.column) by = i;
      }
      for (const PlannedMeasurement& planned : statistic.measurements)
        parts.push_back({{planned.columns, planned.measurement, group_limit_of(asked)}, by});
    }
    return parts;
  };
  return PrivateGroups(selection_, std::move(keys), parts_of);
}

Plan Plan::with_keys(const std::vector<KeyValues>& keys, const std::vector<bool>& cut) const {
  Specification specification = specification_;
  specification.statistics.clear();
  for (const PlannedStatistic& planned : statistics_) {
    StatisticSpecification statistic = planned.specification;
    if (statistic.private_keys) {
      const auto which = std::find_if(
          private_keys_.begin(), private_keys_.end(),
          [&](const PlannedKeys& each) { return each.specification.column == statistic.group_by; });
      const KeyValues& values = keys.at(static_cast<std::size_t>(which - private_keys_.begin()));
      if (values.empty()) continue;
      statistic.key_texts = values.texts;
      for (const std::int64_t key : values.integers)
        statistic.key_numbers.emplace_back(Integer(static_cast<long>(key)));
    }
    // What was found for an accuracy or a weight is what is paid.
    if (!planned.loss.is_zero()) {
      const bool by_rho = statistic.noise == NoiseKind::gaussian && !statistic.delta;
      (by_rho ? statistic.rho : statistic.epsilon) = planned.asked;
      statistic.accuracy.reset();
      statistic.weight.reset();
    }
    specification.statistics.push_back(std::move(statistic));
  }
  Plan plan(std::move(specification));
  for (std::size_t i = 0; i < private_keys_.size(); ++i) {
    plan.private_keys_[i].statistics = private_keys_[i].statistics;
    PlannedKeys::Shown shown{keys[i].size(), !cut.empty() && cut[i], {}};
    for (const PlannedStatistic& planned : statistics_) {
      if (keys[i].empty() && planned.specification.private_keys &&
          planned.specification.group_by == private_keys_[i].specification.column)
        shown.left_out = shown.left_out + planned.cost;
    }
    plan.cost_ = plan.cost_ + shown.left_out;
    plan.private_keys_[i].shown = std::move(shown);
  }
  return plan;
}

std::vector<FoldRequest> Plan::requests() const {
  require_public_keys(*this);
  std::vector<FoldRequest> requests;
  for (const PlannedStatistic& statistic : statistics_) {
    for (const PlannedMeasurement& planned : statistic.measurements)
      requests.push_back(
          {planned.columns, &planned.measurement.aggregation(), group_limit_of(statistic.specification)});
  }
  return requests;
}

std::vector<Saving> Plan::savings() const {
  const FloatEnvironment environment;
  std::vector<Saving> savings;
  for (const PlannedStatistic& planned : statistics_) {
    if (planned.measurements.empty() || !planned.accuracy) continue;
    const SavingFinder finder(specification_, planned);
    for (const std::optional<Saving>& saving :
         {finder.exact_mode(), finder.fine_grid(), finder.geometric_noise(), finder.best_split()}) {
      if (saving) savings.push_back(*saving);
    }
  }
  return savings;
}

}  // namespace snapdp
