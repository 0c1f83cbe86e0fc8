// What the rows hold, against what a plan says of them: for whoever holds the rows, before the first release.
// A column that is not what it was declared to be costs as much as one that is, and tells nothing.
//
//   const DataCheck check = check_data(plan, *source);
//   std::cout << check.to_text();
//
// Not private: every number is exact. Nothing of it may be published or kept where others read it, and bounds
// that are chosen by it are chosen by the rows, which no privacy loss accounts for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "snapdp/framework/source.h"
#include "snapdp/release/plan.h"

namespace snapdp {

// A column as some statistics read it. The counts are of rows, and add up to the rows that count.
struct CellCheck {
  std::string column;
  std::vector<std::string> statistics;  // that read it so
  std::string expected;                 // "integer in [0, 100]", "one of 5 categories"
  std::uint64_t missing = 0;            // null, or empty
  std::uint64_t unreadable = 0;         // text that is no number, a fraction where integers are declared, NaN
  // Of numbers between bounds, or between the outer edges.
  struct Places {
    std::uint64_t below = 0;
    std::uint64_t at_lower = 0;
    std::uint64_t between = 0;
    std::uint64_t at_upper = 0;
    std::uint64_t above = 0;
  };
  std::optional<Places> places;
  // Of categories and keys of groups: what is none of them, and which of them no row has.
  struct Values {
    std::uint64_t known = 0;
    std::uint64_t unknown = 0;
    std::vector<std::string> never;
  };
  std::optional<Values> values;
};

// The privacy units, before the limit.
struct UnitCheck {
  std::string column;
  std::uint64_t max_rows = 1;  // as declared
  std::uint64_t units = 0;
  std::uint64_t without_unit = 0;  // rows that name none: they never count
  std::uint64_t most_rows = 0;     // of one unit
  std::uint64_t above_limit = 0;   // units with more than max_rows
  std::uint64_t dropped = 0;       // their rows beyond it
};

struct DataCheck {
  // The first and the last line of to_text().
  static constexpr const char* notice = "private, not protected: do not share, do not choose bounds from it";

  std::uint64_t rows = 0;
  std::optional<std::uint64_t> declared_rows;
  std::optional<std::string> where;
  std::uint64_t counted = 0;  // rows that the condition selects
  std::optional<UnitCheck> units;
  std::vector<CellCheck> cells;

  // `form`: lines about the file itself, which come first.
  std::string to_text(const std::vector<std::string>& form = {}) const;
  std::string to_json(const std::vector<std::string>& form = {}) const;
};

// Reads the rows once. Throws what Source::fold throws, and bad_data when a column is missing.
DataCheck check_data(const Plan& plan, Source& source, const Progress& progress = {});

}  // namespace snapdp
