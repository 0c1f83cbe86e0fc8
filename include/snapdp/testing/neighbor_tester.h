// Searches for two neighboring inputs that a part tells farther apart than it claims. A proof says why a
// claim is true; this says, within a second, that it is false.
//
//   const Transformation mine = make_absolute(domain, change_one());
//   const std::optional<Counterexample> found = find_counterexample(mine);
//   if (found) std::cerr << found->description();
//
// Rows are made to break things: ends of the bounds and one ulp inside them, ties of the statistic's grid,
// cancellation (big, small, -big), 2^53 and its neighbors, zeros of both signs, subnormals, infinities, NaN
// and nulls where the domain has them, repeated rows, sizes around 0, 1 and block_rows, texts that are empty
// or look like numbers. The neighbor differs in at most d rows, its other rows are permuted (but not under
// the Hamming distance), its zeros change their signs and its NaN their bits, and what lies under a null is
// arbitrary: nothing of that is a distance.
//
// Checked for every pair: outputs lie in the output domain (a statistic on its grid and in its public range);
// they are no farther apart than the relation claims for the distance of the inputs, by its predicate and by
// each of its maps; no row of the domain makes the part throw; splitting rows into blocks changes nothing;
// for aggregations, neither do splitting, merging in any order, and a state's way through its byte form.
//
// The search depends on the options alone. That it finds nothing proves nothing. On a violation the pair is
// shrunk by our own greedy search, not by a property-testing library's: rows have to leave both datasets
// together, and the two must stay in the domain and within their distance, which shrinkers of independent
// values do not keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "snapdp/framework/aggregation.h"
#include "snapdp/framework/composition.h"
#include "snapdp/framework/measurement.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {

// Rows that own their cells; std::monostate is null.
using Cell = std::variant<std::monostate, double, std::int64_t, std::string>;
using DataRow = std::vector<Cell>;
using Dataset = std::vector<DataRow>;

// "1, 0.5, (2, null)"; at most 16 rows, then how many more.
std::string to_string(const Dataset& rows);

// The distance of two datasets by a dataset metric, cells compared as in proofs/README.md; nothing when it is
// infinite.
std::optional<Rational> dataset_distance(Metric metric, const Dataset& first, const Dataset& second);

struct NeighborTestOptions {
  std::uint64_t trials = 2000;
  std::uint64_t seed = 1;
  // Rows in which neighbors differ, taken in turn; equal inputs (distance 0) are always tried too.
  std::vector<std::uint64_t> distances = {1, 2, 3, 5};
  // Cells worth trying besides the built-in ones: edges, categories, keys of the part.
  std::vector<double> reals = {};
  std::vector<std::int64_t> integers = {};
  std::vector<std::string> texts = {};
};

enum class BrokenRule {
  stability,      // outputs are farther apart than claimed
  relation,       // a map of the relation and its predicate contradict each other
  output_domain,  // an output is not in the output domain
  error,          // rows of the input domain make the part throw
  split,          // the result depends on how rows are split, ordered or merged
  byte_form,      // a state does not survive its byte form
  loss,           // the claimed privacy loss is less than the distance of the statistics costs
};

std::string to_string(BrokenRule rule);

// Two inputs that break a rule, after shrinking: the second one is a neighbor of the first.
struct Counterexample {
  std::string part;
  BrokenRule rule = BrokenRule::stability;
  std::string explanation;
  // The inputs of a part on rows, and in words of any part.
  Dataset first_rows;
  Dataset second_rows;
  std::string first;
  std::string second;
  std::string first_output;
  std::string second_output;
  Rational d_in;                     // the distance of the inputs
  std::optional<Rational> distance;  // that of the outputs; nothing when it is infinite or not what is broken
  std::optional<Rational> claimed;   // at most this was claimed, if the claim is what is broken

  // All of it, in several lines. The inputs are generated: no private rows are shown.
  std::string description() const;
};

// Nothing when no trial breaks a rule. Throws invalid_argument for a public size above 2^16 rows (build the
// part for a smaller one: it is the same part) or when there is nothing to try (no trials, no distances).
std::optional<Counterexample> find_counterexample(const Transformation& part,
                                                  const NeighborTestOptions& options = {});
std::optional<Counterexample> find_counterexample(const Aggregation& part,
                                                  const NeighborTestOptions& options = {});
// The aggregation, also at the measurement's own distance of neighbors; and the loss: noise of scale s on
// statistics D apart loses D / s, which loss(d_in) must cover.
std::optional<Counterexample> find_counterexample(const Measurement& part,
                                                  const NeighborTestOptions& options = {});
// The total loss alone: the losses D / s of all measurements inside, added up. Test these by themselves too.
std::optional<Counterexample> find_counterexample(const Composition& part,
                                                  const NeighborTestOptions& options = {});

}  // namespace snapdp
