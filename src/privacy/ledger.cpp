#include "snapdp/privacy/ledger.h"

#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <fstream>
#include <utility>

#include "privacy/ledger_file.h"
#include "privacy/ledger_format.h"
#include "privacy/private_file.h"
#include "snapdp/error.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

using namespace privacy_internal;

using ledger_format::Genesis;
using ledger_format::Record;

namespace {

constexpr std::size_t longest_name = 256;

void require_name(std::string_view text, const std::string& parameter) {
  if (ledger_format::is_name(text)) return;
  throw Error(ErrorCode::invalid_argument, parameter,
              parameter + " = " + quoted_text(text) +
                  ": must be 1 to 256 bytes of UTF-8 without control characters; choose a plain name");
}

void require_identity(const LedgerIdentity& identity) {
  require_name(identity.dataset, "dataset");
  if (!identity.privacy_unit.empty()) require_name(identity.privacy_unit, "privacy_unit");
}

[[noreturn]] void refuse_length(const std::string& parameter) {
  throw Error(ErrorCode::invalid_argument, parameter,
              parameter + ": is longer than " + std::to_string(Ledger::max_text_bytes >> 20) +
                  " MiB, the most a ledger keeps; split the release");
}

// What no specification can ever declare: a ledger for it could pay for nothing.
void require_possible(const LedgerIdentity& identity) {
  if (identity.neighbors != Neighbors::change_one || identity.privacy_unit.empty()) return;
  throw Error(ErrorCode::invalid_argument, "privacy_unit",
              "privacy_unit = " + quoted_text(identity.privacy_unit) +
                  ": change-one neighbors differ in one row and have no privacy unit; leave it out, or use "
                  "add-remove neighbors");
}

void require_document(std::string_view text, const std::string& parameter) {
  if (text.size() > Ledger::max_text_bytes) refuse_length(parameter);
  if (!ledger_format::is_document(text)) {
    throw Error(ErrorCode::invalid_argument, parameter,
                parameter + ": must be UTF-8 text without control characters");
  }
}

// In lowest terms, not negative, and short enough to be kept. mpq_class itself promises none of this.
Rational require_number(Rational value, const std::string& parameter) {
  if (value.get_den() == 0) {
    throw Error(ErrorCode::invalid_argument, parameter, parameter + ": its denominator is zero");
  }
  value.canonicalize();
  if (value < 0) {
    throw Error(ErrorCode::invalid_argument, parameter,
                parameter + " = " + short_number(value) + ": must be greater than 0");
  }
  if (ledger_format::number_text(value).size() > Ledger::max_number_digits) {
    throw Error(ErrorCode::invalid_argument, parameter,
                parameter + ": needs more than " + std::to_string(Ledger::max_number_digits) +
                    " digits as a fraction; round it up to a shorter decimal");
  }
  return value;
}

PrivacyAmount require_amount(const PrivacyAmount& amount, const std::string& unit) {
  return {require_number(amount.value, unit), require_number(amount.delta, "delta")};
}

PrivacyLoss require_loss(const PrivacyLoss& loss) {
  PrivacyLoss sound =
      PrivacyLoss::approximate(require_number(loss.epsilon, "epsilon"), require_number(loss.delta, "delta"));
  sound.rho = require_number(loss.rho, "rho");
  if (loss.gaussian_cost && sound.rho > 0)
    sound.gaussian_cost = require_amount(*loss.gaussian_cost, "epsilon");
  if (sound.is_zero()) {
    throw Error(ErrorCode::invalid_argument, "epsilon",
                "epsilon = 0: must be greater than 0; what costs nothing is no release");
  }
  return sound;
}

// Of a pure budget the number alone.
std::string left_in_words(PrivacyMeasure measure, const PrivacyAmount& amount) {
  return measure == PrivacyMeasure::pure ? short_number_down(amount.value) : in_words_down(measure, amount);
}

// Throws unless this identity may spend so much (already checked to be an amount) now.
void require_affordable(const std::filesystem::path& path, const LedgerState& state,
                        const LedgerIdentity& identity, const PrivacyAmount& cost) {
  const std::array<std::array<std::string, 3>, 3> parts = {{
      {"dataset", state.genesis.identity.dataset, identity.dataset},
      {"neighbors", to_string(state.genesis.identity.neighbors), to_string(identity.neighbors)},
      {"privacy_unit", state.genesis.identity.privacy_unit, identity.privacy_unit},
  }};
  for (const auto& [name, kept, asked] : parts) {
    if (kept == asked) continue;
    throw Error(ErrorCode::budget_refused, name,
                name + " = " + quoted_text(asked, longest_name) + ": the ledger " +
                    quoted_path(path.string()) + " is for " + quoted_text(kept, longest_name) +
                    "; nothing was debited. Use the ledger of this data, or correct the specification");
  }
  const PrivacyMeasure measure = state.budget.measure;
  const PrivacyAmount after = state.spent + cost;
  if (const std::string over = state.budget.exceeded_by(after); !over.empty()) {
    const PrivacyAmount remaining = state.budget.remaining(state.spent);
    const bool some = remaining.value > 0 && (over != "delta" || remaining.delta > 0);
    throw Error(ErrorCode::budget_refused, over,
                over + " = " + short_number(over == "delta" ? cost.delta : cost.value) + ": the ledger " +
                    quoted_path(path.string()) + " has " + left_in_words(measure, remaining) + " left of " +
                    left_in_words(measure, state.budget.limit()) + "; nothing was debited. " +
                    (some ? "Ask for at most that in total" : "No further release of this data is possible"));
  }
  for (const auto& [number, unit] :
       {std::pair(after.value, unit_of(measure)), std::pair(after.delta, std::string("delta"))}) {
    if (ledger_format::number_text(number).size() <= Ledger::max_number_digits) continue;
    const std::string shown = short_number(unit == "delta" ? cost.delta : cost.value);
    const std::string most = std::to_string(Ledger::max_number_digits);
    std::string why = unit;
    why.append(" = ").append(shown).append(": the exact total would need more than ").append(most);
    why.append(" digits; nothing was debited. Write the ").append(unit).append("s as short decimals");
    throw Error(ErrorCode::budget_refused, unit, why);
  }
}

// What a loss costs; one that this budget cannot pay for is a matter of the budget.
PrivacyAmount cost_of(const PrivacyLoss& loss, PrivacyMeasure measure) {
  try {
    return loss.in(measure);
  } catch (const Error& error) {
    throw Error(ErrorCode::budget_refused, error.parameter(),
                std::string(error.what()) + ". This ledger's budget is " +
                    (measure == PrivacyMeasure::pure   ? "a pure epsilon"
                     : measure == PrivacyMeasure::zcdp ? "a rho"
                                                       : "an epsilon and a delta") +
                    "; nothing was debited");
  }
}

// What a debit asks for, once its form is right.
struct Order {
  PrivacyAmount cost;
  Record record;

