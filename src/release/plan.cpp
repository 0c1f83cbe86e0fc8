#include "snapdp/release/plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "numeric/shared/float_environment.h"
#include "release/composed.h"
#include "release/faults.h"
#include "release/shared/suggestion.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/bias.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

[[noreturn]] void refuse(const std::string& parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + message);
}

Dyadic nearest_real(const Rational& value, const std::string& parameter) {
  const double nearest = to_double_nearest(value);
  if (!std::isfinite(nearest))
    refuse(parameter, " = " + to_string(value) + ": is beyond the largest double, 1.8e308");
  return Dyadic(nearest);
}

Dyadic whole_number(const Rational& value, const std::string& parameter) {
  if (value.get_den() != 1) {
    refuse(parameter, " = " + to_string(value) + ": must be a whole number, because type = \"integer\"");
  }
  Dyadic number(value.get_num(), 0);
  if (!number.is_int64()) {
    refuse(parameter, " = " + to_string(value) + ": does not fit a 64-bit integer, and type = \"integer\"");
  }
  return number;
}

// The value a cell with this text has: the nearest double, or the integer itself.
Dyadic cell_value(const Rational& value, AtomType type, const std::string& parameter) {
  return type == AtomType::integer ? whole_number(value, parameter) : nearest_real(value, parameter);
}

// Decimal bounds round outward, so that every value within the decimals is within the bounds. Equal decimals
// declare a constant and stay equal.
Bounds round_outward(const DecimalBounds& bounds, AtomType type) {
  if (bounds.lower == bounds.upper) {
    const Dyadic value = cell_value(bounds.lower, type, "bounds");
    return Bounds(value, value);
  }
  if (type == AtomType::integer) {
    return Bounds(whole_number(Rational(floor(bounds.lower)), "bounds"),
                  whole_number(Rational(ceil(bounds.upper)), "bounds"));
  }
  const double lower = to_double_down(bounds.lower);
  const double upper = to_double_up(bounds.upper);
  if (!std::isfinite(lower) || !std::isfinite(upper)) {
    refuse("bounds", " = [" + to_string(bounds.lower) + ", " + to_string(bounds.upper) +
                         "]: must lie within the range of doubles, 1.8e308; declare tighter bounds");
  }
  return Bounds(Dyadic(lower), Dyadic(upper));
}

Dyadic midpoint(const Bounds& bounds, AtomType type) {
  const Rational middle = (bounds.lower() + bounds.upper()).rational() / 2;
  return type == AtomType::integer ? Dyadic(floor(middle), 0) : Dyadic(to_double_nearest(middle));
}

Bins bins_of(const StatisticSpecification& statistic, AtomType type) {
  const auto values = [&](const std::vector<Rational>& numbers, const std::string& parameter) {
    std::vector<Dyadic> cells;
    for (const Rational& number : numbers) cells.push_back(cell_value(number, type, parameter));
    return cells;
  };
  const Bins bins = !statistic.texts.empty() ? Bins::texts(statistic.texts)
                    : !statistic.categories.empty()
                        ? Bins::numbers(values(statistic.categories, "categories"))
                        : Bins::edges(values(statistic.edges, "edges"));
  return statistic.other ? bins.with_other() : bins;
}

class StatisticPlanner {
 public:
  StatisticPlanner(const Specification& specification, const StatisticSpecification& statistic)
      : specification_(specification),
        statistic_(statistic),
        metric_(metric_of(specification.data.neighbors)),
        type_(statistic.type.value_or(AtomType::real)) {
    planned_.specification = statistic;
    range_ = statistic.range;
    for (const DecimalBounds& bounds : statistic.bounds)
      planned_.bounds.push_back(round_outward(bounds, type_));
  }

