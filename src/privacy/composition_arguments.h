// What the bounds on compositions refuse alike.
#pragma once

#include "snapdp/numeric/rational.h"

namespace snapdp::privacy_internal::composition {

// Throws invalid_argument unless 0 <= delta < 1.
void require_delta(const Rational& delta);

}  // namespace snapdp::privacy_internal::composition
