// Compositions: several measurements as one release, whose total loss is known before it runs.
//
//   auto mean = ... >> make_mean() >> make_snapping({.epsilon = "1/4"});  // on the same domain and metric
//   auto counts = ... >> make_histogram(bins) >> make_snapping({.epsilon = "1/8"});
//   Composition both = make_sequential({mean, counts});
//   both.loss();                                    // the sum, at most 3/8
//   Release r = both.release(rows, accountant);     // one debit of the whole, then all the noise
//
// Compositions nest: the parts of one are measurements or compositions. On a table each part names its
// columns:
//
//   Composition all = make_on_table({}, {{{"age"}, mean}, {{"age"}, counts}});
//   Release r = all.release(*open_duckdb_source({.path = "people.csv"}), accountant);
//
// examples/table.cpp protects whole people this way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "snapdp/framework/measurement.h"
#include "snapdp/framework/source.h"

namespace snapdp {

// A measurement inside a composition and its exact statistic of some rows.
struct ExactPart {
  const Measurement* measurement = nullptr;  // lives as long as the composition
  std::vector<Dyadic> statistic;
};

class Composition {
 public:
  Composition(const Measurement& measurement);  // NOLINT: parts are written in place

  const VectorDomain& input_domain() const;
  Metric input_metric() const;
  // In what privacy() counts: pure, or zcdp as soon as one part has Gaussian noise.
  PrivacyMeasure measure() const;
  // holds(d_in, epsilon): inputs at distance d_in are told apart with loss at most epsilon; or with that rho.
  const Relation& privacy() const;
  // The distance of neighboring datasets: that of every measurement inside.
  const Rational& distance() const;
  // The total loss at distance d_in, exact.
  Rational loss(const Rational& d_in = 1) const { return privacy().forward(d_in); }
  // What a release debits: the parts' prices together, or the largest of parts on rows of their own, as
  // privacy() holds for that at distance(); otherwise loss(distance()). See Measurement::price.
  const PrivacyLoss& price() const;
  const std::string& description() const;

  // Folds the rows for every measurement, debits price() at once, then draws. The values are those of the
  // parts one after the other. Throws what Measurement::release throws. When it throws before the debit,
  // nothing is spent; afterwards all of it is, and stays.
  Release release(const Chunk& rows, BudgetAccountant& accountant) const;
  // The same of a table, for what make_on_table gave: its source folds. Throws besides what Source::fold
  // throws, and bad_data naming "rows" when their number is public and another one. Nothing that depends on
  // rows is in a message.
  Release release(Source& table, BudgetAccountant& accountant, const Progress& progress = {}) const;
  // The exact statistics of every measurement inside, from left to right. They are not private: for tests of
  // the claim.
  std::vector<ExactPart> exact(const Chunk& rows) const;
  std::vector<ExactPart> exact(Source& table, const Progress& progress = {}) const;

  class Node;

 private:
  explicit Composition(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  // The one place where noise is drawn on statistics: whatever can fail is tried, the price is debited, and
  // then the noise is drawn.
  Release pay_and_draw(std::vector<ExactPart> parts, BudgetAccountant& accountant) const;
  friend Composition make_sequential(const std::vector<Composition>& parts);
  friend Composition make_parallel(const VectorDomain& domain, Metric metric,
                                   const std::vector<struct ParallelPart>& parts);
  friend Composition make_on_table(const RowSelection& selection, std::vector<struct TablePart> parts);
  friend Composition make_postprocessing(const Composition& release,
                                         std::function<std::vector<Dyadic>(std::vector<Dyadic>)> function,
                                         const std::string& name, Trusted);
  std::shared_ptr<const Node> node_;
};

// All parts on the same rows; the loss is the sum of theirs. Throws invalid_argument for no parts, mismatch
// when their input domains, metrics, privacy units or distances of neighbors differ. Proof:
// proofs/make_sequential.md.
Composition make_sequential(const std::vector<Composition>& parts);

// Some of the rows, and what is released of them.
struct ParallelPart {
  Predicate rows;
  Composition release;  // on the domain's rows, their number unknown
};

// Each part on rows of its own: a row goes to the first part whose predicate holds, and to no other; rows for
// which none holds take no part. One row concerns one part, so the loss at distance 1 is the largest of the
// parts' losses at distance 1, and at distance d it is d times that. Only under the symmetric distance: a
// replaced row may leave one part and enter another. Throws mismatch for other metrics or parts that do not
// fit, invalid_argument for no parts. Proof: proofs/make_parallel.md.
Composition make_parallel(const VectorDomain& domain, Metric metric, const std::vector<ParallelPart>& parts);

// A measurement on columns of a table, named in its order.
struct TablePart {
  std::vector<std::string> columns;
  Measurement measurement;
  std::optional<FoldRequest::GroupLimit> groups = {};
};

// All parts on the rows of one table that `selection` keeps, in one pass over it; the loss is the sum of
// theirs. Neighbors are tables that differ in one row by the metric of the parts or, with a unit limit, in
// all rows of one privacy unit; each part must have been built for as many rows as that leaves it. Throws
// invalid_argument for no parts or a condition on no column of its own, mismatch naming "columns", "domain",
// "metric", "groups", "distance" or "where" for what does not fit. Proof: proofs/make_on_table.md.
Composition make_on_table(const RowSelection& selection, std::vector<TablePart> parts);

// A function of the released values: the loss stays. Its author vouches that it depends on its argument and
// public constants alone. What it throws comes after the debit. Proof: proofs/make_postprocessing.md.
Composition make_postprocessing(const Composition& release,
                                std::function<std::vector<Dyadic>(std::vector<Dyadic>)> function,
                                const std::string& name, Trusted);

}  // namespace snapdp
