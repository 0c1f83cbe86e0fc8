// What every chain has in common: equal domains and metrics in the middle, and the composed relation.
#pragma once

#include <string>

#include "snapdp/error.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::framework_internal {

template <typename In, typename Middle, typename Out>
Signature<In, Out> chain_signatures(const Signature<In, Middle>& first,
                                    const Signature<Middle, Out>& second) {
  if (!(first.output_domain == second.input_domain)) {
    throw Error(ErrorCode::mismatch, "domain",
                "chaining: the first part gives " + describe(Domain(first.output_domain)) +
                    ", the second takes " + describe(Domain(second.input_domain)) +
                    "; build the second part on the first one's output domain");
  }
  if (first.output_metric != second.input_metric) {
    throw Error(ErrorCode::mismatch, "metric",
                "chaining: the first part measures its output by the " + to_string(first.output_metric) +
                    ", the second its input by the " + to_string(second.input_metric) +
                    "; use one metric for both");
  }
  return {first.input_domain, second.output_domain, first.input_metric, second.output_metric,
          Relation::chain(first.relation, second.relation)};
}

// What a part on rows or on statistics may declare; throws mismatch naming "metric" or invalid_argument naming "domain".
inline void require_statistic(const StatisticDomain& domain, Metric metric) {
  require_statistic_metric(metric, "a part of a chain");
  if (domain.dimension == 0 || (domain.dimension > 1 && metric == Metric::absolute_distance)) {
    throw Error(ErrorCode::invalid_argument, "domain",
                "domain: the " + to_string(metric) + " measures " +
                    (metric == Metric::absolute_distance ? "one number" : "one number or more") + ", not " +
                    std::to_string(domain.dimension) + "; use the L1 distance for vectors");
  }
}
inline void require_signature(const Signature<VectorDomain, VectorDomain>& signature) {
  require_dataset_metric(signature.input_metric, "a part of a chain");
  require_dataset_metric(signature.output_metric, "a part of a chain");
}
inline void require_signature(const Signature<VectorDomain, StatisticDomain>& signature) {
  require_dataset_metric(signature.input_metric, "a part of a chain");
  require_statistic(signature.output_domain, signature.output_metric);
}
inline void require_signature(const Signature<StatisticDomain, StatisticDomain>& signature) {
  require_statistic(signature.input_domain, signature.input_metric);
  require_statistic(signature.output_domain, signature.output_metric);
}

template <typename In, typename Out>
ChainStep step_of(const Signature<In, Out>& signature, const std::string& function) {
  return {function, describe(Domain(signature.output_domain)), to_string(signature.output_metric),
          signature.relation};
}

}  // namespace snapdp::framework_internal
