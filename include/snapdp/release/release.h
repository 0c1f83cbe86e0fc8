// The release step: a plan's composition (Plan::composition) is released. Its order is always the same:
//
//   declaration of the ledger -> plan -> label -> ledger check -> rehearsal of the report -> header check
//   -> fold -> size check -> all that could fail is tried -> durable debit -> noise -> report into the ledger
//
// What fails before the debit costs nothing, and after it nothing fails: how long the report can become
// follows from public facts and is refused or made room for; the generator, the memory, the ledger's disk and
// the limits of the process are tried; every value that can be drawn has its text, and every text that is
// kept can be shown. The finished report is in the ledger before this function returns it. What remains is in
// docs/threat-model.md.
//
//   Ledger ledger = Ledger::open("household.ledger");
//   const Specification specification = Specification::read("people.toml", Declaration::of(ledger));
//   const Released released = release(specification, ledger, [](const Declaration& data) {
//     return open_duckdb_source({.path = data.path});
//   });
//   std::cout << released.report.to_table();
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "snapdp/framework/source.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/release/plan.h"
#include "snapdp/release/report.h"
#include "snapdp/release/specification.h"

namespace snapdp {

struct ReleaseOptions {
  // Called while rows are folded.
  Progress progress;
  // Asked once everything public has been checked, with the plan that will be carried out; absent means yes.
  std::function<bool(const Plan&)> confirm;
  // A name for the release, unless the specification states one. A release of the same label and the same
  // specification that the ledger keeps is given again, free of charge and without reading a row: what runs
  // twice pays once.
  std::string label;
  // Called right before the debit. From here until release() returns the process should not be ended: a tool
  // holds back signals.
  std::function<void()> before_debit;
};

struct Released {
  Report report;
  // The number of the release in the ledger; absent when everything was a public constant and nothing was
  // paid.
  std::optional<std::int64_t> release;
  // Empty, or why the ledger could not keep the report although it has been paid for (its disk failed since
  // the debit): the caller must show the report now, because it cannot be reprinted later.
  std::string not_stored;
  // Whether it had been released before, under its label: nothing was read and nothing debited now.
  bool reprinted = false;
};

// Opens the data as the declaration in force says. Called after the ledger has agreed.
using OpenSource = std::function<std::unique_ptr<Source>(const Declaration&)>;

// Throws budget_refused if the ledger would refuse the plan now: it is for something else, counts in another
// measure, or has too little left; or has no room for a report of so many bytes. Changes nothing.
void check_ledger(const Plan& plan, const Ledger& ledger, std::size_t report_bytes = 0);

// Where the data lie: where the ledger's declaration says or, when the ledger has none, nowhere. Throws
// budget_refused when the specification names another file, because only the declaration's author may. For
// whoever does not hold the file himself.
std::filesystem::path declared_path(const Specification& specification, const Ledger& ledger);

// What the ledger's declaration says is in force, whatever declaration `specification` was read with.
//
// Throws, with nothing debited: what Plan throws; budget_refused when the ledger is for something else, its
// declaration says something else, its label is that of another specification, or too little is left;
// bad_data when a column is missing or cannot be used, or under change-one when the data do not have the
// declared size (the message names the declared size only); io when the data cannot be read;
// invalid_argument naming "confirm" when the answer was no, or the statistic that makes the report too long
// to be kept. Throws with the debit standing, which the message says: io when the system generator fails in
// the middle of its work, or memory that was there before the debit is gone.
Released release(const Specification& specification, Ledger& ledger, const OpenSource& open_source,
                 const ReleaseOptions& options = {});

// All that release() does before the debit, and nothing after: throws what it would throw, and returns the
// plan it would carry out. The rows are read, as their number may have to be the declared one, unless the
// release was made before under its label; nothing is drawn, and nothing of them is shown. Of the options,
// `progress` and `label` count.
Plan dry_run(const Specification& specification, const Ledger& ledger, const OpenSource& open_source,
             const ReleaseOptions& options = {});

}  // namespace snapdp
