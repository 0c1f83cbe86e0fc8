// What the page of snapdp ui asks for: declarations and ledgers of one folder, plans, and releases from a ledger. It knows
// nothing of HTTP but the form of a question and its answer.
#pragma once

#include <filesystem>
#include <string>

#include "ui/server.h"

namespace snapdp::cli {

class Planner {
 public:
  // Only files of this folder are looked at, by their bare names.
  explicit Planner(std::filesystem::path folder) : folder_(std::move(folder)) {}

  //   GET  /api/folder              the declarations, specifications and ledgers that lie there
  //   GET  /api/data?file=F         what a declaration or a ledger says of the data; the ledger's balance
  //   GET  /api/question?file=F     the statistics of a specification, as JSON
  //   POST /api/plan                {"file", "specification"} -> the plan in numbers
  //   POST /api/savings             the same -> what other choices would give, a sentence each
  //   POST /api/page                the same -> the plan as a page of HTML
  //   POST /api/release             the same with "typed", the ledger's name, and "price", the plan's -> {"release",
  //                                 "reprinted", "not_stored", "ledger"}, and "report" and "page" where the ledger has
  //                                 not kept them
  //   GET  /report?file=F&release=N[&as=csv|markdown|json]
  //
  // A question that is wrong is answered with status 422 and {"code", "parameter", "message"}.
  PageAnswer answer(const PageRequest& request) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace snapdp::cli
