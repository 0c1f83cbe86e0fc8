#include "release/kinds/kind.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "release/kinds/cells.h"
#include "release/toml_values.h"

namespace snapdp::release_internal {
namespace {

// The declared bounds of all columns, or nothing.
std::vector<DecimalBounds> declared_bounds(const Declaration& data, const std::vector<std::string>& columns) {
  std::vector<DecimalBounds> bounds;
  for (const std::string& column : columns) {
    if (!data.column(column).bounds) return {};
    bounds.push_back(*data.column(column).bounds);
  }
  return bounds;
}

// One pair for one column, else a list of as many pairs.
std::vector<DecimalBounds> read_bounds(const StatisticText& text, const Kind& kind, std::size_t columns) {
  const TomlTable& table = text.table;
  if (kind.has_key("column")) return {get_bounds(text.document, table, table.get_array("bounds"))};
  const toml::array& pairs = table.get_array("bounds");
  if (pairs.size() != columns || !pairs.is_homogeneous(toml::node_type::array)) {
    table.refuse("bounds", kind.has_two_columns()
                               ? "must have a pair for each of the two columns, [[a, b], [c, d]]"
                               : "must have a pair for each of the " + std::to_string(columns) +
                                     " columns, that of y first, [[a, b], [c, d]]");
  }
  std::vector<DecimalBounds> bounds;
  for (const toml::node& pair : pairs) bounds.push_back(get_bounds(text.document, table, *pair.as_array()));
  return bounds;
}

}  // namespace

StatisticRows::StatisticRows(const Declaration& data, const PlannedStatistic& planned)
    : data_(&data), planned_(&planned), bounds_(planned.bounds), grids_(planned.row_grids) {}

StatisticRows StatisticRows::ordered(const std::vector<std::size_t>& order) const {
  StatisticRows rows = *this;
  for (std::size_t i = 0; i < order.size(); ++i) {
    rows.bounds_[i] = bounds_[order[i]];
    if (!grids_.empty()) rows.grids_[i] = grids_[order[i]];
  }
  return rows;
}

Transformation StatisticRows::without_nulls(const VectorDomain& rows, Metric metric) const {
  if (data_->drop_nulls) return make_drop(rows, metric);
  const AtomType type = planned_->specification.type.value_or(AtomType::real);
  std::vector<Dyadic> values;
  for (const Bounds& bounds : bounds_) {
    values.push_back(data_->impute ? cell_value(*data_->impute, type, "impute") : midpoint(bounds, type));
  }
  return make_impute(rows, metric, values);
}

Partial<Aggregation> StatisticRows::complete(Partial<Aggregation> statistic) const {
  return [self = *this, statistic = std::move(statistic)](const VectorDomain& rows, Metric metric) {
    return self.without_nulls(rows, metric) >> statistic;
  };
}

Partial<Aggregation> StatisticRows::clamped(Partial<Aggregation> statistic) const {
  return complete([bounds = bounds_, grids = grids_, statistic = std::move(statistic)](
                      const VectorDomain& rows, Metric metric) {
    const Transformation clamped = make_clamp(rows, metric, bounds);
    if (grids.empty()) return clamped >> statistic;
    // What cells on a grid give may leave the range of what cells themselves give, by half a spacing.
    return (clamped >> make_grid_rows(clamped.output_domain(), metric, grids) >> statistic)
        .with_range((clamped >> statistic).output_domain().range);
  });
}

NumberRange range_of_count(std::optional<std::uint64_t> size) {
  NumberRange range{Rational(0), {}};
  if (size) range.upper = Rational(Integer(static_cast<unsigned long>(*size)));
  return range;
}

Rational greatest_second_moment(const DecimalBounds& x, const DecimalBounds& y,
                                std::optional<std::uint64_t> size) {
  const Rational rows(Integer(static_cast<unsigned long>(size.value_or(2))));
  const bool even = size.value_or(2) % 2 == 0;
  const Rational share = even ? Rational(rows / (4 * (rows - 1))) : Rational((rows + 1) / (4 * rows));
  return Rational((x.upper - x.lower) * (y.upper - y.lower) * share);
}

std::function<Partial<Aggregation>(const StatisticRows&)> of_complete_rows(Partial<Aggregation> statistic) {
  return [statistic = std::move(statistic)](const StatisticRows& rows) { return rows.complete(statistic); };
}

std::function<Partial<Aggregation>(const StatisticRows&)> of_clamped_rows(Partial<Aggregation> statistic) {
  return [statistic = std::move(statistic)](const StatisticRows& rows) { return rows.clamped(statistic); };
}

NoisyPart noisy_part(const PlannedMeasurement& planned, const Dyadic& value) {
  const StatisticDomain& domain = planned.measurement.aggregation().output_domain();
  // An integer statistic is exact on its grid; any other was rounded to it.
  const Rational rounding = domain.integer ? Rational(0) : Rational(domain.grid.spacing().rational() / 2);
  return {value, planned.measurement.mechanism().noise(), rounding, domain.integer};
}

NoisyParts noisy_parts_of(const PlannedStatistic& planned, const ShownValues& values, std::size_t group) {
  NoisyParts parts;
  for (std::size_t i = 0; i < planned.measurements.size(); ++i)
    parts[planned.measurements[i].part] = noisy_part(planned.measurements[i], (*values.released())[i][group]);
  return parts;
}

Dyadic expected_part(const std::string& part, const ExpectedRows& expected, const Rational& correlation) {
  const auto covariance = [&](std::size_t x, std::size_t y) {
    return Rational(expected.deviations[x] * expected.deviations[y] * (x == y ? Rational(1) : correlation));
  };
  const auto products = [&](std::size_t x, std::size_t y) {
    return Rational((expected.rows - 1) * covariance(x, y) +
                    expected.rows * expected.means[x] * expected.means[y]);
  };
  const auto exact = [&]() -> Rational {
    if (part == "count") return expected.rows;
    if (part == "sum" || part == "sum_x") return expected.rows * expected.means[0];
    if (part == "sum_y") return expected.rows * expected.means[1];
    if (part == "squares" || part == "squares_x") return products(0, 0);
    if (part == "squares_y") return products(1, 1);
    if (part == "products") return products(0, 1);
    if (part == "variance" || part == "variance_x") return covariance(0, 0);
    if (part == "variance_y") return covariance(1, 1);
    if (part == "covariance") return covariance(0, 1);
    throw std::logic_error("a part of another name");
  };
  return Dyadic(to_double_nearest(exact()));
}

Kind::Kind(StatisticKind id, std::string name, std::vector<std::string> keys)
    : id_(id), name_(std::move(name)), keys_(std::move(keys)) {}

bool Kind::has_key(const std::string& key) const {
  return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
}

void Kind::read_values(const StatisticText& text, StatisticSpecification& statistic) const {
  if (!has_key("bounds")) return;
  if (text.table.has("bounds")) {
    statistic.bounds = read_bounds(text, *this, statistic.columns.size());
    return;
  }
  statistic.bounds = declared_bounds(text.data, statistic.columns);
  if (!statistic.bounds.empty()) return;
  text.table.refuse_missing(
      "bounds",
      has_key("y")
          ? "is missing; declare public bounds of all columns, that of y first, bounds = [[a, b], [c, "
            "d]], or bounds under [columns.NAME] of each"
      : has_two_columns()
          ? "is missing; declare public bounds of both columns, bounds = [[a, b], [c, d]], or "
            "bounds under [columns.NAME] of each"
          : "is missing; declare public bounds of the column, bounds = [lower, upper], here or "
            "under [columns.NAME]");
}

bool Kind::is_constant(Neighbors, const StatisticSpecification& statistic) const {
  return std::any_of(statistic.bounds.begin(), statistic.bounds.end(),
                     [](const DecimalBounds& bounds) { return bounds.lower == bounds.upper; });
}

void Kind::prepare(const Declaration&, PlannedStatistic& planned) const {
  const StatisticSpecification& statistic = planned.specification;
  for (const DecimalBounds& bounds : statistic.bounds)
    planned.bounds.push_back(round_outward(bounds, statistic.type.value_or(AtomType::real)));
}

Composed Kind::compose(const ReleasedParts&, const std::vector<Bounds>&) const {
  throw std::logic_error("this kind is released itself");
}

NumberRange Kind::public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t>, int) const {
  return {};
}

