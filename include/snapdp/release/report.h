// A report: what was released, how accurate it is and what it cost. Its JSON is the record: the ledger keeps
// it, and everything else is drawn from it. docs/cli.md describes the keys; readers ignore those they do not
// know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/release/plan.h"
#include "snapdp/release/terminal_style.h"
#include "snapdp/text.h"

namespace snapdp {

namespace release_internal {
struct ReportModel;
}

// What a ledger knows of a report besides the report itself; each may be empty.
struct ReportProvenance {
  std::string time;    // of the debit, as in LedgerEntry
  std::string anchor;  // of the ledger now (to_string(LedgerAnchor))
  std::string ledger;  // the name of its file, for commands that a reader may repeat
};

// What the ledger knows of the release; what it cannot tell now is left empty, because a report that was paid
// for is shown without it.
ReportProvenance provenance_of(const Ledger& ledger, std::int64_t release);

class Report {
 public:
  // values[i][j]: the released vector of measurement j of statistic i of the plan. `release` is absent when
  // nothing was paid, because all statistics are public constants. Amounts are in the run's measure.
  Report(const Plan& plan, const std::vector<std::vector<std::vector<Dyadic>>>& values,
         std::optional<std::int64_t> release, const PrivacyAmount& spent, const PrivacyAmount& remaining);

  // What a report takes at most, in bytes, whatever is drawn and however much the ledger has spent.
  struct Rehearsal {
    std::size_t length = 0;
    std::size_t memory = 0;  // to make the report of the released values and keep it
  };
  // Makes the longest report that this plan can come to, and reads it back as it would be read from a ledger.
  // Throws invalid_argument naming the statistic to reduce when that is longer than what a ledger keeps.
  static Rehearsal rehearse(const Plan& plan);

  // A stored report. Throws bad_data when `text` is none.
  static Report from_json(std::string_view text);

  // The record, which is what a ledger keeps. All that follows are views of it: rounded to what the noise
  // allows, every number with its interval, and with warnings where a number must not be taken at face value.
  // Texts of the specification are escaped as the form needs it. None of them fails but for lack of memory.
  const std::string& json() const { return json_; }
  // For a terminal, or as plain text.
  std::string to_table(const TerminalStyle& style = {}, const ReportProvenance& provenance = {}) const;
  // One page of HTML in UTF-8 that runs no script and loads nothing, for screens and for paper.
  std::string to_html(const ReportProvenance& provenance = {}) const;
  // RFC 4180: one line a number, all digits. The columns are statistic, group, bin, value, lower, upper,
  // alpha, epsilon, population_lower and population_upper: the ends of the interval that holds the exact
  // number except with probability alpha, blank where nothing bounds it; the price of the whole statistic;
  // and where the mean or share of the population lies, except with the same probability, blank where
  // nothing is told of it. bin is the bin, or which quantile.
  std::string to_csv() const;
  // GitHub's Markdown: tables without bars.
  std::string to_markdown() const;

 private:
  Report(std::shared_ptr<const release_internal::ReportModel> model, std::string json);
  std::shared_ptr<const release_internal::ReportModel> model_;  // what json_ says
  std::string json_;
};

}  // namespace snapdp
