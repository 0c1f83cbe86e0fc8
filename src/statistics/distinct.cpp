#include "snapdp/statistics/distinct.h"

#include <algorithm>

#include "statistics/construction.h"
#include "statistics/folds.h"

namespace snapdp {

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
  const Bounds range(0, outward_up(to_rational(set.size())));
  return scalar(domain, metric, histogram_fold(type, set), {Grid(0), 1}, true, range,
                [](const Totals& totals) {
                  const auto occur = std::count_if(totals.values.begin(), totals.values.end(),
                                                   [](const Dyadic& count) { return count.sign() > 0; });
                  return Rational(static_cast<long>(occur));
                });
}

Partial<Aggregation> make_distinct_count(const Bins& set) {
  return
      [set](const VectorDomain& domain, Metric metric) { return make_distinct_count(domain, metric, set); };
}

}  // namespace snapdp
