#include "snapdp/statistics/statistics.h"

#include <algorithm>
#include <set>

#include "snapdp/error.h"
#include "statistics/construction.h"
#include "statistics/folds.h"

namespace snapdp {

using namespace statistics_internal;

namespace {

Rational multiple(std::uint64_t n, const Dyadic& value) {
  return Rational(to_rational(n) * value.rational());
}

std::optional<Bounds> sum_range(const VectorDomain& domain, const Bounds& bounds) {
  if (!domain.size()) return std::nullopt;
  return Bounds(outward_down(multiple(*domain.size(), bounds.lower())),
                outward_up(multiple(*domain.size(), bounds.upper())));
}

// n/(n-1)/4 for even n, (n+1)/(4n) for odd n: the largest 1/(n-1) variance on [0, 1] is half the rows at each
// end.
Rational largest_variance(std::uint64_t n) {
  const Rational size = to_rational(n);
  return n % 2 == 0 ? Rational(size / (size - 1) / 4) : Rational((size + 1) / (4 * size));
}

}  // namespace

Aggregation make_count(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_count");
  const Rational sensitivity = preserves_size(metric) ? 0 : 1;
  std::optional<Bounds> range;
  if (domain.size()) {
    const Rational size = to_rational(*domain.size());
    range = Bounds(outward_down(size), outward_up(size));
  }
  return scalar(domain, metric, count_fold(), {Grid(0), sensitivity}, true, range,
                [](const Totals& totals) { return to_rational(totals.rows); });
}

Aggregation make_sum(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_sum");
  require_columns(domain, 1, "make_sum");
  const AtomDomain& column = domain.columns().front();
  const Bounds& bounds = *column.bounds;
  if (preserves_size(metric) && !domain.size()) {
    refuse("size",
           "make_sum under the " + to_string(metric) + " needs the public number of rows; use of_size(n)");
  }
  const Rational sensitivity = preserves_size(metric)
                                   ? bounds.width().rational()
                                   : std::max(abs(bounds.lower()), abs(bounds.upper())).rational();
  const bool integer = column.type == AtomType::integer;
  return scalar(domain, metric, sum_fold(column), rounding_for(sensitivity, integer, bounds), integer,
                sum_range(domain, bounds), [](const Totals& totals) { return totals.values[0].rational(); });
}

Aggregation make_mean(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_mean");
  require_columns(domain, 1, "make_mean");
  const std::uint64_t n = require_size(domain, metric, 1, "make_mean");
  const AtomDomain& column = domain.columns().front();
  const Bounds& bounds = *column.bounds;
  const Rational sensitivity = bounds.width().rational() / to_rational(n);
  return scalar(domain, metric, sum_fold(column), rounding_for(sensitivity, false, bounds), false,
                Bounds(outward_down(bounds.lower().rational()), outward_up(bounds.upper().rational())),
                [n](const Totals& totals) { return Rational(totals.values[0].rational() / to_rational(n)); })
      .told_as("mean");
}

Aggregation make_centered_sum(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_centered_sum");
  require_columns(domain, 1, "make_centered_sum");
  if (preserves_size(metric)) {
    throw Error(ErrorCode::mismatch, "metric",
                "make_centered_sum serves the mean under the symmetric distance; under the " +
                    to_string(metric) + " use make_mean");
  }
  const AtomDomain& column = domain.columns().front();
  const Bounds& bounds = *column.bounds;
  const Dyadic center = bounds.middle();
  const Rational sensitivity = bounds.width().rational() / 2;
  return scalar(domain, metric, sum_fold(column), rounding_for(sensitivity, false, bounds), false,
                std::nullopt,
                [center](const Totals& totals) {
                  return Rational(totals.values[0].rational() - multiple(totals.rows, center));
                })
      .told_as("sum of distances from the middle of the bounds");
}

Aggregation make_variance(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_variance");
  require_columns(domain, 1, "make_variance");
  const std::uint64_t n = require_size(domain, metric, 2, "make_variance");
  const AtomDomain& column = domain.columns().front();
  const Bounds& bounds = *column.bounds;
  const Rational square = bounds.width().rational() * bounds.width().rational();
  return scalar(domain, metric, moments_fold(column), rounding_for(square / to_rational(n), false, bounds),
                false, Bounds(Dyadic(0), outward_up(square * largest_variance(n))),
                [n](const Totals& totals) {
                  const Rational sum = totals.values[0].rational();
                  const Rational squares = totals.values[1].rational();
                  return Rational((squares - sum * sum / to_rational(n)) / to_rational(n - 1));
                })
      .told_as("variance");
}

Aggregation make_covariance(const VectorDomain& domain, Metric metric) {
  require_dataset_metric(metric, "make_covariance");
  require_columns(domain, 2, "make_covariance");
  const std::uint64_t n = require_size(domain, metric, 2, "make_covariance");
  const AtomDomain& x = domain.columns()[0];
  const AtomDomain& y = domain.columns()[1];
  const Rational area = x.bounds->width().rational() * y.bounds->width().rational();
  const Dyadic largest = outward_up(area * largest_variance(n));
  return scalar(domain, metric, products_fold(x, y), rounding_for(area / to_rational(n), false, *x.bounds),
                false, Bounds(-largest, largest),
                [n](const Totals& totals) {
                  const Rational sum_x = totals.values[0].rational();
                  const Rational sum_y = totals.values[1].rational();
                  const Rational sum_xy = totals.values[2].rational();
                  return Rational((sum_xy - sum_x * sum_y / to_rational(n)) / to_rational(n - 1));
                })
      .told_as("covariance");
}

Bins Bins::numbers(std::vector<Dyadic> categories) {
  if (categories.empty()) refuse("categories", "categories: at least one is needed");
  std::vector<Dyadic> sorted = categories;
  std::sort(sorted.begin(), sorted.end());
  if (const auto twin = std::adjacent_find(sorted.begin(), sorted.end()); twin != sorted.end()) {
    refuse("categories", "categories: " + to_string(*twin) + " is listed twice; list each category once");
  }
  Bins bins;
  bins.kind_ = Kind::numbers;
  bins.numbers_ = std::move(categories);
  return bins;
}

Bins Bins::texts(std::vector<std::string> categories) {
  if (categories.empty()) refuse("categories", "categories: at least one is needed");
  std::set<std::string> seen;
  for (const std::string& category : categories) {
    if (!seen.insert(category).second) {
      refuse("categories",
             "categories: " + quoted_text(category) + " is listed twice; list each category once");
    }
  }
  Bins bins;
  bins.kind_ = Kind::texts;
  bins.texts_ = std::move(categories);
  return bins;
}

Bins Bins::edges(std::vector<Dyadic> edges) {
  if (edges.size() < 2) refuse("edges", "edges: at least two are needed");
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i] <= edges[i - 1]) {
      refuse("edges", "edges: " + to_string(edges[i]) + " follows " + to_string(edges[i - 1]) +
                          "; edges must be strictly increasing");
    }
  }
  Bins bins;
  bins.kind_ = Kind::edges;
  bins.numbers_ = std::move(edges);
  return bins;
}

