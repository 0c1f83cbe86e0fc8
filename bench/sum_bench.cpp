// sum/plain, sum/exact: a vectorised plain sum of doubles against the exact clamped sum, one thread, on
// arrays that stay in the second-level cache (1 MiB) and that do not fit any cache (1 GiB). moments/...,
// products/..., integer/...: the other exact sums on 1 MiB a column. groups/...: a sum of each of 229 groups that come in
// any order, a plain one of doubles and exact ones.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <span>
#include <vector>

#include "numeric/shared/group_sums.h"
#include "snapdp/numeric/exact_sum.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using snapdp::InstructionSet;

constexpr std::size_t mebibyte = (std::size_t{1} << 20) / sizeof(double);
constexpr std::size_t gibibyte = (std::size_t{1} << 30) / sizeof(double);

// `size` uniform values in [0, 100), all different in practice, aligned to cache lines (which favours the
// plain sum). Made when first asked for; only the last array asked for is kept, so the large one exists
// only while its benchmarks run.
std::span<const double> rows(std::size_t size) {
  struct alignas(64) Line {
    double values[8];
  };
  static std::vector<Line> lines;
  if (lines.size() != size / 8) {
    lines = {};
    lines.resize(size / 8);
    std::uint64_t state = 1;  // Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014
    for (Line& line : lines) {
      for (double& value : line.values) {
        std::uint64_t word = state += 0x9e3779b97f4a7c15;
        word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
        word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
        value = static_cast<double>((word ^ (word >> 31)) >> 11) * 0x1p-53 * 100;
      }
    }
  }
  return {lines.front().values, size};
}

std::vector<std::int64_t> integers(std::size_t size) {
  std::vector<std::int64_t> result;
  for (const double value : rows(size)) result.push_back(static_cast<std::int64_t>(value * 1000));
  return result;
}

// Independent accumulators hide the latency of the additions; what is left is reading the array.
double plain_sum_portable(std::span<const double> values) {
  double sums[16] = {};
  std::size_t i = 0;
  for (; i + 16 <= values.size(); i += 16) {
    for (std::size_t lane = 0; lane < 16; ++lane) sums[lane] += values[i + lane];
  }
  for (; i < values.size(); ++i) sums[0] += values[i];
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) double plain_sum_avx512(std::span<const double> values) {
  __m512d sums[8];
  for (__m512d& sum : sums) sum = _mm512_setzero_pd();
  std::size_t i = 0;
  for (; i + 64 <= values.size(); i += 64) {
    for (std::size_t part = 0; part < 8; ++part) {
      sums[part] = _mm512_add_pd(sums[part], _mm512_loadu_pd(values.data() + i + 8 * part));
    }
  }
  for (std::size_t part = 1; part < 8; ++part) sums[0] = _mm512_add_pd(sums[0], sums[part]);
  double lanes[8];
  _mm512_storeu_pd(lanes, sums[0]);
  return plain_sum_portable(lanes) + plain_sum_portable(values.subspan(i));
}

__attribute__((target("avx2"))) double plain_sum_avx2(std::span<const double> values) {
  __m256d sums[8];
  for (__m256d& sum : sums) sum = _mm256_setzero_pd();
  std::size_t i = 0;
  for (; i + 32 <= values.size(); i += 32) {
    for (std::size_t part = 0; part < 8; ++part) {
      sums[part] = _mm256_add_pd(sums[part], _mm256_loadu_pd(values.data() + i + 4 * part));
    }
  }
  for (std::size_t part = 1; part < 8; ++part) sums[0] = _mm256_add_pd(sums[0], sums[part]);
  double lanes[4];
  _mm256_storeu_pd(lanes, sums[0]);
  return plain_sum_portable(lanes) + plain_sum_portable(values.subspan(i));
}
#endif

double plain_sum(std::span<const double> values) {
#if defined(__x86_64__)
  if (snapdp::is_supported(InstructionSet::avx512)) return plain_sum_avx512(values);
  if (snapdp::is_supported(InstructionSet::avx2)) return plain_sum_avx2(values);
#endif
  return plain_sum_portable(values);
}

void count_rows(benchmark::State& state, std::size_t size, std::size_t columns = 1) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(size * columns * sizeof(double)));
}

void plain(benchmark::State& state, std::size_t size) {
  const std::span<const double> values = rows(size);
  for (auto _ : state) {
    double sum = plain_sum(values);
    benchmark::DoNotOptimize(sum);
  }
  count_rows(state, size);
}
BENCHMARK_CAPTURE(plain, 1MiB, mebibyte)->Name("sum/plain/1MiB")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plain, 1GiB, gibibyte)->Name("sum/plain/1GiB")->Unit(benchmark::kMillisecond);

