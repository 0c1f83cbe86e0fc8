// Transformations: deterministic functions from rows to rows, applied to one chunk at a time, with a
// stability relation that is proved in proofs/<constructor>.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/domain.h"
#include "snapdp/framework/relation.h"
#include "snapdp/numeric/grid.h"

namespace snapdp {

namespace framework_internal {
class ConditionLanguage;
class RowLanguage;
}  // namespace framework_internal

// Conditions on one row, for make_select:
//
//   Predicate adult = Predicate::compare(0, AtomType::real, Comparison::at_least, 18);
//   Predicate here = Predicate::one_of(1, {"CA", "NY"});
//   make_select(domain, symmetric_distance(), adult && !here);
//
// A condition looks at the cells of its own row and at constants, so selecting by it keeps neighbors
// neighbors. A comparison with a null or NaN cell is false, whatever the comparison; ! is plain negation, so
// !(age < 18) holds for a missing age and age >= 18 does not.

enum class Comparison { equal, not_equal, less, at_most, greater, at_least };

std::string to_string(Comparison comparison);  // "=", "!=", "<", "<=", ">", ">="

class Predicate {
 public:
  // Column `column`, of this numeric type, against a number. Reals are compared with the double nearest to
  // the number, as their own cells were read; integers exactly. Throws invalid_argument for a number beyond
  // the doubles or for text.
  static Predicate compare(std::size_t column, AtomType type, Comparison comparison, const Rational& number);
  // A text column, byte by byte. Only equal and not_equal: an order of texts depends on a locale.
  static Predicate compare(std::size_t column, Comparison comparison, std::string text);
  // Equal to one of them, at least one.
  static Predicate one_of(std::size_t column, AtomType type, const std::vector<Rational>& numbers);
  static Predicate one_of(std::size_t column, const std::vector<std::string>& texts);

  Predicate operator&&(const Predicate& other) const;
  Predicate operator||(const Predicate& other) const;
  Predicate operator!() const;

  // holds[row] = 1 or 0 for each row of a block of at most block_rows rows.
  void evaluate(const Chunk& block, std::uint8_t* holds) const;
  // Throws invalid_argument when a column is missing from the domain or has another type.
  void require_fits(const VectorDomain& domain) const;
  // With columns as #0, #1 ...; equal descriptions mean equal conditions.
  std::string description() const;
  // The condition in another language (row_language.h), for engines.
  std::string told(framework_internal::ConditionLanguage& language) const;

  class Node;