  Order(PrivacyMeasure measure, const LedgerIdentity& identity, const std::vector<LedgerCharge>& charges,
        std::string_view specification, std::string_view label = {});
  // The texts go to the file, and at worst as much again to the journal.
  std::uint64_t bytes() const { return 2 * (record.text.size() + record.charges.size()); }
};

Order::Order(PrivacyMeasure measure, const LedgerIdentity& identity, const std::vector<LedgerCharge>& charges,
             std::string_view specification, std::string_view label) {
  require_identity(identity);
  require_document(specification, "specification");
  if (!label.empty()) require_name(label, "label");
  if (std::string text(specification); !ledger_format::take_label(text).empty()) {
    throw Error(
        ErrorCode::invalid_argument, "specification",
        "specification: begins with the line by which the ledger knows a label; remove it, and give the "
        "label itself");
  }
  if (charges.empty() || charges.size() > Ledger::max_charges) {
    throw Error(ErrorCode::invalid_argument, "charges",
                "charges: a debit has 1 to " + std::to_string(Ledger::max_charges) + " of them, not " +
                    std::to_string(charges.size()));
  }
  std::vector<LedgerCharge> exact = charges;
  for (LedgerCharge& charge : exact) {
    require_name(charge.name, "name");
    charge.loss = require_loss(charge.loss);
    // Kept short at every step: denominators without common factors would multiply.
    cost = require_amount(cost + cost_of(charge.loss, measure), unit_of(measure));
  }
  record.kind = "debit";
  record.cost = ledger_format::amount_text(measure, cost);
  record.charges = ledger_format::charges_text(measure, exact);
  record.text = ledger_format::label_line(label) + std::string(specification);
  if (record.text.size() > Ledger::max_text_bytes) refuse_length("specification");
}

// A release of the same label may have been made by another process since one was looked for.
void require_unused(LedgerFile& file, std::string_view label) {
  const std::optional<std::int64_t> used = label.empty() ? std::nullopt : file.find(label);
  if (!used) return;
  throw Error(ErrorCode::budget_refused, "label",
              "label = " + quoted_text(label) + ": release " + std::to_string(*used) + " of the ledger " +
                  quoted_path(file.path().string()) +
                  " bears it already; nothing was debited. Print that one again, or choose another label");
}

}  // namespace

