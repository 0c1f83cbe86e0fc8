#include <algorithm>

#include "snapdp/statistics/statistics.h"
#include "statistics/construction.h"
#include "statistics/folds.h"

namespace snapdp {

using namespace statistics_internal;

Aggregation make_distinct_count(const VectorDomain& domain, Metric metric, const Bins& set) {
  require_dataset_metric(metric, "make_distinct_count");
  if (domain.columns().size() != 1) refuse("domain", "make_distinct_count takes one column");
  const AtomType type = domain.columns().front().type;
  if ((type == AtomType::text) != set.are_texts()) {
    refuse("categories", set.are_texts() ? "categories: text categories need a text column"
                                         : "categories: a text column needs text categories");
  }
  if (set.has_other()) {
    refuse("categories",
           "categories: \"other\" is not one value; make_distinct_count takes a set without an other bin");
  }
  const Rational size = to_rational(set.size());
  return Aggregation({domain, StatisticDomain{1, Grid(0), true, Bounds(0, outward_up(size))}, metric,
                      Metric::absolute_distance, Relation::stable_within(1, size)},
                     histogram_fold(type, set),
                     [](const Totals& totals) {
                       const auto occur = std::count_if(totals.values.begin(), totals.values.end(),
                                                        [](const Dyadic& count) { return count.sign() > 0; });
                       return std::vector<Dyadic>{Dyadic(static_cast<std::int64_t>(occur))};
                     })
      .told_as("number of categories that occur");
}

Partial<Aggregation> make_distinct_count(const Bins& set) {
  return
      [set](const VectorDomain& domain, Metric metric) { return make_distinct_count(domain, metric, set); };
}

}  // namespace snapdp
