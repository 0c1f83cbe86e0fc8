// The bytes of the ledger: schema, header, the text of numbers and charges, hashes. docs/ledger.md says the
// same in prose. Everything that reads here treats its input as hostile.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/ledger.h"

namespace snapdp::privacy_internal::ledger_format {

constexpr std::uint32_t application_id = 0x534e4450;  // "SNDP"
// What is written for a pure budget. Version 1 differs in that its genesis has no declaration; such ledgers stay as they
// are.
constexpr std::uint32_t version_of_pure = 2;
constexpr std::uint32_t version_of_others = 3;
constexpr std::uint32_t oldest_version = 1;
// A budget of another measure than epsilon has a format of its own, which says the measure: what reads version 2 alone
// refuses it.
constexpr std::uint32_t version_for(PrivacyMeasure measure) {
  return measure == PrivacyMeasure::pure ? version_of_pure : version_of_others;
}
constexpr int page_size = 4096;

// The tables in the order of their creation, and every row of sqlite_schema that a ledger has.
struct SchemaRow {
  const char* type;
  const char* name;
  const char* table;
  int root_page;
  const char* sql;  // nullptr for the index that SQLite makes for a UNIQUE constraint
};
const std::array<SchemaRow, 4>& schema(std::uint32_t stated_version);
// The column of a record's cost: "epsilon", and "cost" in version 3.
const char* cost_column(std::uint32_t stated_version);

// The first 100 bytes of the file that never change after its creation; the offsets of the ones that do are
// left out. Returns what is wrong, or nothing. https://www.sqlite.org/fileformat.html#the_database_header
std::optional<std::string> find_header_fault(std::string_view first_100_bytes);
constexpr int header_bytes = 100;
// The version that a header without fault states.
std::uint32_t version_of(std::string_view first_100_bytes);

// Whether a file begins like a ledger of whatever version, sound or not.
bool begins_like_ledger(std::string_view first_100_bytes);

// A number in lowest terms: "0", "12" or "1/4". Nothing else is read, and no sign is ever written.
std::string number_text(const Rational& value);
std::optional<Rational> parse_number(std::string_view text);

// An amount: of a pure budget a number, of others two, value and delta, with a space between them.
std::string amount_text(PrivacyMeasure measure, const PrivacyAmount& amount);
std::optional<PrivacyAmount> parse_amount(PrivacyMeasure measure, std::string_view text);

// One line a charge: its loss, space, name, newline. The loss is a number in a pure budget; in others five with a space
// between them: epsilon, delta, rho, and the epsilon and delta that the Gaussian noise costs, 0 0 where it has no such
// price.
std::string charges_text(PrivacyMeasure measure, const std::vector<LedgerCharge>& charges);
std::optional<std::vector<LedgerCharge>> parse_charges(PrivacyMeasure measure, std::string_view text);

// Well-formed UTF-8 of 1 to 256 bytes without control characters (they could forge a terminal's display).
bool is_name(std::string_view text);
// Nothing for any other text than to_string() gives.
std::optional<Neighbors> parse_neighbors(std::string_view text);
// Well-formed UTF-8 without control characters other than tab, line feed and carriage return.
bool is_document(std::string_view text);
// `text` as a document: what does not belong into one is written as \xNN, byte by byte.
std::string document_of(std::string_view text);
// The line that the text of a labelled debit begins with, its end included; "" for no label. A comment in TOML.
std::string label_line(std::string_view label);
// Takes that line off a text: its label, or "" when there is none.
std::string take_label(std::string& text);
// "2024-05-01T12:34:56Z".
bool is_time(std::string_view text);
std::string time_now();

using Hash = std::string;  // 32 bytes of SHA-256
std::string to_hex(const Hash& hash);

constexpr std::size_t nonce_bytes = 32;

// What a ledger is for; never changes. The random nonce keeps a published hash from confirming guesses of
// what it covers.
struct Genesis {
  std::uint32_t version = version_of_pure;
  LedgerIdentity identity;
  std::string declaration;                        // "" in version 1
  PrivacyMeasure measure = PrivacyMeasure::pure;  // of all but version 3
  std::string budget;                             // an amount
  std::string created;
  std::string nonce;
};
Hash hash_of(const Genesis& genesis);

// One link of the chain.
struct Record {
  std::int64_t position = 0;  // 1, 2, 3 ...
  std::string kind;           // "debit" or "report"
  std::int64_t release = 0;
  std::string time;
  std::string cost;     // an amount; "0" in a report
  std::string spent;    // the total after this record
  std::string charges;  // "" in a report
  std::string text;     // the specification, or the report
};
Hash hash_of(const Hash& previous, const Record& record);

}  // namespace snapdp::privacy_internal::ledger_format
