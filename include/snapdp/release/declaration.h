// A declaration: what a custodian says of a dataset, once. Where its rows lie and how they are read, who its
// neighbors are, and what is public about its columns. It is the [data] and [columns] of a TOML file, and
// docs/specification.md describes every key.
//
//   const Declaration people = Declaration::read("people.toml");
//   Ledger::create("people.ledger", people.identity(), 2, people.canonical_text());
//
// A ledger keeps it, and from then on nobody else decides how the rows are read: an analyst's specification
// may repeat what the declaration says, but not change it or add to it, except for what a statistic could do
// as well, namely which rows count (where), what becomes of nulls, and a guess of the size for planning.
//
// Everything here is public, and nothing of it comes from rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/domain.h"
#include "snapdp/framework/source.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp {

// Conditions on rows as people write them: where = "age >= 18 and state in (6, 36)".
//
//   condition  = part { "or" part }
//   part       = factor { "and" factor }
//   factor     = "not" factor | "(" condition ")" | comparison
//   comparison = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) constant
//              | column [ "not" ] "in" "(" constant { "," constant } ")"
//   column     = a name of letters, digits, _ and ., or any name between double quotes ("" stands for one)
//   constant   = a number, or a text between single quotes ('' stands for a quote)
//
// Words may be written in capitals; columns match to the letter. "==" is "=", "<>" is "!=". The language is
// closed: a condition looks at the cells of one row and at constants, and nothing in it reaches an engine as
// text. What a missing cell does is in snapdp/framework/transformation.h.
class Where {
 public:
  static constexpr std::size_t max_bytes = 10'000;
  static constexpr std::size_t max_depth = 100;

  // Throws invalid_argument naming "where" with the place (counted in characters from 1), the rule and the
  // next step.
  static Where parse(std::string_view text);

  const std::string& text() const { return text_; }
  // Without repetition, in the order in which they are named first; at most Chunk::max_columns.
  const std::vector<std::string>& columns() const { return columns_; }

  // The condition over typed columns: of the declared types, and where none is declared text when compared
  // with texts, else real. Throws invalid_argument naming "where" when a column is declared as the other.
  RowSelection::Condition bind(const std::map<std::string, AtomType>& declared) const;

  struct Node;

 private:
  friend class WhereParser;
  std::string text_;
  std::vector<std::string> columns_;
  std::vector<bool> is_text_;  // one a column: compared with texts
  std::shared_ptr<const Node> root_;
};

// "change-one" and "add-remove" only; invalid_argument, with a suggestion, for anything else.
Neighbors parse_neighbors(std::string_view text, std::string_view parameter);

// As written, lower <= upper. A plan rounds them outward to what the column's type can hold.
struct DecimalBounds {
  Rational lower;
  Rational upper;
};

// A public set of values, in their order: numbers or texts, never both.
struct PublicValues {
  std::vector<Rational> numbers;
  std::vector<std::string> texts;

  bool empty() const { return numbers.empty() && texts.empty(); }
  std::size_t size() const { return numbers.size() + texts.size(); }
};

// One [columns.NAME].
struct ColumnDeclaration {
  std::optional<AtomType> type;  // absent: real, unless a statistic says otherwise
  std::optional<DecimalBounds> bounds;
  PublicValues values;      // categories or keys
  std::string description;  // words for people, as all that follow: they change no number
  std::string unit;         // "dollars a year"
  // What people call a value or a bin, by what reports call it ("9", "[0, 20)"); numbers in the form of
  // to_string(Rational).
  std::map<std::string, std::string> labels;

  // The label of a value or a bin; empty when there is none.
  std::string label_of(const std::string& value) const;
};

// Whether the cells of real columns are put on a grid before they are summed (make_grid_rows), so that
// databases sum them exactly: not, on one that is fine beside the noise, or on this one.
struct RowGridChoice {
  enum class Kind { none, automatic, fixed };
  Kind kind = Kind::none;
  Grid grid = Grid(0);  // of Kind::fixed

  friend bool operator==(const RowGridChoice&, const RowGridChoice&) = default;
};

struct Declaration {
  enum class Format { csv, parquet };

  // The most values of one column.
  static constexpr std::size_t max_values = 100'000;

  // As stated: the canonical TOML of each value, by table ("data", "columns.age") and key.
  using Entries = std::map<std::string, std::map<std::string, std::string>>;
  Entries entries;

  std::filesystem::path path;     // relative ones are taken from the folder of the file; may be empty
  std::optional<Format> format;   // absent: by the extension of the data file
  std::optional<char> delimiter;  // of CSV; absent: a tab for .tsv, else a comma
  std::string dataset;
  std::string title;  // words for people; may be empty
  Neighbors neighbors = Neighbors::change_one;
  std::optional<std::uint64_t> size;           // change-one: the public number of rows
  std::optional<std::uint64_t> expected_size;  // add-remove: a public guess, used for planning only
  bool drop_nulls = false;                     // add-remove only
  std::optional<Rational> impute;              // what nulls become; absent: the midpoint of the bounds
  // add-remove only: neighbors differ by all rows of one unit, of which max_rows_per_unit are kept.
  std::optional<std::string> privacy_unit;
  std::uint64_t max_rows_per_unit = 1;
  std::optional<Where> where;  // add-remove only: the rows that count
  RowGridChoice row_grid;      // of statistics that do not say it themselves: none or automatic
  bool population = false;     // the rows are a random sample: reports say something of the population too
  std::map<std::string, ColumnDeclaration> columns;

  // Reads [data] and [columns] of a file, which may hold a whole specification; `folder` is where relative
  // data paths start. Throws what Specification throws.
  static Declaration read(const std::filesystem::path& file);
  static Declaration parse(std::string_view text, const std::string& name,
                           const std::filesystem::path& folder = {});
  // What a ledger keeps, or nothing when it was made without a declaration. Throws budget_refused when it is
  // none, or is not of the dataset that the ledger is for.
  static std::optional<Declaration> of(const Ledger& ledger);

  // TOML that reads back as this declaration, the same for every way to write it. Throws invalid_argument
  // when it would not read back: when it is longer than a declaration may be.
  std::string canonical_text() const;
  // The same declaration with its relative path taken from another folder.
  Declaration moved_to(const std::filesystem::path& folder) const;

  // What the ledger must agree to.
  LedgerIdentity identity() const { return {dataset, neighbors, privacy_unit.value_or("")}; }
  // The types of the columns that have one.
  std::map<std::string, AtomType> types() const;
  // What is declared of a column; nothing is, when it is not there.
  const ColumnDeclaration& column(const std::string& name) const;
};

}  // namespace snapdp
