// A check of releases: rows of which nothing is proved are refused before anything is paid.
#pragma once

#include "snapdp/error.h"
#include "snapdp/framework/domain.h"

namespace snapdp::framework_internal {

// Throws bad_data naming "rows" unless they are in the domain, their number aside: that is checked, and said, where the
// statistic is finished.
inline void require_rows(const VectorDomain& domain, const Chunk& rows) {
  if (domain.of_unknown_size().contains(rows)) return;
  throw Error(ErrorCode::bad_data, "rows",
              "rows: they are not in the input domain, " + describe(Domain(domain)) +
                  ": another type, or a null, NaN or number outside the bounds; start the chain at an "
                  "untrusted_domain() and make_impute or make_drop before make_clamp");
}

}  // namespace snapdp::framework_internal
