// Least squares: y on an intercept and columns x, from noisy moments of all of them.
#include "snapdp/statistics/regression.h"

#include <algorithm>
#include <limits>

#include "release/kinds/kind.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::release_internal {
namespace {

// "y", "x1", "x2" ... of the columns as the specification names them.
std::string name_of_column(std::size_t column) {
  return column == 0 ? "y" : "x" + std::to_string(column);
}

// A statistic of the columns `seen`, one or two, which the part sees first; rows count if no column is missing.
KindPart of_columns(const std::string& name, const std::vector<std::size_t>& seen, std::size_t columns,
                    const Partial<Aggregation>& statistic, bool centered) {
  const Partial<Aggregation> of_first = [statistic, count = seen.size()](const VectorDomain& rows,
                                                                         Metric metric) {
    return make_project(rows, metric, count) >> statistic;
  };
  std::string full = name;
  std::vector<std::size_t> order = seen;
  for (const std::size_t column : seen) full += "_" + name_of_column(column);
  for (std::size_t column = 0; column < columns; ++column) {
    if (std::find(seen.begin(), seen.end(), column) == seen.end()) order.push_back(column);
  }
  return {full, of_clamped_rows(of_first), centered ? seen : std::vector<std::size_t>(), order};
}

class RegressionKind final : public Kind {
 public:
  RegressionKind() : Kind(StatisticKind::regression, "regression", {"y", "x", "type", "bounds", "split"}) {}

  std::string instead_of(const std::string& key) const override {
    return key == "column" || key == "columns" ? R"(y = "income" and x = ["age", "educ"])" : "";
  }
  std::string no_planned_accuracy() const override {
    return "how far its coefficients may be off depends on the data, and they have units of their own; give "
           "epsilon or weight";
  }
  std::string why_not(const std::string& key) const override {
    if (key == "accuracy") return "does not apply to a regression: " + no_planned_accuracy();
    return "does not apply to a regression, whose coefficients are computed from many noisy moments; remove "
           "it";
  }
  void read_values(const StatisticText& text, StatisticSpecification& statistic) const override {
    Kind::read_values(text, statistic);
    for (std::size_t i = 0; i < statistic.bounds.size(); ++i) {
      if (statistic.bounds[i].lower != statistic.bounds[i].upper) continue;
      text.table.refuse(text.table.has("bounds") ? "bounds"
                        : i == 0                 ? "y"
                                                 : "x",
                        "of " + quoted_text(statistic.columns[i]) +
                            ": bounds that are equal make it a constant, with which there is nothing to "
                            "fit; widen them, or leave the column out");
    }
  }
  // Under add-remove moments about the middles, among which that of y with itself is not needed; else means and
  // covariances. A vector of all of them would have the same noise: a row at the corner of all bounds is the largest in
  // each at once.
  std::vector<KindPart> parts(Neighbors neighbors, std::size_t columns) const override {
    columns = std::max<std::size_t>(columns, 2);
    const bool public_rows = neighbors == Neighbors::change_one;
    std::vector<KindPart> parts;
    if (!public_rows) parts.push_back({"count", of_complete_rows(make_count())});
    for (std::size_t i = 0; i < columns; ++i) {
      parts.push_back(public_rows ? of_columns("mean", {i}, columns, make_mean(), false)
                                  : of_columns("sum", {i}, columns, make_centered_sum(), true));
    }
    const auto product = [&](std::size_t i, std::size_t j) {
      return public_rows ? of_columns("covariance", {i, j}, columns, make_covariance(), false)
                         : of_columns("products", {i, j}, columns, make_centered_product(), true);
    };
    for (std::size_t i = 1; i < columns; ++i) parts.push_back(product(i, 0));
    for (std::size_t i = 1; i < columns; ++i) {
      parts.push_back(public_rows ? of_columns("variance", {i}, columns, make_variance(), false)
                                  : of_columns("squares", {i}, columns, make_centered_moment(2), true));
      for (std::size_t j = i + 1; j < columns; ++j) parts.push_back(product(i, j));
    }
    return parts;
  }
  bool is_second_moment() const override { return true; }
  bool has_sign() const override { return true; }
  bool is_one_number() const override { return false; }
  bool has_coefficients() const override { return true; }
  bool is_constant(Neighbors, const StatisticSpecification&) const override { return false; }

  void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                  std::size_t group) const override {
    if (!values.any()) return;
    const std::vector<std::string>& columns = planned.specification.columns;
    std::vector<RegressionCoefficient> coefficients(columns.size(),
                                                    {longest_double, longest_double, longest_double});
    if (values.released() != nullptr) coefficients = fitted(planned, values, group);
    entry.coefficients.reserve(columns.size());
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const RegressionCoefficient& one = coefficients[i];
      entry.coefficients.push_back({i == 0 ? intercept_name : columns[i], one.value, one.lower, one.upper});
    }
  }

 private:
  // All coefficients of all groups together are where they are said to be.
  static std::vector<RegressionCoefficient> fitted(const PlannedStatistic& planned, const ShownValues& values,
                                                   std::size_t group) {
    const auto groups = static_cast<unsigned long>(std::max<std::size_t>(planned.groups, 1));
    const NoisyParts noisy = noisy_parts_of(planned, values, group);
    RegressionMoments moments;
    for (const PlannedMeasurement& part : planned.measurements) {
      const NoisyPart& released = noisy.at(part.part);
      const auto is = [&](const char* name) { return part.part.starts_with(name); };
      if (is("count")) {
        moments.count = released;
      } else if (is("sum") || is("mean")) {
        moments.firsts.push_back(released);
      } else {
        (part.part.ends_with("_y") ? moments.with_y : moments.among_x).push_back(released);
      }
    }
    return regression_from_moments(planned.bounds, moments,
                                   FailureRate(Rational(planned.specification.alpha / groups)));
  }
};

}  // namespace

const Kind& regression_kind() {
  static const RegressionKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