  PlannedStatistic plan() && {
    if (specification_.is_constant(statistic_)) {
      planned_.constant = constant();
      planned_.accuracy = StatisticAccuracy{};
      return std::move(planned_);
    }
    planned_.groups = std::max(statistic_.key_numbers.size(), statistic_.key_texts.size());
    if (has_bins()) planned_.bins = bins_of(statistic_, type_).labels();
    if (!statistic_.quantiles.empty()) {
      add_quantiles();
    } else if (statistic_.split.empty()) {
      add(aggregate(released()));
    } else {
      add_parts();
    }
    std::vector<Certificate> certificates;
    for (PlannedMeasurement& part : planned_.measurements) {
      planned_.epsilon += part.epsilon;
      part.certificate = certify(part.measurement.mechanism(), {.pairs = 1'000});
      planned_.loss_bound += part.measurement.mechanism().stated_loss();
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
  Dyadic constant() const {
    switch (statistic_.kind) {
      case StatisticKind::count:
        return size();
      case StatisticKind::sum:
        // Under add/remove only a column of zeros has a constant sum.
        return specification_.data.size ? size() * planned_.bounds.front().lower() : Dyadic(0);
      case StatisticKind::mean:
        return planned_.bounds.front().lower();
      case StatisticKind::moment: {
        const Dyadic& value = planned_.bounds.front().lower();
        Dyadic power(1);
        for (int i = 0; i < statistic_.order; ++i) power = power * value;
        return power;
      }
      default:
        return Dyadic(0);  // nothing varies, or nothing varies together
    }
  }

  Dyadic size() const { return Dyadic(Integer(static_cast<unsigned long>(*specification_.data.size)), 0); }

  bool has_bins() const {
    return statistic_.kind == StatisticKind::histogram || statistic_.kind == StatisticKind::distinct;
  }

  // A statistic of the rows as they come: anything may occur. A count takes no column, and so any. With groups, one
  // statistic for each.
  Aggregation aggregate(const Partial<Aggregation>& statistic) const {
    std::vector<AtomType> types(statistic_.columns.size(), type_);
    if (!statistic_.group_by) {
      const VectorDomain domain = untrusted_domain(types);
      return statistic(specification_.data.size ? domain.of_size(*specification_.data.size) : domain,
                       metric_);
    }
    types.insert(types.begin(), statistic_.key_type);
    return make_grouped(untrusted_domain(types), metric_, keys(), statistic);
  }

  // The statistic of a kind that is released itself.
  Partial<Aggregation> released() const {
    switch (statistic_.kind) {
      case StatisticKind::count:
        return make_count();
      case StatisticKind::sum:
        return clamped(make_sum());
      case StatisticKind::mean:
        return clamped(make_mean());
      case StatisticKind::variance:
        return clamped(make_variance());
      case StatisticKind::covariance:
        return clamped(make_covariance());
      case StatisticKind::histogram:
        return make_histogram(bins_of(statistic_, type_));
      case StatisticKind::distinct:
        return make_distinct_count(bins_of(statistic_, type_));
      case StatisticKind::moment:
        return clamped(make_moment(statistic_.order));
      case StatisticKind::standard_deviation:
      case StatisticKind::correlation:
      case StatisticKind::median:
      case StatisticKind::quantiles:
        break;
    }
    throw std::logic_error("this kind is computed from other statistics");
  }

  // A part of another kind, by its name.
  Partial<Aggregation> part(const std::string& name) const {
    if (name == "count") return complete(make_count());
    if (name == "sum") return clamped(make_centered_sum());
    if (name == "squares") return clamped(make_centered_moment(2));
    if (name == "variance") return clamped(make_variance());
    if (name == "covariance") return clamped(make_covariance());
    if (name == "products") return clamped(make_centered_product());
    if (name.starts_with("sum")) return clamped(first_column(make_centered_sum()));
    if (name.starts_with("squares")) return clamped(first_column(make_centered_moment(2)));
    if (name.starts_with("variance")) return clamped(first_column(make_variance()));
    throw std::logic_error("no part has this name");
  }

  Bins keys() const {
    if (!statistic_.key_texts.empty()) return Bins::texts(statistic_.key_texts);
    std::vector<Dyadic> numbers;
    for (const Rational& key : statistic_.key_numbers)
      numbers.push_back(cell_value(key, statistic_.key_type, "keys"));
    return Bins::numbers(std::move(numbers));
  }

  Transformation without_nulls(const VectorDomain& rows, Metric metric) const {
    if (specification_.data.drop_nulls) return make_drop(rows, metric);
    std::vector<Dyadic> values;
    for (const Bounds& bounds : planned_.bounds) {
      values.push_back(specification_.data.impute ? cell_value(*specification_.data.impute, type_, "impute")
                                                  : midpoint(bounds, type_));
    }
    return make_impute(rows, metric, values);
  }

  // Of the second of two columns, when both are swapped for the part.
  static Partial<Aggregation> first_column(const Partial<Aggregation>& statistic) {
    return [statistic](const VectorDomain& rows, Metric metric) {
      return make_project(rows, metric, 1) >> statistic;
    };
  }

  // The statistic of rows without nulls, and of clamped rows.
  Partial<Aggregation> complete(const Partial<Aggregation>& statistic) const {
    return [this, statistic](const VectorDomain& rows, Metric metric) {
      return without_nulls(rows, metric) >> statistic;
    };
  }
  Partial<Aggregation> clamped(const Partial<Aggregation>& statistic) const {
    return complete([this, statistic](const VectorDomain& rows, Metric metric) {
      return make_clamp(rows, metric, planned_.bounds) >> statistic;
    });
  }

  void add(const Aggregation& aggregation) {
    fix_range(aggregation);
    add_part("", statistic_.columns, aggregation,
             statistic_.epsilon ? *statistic_.epsilon : epsilon_for(aggregation), statistic_.alpha);
    const PlannedMeasurement& only = planned_.measurements.back();
    planned_.accuracy = StatisticAccuracy{only.accuracy.conservative, only.accuracy.tight,
                                          only.accuracy.laplace, std::nullopt};
    if (statistic_.kind == StatisticKind::histogram || statistic_.group_by)
      planned_.accuracy->simultaneous = only.simultaneous;
  }

  void add_quantiles() {
    std::vector<Dyadic> edges;
    for (const Rational& edge : statistic_.edges) edges.push_back(cell_value(edge, type_, "edges"));
    // Where nulls are imputed, by default in the middle.
    planned_.bounds = {Bounds(edges.front(), edges.back())};
    HierarchyLayout layout(std::move(edges));
    if (specification_.data.size) layout = layout.with_public_total(*specification_.data.size);
    add_part("", statistic_.columns, aggregate(complete(make_hierarchy(layout))), *statistic_.epsilon,
             statistic_.alpha);
    // Of every node of every group: whatever is read off the hierarchies then holds for all of them together.
    const double node_accuracy = planned_.measurements.front().simultaneous;
    for (const Rational& q : statistic_.quantiles)
      planned_.rank_error = std::max(planned_.rank_error, quantile_rank_error(layout, node_accuracy, q));
    planned_.hierarchy = std::move(layout);
  }

  void add_part(const std::string& part, std::vector<std::string> columns, const Aggregation& aggregation,
                const Rational& epsilon, const Rational& alpha) {
    Measurement measurement = measurement_of(aggregation, epsilon);
    const Accuracy accuracy = measurement.accuracy(alpha);
    if (statistic_.group_by) columns.insert(columns.begin(), *statistic_.group_by);
    const std::size_t numbers = aggregation.output_domain().dimension;
    const Rational share = alpha / Rational(Integer(static_cast<unsigned long>(numbers)));
    const double simultaneous = numbers == 1 ? accuracy.tight : measurement.accuracy(share).tight;
    planned_.measurements.push_back(
        {part, std::move(columns), std::move(measurement), epsilon, accuracy, simultaneous, {}});
  }

  Measurement measurement_of(const Aggregation& aggregation, const Rational& epsilon) const {
    return aggregation >> make_snapping({.epsilon = epsilon,
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

  // The width of the range that values and outputs are clamped to, where it does not depend on epsilon; of a widened one
  // that of the public range: to be no nearer than that takes no release.
  std::optional<double> known_width(const StatisticDomain& domain) const {
    using Kind = RangeChoice::Kind;
    if (statistic_.range.kind() == Kind::fixed) {
      const OutputRange range = resolve(statistic_.range, std::nullopt, {.integer = domain.integer});
      if (!range.lower || !range.upper) return std::nullopt;
      return to_double_up(Rational(Rational(*range.upper) - Rational(*range.lower)));
    }
    if (statistic_.range.kind() == Kind::none || !domain.range) return std::nullopt;
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

  // The least epsilon with which the aggregation is as accurate as the specification asks.
  Rational epsilon_for(const Aggregation& aggregation) const {
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
    const Bounds& x = planned_.bounds.front();
    const Bounds& y = planned_.bounds.back();
    for (const auto& [a, b] : {std::pair(x, x), std::pair(x, y), std::pair(y, y)}) {
      const Rational largest = a.width().rational() * b.width().rational() / 2;
      if (std::isfinite(to_double_up(largest))) continue;
      refuse("bounds", " = [" + to_string(b.lower().to_double_nearest()) + ", " +
                           to_string(b.upper().to_double_nearest()) +
                           "]: variances and covariances of such numbers may be beyond the largest double, "
                           "1.8e308; declare tighter bounds, or another unit");
    }
  }

  void add_parts() {
    if (statistic_.kind != StatisticKind::mean) check_composed_range();
    const std::vector<std::string> names = parts_of(statistic_.kind, specification_.data.neighbors);
    std::vector<Part> parts;
    for (const std::string& name : names) {
      // A part of the second column sees the columns, and so their bounds, the other way round.
      const bool swapped = name.ends_with("_y");
      if (swapped) std::reverse(planned_.bounds.begin(), planned_.bounds.end());
      std::vector<std::string> columns = statistic_.columns;
      if (swapped) std::reverse(columns.begin(), columns.end());
      parts.push_back({name, std::move(columns), aggregate(part(name))});
      if (swapped) std::reverse(planned_.bounds.begin(), planned_.bounds.end());
    }
    if (statistic_.epsilon) {
      plan_parts(parts, *statistic_.epsilon);
      return;
    }
    plan_parts(parts, 1);
    if (!planned_.accuracy) refuse_accuracy();
    const Rational guess(*guess_accuracy(planned_, specification_.data.expected_size));
    if (*statistic_.accuracy >= guess) {
      refuse("accuracy", " = " + to_string(*statistic_.accuracy) +
                             ": is not below the width of the public range, " + to_string(guess) +
                             "; any guess is that accurate");
    }
    const auto reaches = [&](const Rational& epsilon) {
      plan_parts(parts, epsilon);
      return planned_.accuracy->tight <= *statistic_.accuracy;
    };
    reaches(searched_epsilon(reaches));
  }

  [[noreturn]] void refuse_accuracy() const {
    const std::string given = " = " + to_string(*statistic_.accuracy) + ": ";
    const std::string kind = to_string(statistic_.kind);
    if (statistic_.kind == StatisticKind::correlation) {
      refuse("accuracy",
             given +
                 "how far a correlation may be off depends on the variances, which may be next to 0; "
                 "give epsilon or weight instead");
    }
    if (statistic_.group_by) {
      refuse("accuracy",
             given + "how far the " + kind +
                 " of a group may be off depends on the number of its rows, which is not public; give "
                 "epsilon or weight instead");
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
    refuse("accuracy", " = " + to_string(*statistic_.accuracy) +
                           ": no epsilon reaches it with this grid and mode; ask for less, or use mode = "
                           "\"exact\" and grid = \"auto\"");
  }

  struct Part {
    std::string name;
    std::vector<std::string> columns;
    Aggregation aggregation;
  };

  // The parts share epsilon by the split, and alpha equally.
  void plan_parts(const std::vector<Part>& parts, const Rational& epsilon) {
    planned_.measurements.clear();
    const Rational weights = std::accumulate(statistic_.split.begin(), statistic_.split.end(), Rational(0));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      add_part(parts[i].name, parts[i].columns, parts[i].aggregation,
               Rational(epsilon * statistic_.split[i] / weights), part_alpha(planned_));
    }
    planned_.accuracy = composed_accuracy();
  }

  // What is known beforehand of the value that is computed from the parts.
  std::optional<StatisticAccuracy> composed_accuracy() const {
    const auto accuracy = [&](double Accuracy::*kind) {
      return planned_accuracy(planned_, specification_.data.expected_size, kind);
    };
    const std::optional<double> tight = accuracy(&Accuracy::tight);
    if (!tight) return std::nullopt;
    return StatisticAccuracy{*accuracy(&Accuracy::conservative), *tight, *accuracy(&Accuracy::laplace),
                             std::nullopt};
  }

  const Specification& specification_;
  const StatisticSpecification& statistic_;
  Metric metric_;
  AtomType type_;
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
    const bool allowed = now_.kind == StatisticKind::count || now_.kind == StatisticKind::histogram ||
                         now_.kind == StatisticKind::distinct || now_.kind == StatisticKind::sum;
    if (!allowed || now_.noise != NoiseKind::exact ||
        !part.measurement.aggregation().output_domain().integer) {
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
      changed.epsilon = planned_.epsilon;
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
      return Saving{now_.name, change, other.accuracy->tight, other.epsilon, std::nullopt, std::nullopt};
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  std::optional<Saving> if_worth(std::optional<Saving> saving) const {
    if (!saving) return saving;
    const bool enough = now_.epsilon ? saving->accuracy < planned_.accuracy->tight * worth
                                     : saving->epsilon < planned_.epsilon * Rational(worth);
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
  constexpr unsigned places = 60;
  const Rational unit(Integer(1), Integer(1) << places);
  return Rational(Rational(floor(Rational(left * weight / weights / unit))) * unit);
}

}  // namespace

Plan::Plan(Specification specification) : specification_(std::move(specification)) {
  const FloatEnvironment environment;
  if (specification_.data.where)
    selection_.where = specification_.data.where->bind(specification_.data.types());
  if (specification_.data.privacy_unit)
    selection_.unit =
        RowSelection::UnitLimit{*specification_.data.privacy_unit, specification_.data.max_rows_per_unit};
  // Those with a weight share what the others leave.
  Rational weights = 0;
  std::vector<std::optional<PlannedStatistic>> planned;
  Faults faults;
  const auto plan = [&](const StatisticSpecification& statistic) {
    std::optional<PlannedStatistic> result;
    faults.hold([&] {
      try {
        result = StatisticPlanner(specification_, statistic).plan();
        epsilon_ += result->epsilon;
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
    } else {
      planned.back() = plan(statistic);
    }
  }
  faults.refuse_any();
  if (epsilon_ > specification_.budget) {
    throw Error(ErrorCode::budget_refused, "budget.epsilon",
                specification_.name + ": the statistics cost epsilon " + short_number(epsilon_) +
                    " together, but [budget] allows this run " + short_number_down(specification_.budget) +
                    "; ask for less or raise budget.epsilon");
  }
  const Rational left = specification_.budget - epsilon_;
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (!planned[i]) {
      StatisticSpecification statistic = specification_.statistics[i];
      statistic.epsilon = share_of(left, *statistic.weight, weights);
      if (*statistic.epsilon == 0) {
        throw Error(ErrorCode::budget_refused, "weight",
                    specification_.place(statistic) + "weight = " + to_string(*statistic.weight) +
                        ": the statistics with an epsilon or accuracy leave nothing of budget.epsilon = " +
                        short_number_down(specification_.budget) +
                        " to share; ask for less or raise budget.epsilon");
      }
      planned[i] = plan(statistic);
    }
  }
  faults.refuse_any();
  for (std::optional<PlannedStatistic>& statistic : planned) statistics_.push_back(*std::move(statistic));
}

Certificate Plan::certificate() const {
  std::vector<Certificate> certificates;
  for (const PlannedStatistic& statistic : statistics_) certificates.push_back(statistic.certificate);
  return compose_certificates(certificates);
}

Composition Plan::composition() const {
  std::vector<TablePart> parts;
  for (const PlannedStatistic& statistic : statistics_) {
    const StatisticSpecification& asked = statistic.specification;
    std::optional<FoldRequest::GroupLimit> groups;
    if (asked.groups_per_unit)
      groups = {*asked.group_by, asked.groups_per_unit->max_groups, asked.groups_per_unit->max_rows};
    for (const PlannedMeasurement& planned : statistic.measurements)
      parts.push_back({planned.columns, planned.measurement, groups});
  }
  return make_on_table(selection_, std::move(parts));
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