Bins Bins::with_other() const {
  Bins bins = *this;
  bins.other_ = true;
  return bins;
}

std::size_t Bins::size() const {
  const std::size_t named = kind_ == Kind::texts   ? texts_.size()
                            : kind_ == Kind::edges ? numbers_.size() - 1
                                                   : numbers_.size();
  return named + (other_ ? 1 : 0);
}

std::vector<std::string> Bins::labels() const {
  std::vector<std::string> labels = texts_;
  if (kind_ == Kind::numbers) {
    for (const Dyadic& category : numbers_) labels.push_back(to_string(category.to_double_nearest()));
  }
  if (kind_ == Kind::edges) {
    for (std::size_t i = 0; i + 1 < numbers_.size(); ++i) {
      labels.push_back("[" + to_string(numbers_[i].to_double_nearest()) + ", " +
                       to_string(numbers_[i + 1].to_double_nearest()) +
                       (i + 2 == numbers_.size() ? "]" : ")"));
    }
  }
  if (other_) labels.emplace_back("other");
  return labels;
}

std::string Bins::description() const {
  std::string text = kind_ == Kind::edges ? "edges" : "categories";
  for (const Dyadic& number : numbers_) text += " " + to_string(number);
  for (const std::string& category : texts_) text += " " + std::to_string(category.size()) + ":" + category;
  return text + (other_ ? " and other" : "");
}

Aggregation make_histogram(const VectorDomain& domain, Metric metric, const Bins& bins) {
  require_dataset_metric(metric, "make_histogram");
  if (domain.columns().size() != 1) refuse("domain", "make_histogram takes one column");
  const AtomDomain& column = domain.columns().front();
  if ((column.type == AtomType::text) != bins.are_texts()) {
    refuse("categories", bins.are_texts() ? "categories: text categories need a text column"
                                          : "categories: a text column needs text categories");
  }
  if (preserves_size(metric) && !domain.size()) {
    refuse("size", "make_histogram under the " + to_string(metric) +
                       " needs the public number of rows; use of_size(n)");
  }
  std::optional<Bounds> range;
  if (domain.size()) range = Bounds(Dyadic(0), outward_up(to_rational(*domain.size())));
  // One changed row leaves one bin and enters another, if there is another; one added row enters one.
  const Rational sensitivity = preserves_size(metric) && bins.size() > 1 ? 2 : 1;
  // At worst all d rows move from one bin to another: (d, -d), whose L2 is sqrt(2) d.
  return Aggregation({domain, StatisticDomain{bins.size(), Grid(0), true, range}, metric, Metric::l1_distance,
                      Relation::stable(sensitivity)},
                     histogram_fold(column.type, bins), [](const Totals& totals) { return totals.values; })
      .with_l2(sensitivity);
}

Partial<Aggregation> make_count() {
  return [](const VectorDomain& domain, Metric metric) { return make_count(domain, metric); };
}
Partial<Aggregation> make_sum() {
  return [](const VectorDomain& domain, Metric metric) { return make_sum(domain, metric); };
}
Partial<Aggregation> make_mean() {
  return [](const VectorDomain& domain, Metric metric) { return make_mean(domain, metric); };
}
Partial<Aggregation> make_centered_sum() {
  return [](const VectorDomain& domain, Metric metric) { return make_centered_sum(domain, metric); };
}
Partial<Aggregation> make_variance() {
  return [](const VectorDomain& domain, Metric metric) { return make_variance(domain, metric); };
}
Partial<Aggregation> make_covariance() {
  return [](const VectorDomain& domain, Metric metric) { return make_covariance(domain, metric); };
}
Partial<Aggregation> make_histogram(const Bins& bins) {
  return [bins](const VectorDomain& domain, Metric metric) { return make_histogram(domain, metric, bins); };
}

}  // namespace snapdp
