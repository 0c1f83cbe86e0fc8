// The neighbor test of every public constructor: parts of all kinds it can build, which neighbor_parts_test.cpp hands
// to the neighbor tester. A new constructor needs a line here (and its proof); a test fails until it has one.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp {

class NeighborParts {
 public:
  using Search = std::function<std::optional<Counterexample>()>;

  // Few trials a part, as there are hundreds of parts; most planted faults are found within ten.
  static constexpr std::uint64_t trials = 200;

  // `options` names cells that matter to the part: edges, categories, keys.
  template <typename Part>
  void add(const std::string& constructor, const Part& part,
           const NeighborTestOptions& options = {.trials = trials}) {
    searches_[constructor].push_back([part, options] { return find_counterexample(part, options); });
  }
  // A constructor of another form than the tester takes: the file, under tests/, of a neighbor test of its own.
  void add_alone(const std::string& constructor, const std::string& file) { alone_[constructor] = file; }

  const std::map<std::string, std::vector<Search>>& searches() const { return searches_; }
  const std::map<std::string, std::string>& alone() const { return alone_; }

 private:
  std::map<std::string, std::vector<Search>> searches_;
  std::map<std::string, std::string> alone_;
};

inline AtomDomain real_in(const Bounds& bounds) {
  return {AtomType::real, false, false, bounds};
}
inline AtomDomain integer_in(const Bounds& bounds) {
  return {AtomType::integer, false, false, bounds};
}
inline constexpr Metric dataset_metrics[] = {Metric::symmetric_distance, Metric::change_one, Metric::hamming};
inline constexpr Metric size_metrics[] = {Metric::change_one, Metric::hamming};

// Columns to sum: ordinary, asymmetric, far from 0, wide, tiny, huge, constant; and integers up to their limits.
inline std::vector<AtomDomain> bounded_columns() {
  const Dyadic low(std::numeric_limits<std::int64_t>::min());
  const Dyadic high(std::numeric_limits<std::int64_t>::max());
  return {real_in(Bounds(0, 1)),
          real_in(Bounds(Dyadic(-0.1), Dyadic(0.3))),
          real_in(Bounds(-3, 1)),
          real_in(Bounds(0, Dyadic(0x1p53))),
          real_in(Bounds(Dyadic(0x1p50), Dyadic(0x1p50 + 1))),
          real_in(Bounds(Dyadic(-1e-310), Dyadic(2e-310))),
          real_in(Bounds(Dyadic(-1e150), Dyadic(1e150))),
          real_in(Bounds(Dyadic(0.1), Dyadic(0.1))),
          integer_in(Bounds(0, 1)),
          integer_in(Bounds(-7, 3)),
          integer_in(Bounds(low, high)),
          integer_in(Bounds(high, high))};
}