 private:
  explicit Predicate(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

// What every part of a chain declares: where it leads from and to, and its claim.
template <typename InputDomain, typename OutputDomain>
struct Signature {
  InputDomain input_domain;
  OutputDomain output_domain;
  Metric input_metric;
  Metric output_metric;
  Relation relation;
};

// Row functions see blocks of at most this many rows, so that a whole chain runs in the first-level cache.
inline constexpr std::size_t block_rows = 2048;

// Room for one block of every column; a row function's output lives here until the next block.
class Scratch {
 public:
  struct Buffer {
    // Doubles, 64-bit integers or string_views: room for the largest.
    alignas(64) std::byte values[block_rows * sizeof(std::string_view)];
    std::uint8_t validity[block_rows / 8];

    double* reals() { return reinterpret_cast<double*>(values); }
    std::int64_t* integers() { return reinterpret_cast<std::int64_t*>(values); }
    std::string_view* texts() { return reinterpret_cast<std::string_view*>(values); }
  };
  Buffer& buffer(std::size_t column);
  // One for the calling thread; a chain uses it from its first row function to its fold and then forgets it.
  static Scratch& of_thread();

 private:
  std::array<std::unique_ptr<Buffer>, Chunk::max_columns> buffers_;
};

// Which rows of a block a row function keeps; those that it keeps stay in their order.
enum class KeptRows {
  all,      // every row becomes one row
  some,     // said for each row
  unknown,  // not said
};

class RowFunction {
 public:
  virtual ~RowFunction() = default;
  // Turns a block of at most block_rows rows into the result. That may point into `scratch` (column i into
  // buffer i) and to where the block points; the block may itself point into `scratch`, so column i is read
  // before buffer i is overwritten, row by row.
  virtual void transform(Chunk& rows, Scratch& scratch) const = 0;
  // The same by value.
  Chunk apply(Chunk block, Scratch& scratch) const {
    transform(block, scratch);
    return block;
  }
  // Which rows transform() would keep of this block; for KeptRows::some keeps[row] becomes 0 or 1. Functions
  // that say so run once for the rows of many groups, others group by group.
  virtual KeptRows kept(const Chunk& block, std::uint8_t* keeps) const;
  // The function in a few words with all its parameters, for example "clamp to [0, 100]".
  virtual std::string description() const = 0;
  // The function in another language (row_language.h), for engines; one that does not say so is unknown
  // there.
  virtual void tell(framework_internal::RowLanguage& language) const;
};

// One part of a chain in words, for explanations.
struct ChainStep {
  std::string function;  // "clamp to [0, 100]"
  std::string output;    // the output domain
  std::string metric;    // of the output
  Relation relation;     // between distances of its inputs and of its outputs
};

class Transformation {
 public:
  Transformation(Signature<VectorDomain, VectorDomain> signature,
                 std::shared_ptr<const RowFunction> function);

  const VectorDomain& input_domain() const { return signature_.input_domain; }
  const VectorDomain& output_domain() const { return signature_.output_domain; }
  Metric input_metric() const { return signature_.input_metric; }
  Metric output_metric() const { return signature_.output_metric; }
  const Relation& stability() const { return signature_.relation; }
  // In order of application.
  const std::vector<std::shared_ptr<const RowFunction>>& functions() const { return functions_; }

  // What each part does, in order.
  const std::vector<ChainStep>& steps() const { return steps_; }

  // First this, then `next`. Throws a mismatch error that names both sides when the output domain or metric
  // of this is not the input domain or metric of `next`.
  Transformation then(const Transformation& next) const;

 private:
  Transformation(Signature<VectorDomain, VectorDomain> signature,
                 std::vector<std::shared_ptr<const RowFunction>> functions, std::vector<ChainStep> steps);
  Signature<VectorDomain, VectorDomain> signature_;
  std::vector<std::shared_ptr<const RowFunction>> functions_;
  std::vector<ChainStep> steps_;
};

// Clamps column i to bounds[i]: x below lower becomes lower, above upper becomes upper; infinities clamp too.
// 1-stable under the symmetric, change-one and Hamming metrics. The domain must be free of NaN and null
// (floats with NaN have no total order): impute or drop first. Bounds of a real column must be doubles, of an
// integer column 64-bit integers. Proof: proofs/make_clamp.md.
Transformation make_clamp(const VectorDomain& domain, Metric metric, const std::vector<Bounds>& bounds);
Transformation make_clamp(const VectorDomain& domain, Metric metric, const Bounds& bounds);

// Replaces null and NaN in column i by values[i], a finite double or 64-bit integer. 1-stable under the
// symmetric, change-one and Hamming metrics. Proof: proofs/make_impute.md.
Transformation make_impute(const VectorDomain& domain, Metric metric, const std::vector<Dyadic>& values);

// Drops every row with a null or NaN in some column, of text too. 1-stable under the symmetric distance only:
// under change-one and Hamming the number of dropped rows would become visible, so these are refused. Proof:
// proofs/make_drop.md.
Transformation make_drop(const VectorDomain& domain, Metric metric);

// Reads text as numbers: column i becomes `types[i]` (columns that have that type already pass through).
// Blank and unparsable text, "NaN" and numbers beyond the range of the type become null; "inf" and "-inf" are
// infinities. Surrounding spaces and a leading "+" are allowed. An integer is an optional sign and digits, or
// a decimal or scientific form whose value is a whole number ("1.00E+05" is 100000). 1-stable under the
// symmetric, change-one and Hamming metrics. Proof: proofs/make_parse.md.
Transformation make_parse(const VectorDomain& domain, Metric metric, const std::vector<AtomType>& types);

// Numbers of one type as numbers of the other: column i becomes `types[i]` (columns that have that type pass
// through). An integer becomes the nearest double. A real becomes the integer it is; one that is none (a
// fraction, an infinity, beyond 64 bits) fails, and `failure` says what it becomes. NaN becomes null. Bounds
// are lost: clamp afterwards. 1-stable under the symmetric, change-one and Hamming metrics. Proof:
// proofs/make_cast.md.
enum class CastFailure {
  null,     // null
  nearest,  // the nearest 64-bit integer, halves upward; infinities become the last ones
};
Transformation make_cast(const VectorDomain& domain, Metric metric, const std::vector<AtomType>& types,
                         CastFailure failure);

// Puts the cells of real columns on a public grid: x becomes (floor(x / spacing) + 1/2) spacing, the middle
// of its step, at most half a spacing from x. Sums of such numbers are sums of integers, which every
// database computes exactly and in any order: statistics then come out alike wherever the rows are
// (engines/sql). The columns must have bounds that are at most 2^51 spacings from 0; those of the output
// are their images, so the width stays when both are multiples of the spacing. 1-stable under the
// symmetric, change-one and Hamming metrics. Throws invalid_argument naming "row_grid". Proof:
// proofs/make_grid_rows.md.
Transformation make_grid_rows(const VectorDomain& domain, Metric metric, const std::vector<Grid>& grids);

// Keeps the rows for which the predicate holds. 1-stable under the symmetric distance only: under change-one
// and Hamming a replaced row may enter or leave, which these metrics do not count. Proof:
// proofs/make_select.md.
Transformation make_select(const VectorDomain& domain, Metric metric, const Predicate& predicate);

// Keeps the first `count` columns of every row, at least one. 1-stable under the symmetric, change-one and
// Hamming metrics. Columns that only a predicate needs come last and are left behind here. Proof:
// proofs/make_project.md.
Transformation make_project(const VectorDomain& domain, Metric metric, std::size_t count);

// A function of one cell that its author vouches for: it depends on its argument alone (no state, no other
// rows, no clock), never throws, and takes a time that reveals nothing the author cares about. The library
// cannot check that, so the claim is spelled out: Trusted{}. It can see to equal cells being equal arguments:
// +0 stands for both zeros and one NaN for all.
struct Trusted {
  explicit Trusted() = default;
};
// Maps the one real or integer column by `function` to a column of type `output`; a result that is NaN, or is
// outside the bounds of `output`, becomes null, and `output` must say that nulls may occur. `name` describes
// the function with its parameters: equal names must mean equal functions. 1-stable under the symmetric,
// change-one and Hamming metrics. Proof: proofs/make_map.md.
Transformation make_map(const VectorDomain& domain, Metric metric, const AtomDomain& output,
                        std::function<double(double)> function, std::string name, Trusted);

// A constructor that still waits for its input domain and metric; chaining supplies them.
template <typename Part>
using Partial = std::function<Part(const VectorDomain&, Metric)>;

inline Transformation operator>>(const Transformation& first, const Transformation& second) {
  return first.then(second);
}

}  // namespace snapdp
