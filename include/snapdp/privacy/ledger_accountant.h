// A ledger as the accountant of releases that a program makes itself, chain by chain.
//
//   Ledger ledger = Ledger::open("people.ledger");
//   LedgerAccountant accountant(ledger, {"people-2026", "change-one", ""}, "mean_age");
//   const Release r = mean_age.release(rows, accountant);     // debits the ledger, durably, then draws
//   accountant.receipt()->remaining;
//
// The ledger keeps the chain in words as the text of the release, for the auditor. A report, if there is to be one, is
// the caller's to keep: ledger.store_report(accountant.receipt()->release, text).
#pragma once

#include <optional>
#include <string>

#include "snapdp/framework/accountant.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp {

// For one thread, as its ledger is.
class LedgerAccountant final : public BudgetAccountant {
 public:
  // `identity` is what the caller takes the data for; the ledger must agree at every debit. `name` is what the ledger
  // calls the releases. The ledger must outlive the accountant.
  LedgerAccountant(Ledger& ledger, LedgerIdentity identity, std::string name);

  // Throws what Ledger::debit throws, and mismatch when the release protects other neighbors than the identity names:
  //   "change-one"                     the change-one distance 1
  //   "add-remove"                     the symmetric distance 1
  //   "add-remove" with a unit         distance 1 in privacy units (make_on_table), or the symmetric distance, however
  //                                    many rows of a unit count; that no unit has more is then for the caller to see to
  void debit(const Debit& debit) override;

  // Of the last debit.
  const std::optional<LedgerReceipt>& receipt() const { return receipt_; }

 private:
  Ledger& ledger_;
  LedgerIdentity identity_;
  std::string name_;
  std::optional<LedgerReceipt> receipt_;
};

}  // namespace snapdp
