#include <utility>

#include "privacy/ledger_format.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp {

using namespace privacy_internal;

namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& message) {
  throw Error(ErrorCode::mismatch, parameter, std::string(parameter) + ": " + message);
}

// The release protects the neighbors that the ledger counts losses for.
void require_neighbors(const LedgerIdentity& identity, const Debit& debit) {
  const Metric wanted = metric_of(identity.neighbors);
  const bool of_units = debit.metric == Metric::unit_distance && !identity.privacy_unit.empty();
  if (debit.metric != wanted && !of_units) {
    refuse("metric", "the ledger is for " + to_string(identity.neighbors) +
                         " neighbors, the release protects neighbors by the " + to_string(debit.metric) +
                         "; nothing was debited. Build the chain on the " + to_string(wanted));
  }
  if (of_units && debit.unit != identity.privacy_unit) {
    refuse("unit", "the ledger is for the privacy units in " + quoted_text(identity.privacy_unit) +
                       ", the release protects those in " + quoted_text(debit.unit) +
                       "; nothing was debited. Use the ledger's unit");
  }
  if ((identity.privacy_unit.empty() || of_units) && debit.distance != 1) {
    refuse("distance", "the release protects neighbors " + to_string(debit.distance) +
                           (of_units ? " units" : " rows") +
                           " apart, the ledger counts losses for one; nothing was debited. Use distance 1" +
                           (of_units ? "" : ", or a ledger of the privacy unit"));
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