Ledger::Ledger(std::unique_ptr<LedgerFile> file) : file_(std::move(file)) {}
Ledger::Ledger(Ledger&&) noexcept = default;
Ledger& Ledger::operator=(Ledger&&) noexcept = default;
Ledger::~Ledger() = default;

Ledger Ledger::create(const std::filesystem::path& path, const LedgerIdentity& identity,
                      const PrivacyBudget& budget, std::string_view declaration) {
  require_identity(identity);
  const std::string unit = unit_of(budget.measure);
  const PrivacyAmount amount = require_amount(budget.amount, unit);
  if (amount.value == 0) {
    throw Error(ErrorCode::invalid_argument, unit,
                unit + " = 0: must be greater than 0; a budget of nothing pays for nothing");
  }
  require_budget({budget.measure, amount});
  require_possible(identity);
  require_document(declaration, "declaration");
  Genesis genesis;
  genesis.identity = identity;
  genesis.declaration = declaration;
  genesis.version = ledger_format::version_for(budget.measure);
  genesis.measure = budget.measure;
  genesis.budget = ledger_format::amount_text(budget.measure, amount);
  genesis.created = ledger_format::time_now();
  genesis.nonce = std::string(ledger_format::nonce_bytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(genesis.nonce.data()),
                 static_cast<int>(genesis.nonce.size())) != 1) {
    throw Error(ErrorCode::io, "ledger", "ledger: the system's random generator failed; nothing was created");
  }
  const std::filesystem::path full = resolve_folder(path);
  create_private_file(full);
  try {
    LedgerFile::initialize(full, genesis);
  } catch (...) {
    remove_if_empty(full);
    throw;
  }
  sync_folder(full);
  return open(full);
}

bool Ledger::lies_at(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, ledger_format::header_bytes> bytes{};
  file.read(bytes.data(), bytes.size());
  return ledger_format::begins_like_ledger({bytes.data(), static_cast<std::size_t>(file.gcount())});
}

Ledger Ledger::open(const std::filesystem::path& path) {
  return Ledger(std::make_unique<LedgerFile>(resolve_folder(path)));
}

const std::filesystem::path& Ledger::path() const {
  return file_->path();
}
const LedgerIdentity& Ledger::identity() const {
  return file_->identity();
}
const PrivacyBudget& Ledger::budget() const {
  return file_->budget();
}
const std::string& Ledger::declaration() const {
  return file_->declaration();
}
void Ledger::set_lock_wait(std::chrono::milliseconds wait) {
  file_->set_lock_wait(wait);
}

LedgerBalance Ledger::balance() const {
  return file_->read([&] { return file_->state().balance(); });
}

