// What Snapping and Gaussian have in common: noise rounded to a grid that is anchored at 0, the fast path and, for what
// that leaves undecided, the slow one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "snapdp/mechanism/snapping.h"

namespace snapdp::mechanism_internal::grid_mechanism {

// A finite bound within 2^53 steps of the grid; integral when outputs are integers.
std::optional<double> checked_bound(const char* name, std::optional<double> bound, Grid grid, bool integer);

// Of exact or Gaussian noise.
detail::SnapConstants constants_for(const Noise& noise);

// A mechanism, as it draws.
struct Sampler {
  const Noise& noise;
  const std::optional<Dyadic>& lower;  // the bounds, exactly
  const std::optional<Dyadic>& upper;
  const detail::SnapConstants& constants;

  Dyadic replay(const Dyadic& value, WordSource& words, const ReplayOptions& options) const;
  std::size_t replay(std::span<const double> values, std::span<double> out, WordSource& words,
                     const ReplayOptions& options) const;

 private:
  const Dyadic& clamp(const Dyadic& value) const;
  Dyadic sample_slowly(const Dyadic& value, std::uint64_t word, WordSource& words) const;
};

}  // namespace snapdp::mechanism_internal::grid_mechanism
