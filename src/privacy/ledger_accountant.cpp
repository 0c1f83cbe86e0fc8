#include "snapdp/privacy/ledger_accountant.h"

#include <utility>

#include "privacy/ledger_format.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace privacy_internal;

namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::mismatch, parameter, std::string(parameter) + ": " + message);
}

// The release protects the neighbors that the ledger counts losses for.
void require_neighbors(const LedgerIdentity& identity, const Debit& debit) {
  const Metric wanted = identity.neighbors == "change-one" ? change_one() : symmetric_distance();
  if (debit.metric != wanted) {
    refuse("metric", "the ledger is for " + identity.neighbors +
                         " neighbors, the release protects neighbors by the " + to_string(debit.metric) +
                         "; nothing was debited. Build the chain on the " + to_string(wanted));
  }
  if (identity.privacy_unit.empty() && debit.distance != 1) {
    refuse("distance",
           "the release protects neighbors " + to_string(debit.distance) +
               " rows apart, but the ledger names no privacy unit; nothing was debited. Use a ledger of the "
               "unit, or distance 1");
  }
}

}  // namespace

LedgerAccountant::LedgerAccountant(Ledger& ledger, LedgerIdentity identity, std::string name)
    : ledger_(ledger), identity_(std::move(identity)), name_(std::move(name)) {}

void LedgerAccountant::debit(const Debit& debit) {
  require_neighbors(identity_, debit);
  receipt_ = ledger_.debit(identity_, {{name_, debit.loss}}, ledger_format::document_of(debit.what));
}

}  // namespace snapdp
