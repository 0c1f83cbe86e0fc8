// What every chain has in common: equal domains and metrics in the middle, and the composed relation.
#pragma once

#include <string>

#include "snapdp/error.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {

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

template <typename In, typename Out>
ChainStep step_of(const Signature<In, Out>& signature, const std::string& function) {
  return {function, describe(Domain(signature.output_domain)), to_string(signature.output_metric),
          signature.relation};
}

}  // namespace snapdp