void exact(benchmark::State& state, std::size_t size, InstructionSet kernel) {
  if (!snapdp::is_supported(kernel)) {
    state.SkipWithError("not supported on this machine");
    return;
  }
  const std::span<const double> values = rows(size);
  for (auto _ : state) {
    snapdp::ExactSum sum(0, 99);
    sum.add(values, kernel);
    benchmark::DoNotOptimize(sum);
  }
  count_rows(state, size);
}
void exact_best(benchmark::State& state, std::size_t size) {
  exact(state, size, snapdp::best_instruction_set());
}
BENCHMARK_CAPTURE(exact_best, 1GiB, gibibyte)->Name("sum/exact/1GiB")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(exact_best, 1MiB, mebibyte)->Name("sum/exact/1MiB")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(exact, avx2, mebibyte, InstructionSet::avx2)
    ->Name("sum/exact/1MiB/avx2")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(exact, portable, mebibyte, InstructionSet::portable)
    ->Name("sum/exact/1MiB/portable")
    ->Unit(benchmark::kMicrosecond);

// Every block has bits below the grids: the full-range path.
void exact_full_range(benchmark::State& state) {
  const std::span<const double> values = rows(mebibyte);
  for (auto _ : state) {
    snapdp::ExactSum sum(0, 1e300);
    sum.add(values);
    benchmark::DoNotOptimize(sum);
  }
  count_rows(state, mebibyte);
}
BENCHMARK(exact_full_range)->Name("sum/exact_full_range/1MiB")->Unit(benchmark::kMicrosecond);

void exact_moments(benchmark::State& state, std::size_t size) {
  const std::span<const double> values = rows(size);
  for (auto _ : state) {
    snapdp::ExactMoments moments(0, 99);
    moments.add(values);
    benchmark::DoNotOptimize(moments);
  }
  count_rows(state, size);
}
BENCHMARK_CAPTURE(exact_moments, 1MiB, mebibyte)->Name("moments/exact/1MiB")->Unit(benchmark::kMicrosecond);

void exact_products(benchmark::State& state) {
  const std::span<const double> values = rows(mebibyte);
  const std::vector<double> reversed(values.rbegin(), values.rend());
  for (auto _ : state) {
    snapdp::ExactProducts products(0, 99, 0, 99);
    products.add(values, reversed);
    benchmark::DoNotOptimize(products);
  }
  count_rows(state, mebibyte, 2);
}
BENCHMARK(exact_products)->Name("products/exact/1MiB")->Unit(benchmark::kMicrosecond);

template <typename Sum>
void integer(benchmark::State& state, std::int64_t upper) {
  const std::vector<std::int64_t> values = integers(mebibyte);
  for (auto _ : state) {
    Sum sum(0, upper);
    sum.add(values);
    benchmark::DoNotOptimize(sum);
  }
  count_rows(state, mebibyte);
}
void integer_sum(benchmark::State& state) {
  integer<snapdp::IntegerSum>(state, 99'000);
}
void integer_moments(benchmark::State& state, std::int64_t upper) {
  integer<snapdp::IntegerMoments>(state, upper);
}
BENCHMARK(integer_sum)->Name("integer_sum/1MiB")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(integer_moments, small, 99'000)
    ->Name("integer_moments/1MiB")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(integer_moments, large, INT64_MAX)
    ->Name("integer_moments/64-bit_bounds/1MiB")
    ->Unit(benchmark::kMicrosecond);

constexpr std::uint32_t group_count = 229;

std::vector<std::uint32_t> groups_of_rows() {
  std::vector<std::uint32_t> result;
  for (const double value : rows(mebibyte))
    result.push_back(static_cast<std::uint32_t>(value * 1e6) % group_count);
  return result;
}

void plain_groups(benchmark::State& state) {
  const std::span<const double> values = rows(mebibyte);
  const std::vector<std::uint32_t> group = groups_of_rows();
  std::vector<double> sums(group_count);
  for (auto _ : state) {
    for (std::size_t i = 0; i < values.size(); ++i) sums[group[i]] += values[i];
    benchmark::DoNotOptimize(sums.data());
    benchmark::ClobberMemory();
  }
  count_rows(state, mebibyte);
}
BENCHMARK(plain_groups)->Name("groups/plain/1MiB")->Unit(benchmark::kMicrosecond);

template <typename Sums, typename Rows>
void exact_groups(benchmark::State& state, Sums sums, const Rows& values) {
  const std::vector<std::uint32_t> group = groups_of_rows();
  for (auto _ : state) {
    sums.add(values, group.data());
    benchmark::DoNotOptimize(sums);
  }
  count_rows(state, mebibyte);
}
void integer_groups(benchmark::State& state, std::int64_t upper) {
  exact_groups(state, snapdp::numeric_internal::IntegerSums({0, upper}, group_count), integers(mebibyte));
}
void real_groups(benchmark::State& state) {
  exact_groups(state, snapdp::numeric_internal::ExactSums({0, 99}, group_count), rows(mebibyte));
}
BENCHMARK_CAPTURE(integer_groups, small, 99'000)->Name("groups/integer/1MiB")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(integer_groups, large, INT64_MAX)
    ->Name("groups/integer/64-bit_bounds/1MiB")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(real_groups)->Name("groups/exact/1MiB")->Unit(benchmark::kMicrosecond);

}  // namespace
