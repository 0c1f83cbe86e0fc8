// Composition of epsilons whose sums take too many values to list them all in high precision.
#pragma once

#include <optional>
#include <vector>

#include "privacy/randomized_response.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp::privacy_internal::composition {

// An enclosure of the least epsilon, computed in doubles with proved error bounds: on the lattice of `weights`
// (the epsilons as multiples of one number) if that is affordable, otherwise with the epsilons rounded to
// multiples of a step, up for the upper end and down for the lower (Murtagh and Vadhan 2018, section 5). `sum` is
// that of all epsilons. 0 < delta < 1.
CompositionBound on_a_grid(const std::vector<Group>& groups,
                           const std::optional<std::vector<Integer>>& weights, const Rational& sum,
                           const Rational& delta);

}  // namespace snapdp::privacy_internal::composition
