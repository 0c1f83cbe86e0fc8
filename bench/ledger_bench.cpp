// ledger/debit: one durable debit, with 10 and with 10,000 releases before it, in a file system in memory: what SQLite
// and the checks cost, without what a disk takes to sync. compose/...: optimal composition.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "snapdp/privacy/composition_bounds.h"
#include "snapdp/privacy/ledger.h"

namespace {

using snapdp::Rational;

class Scratch {
 public:
  Scratch() {
    std::string pattern =
        ::access("/dev/shm", W_OK | X_OK) == 0 ? "/dev/shm/snapdp-bench-XXXXXX" : "/tmp/snapdp-bench-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void debit(benchmark::State& state) {
  const Scratch scratch;
  const snapdp::LedgerIdentity people{"people", snapdp::Neighbors::change_one, ""};
  snapdp::Ledger ledger = snapdp::Ledger::create(scratch.path() / "people.ledger", people, 1'000'000);
  const std::vector<snapdp::LedgerCharge> charges = {{"mean_age", Rational(1, 4)}};
  const std::string specification(2000, 's');
  for (std::int64_t i = 0; i < state.range(0); ++i) ledger.debit(people, charges, specification);
  for (auto _ : state) ledger.debit(people, charges, specification);
}
BENCHMARK(debit)->Name("ledger/debit")->Arg(10)->Arg(10'000)->Iterations(300)->Unit(benchmark::kMicrosecond);

void compose(benchmark::State& state, const std::vector<snapdp::EqualReleases>& releases) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(snapdp::optimal_composition(releases, Rational(1, 1'000'000)));
  }
}
BENCHMARK_CAPTURE(compose, 100_equal, {{Rational(1, 10), 100}})->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compose, 100000_equal, {{Rational(1, 1000), 100'000}})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(compose, 50_and_25, {{Rational(1, 10), 50}, {Rational(1, 5), 25}})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(compose, 50000_and_50000, {{Rational(1, 10), 50'000}, {Rational(1, 5), 50'000}})
    ->Unit(benchmark::kMillisecond);

}  // namespace