inline void add_transformations(NeighborParts& parts) {
  const Dyadic low(std::numeric_limits<std::int64_t>::min());
  const Dyadic high(std::numeric_limits<std::int64_t>::max());
  const VectorDomain anything = untrusted_domain({AtomType::real, AtomType::integer});
  for (const Metric metric : dataset_metrics) {
    for (const Bounds& bounds : {Bounds(0, 5), Bounds(Dyadic(-0.1), Dyadic(1)), Bounds(0, 0)}) {
      parts.add("make_clamp", make_clamp(vector_domain<double>(), metric, bounds));
    }
    parts.add("make_clamp", make_clamp(vector_domain<double>().of_size(4), metric, Bounds(-1, 1)));
    parts.add("make_clamp", make_clamp(vector_domain<std::int64_t>(), metric, Bounds(-1, 10)));
    parts.add("make_clamp", make_clamp(vector_domain<std::int64_t>(), metric, Bounds(low, high)));
    parts.add("make_clamp",
              make_clamp(vector_domain<double, std::int64_t>(), metric, {Bounds(0, 1), Bounds(0, 1)}));
    for (const long exponent : {-30L, 0L, 2L}) {
      const VectorDomain bounded({real_in(Bounds(Dyadic(-0.1), Dyadic(5)))});
      parts.add("make_grid_rows", make_grid_rows(bounded, metric, {Grid(exponent)}));
      parts.add("make_grid_rows", make_grid_rows(bounded.of_size(4), metric, {Grid(exponent)}));
    }
    parts.add("make_impute", make_impute(anything, metric, {Dyadic(0.5), Dyadic(7)}));
    parts.add("make_impute", make_impute(untrusted_domain({AtomType::real}).of_size(3), metric, {Dyadic(0)}));
    for (const CastFailure failure : {CastFailure::null, CastFailure::nearest}) {
      parts.add("make_cast", make_cast(anything, metric, {AtomType::integer, AtomType::real}, failure));
    }
    parts.add("make_bin", make_bin(untrusted_domain({AtomType::real}), metric,
                                   Bins::edges({Dyadic(0), Dyadic(1), Dyadic(2)})));
    parts.add("make_bin",
              make_bin(untrusted_domain({AtomType::text}), metric, Bins::texts({"a", "b"}).with_other()));
    parts.add("make_parse", make_parse(untrusted_domain({AtomType::text}), metric, {AtomType::real}));
    parts.add("make_parse", make_parse(untrusted_domain({AtomType::text}), metric, {AtomType::integer}));
    parts.add("make_parse", make_parse(untrusted_domain({AtomType::real, AtomType::text}), metric,
                                       {AtomType::real, AtomType::integer}));
    parts.add("make_project", make_project(untrusted_domain({AtomType::text, AtomType::real}), metric, 1));
    parts.add("make_project", make_project(anything.of_size(3), metric, 2));
    const AtomDomain root{AtomType::real, true, false, Bounds(0, 4)};
    parts.add("make_map", make_map(
                              untrusted_domain({AtomType::real}), metric, root,
                              [](double x) { return std::sqrt(x); }, "square root", Trusted{}));
  }
  for (const VectorDomain& domain :
       {anything, untrusted_domain({AtomType::real}), untrusted_domain({AtomType::integer}),
        anything.of_size(5), untrusted_domain({AtomType::text, AtomType::real})}) {
    parts.add("make_drop", make_drop(domain, symmetric_distance()));
  }
  const Predicate adult = Predicate::compare(1, AtomType::integer, Comparison::at_least, 18);
  const Predicate half = Predicate::one_of(0, AtomType::real, {Rational(1, 2), Rational(0)});
  for (const Predicate& predicate : {adult, !half, adult && !half, adult || half}) {
    parts.add("make_select", make_select(anything, symmetric_distance(), predicate),
              {.trials = NeighborParts::trials, .integers = {17, 18, 19}});
  }
  parts.add("make_select",
            make_select(untrusted_domain({AtomType::text, AtomType::real}), symmetric_distance(),
                        Predicate::compare(0, Comparison::not_equal, "a")));
}

inline void add_statistics(NeighborParts& parts) {
  for (const AtomDomain& column : bounded_columns()) {
    const VectorDomain rows({column});
    const VectorDomain pairs({column, column});
    parts.add("make_count", make_count(rows, symmetric_distance()));
    parts.add("make_sum", make_sum(rows, symmetric_distance()));
    parts.add("make_sum", make_sum(rows.of_size(4), symmetric_distance()));
    parts.add("make_centered_sum", make_centered_sum(rows, symmetric_distance()));
    for (const int k : {1, 2}) {
      parts.add("make_centered_moment", make_centered_moment(rows, symmetric_distance(), k));
    }
    parts.add("make_centered_product", make_centered_product(pairs, symmetric_distance()));
    for (const Metric metric : size_metrics) {
      for (const std::uint64_t n : {2U, 3U, 8U}) {
        parts.add("make_sum", make_sum(rows.of_size(n), metric));
        parts.add("make_mean", make_mean(rows.of_size(n), metric));
        parts.add("make_variance", make_variance(rows.of_size(n), metric));
        parts.add("make_covariance", make_covariance(pairs.of_size(n), metric));
        parts.add("make_moment", make_moment(rows.of_size(n), metric, n == 8 ? 1 : 2));
      }
      parts.add("make_count", make_count(rows.of_size(3), metric));
      parts.add("make_mean", make_mean(rows.of_size(1), metric));
    }
  }
  for (const int k : {3, 4}) {
    for (const AtomDomain& column : {real_in(Bounds(-3, 1)), integer_in(Bounds(-7, 3))}) {
      parts.add("make_centered_moment",
                make_centered_moment(VectorDomain({column}), symmetric_distance(), k));
      parts.add("make_moment", make_moment(VectorDomain({column}).of_size(3), change_one(), k));
    }
  }
  parts.add("make_count", make_count(VectorDomain(std::vector<AtomDomain>{}), symmetric_distance()));
  parts.add("make_sum", make_sum(VectorDomain({real_in(Bounds(0, 1))}).of_size(block_rows + 1), change_one()),
            {.trials = 30});
}

