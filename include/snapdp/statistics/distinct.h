// How many values of a public set occur in a column.
//
//   make_distinct_count(untrusted, symmetric_distance(), Bins::texts({"CA", "NY", "TX"}))   // 0, 1, 2 or 3
//
// The set must be public: a count of every value that occurs reveals a row with a rare one only through its
// noise, but a list of values taken from the data reveals it outright.
#pragma once

#include "snapdp/statistics/statistics.h"

namespace snapdp {

// The number of bins of `set` that hold at least one row: an integer statistic with sensitivity 1 under every
// dataset metric, in the public range [0, size of the set], which does not depend on the number of rows. No
// public size is needed under the size-preserving metrics. The column's domain may be untrusted; nulls, NaN and
// cells outside the set count for nothing. Throws invalid_argument for a set with an "other" bin or of another
// kind than the column. Proof: proofs/make_distinct_count.md.
Aggregation make_distinct_count(const VectorDomain& domain, Metric metric, const Bins& set);
Partial<Aggregation> make_distinct_count(const Bins& set);

}  // namespace snapdp
