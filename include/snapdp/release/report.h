// A report: what was released, how accurate it is and what it cost. Its JSON is the record: the ledger keeps
// it, and everything else is drawn from it. docs/cli.md describes the keys; readers ignore those they do not
// know.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/numeric/dyadic.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/release/plan.h"
#include "snapdp/text.h"

namespace snapdp {

namespace release_internal {
struct ReportModel;
}

class Report {
 public:
  // values[i][j]: the released vector of measurement j of statistic i of the plan. `release` is absent when
  // nothing was paid, because all statistics are public constants.
  Report(const Plan& plan, const std::vector<std::vector<std::vector<Dyadic>>>& values,
         std::optional<std::int64_t> release, const Rational& spent, const Rational& remaining);

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

  const std::string& json() const { return json_; }
  std::string to_table(const TableStyle& style = {}) const;

 private:
  Report(std::shared_ptr<const release_internal::ReportModel> model, std::string json);
  std::shared_ptr<const release_internal::ReportModel> model_;  // what json_ says
  std::string json_;
};

}  // namespace snapdp
