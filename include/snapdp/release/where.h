// Conditions on rows as people write them: where = "age >= 18 and state in (6, 36)".
//
//   condition  = part { "or" part }
//   part       = factor { "and" factor }
//   factor     = "not" factor | "(" condition ")" | comparison
//   comparison = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) constant
//              | column [ "not" ] "in" "(" constant { "," constant } ")"
//   column     = a name of letters, digits, _ and ., or any name between double quotes ("" stands for a quote)
//   constant   = a number, or a text between single quotes ('' stands for a quote)
//
// Words may be written in capitals; columns match to the letter. "==" is "=", "<>" is "!=". The language is closed: a
// condition looks at the cells of one row and at constants, and nothing in it reaches an engine as text. What a
// missing cell does is in snapdp/framework/transformation.h.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/source.h"

namespace snapdp {

class Where {
 public:
  static constexpr std::size_t max_bytes = 10'000;
  static constexpr std::size_t max_depth = 100;

  // Throws invalid_argument naming "where" with the place (counted in characters from 1), the rule and the next step.
  static Where parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Without repetition, in the order in which they are named first; at most Chunk::max_columns.
  const std::vector<std::string>& columns() const { return columns_; }

  // The condition over typed columns: of the declared types, and where none is declared text when compared with texts,
  // else real. Throws invalid_argument naming "where" when a column is declared as the other.
  RowSelection::Condition bind(const std::map<std::string, AtomType>& declared) const;

  struct Node;

 private:
  friend class WhereParser;
  std::string text_;
  std::vector<std::string> columns_;
  std::vector<bool> is_text_;  // one a column: compared with texts
  std::shared_ptr<const Node> root_;
};

}  // namespace snapdp
