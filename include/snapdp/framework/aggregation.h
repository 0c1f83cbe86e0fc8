// Aggregations: transformations whose function is a fold over a commutative monoid. One definition serves
// every engine: start() gives the empty state, update() folds a chunk in, merge() joins two states, finish()
// gives the exact statistic. Any split, order or number of threads ends in the same bits.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/transformation.h"

namespace snapdp {

namespace framework_internal {
class KeyIndex;
class RowLanguage;
}  // namespace framework_internal

// What a fold has seen, in canonical form: equal multisets of rows give equal totals.
struct Totals {
  std::uint64_t rows = 0;
  std::vector<Dyadic> values;
  friend bool operator==(const Totals&, const Totals&) = default;
};

// No fold counts more rows than this, wherever they come from: exact sums have room for as many.
inline constexpr std::uint64_t most_rows = std::uint64_t{1} << 63;
// `rows` + `more`, for states; throws bad_data beyond most_rows.
std::uint64_t add_rows(std::uint64_t rows, std::uint64_t more);

// A fold's accumulator. Not shared between threads; merge after.
class FoldState {
 public:
  virtual ~FoldState() = default;
  // At most block_rows rows of the fold's input domain.
  virtual void update(const Chunk& block) = 0;
  // `other` comes from the same fold.
  virtual void merge(const FoldState& other) = 0;
  virtual Totals totals() const = 0;
};

class Fold {
 public:
  virtual ~Fold() = default;
  virtual std::unique_ptr<FoldState> start() const = 0;
  // The state with these totals. They are untrusted: totals that no multiset of rows has are refused
  // (bad_data) as far as can be told, for example a sum outside rows * bounds.
  virtual std::unique_ptr<FoldState> restore(const Totals& totals) const = 0;
  // The fold with all its parameters, for example "sum of reals in [0, 100]". Equal descriptions mean equal
  // folds.
  virtual std::string description() const = 0;
  // The fold in another language (row_language.h), for engines; one that does not say so is unknown there.
  virtual void tell(framework_internal::RowLanguage& language) const;
};

// The exact statistic of some totals: `dimension` multiples of the output domain's grid.
using Finish = std::function<std::vector<Dyadic>(const Totals&)>;

// A state together with the identity of the aggregation it belongs to.
class AggregateState {
 public:
  AggregateState(std::shared_ptr<const std::string> identity, std::unique_ptr<FoldState> fold)
      : identity_(std::move(identity)), fold_(std::move(fold)) {}
  const std::string& identity() const { return *identity_; }
  Totals totals() const { return fold_->totals(); }
  // For folds that gather more than their totals tell.
  const FoldState& fold() const { return *fold_; }

 private:
  friend class Aggregation;
  std::shared_ptr<const std::string> identity_;
  std::unique_ptr<FoldState> fold_;
};

class Aggregation {
 public:
  // `inner` are the steps of an aggregation that this one is built of, for explanations.
  Aggregation(Signature<VectorDomain, StatisticDomain> signature, std::shared_ptr<const Fold> fold,
              Finish finish, const std::vector<ChainStep>& inner = {});

  const VectorDomain& input_domain() const { return signature_.input_domain; }
  const StatisticDomain& output_domain() const { return signature_.output_domain; }
  Metric input_metric() const { return signature_.input_metric; }
  Metric output_metric() const { return signature_.output_metric; }
  const Relation& stability() const { return signature_.relation; }
  // The least distance of two statistics that is proved for inputs at distance d_in.
  Rational sensitivity(const Rational& d_in = 1) const;
  // The square of their Euclidean (L2) distance, likewise: that of sensitivity(), unless with_l2() says less.
  Rational squared_sensitivity(const Rational& d_in = 1) const;
  // For parts that are built of aggregations: the row functions in order, and the fold behind them.
  const std::vector<std::shared_ptr<const RowFunction>>& functions() const { return functions_; }
  const Fold& fold() const { return *fold_; }
  // The exact statistic of a fold's totals, whatever the number of rows.
  std::vector<Dyadic> finish(const Totals& totals) const { return finish_(totals); }
  // What each part of the chain does, in order.
  const std::vector<ChainStep>& steps() const { return steps_; }
  // The same aggregation, whose statistic is told as "`statistic`, from the sum of ..." in steps().
  Aggregation told_as(const std::string& statistic) &&;
  // The same aggregation, whose values and releases are clamped to this public range, or to none.
  Aggregation with_range(const std::optional<Bounds>& range) &&;
  // The same aggregation, of which no two statistics of inputs at distance d are farther apart in L2 than
  // sqrt(squared) d: what a vector promises beyond its L1 distance. As with relations, its author proves it.
  Aggregation with_l2(const Rational& squared) &&;
  // The whole chain in words, which is also the identity that states are checked against.
  const std::string& description() const { return *identity_; }

  AggregateState start() const;
  // Any number of rows. They must be in the input domain (see VectorDomain::contains); readers of untrusted
  // data start their chains at an untrusted domain, of which everything is a member.
  void update(AggregateState& state, const Chunk& rows) const;
  // For a grouped aggregation of rows as they come, the index of its keys (see keyed_fold.h), else null. An
  // engine that has one key for many rows, as in a dictionary, finds its place once.
  const framework_internal::KeyIndex* key_index() const;
  // update() for rows whose first cell key_index() has found at places[i]; `rest` are the other columns.
  void update_placed(AggregateState& state, const std::uint32_t* places, const Chunk& rest) const;
  // Throws a mismatch error for states of different aggregations (other bounds, another column type ...).
  void merge(AggregateState& into, const AggregateState& from) const;
  // The exact statistic. When the input domain has a public size, another number of rows is a bad_data error
  // that names the declared size only.
  std::vector<Dyadic> finish(const AggregateState& state) const;
  // start, update, finish.
  std::vector<Dyadic> operator()(const Chunk& rows) const;

  // The versioned byte form of a state: magic "SNDPAGG", version, identity, totals, SHA-256. restore() treats
  // it as untrusted: a truncated, altered or foreign form, or one of another aggregation, is refused
  // (bad_data or mismatch). Equal states have equal bytes.
  std::string to_bytes(const AggregateState& state) const;
  AggregateState from_bytes(std::string_view bytes) const;
  // The state with these totals, which are untrusted: see Fold::restore().
  AggregateState restored(const Totals& totals) const;

  // The aggregation of the rows that `first` gives.
  friend Aggregation operator>>(const Transformation& first, const Aggregation& second);

 private:
  void check(const AggregateState& state) const;
  // That these are the columns of the input domain from `first` on.
  void check_columns(const Chunk& rows, std::size_t first) const;

  Signature<VectorDomain, StatisticDomain> signature_;
  std::vector<std::shared_ptr<const RowFunction>> functions_;
  std::shared_ptr<const Fold> fold_;
  Finish finish_;
  std::vector<ChainStep> steps_;
  std::shared_ptr<const std::string> identity_;
  // The square of a proved L2 distance from the distance of the inputs; empty where only L1 is known.
  std::function<Rational(const Rational& d_in)> squared_l2_;
};

Aggregation operator>>(const Transformation& first, const Aggregation& second);

inline Aggregation operator>>(const Transformation& first, const Partial<Aggregation>& second) {
  return first >> second(first.output_domain(), first.output_metric());
}

}  // namespace snapdp
