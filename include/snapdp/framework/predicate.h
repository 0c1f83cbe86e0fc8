// Conditions on one row, for make_select.
//
//   Predicate adult = Predicate::compare(0, AtomType::real, Comparison::at_least, 18);
//   Predicate here = Predicate::one_of(1, {"CA", "NY"});
//   make_select(domain, symmetric_distance(), adult && !here);
//
// A condition looks at the cells of its own row and at constants, so selecting by it keeps neighbors neighbors. A
// comparison with a null or NaN cell is false, whatever the comparison; ! is plain negation, so !(age < 18) holds for
// a missing age and age >= 18 does not.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "snapdp/framework/domain.h"

namespace snapdp {

enum class Comparison { equal, not_equal, less, at_most, greater, at_least };

std::string to_string(Comparison comparison);  // "=", "!=", "<", "<=", ">", ">="

class Predicate {
 public:
  // Column `column`, of this numeric type, against a number. Reals are compared with the double nearest to the number,
  // as their own cells were read; integers exactly. Throws invalid_argument for a number beyond the doubles or for text.
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

  class Node;

 private:
  explicit Predicate(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  std::shared_ptr<const Node> node_;
};

}  // namespace snapdp
