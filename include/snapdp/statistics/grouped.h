// One statistic for each of a public set of keys, in one pass.
//
//   Bins states = Bins::texts({"CA", "NY", "TX"});
//   auto rows = untrusted_domain({AtomType::text, AtomType::real});        // the key comes first
//   auto incomes = [](const VectorDomain& rest, Metric metric) {
//     const Transformation complete = make_drop(rest, metric);
//     return complete >> make_clamp(complete.output_domain(), metric, Bounds(0, 1e6)) >> make_sum();
//   };
//   Aggregation by_state = make_grouped(rows, symmetric_distance(), states, incomes);
//   by_state >> make_snapping({.epsilon = "1/2"})                          // 1/2 for all states together
#pragma once

#include "snapdp/framework/aggregation.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

// The aggregation `inner` of the rows of each key. The first column of `domain` is the key; `inner` is built on the
// others. The statistic is the vector of all groups one after the other, in the order of the keys: `dimension` of
// `inner` numbers each. Every key has its group, whether rows have it or not; rows with another key, or none, take no
// part. Bins may be categories or edges, and may have an "other".
//
// Groups are disjoint, so a row that comes or goes changes one of them: under the L1 distance the sensitivity is that
// of one group (parallel composition, McSherry 2009), d times it for d rows. Only under the symmetric distance: a
// replaced row may leave one group and enter another, and group sizes are not public. Throws mismatch for other
// metrics, invalid_argument for a domain without a key column or keys of another type than its column.
// Proof: proofs/make_grouped.md.
Aggregation make_grouped(const VectorDomain& domain, Metric metric, const Bins& keys,
                         const Partial<Aggregation>& inner);
Partial<Aggregation> make_grouped(const Bins& keys, const Partial<Aggregation>& inner);

}  // namespace snapdp
