// Byte forms of aggregation states. The first byte names the aggregation, the second how the rest is read: as bytes of
// a file, as what follows the identity (a hostile author knows the checksum), or as totals.
#include <openssl/evp.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "framework/state_bytes.h"
#include "fuzz/fuzz.h"
#include "snapdp/framework/aggregation.h"
#include "snapdp/statistics/quantiles.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

using namespace framework_internal;

namespace {

AtomDomain real_in(const Bounds& bounds) {
  return {AtomType::real, false, false, bounds};
}
AtomDomain integer_in(const Bounds& bounds) {
  return {AtomType::integer, false, false, bounds};
}

// Every kind of fold, with private and with public sizes.
std::vector<Aggregation> all_aggregations() {
  const Dyadic low(std::numeric_limits<std::int64_t>::min());
  const Dyadic high(std::numeric_limits<std::int64_t>::max());
  const Metric any = symmetric_distance();
  std::vector<Aggregation> all{make_count(VectorDomain(std::vector<AtomDomain>{}), any)};
  for (const AtomDomain& column : {real_in(Bounds(0, 1)), real_in(Bounds(Dyadic(-1e-310), Dyadic(1e70))),
                                   integer_in(Bounds(-7, 3)), integer_in(Bounds(low, high))}) {
    const VectorDomain rows({column});
    const VectorDomain pairs({column, column});
    all.push_back(make_sum(rows, any));
    all.push_back(make_centered_sum(rows, any));
    for (const int k : {2, 3, 4}) all.push_back(make_centered_moment(rows, any, k));
    all.push_back(make_centered_product(pairs, any));
    all.push_back(make_mean(rows.of_size(3), change_one()));
    all.push_back(make_variance(rows.of_size(3), change_one()));
    all.push_back(make_covariance(pairs.of_size(3), change_one()));
    for (const int k : {1, 2, 3, 4}) all.push_back(make_moment(rows.of_size(3), change_one(), k));
  }
  const VectorDomain reals = untrusted_domain({AtomType::real});
  const VectorDomain texts = untrusted_domain({AtomType::text});
  const Bins edges = Bins::edges({0, Dyadic(0.5), 3});
  const Bins names = Bins::texts({"a", "b", ""});
  all.push_back(make_histogram(reals, any, edges));
  all.push_back(make_histogram(texts.of_size(3), change_one(), names.with_other()));
  all.push_back(make_distinct_count(texts, any, names));
  all.push_back(make_distinct_count(reals, any, Bins::numbers({3, 1, 0})));
  all.push_back(make_hierarchy(vector_domain<double>(), any, HierarchyLayout({0, 1, 2, 3, 10}, 2)));
  all.push_back(make_hierarchy(vector_domain<std::int64_t>().of_size(4), change_one(),
                               HierarchyLayout({-1, 0, 1, 5}, 3)));
  const auto sum = [&](const VectorDomain& rest, Metric metric) {
    const Transformation complete = make_drop(rest, metric);
    return complete >> make_clamp(complete.output_domain(), metric, Bounds(-1, 5)) >> make_sum();
  };
  const VectorDomain keyed = untrusted_domain({AtomType::text, AtomType::real});
  all.push_back(make_grouped(keyed, any, names, sum));
  all.push_back(make_grouped(keyed, any, names.with_other(), make_histogram(edges)));
  return all;
}

std::string sealed(std::string body) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  EVP_Digest(body.data(), body.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return body.append(digest.begin(), digest.begin() + length);
}

// Small numbers, mostly, as totals of few rows are.
Totals totals_from(fuzz::Input& input) {
  Totals totals;
  const auto shift = input.value<std::uint8_t>();
  totals.rows = shift < 64 ? std::uint64_t{1} << shift : shift - 64U;
  if (shift >= 192) totals.rows = input.value<std::uint64_t>();
  while (!input.empty() && totals.values.size() < 32) {
    const auto form = input.value<std::uint8_t>();
    Integer mantissa(static_cast<long>(input.value<std::int8_t>()));
    if (form % 4 == 1) mantissa = Integer(static_cast<long>(input.value<std::int64_t>()));
    if (form % 4 == 2) mantissa <<= input.value<std::uint8_t>() * 16;
    const long exponent = form < 128 ? 0 : input.value<std::int16_t>() % 4400;
    totals.values.emplace_back(mantissa, exponent);
  }
  return totals;
}

// A state that was accepted is worth what any other is: it merges, finishes and survives its byte form.
void check_state(const Aggregation& aggregation, const AggregateState& state) {
  const std::string bytes = aggregation.to_bytes(state);
  const Totals totals = state.totals();
  const AggregateState again = aggregation.from_bytes(bytes);
  SNAPDP_FUZZ_CHECK(again.totals() == totals && aggregation.to_bytes(again) == bytes);

  AggregateState from_empty = aggregation.start();
  aggregation.merge(from_empty, state);
  SNAPDP_FUZZ_CHECK(aggregation.to_bytes(from_empty) == bytes);

  fuzz::refuses([&] {
    AggregateState twice = aggregation.from_bytes(bytes);
    aggregation.merge(twice, state);
    const Totals doubled = twice.totals();
    SNAPDP_FUZZ_CHECK(Integer(doubled.rows) == 2 * Integer(totals.rows));
    SNAPDP_FUZZ_CHECK(doubled.values.size() == totals.values.size());
    SNAPDP_FUZZ_CHECK(aggregation.from_bytes(aggregation.to_bytes(twice)).totals() == doubled);
  });
}

void check_statistic(const Aggregation& aggregation, const AggregateState& state) {
  std::vector<Dyadic> statistic;
  if (fuzz::refuses([&] { statistic = aggregation.finish(state); })) return;
  const StatisticDomain& domain = aggregation.output_domain();
  SNAPDP_FUZZ_CHECK(statistic.size() == domain.dimension);
  for (const Dyadic& value : statistic) {
    SNAPDP_FUZZ_CHECK(domain.grid.round(value) == value);
    SNAPDP_FUZZ_CHECK(!domain.integer || value.is_integer());
    if (!domain.range) continue;
    SNAPDP_FUZZ_CHECK(domain.grid.round(domain.range->lower()) <= value);
    SNAPDP_FUZZ_CHECK(value <= domain.grid.round(domain.range->upper()));
  }
}

void run(fuzz::Input input) {
  static const std::vector<Aggregation> aggregations = all_aggregations();
  const Aggregation& aggregation = aggregations[input.below(aggregations.size())];
  const std::size_t form = input.below(3);
  std::string bytes;
  if (form == 0) {
    bytes = input.rest();
  } else if (form == 1) {
    const std::string empty = aggregation.to_bytes(aggregation.start());
    const std::size_t head = 16 + aggregation.description().size();
    bytes = sealed(empty.substr(0, head) + std::string(input.rest()));
  } else {
    bytes = write_state(aggregation.description(), totals_from(input));
  }
  fuzz::refuses([&] {
    const AggregateState state = aggregation.from_bytes(bytes);
    SNAPDP_FUZZ_CHECK(aggregation.to_bytes(state) == bytes);
    check_state(aggregation, state);
    check_statistic(aggregation, state);
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