double Kind::joint_accuracy(const NoisyParts&, const std::vector<Bounds>&, const FailureRate&) const {
  throw std::logic_error("this kind is released itself");
}

void Kind::add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                      std::size_t group) const {
  if (values.any()) entry.value = released_number(planned, values, group);
}

const Kind& count_kind();
const Kind& sum_kind();
const Kind& mean_kind();
const Kind& variance_kind();
const Kind& covariance_kind();
const Kind& histogram_kind();
const Kind& distinct_kind();
const Kind& standard_deviation_kind();
const Kind& correlation_kind();
const Kind& moment_kind();
const Kind& median_kind();
const Kind& quantiles_kind();
const Kind& range_count_kind();
const Kind& top_kind();
const Kind& regression_kind();

const std::vector<const Kind*>& all_kinds() {
  static const std::vector<const Kind*> kinds = {
      &count_kind(),       &sum_kind(),       &mean_kind(),      &variance_kind(),
      &covariance_kind(),  &histogram_kind(), &distinct_kind(),  &standard_deviation_kind(),
      &correlation_kind(), &moment_kind(),    &median_kind(),    &quantiles_kind(),
      &range_count_kind(), &top_kind(),       &regression_kind()};
  return kinds;
}

const Kind& kind_of(StatisticKind kind) {
  return *all_kinds().at(static_cast<std::size_t>(kind));
}

const Kind* find_kind(const std::string& name) {
  for (const Kind* kind : all_kinds()) {
    if (kind->name() == name) return kind;
  }
  return nullptr;
}

Rational part_alpha(const StatisticSpecification& statistic) {
  return statistic.alpha / Rational(Integer(static_cast<unsigned long>(statistic.split.size())));
}

}  // namespace snapdp::release_internal
