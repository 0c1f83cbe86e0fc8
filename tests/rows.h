// Rows for tests: values chosen to break things, and distances between datasets.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace snapdp {

// Ties, extremes, cancellation, 2^53 edges, zeros of both signs, subnormals, NaN and infinities.
inline std::vector<double> adversarial_reals(std::mt19937_64& engine, std::size_t count) {
  static const std::vector<double> edges{0.0,
                                         -0.0,
                                         1.0,
                                         -1.0,
                                         0.5,
                                         0.1,
                                         0x1p53,
                                         -0x1p53,
                                         0x1p53 + 2,
                                         0x1.fffffffffffffp+1023,
                                         -0x1.fffffffffffffp+1023,
                                         0x1p-1074,
                                         -0x1p-1022,
                                         1 + 0x1p-52,
                                         1e308,
                                         std::numeric_limits<double>::infinity(),
                                         -std::numeric_limits<double>::infinity(),
                                         std::nan("")};
  std::vector<double> rows;
  for (std::size_t i = 0; i < count; ++i) {
    switch (engine() % 4) {
      case 0:
        rows.push_back(edges[engine() % edges.size()]);
        break;
      case 1:
        rows.push_back(static_cast<double>(engine() % 7) / 4);
        break;
      case 2:
        rows.push_back(std::ldexp(static_cast<double>(static_cast<std::int64_t>(engine())),
                                  -static_cast<int>(engine() % 130)));
        break;
      default:
        rows.push_back(rows.empty() ? 0.25 : rows[engine() % rows.size()]);
    }
  }
  return rows;
}

// Symmetric distance of two multisets of numbers; NaN counts as one value, zeros as equal.
inline std::size_t multiset_distance(std::vector<double> a, std::vector<double> b) {
  const auto less = [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x < y; };
  std::sort(a.begin(), a.end(), less);
  std::sort(b.begin(), b.end(), less);
  std::vector<double> apart;
  std::set_symmetric_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(apart), less);
  return apart.size();
}

}  // namespace snapdp