inline void add_histograms(NeighborParts& parts) {
  const VectorDomain reals = untrusted_domain({AtomType::real});
  const VectorDomain integers = untrusted_domain({AtomType::integer});
  const VectorDomain texts = untrusted_domain({AtomType::text});
  const Bins numbers = Bins::numbers({3, 1, 0});
  const Bins edges = Bins::edges({0, Dyadic(0.5), 3});
  const Bins names = Bins::texts({"a", "b", ""});
  const auto every_metric = [&](const VectorDomain& domain, const Bins& bins) {
    parts.add("make_distinct_count", make_distinct_count(domain, symmetric_distance(), bins));
    for (const Bins& each : {bins, bins.with_other()}) {
      parts.add("make_histogram", make_histogram(domain, symmetric_distance(), each));
      for (const Metric metric : size_metrics) {
        parts.add("make_histogram", make_histogram(domain.of_size(4), metric, each));
      }
    }
    for (const Metric metric : size_metrics) {
      parts.add("make_distinct_count", make_distinct_count(domain, metric, bins));
    }
  };
  every_metric(reals, numbers);
  every_metric(reals, edges);
  every_metric(integers, numbers);
  every_metric(integers, edges);
  every_metric(texts, names);
  every_metric(reals, Bins::numbers({1}));  // one bin, with and without another
  every_metric(integers, Bins::edges({0, 2}));
  every_metric(texts, Bins::texts({"a"}));

  const auto sum = [](const VectorDomain& rest, Metric metric) {
    const Transformation complete = make_drop(rest, metric);
    return complete >> make_clamp(complete.output_domain(), metric, Bounds(-1, 5)) >> make_sum();
  };
  const VectorDomain keyed = untrusted_domain({AtomType::text, AtomType::real});
  for (const Bins& keys : {names, names.with_other()}) {
    const Aggregation sums = make_grouped(keyed, symmetric_distance(), keys, sum);
    parts.add("make_grouped", sums, {.trials = NeighborParts::trials, .texts = {"a", "b"}});
    parts.add("make_grouped", make_grouped(keyed, symmetric_distance(), keys, make_histogram(edges)),
              {.trials = NeighborParts::trials, .texts = {"a", "b"}});
    parts.add("make_snapping", sums >> make_snapping({.epsilon = "1/2"}),
              {.trials = NeighborParts::trials, .texts = {"a", "b"}});
  }
  parts.add("make_grouped",
            make_grouped(untrusted_domain({AtomType::real}), symmetric_distance(), edges, make_count()));
}

inline void add_hierarchies(NeighborParts& parts) {
  parts.add("make_hierarchy",
            make_hierarchy(vector_domain<double>(), symmetric_distance(), HierarchyLayout({0, 1}, 2)));
  for (const HierarchyLayout& layout :
       {HierarchyLayout({0, 1, 2, 3, 10}, 2), HierarchyLayout({-1, 0, 1, 5}, 3)}) {
    for (const VectorDomain& domain : {vector_domain<double>(), vector_domain<std::int64_t>()}) {
      parts.add("make_hierarchy", make_hierarchy(domain, symmetric_distance(), layout));
      for (const Metric metric : size_metrics) {
        parts.add("make_hierarchy", make_hierarchy(domain.of_size(4), metric, layout));
      }
    }
  }
}