void Ledger::check(const LedgerIdentity& identity, const PrivacyLoss& loss) const {
  require_identity(identity);
  const PrivacyMeasure measure = budget().measure;
  const PrivacyAmount cost = require_amount(cost_of(require_loss(loss), measure), unit_of(measure));
  file_->read([&] { require_affordable(file_->path(), file_->state(), identity, cost); });
  file_->require_writable(0);
}

void Ledger::check(const LedgerIdentity& identity, const std::vector<LedgerCharge>& charges,
                   std::string_view specification, std::size_t report_bytes) const {
  const Order order(budget().measure, identity, charges, specification);
  if (report_bytes > max_text_bytes) refuse_length("report");
  file_->read([&] { require_affordable(file_->path(), file_->state(), identity, order.cost); });
  file_->require_writable(order.bytes() + report_bytes);
}

LedgerReceipt Ledger::debit(const LedgerIdentity& identity, const std::vector<LedgerCharge>& charges,
                            std::string_view specification, std::string_view label) {
  Order order(budget().measure, identity, charges, specification, label);
  file_->require_writable(order.bytes());
  return file_->write("debit", [&] {
    LedgerState state = file_->state();
    require_affordable(file_->path(), state, identity, order.cost);
    require_unused(*file_, label);
    state.spent = state.spent + order.cost;
    order.record.release = ++state.releases;
    file_->append(state, order.record);
    return LedgerReceipt{order.record.release, order.cost, state.spent, state.budget.remaining(state.spent)};
  });
}

void Ledger::store_report(std::int64_t release, std::string_view report) {
  require_document(report, "report");
  Record record;
  record.kind = "report";
  record.release = release;
  record.cost = "0";
  record.text = report;
  file_->write("report", [&] {
    if (file_->record(release, "report")) {
      throw Error(ErrorCode::invalid_argument, "release",
                  "release = " + std::to_string(release) + ": its report is in the ledger " +
                      quoted_path(file_->path().string()) + " already; a report is stored once");
    }
    LedgerState state = file_->state();
    file_->append(state, record);
    return record.release;
  });
}

std::vector<LedgerEntry> Ledger::entries() const {
  return file_->read([&] { return file_->entries(); });
}

LedgerEntry Ledger::entry(std::int64_t release) const {
  return file_->read([&] {
    LedgerEntry entry = file_->entry_of(file_->debit(release));
    entry.reported = file_->report(release).has_value();
    return entry;
  });
}

std::optional<std::int64_t> Ledger::find(std::string_view label) const {
  require_name(label, "label");
  return file_->read([&] {
    file_->state();
    return file_->find(label);
  });
}

std::string Ledger::specification(std::int64_t release) const {
  return file_->read([&] {
    std::string text = file_->debit(release).text;
    ledger_format::take_label(text);
    return text;
  });
}

std::optional<std::string> Ledger::report(std::int64_t release) const {
  return file_->read([&] {
    std::optional<Record> record = file_->report(release);
    return record ? std::optional<std::string>(std::move(record->text)) : std::nullopt;
  });
}

LedgerBalance Ledger::verify(const std::vector<LedgerAnchor>& anchors) const {
  return file_->read([&] { return file_->verify(anchors).balance(); });
}

std::string to_string(const LedgerAnchor& anchor) {
  return std::to_string(anchor.records) + " " + anchor.hash;
}

LedgerAnchor parse_anchor(std::string_view text, std::string_view parameter) {
  std::string_view line = text;
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  LedgerAnchor anchor;
  const auto [end, status] = std::from_chars(line.data(), line.data() + line.size(), anchor.records);
  const auto digits = static_cast<std::size_t>(end - line.data());
  if (digits < line.size()) anchor.hash = line.substr(digits + 1);
  if (status != std::errc() || anchor.records < 0 || line.substr(digits, 1) != " " ||
      anchor.hash.size() != 64 || anchor.hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw Error(
        ErrorCode::invalid_argument, std::string(parameter),
        std::string(parameter) +
            ": is not an anchor; give the line that snapdp ledger anchor printed: a number of records, "
            "a space and 64 hexadecimal digits");
  }
  return anchor;
}

}  // namespace snapdp
