// Compositions of pure losses: delta on the first line, then an epsilon and how often on each.
#include <vector>

#include "fuzz/fuzz.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp {
namespace {

void run(fuzz::Input input) {
  fuzz::refuses([&] {
    const Rational delta = parse_rational(input.line(), "delta");
    std::vector<EqualReleases> releases;
    while (!input.empty() && releases.size() < 4) {
      const auto count = input.value<std::uint8_t>();
      releases.push_back({parse_rational(input.line(), "epsilon"), count});
    }
    const Rational basic = basic_composition(releases);
    const CompositionBound optimal = optimal_composition(releases, delta);
    SNAPDP_FUZZ_CHECK(optimal.epsilon >= 0 && optimal.epsilon <= basic);
    SNAPDP_FUZZ_CHECK(optimal.at_least <= optimal.epsilon);
    if (delta == 0) SNAPDP_FUZZ_CHECK(optimal.epsilon == basic);
    const Rational rho = zcdp_composition(releases);
    SNAPDP_FUZZ_CHECK(rho >= 0);
    // No bound beats the optimal one.
    const std::optional<Rational> by_rho = zcdp_to_epsilon(rho, delta);
    SNAPDP_FUZZ_CHECK(!by_rho || *by_rho >= optimal.at_least);
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