inline void add_measurements(NeighborParts& parts) {
  NoiseOptions unit{.epsilon = "1/3"};
  unit.distance = 4;
  NoiseOptions geometric{.epsilon = "1/3"};
  geometric.noise = NoiseKind::geometric;
  NoiseOptions precise{.epsilon = 4};
  precise.noise = NoiseKind::notes;
  const VectorDomain rows({integer_in(Bounds(-7, 3))});
  const VectorDomain reals({real_in(Bounds(Dyadic(-0.1), Dyadic(0.3)))});
  for (const NoiseOptions& noise : {NoiseOptions{.epsilon = "1/3"}, unit, geometric}) {
    parts.add("make_snapping", make_sum(rows, symmetric_distance()) >> make_snapping(noise));
    parts.add("make_snapping", make_count(rows, symmetric_distance()) >> make_snapping(noise));
  }
  for (const NoiseOptions& noise : {NoiseOptions{.epsilon = "1/3"}, unit, precise}) {
    parts.add("make_snapping", make_mean(reals.of_size(5), change_one()) >> make_snapping(noise));
    parts.add("make_snapping", make_variance(reals.of_size(6), hamming()) >> make_snapping(noise));
  }
  const Aggregation counts =
      make_histogram(untrusted_domain({AtomType::real}).of_size(20), change_one(), Bins::numbers({0, 1, 2}));
  parts.add("make_snapping", counts >> make_snapping(precise));
  parts.add("make_snapping", counts >> make_snapping(geometric));
  NoiseOptions gaussian;
  gaussian.noise = NoiseKind::gaussian;
  gaussian.rho = Rational(1, 8);
  parts.add("make_snapping", counts >> make_snapping(gaussian));
  const VectorDomain cells = untrusted_domain({AtomType::real});
  const Bins bins = Bins::numbers({0, 1, 2});
  for (const Metric by_size : size_metrics)
    parts.add("make_snapping", make_histogram(cells.of_size(5), by_size, bins) >> make_snapping(gaussian));
  const NoiseOptions priced{
      .epsilon = 1, .delta = Rational(1, 1000), .noise = NoiseKind::gaussian, .distance = 3};
  parts.add("make_snapping", make_histogram(cells, symmetric_distance(), bins) >> make_snapping(priced));
}

inline void add_choices(NeighborParts& parts) {
  const VectorDomain reals = untrusted_domain({AtomType::real});
  const Bins bins = Bins::numbers({0, 1, 2});
  parts.add("make_top", make_histogram(reals, symmetric_distance(), bins) >> make_top({.epsilon = "1/3"}));
  parts.add("make_top", make_histogram(reals, symmetric_distance(), bins) >>
                            make_top({.epsilon = 1, .count = 2, .distance = 3}));
  for (const Metric by_size : size_metrics) {
    parts.add("make_top",
              make_histogram(reals.of_size(5), by_size, bins) >> make_top({.epsilon = 1, .count = 3}));
  }
}

inline void add_compositions(NeighborParts& parts) {
  const VectorDomain rows({integer_in(Bounds(-7, 3))});
  const Metric metric = symmetric_distance();
  const Measurement sum = make_sum(rows, metric) >> make_snapping({.epsilon = "1/4"});
  const Measurement count = make_count(rows, metric) >> make_snapping({.epsilon = "1/8"});
  const Composition both = make_sequential({sum, count});
  const Predicate negative = Predicate::compare(0, AtomType::integer, Comparison::less, 0);
  const Predicate large = Predicate::compare(0, AtomType::integer, Comparison::greater, 1);
  const Composition split = make_parallel(rows, metric, {{negative, both}, {!large, count}, {large, sum}});
  parts.add("make_sequential", both);
  parts.add("make_sequential", make_sequential({split, sum, split}));
  parts.add("make_parallel", split);
  parts.add("make_parallel", make_parallel(rows, metric, {{large, split}, {!negative, both}}));
  parts.add(
      "make_postprocessing",
      make_postprocessing(
          split, [](const std::vector<Dyadic>&) { return std::vector<Dyadic>{0}; }, "nothing", Trusted{}));
  const VectorDomain four = rows.of_size(4);
  for (const Metric by_size : size_metrics) {
    const Measurement mean = make_mean(four, by_size) >> make_snapping({.epsilon = "1/4"});
    parts.add("make_sequential",
              make_sequential({mean, make_variance(four, by_size) >> make_snapping({.epsilon = 1})}));
  }
}

inline NeighborParts all_neighbor_parts() {
  NeighborParts parts;
  add_transformations(parts);
  parts.add_alone("make_unit_limit", "framework/unit_limit_test.cpp");  // of whole datasets, not of blocks
  parts.add_alone("make_on_table", "statistics/on_table_test.cpp");     // of tables
  add_statistics(parts);
  add_histograms(parts);
  add_hierarchies(parts);
  add_measurements(parts);
  add_choices(parts);
  add_compositions(parts);
  return parts;
}

}  // namespace snapdp
