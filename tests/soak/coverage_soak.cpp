// How often what is stated of quantiles holds, and how much wider it is than the errors that occur: releases with real
// noise of five columns, by every kind of noise, over 211 edges. A statement must not fail more often than it says, but
// for chance.
//
// Usage: coverage_soak [--rounds N]        (2000 releases of each)
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "noisy.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/statistics/quantiles.h"

namespace snapdp {
namespace {

constexpr std::size_t rows = 10'000;
constexpr std::size_t leaves = 210;
constexpr double alpha = 0.05;

struct Cells {
  std::string name;
  std::vector<double> cells;  // sorted, in [0, 210]
};

std::vector<Cells> columns() {
  std::mt19937_64 engine(83);
  std::uniform_real_distribution<double> unit(0, 1);
  std::normal_distribution<double> normal;
  const auto column = [](const std::string& name, const auto& draw) {
    Cells result{name, {}};
    for (std::size_t i = 0; i < rows; ++i) result.cells.push_back(std::clamp(draw(), 0.0, 210.0));
    std::sort(result.cells.begin(), result.cells.end());
    return result;
  };
  return {column("uniform", [&] { return 210 * unit(engine); }),
          column("incomes", [&] { return 25 * std::exp(normal(engine)); }),
          column("two humps", [&] { return (unit(engine) < 0.5 ? 60 : 150) + 8 * normal(engine); }),
          column("heaps", [&] { return 30 * std::floor(7 * unit(engine)); }),
          column("a gap", [&] { return unit(engine) < 0.497 ? 5.5 : 200.5; })};
}

struct Noises {
  const char* name;
  NoiseOptions options;
  bool public_rows;
};

std::vector<Noises> noises() {
  NoiseOptions laplace{.epsilon = "0.3", .range = RangeChoice::none()};
  NoiseOptions geometric = laplace;
  geometric.noise = NoiseKind::geometric;
  NoiseOptions coarse = laplace;
  coarse.grid = GridChoice::notes();
  NoiseOptions precision = laplace;
  precision.noise = NoiseKind::notes;
  precision.range = RangeChoice::fixed(-Rational(rows), Rational(2 * rows));
  return {{"laplace", laplace, false},
          {"laplace, rows public", laplace, true},
          {"geometric", geometric, false},
          {"notes' grid", coarse, false},
          {"precision mode", precision, true}};
}

double percentile_95(std::vector<double> errors) {
  std::sort(errors.begin(), errors.end());
  return errors[errors.size() * 95 / 100];
}

// Whether no statement failed too often: of binomial misses P(misses >= alpha T + t) <= exp(-2 t^2 / T) (Hoeffding),
// here 1e-9.
bool run(const Cells& column, const Noises& noise, const Rational& q, int rounds) {
  std::vector<Dyadic> edges;
  for (std::size_t i = 0; i <= leaves; ++i) edges.emplace_back(static_cast<std::int64_t>(i));
  HierarchyLayout layout(edges, best_branching(leaves, noise.public_rows));
  VectorDomain domain = vector_domain<double>();
  Metric metric = symmetric_distance();
  if (noise.public_rows) {
    layout = layout.with_public_total(rows);
    domain = domain.of_size(rows);
    metric = change_one();
  }
  const Measurement measurement = make_hierarchy(domain, metric, layout) >> noise.options;
  const Noise& law = measurement.mechanism().noise();
  const double off = quantile_rank_error(layout, law, q, alpha);
  const double margin = quantile_margin(layout, law, q, alpha);
  const std::vector<Dyadic> exact = measurement.aggregation()(column.cells);
  const double target = q.get_d() * rows;
  const double truth = column.cells[static_cast<std::size_t>(std::ceil(target)) - 1];
  const auto below = [&](double x) {
    return static_cast<double>(std::lower_bound(column.cells.begin(), column.cells.end(), x) -
                               column.cells.begin());
  };
  int rank_misses = 0;
  int interval_misses = 0;
  double half = 0;
  std::vector<double> rank_errors;
  std::vector<double> errors;
  for (int i = 0; i < rounds; ++i) {
    const std::vector<Rational> counts = consistent_counts(layout, noisy(measurement, exact));
    const double value = quantile_from_hierarchy(layout, counts, q);
    const QuantileInterval interval = quantile_interval(layout, counts, q, margin);
    const double leaf = std::min(std::floor(value), static_cast<double>(leaves) - 1);
    const double upper =
        leaf + 1 >= static_cast<double>(leaves) ? static_cast<double>(rows) : below(leaf + 1);
    if (below(leaf) > target + off || upper < target - off) ++rank_misses;
    if (interval.lower > truth || interval.upper < truth) ++interval_misses;
    half += (interval.upper - interval.lower) / 2 / rounds;
    rank_errors.push_back(std::fabs(below(value) - target));
    errors.push_back(std::fabs(value - truth));
  }
  const double most = alpha * rounds + std::sqrt(rounds * std::log(1e9) / 2);
  const bool good = rank_misses < most && interval_misses < most;
  std::printf(
      "%-10s %-21s q %-5s rank error %6.1f, 95%% of errors %7.1f, missed %d; half interval %6.2f, 95%% "
      "%6.2f, missed %d%s\n",
      column.name.c_str(), noise.name, to_string(q).c_str(), off, percentile_95(rank_errors), rank_misses,
      half, percentile_95(errors), interval_misses, good ? "" : "  VIOLATED");
  std::fflush(stdout);
  return good;
}

}  // namespace
}  // namespace snapdp

int main(int argc, char** argv) {
  const bool given = argc == 3 && std::strcmp(argv[1], "--rounds") == 0;
  const int rounds = given ? std::atoi(argv[2]) : 2000;
  if (rounds < 1 || (argc != 1 && !given)) {
    std::fprintf(stderr, "usage: coverage_soak [--rounds N]\n");
    return 2;
  }
  bool good = true;
  for (const snapdp::Cells& column : snapdp::columns()) {
    for (const snapdp::Noises& noise : snapdp::noises()) {
      for (const snapdp::Rational& q : {snapdp::Rational(1, 2), snapdp::Rational(9, 10)})
        good = snapdp::run(column, noise, q, rounds) && good;
    }
  }
  return good ? 0 : 1;
}
