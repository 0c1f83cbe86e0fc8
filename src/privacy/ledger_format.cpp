#include "privacy/ledger_format.h"

#include <openssl/evp.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <new>

#include "snapdp/error.h"

namespace snapdp::privacy_internal::ledger_format {
namespace {

// CHECK constraints repeat what the code refuses anyway, for whoever writes with another tool by mistake.
constexpr const char* ledger_table_1 =
    R"(CREATE TABLE ledger (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  dataset TEXT NOT NULL CHECK (length(dataset) BETWEEN 1 AND 256),
  neighbors TEXT NOT NULL CHECK (neighbors IN ('change-one', 'add-remove')),
  privacy_unit TEXT NOT NULL CHECK (length(privacy_unit) <= 256),
  budget TEXT NOT NULL CHECK (budget GLOB '[1-9]*' AND budget NOT GLOB '*[^0-9/]*' AND length(budget) <= 1024),
  created TEXT NOT NULL CHECK (length(created) = 20),
  nonce BLOB NOT NULL CHECK (length(nonce) = 32),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT)";

constexpr const char* ledger_table_2 =
    R"(CREATE TABLE ledger (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  dataset TEXT NOT NULL CHECK (length(dataset) BETWEEN 1 AND 256),
  neighbors TEXT NOT NULL CHECK (neighbors IN ('change-one', 'add-remove')),
  privacy_unit TEXT NOT NULL CHECK (length(privacy_unit) <= 256),
  declaration TEXT NOT NULL,
  budget TEXT NOT NULL CHECK (budget GLOB '[1-9]*' AND budget NOT GLOB '*[^0-9/]*' AND length(budget) <= 1024),
  created TEXT NOT NULL CHECK (length(created) = 20),
  nonce BLOB NOT NULL CHECK (length(nonce) = 32),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT)";

// Amounts of other measures than epsilon are two numbers.
constexpr const char* ledger_table_3 =
    R"(CREATE TABLE ledger (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  dataset TEXT NOT NULL CHECK (length(dataset) BETWEEN 1 AND 256),
  neighbors TEXT NOT NULL CHECK (neighbors IN ('change-one', 'add-remove')),
  privacy_unit TEXT NOT NULL CHECK (length(privacy_unit) <= 256),
  declaration TEXT NOT NULL,
  measure TEXT NOT NULL CHECK (measure IN ('approximate', 'zcdp')),
  budget TEXT NOT NULL CHECK (budget GLOB '[1-9]* [1-9]*' AND budget NOT GLOB '*[^0-9/ ]*' AND length(budget) <= 2049),
  created TEXT NOT NULL CHECK (length(created) = 20),
  nonce BLOB NOT NULL CHECK (length(nonce) = 32),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT)";

constexpr const char* head_table_3 =
    R"(CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  records INTEGER NOT NULL CHECK (records >= releases),
  releases INTEGER NOT NULL CHECK (releases >= 0),
  spent TEXT NOT NULL CHECK (spent GLOB '[0-9]* [0-9]*' AND spent NOT GLOB '*[^0-9/ ]*' AND length(spent) <= 2049),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT)";

constexpr const char* record_table_3 =
    R"(CREATE TABLE record (
  position INTEGER PRIMARY KEY CHECK (position >= 1),
  kind TEXT NOT NULL CHECK (kind IN ('debit', 'report')),
  release INTEGER NOT NULL CHECK (release >= 1),
  time TEXT NOT NULL CHECK (length(time) = 20),
  cost TEXT NOT NULL CHECK (CASE kind WHEN 'debit' THEN cost GLOB '[1-9]* [0-9]*' ELSE cost = '0' END
    AND cost NOT GLOB '*[^0-9/ ]*' AND length(cost) <= 2049),
  spent TEXT NOT NULL CHECK (spent GLOB '[1-9]* [0-9]*' AND spent NOT GLOB '*[^0-9/ ]*' AND length(spent) <= 2049),
  charges TEXT NOT NULL CHECK ((kind = 'debit') = (charges <> '')),
  text TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  UNIQUE (release, kind)
) STRICT)";

constexpr const char* head_table =
    R"(CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  records INTEGER NOT NULL CHECK (records >= releases),
  releases INTEGER NOT NULL CHECK (releases >= 0),
  spent TEXT NOT NULL CHECK (spent GLOB '[0-9]*' AND spent NOT GLOB '*[^0-9/]*' AND length(spent) <= 1024),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT)";

constexpr const char* record_table =
    R"(CREATE TABLE record (
  position INTEGER PRIMARY KEY CHECK (position >= 1),
  kind TEXT NOT NULL CHECK (kind IN ('debit', 'report')),
  release INTEGER NOT NULL CHECK (release >= 1),
  time TEXT NOT NULL CHECK (length(time) = 20),
  epsilon TEXT NOT NULL CHECK (CASE kind WHEN 'debit' THEN epsilon GLOB '[1-9]*' ELSE epsilon = '0' END
    AND epsilon NOT GLOB '*[^0-9/]*' AND length(epsilon) <= 1024),
  spent TEXT NOT NULL CHECK (spent GLOB '[1-9]*' AND spent NOT GLOB '*[^0-9/]*' AND length(spent) <= 1024),
  charges TEXT NOT NULL CHECK ((kind = 'debit') = (charges <> '')),
  text TEXT NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  UNIQUE (release, kind)
) STRICT)";

std::uint32_t big_endian(std::string_view bytes, std::size_t offset, std::size_t count) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  return value;
}

bool begins_like_sqlite(std::string_view bytes) {
  using namespace std::string_view_literals;
  return bytes.size() >= header_bytes && bytes.starts_with("SQLite format 3\0"sv);
}

bool is_of_documents(char32_t point) {
  return (point >= 0x20 && point != 0x7f) || point == '\t' || point == '\n' || point == '\r';
}

template <typename Allowed>
bool is_text(std::string_view text, Allowed allowed) {
  while (!text.empty()) {
    char32_t point = 0;
    const std::size_t length = decode_utf8(text, point);
    if (length == 0 || !allowed(point)) return false;
    text.remove_prefix(length);
  }
  return true;
}

// SHA-256 over fields, each preceded by its length as 8 big-endian bytes: no two lists of fields collide.
class Hasher {
 public:
  Hasher() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    if (context_ == nullptr) throw std::bad_alloc();
    require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr));
  }

  Hasher& add(std::string_view field) {
    std::array<unsigned char, 8> length{};
    for (std::size_t i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(field.size() >> (56 - 8 * i));
    require(EVP_DigestUpdate(context_.get(), length.data(), length.size()));
    require(EVP_DigestUpdate(context_.get(), field.data(), field.size()));
    return *this;
  }

  Hash finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned int size = 0;
    require(EVP_DigestFinal_ex(context_.get(), digest.data(), &size));
    return Hash(digest.begin(), digest.begin() + size);
  }

 private:
  static void require(int ok) {
    if (ok != 1)
      throw Error(ErrorCode::io, "ledger", "ledger: OpenSSL cannot compute SHA-256; check its installation");
  }

  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

const std::array<SchemaRow, 4>& schema(std::uint32_t stated) {
  const auto rows = [](const char* ledger, const char* head, const char* record) {
    return std::array<SchemaRow, 4>{{
        {"table", "ledger", "ledger", 2, ledger},
        {"table", "head", "head", 3, head},
        {"table", "record", "record", 4, record},
        {"index", "sqlite_autoindex_record_1", "record", 5, nullptr},
    }};
  };
  static const std::array<SchemaRow, 4> of_version_1 = rows(ledger_table_1, head_table, record_table);
  static const std::array<SchemaRow, 4> of_version_2 = rows(ledger_table_2, head_table, record_table);
  static const std::array<SchemaRow, 4> of_version_3 = rows(ledger_table_3, head_table_3, record_table_3);
  if (stated == version_of_others) return of_version_3;
  return stated == 1 ? of_version_1 : of_version_2;
}

const char* cost_column(std::uint32_t stated) {
  return stated == version_of_others ? "cost" : "epsilon";
}

std::uint32_t version_of(std::string_view bytes) {
  return big_endian(bytes, 60, 4);
}

bool begins_like_ledger(std::string_view bytes) {
  return begins_like_sqlite(bytes) && big_endian(bytes, 68, 4) == application_id;
}

std::optional<std::string> find_header_fault(std::string_view bytes) {
  if (bytes.empty()) return "the file is empty";
  if (!begins_like_sqlite(bytes)) return "not an SQLite file";
  if (!begins_like_ledger(bytes)) return "not a SnapDP ledger";
  if (version_of(bytes) < oldest_version || version_of(bytes) > version_of_others)
    return "a ledger of another version of SnapDP";
  struct Field {
    std::size_t offset;
    std::size_t count;
    std::uint32_t value;
    const char* name;
  };
  // Left out: the change counters (24, 92), the page count (28), the schema cookie (40), the default cache
  // size (48) and the SQLite version of the last writer (96), none of which changes what the pages mean.
  static constexpr std::array<Field, 13> fields = {{
      {16, 2, page_size, "page size"},
      {18, 1, 1, "write version"},  // 1 is the rollback journal, 2 would be WAL
      {19, 1, 1, "read version"},
      {20, 1, 0, "reserved space"},
      {21, 1, 64, "payload fraction"},
      {22, 1, 32, "payload fraction"},
      {23, 1, 32, "payload fraction"},
      {32, 4, 0, "free list"},  // nothing is ever deleted: a free page could only be a page in use
      {36, 4, 0, "free list"},
      {44, 4, 4, "schema format"},
      {52, 4, 0, "largest root page"},
      {56, 4, 1, "text encoding"},
      {64, 4, 0, "vacuum mode"},
  }};
  for (const Field& field : fields) {
    if (big_endian(bytes, field.offset, field.count) != field.value) {
      return std::string("its header has another ") + field.name;
    }
  }
  return std::nullopt;
}

std::string number_text(const Rational& value) {
  return value.get_str();
}

std::optional<Rational> parse_number(std::string_view text) {
  if (text.empty() || text.size() > Ledger::max_number_digits) return std::nullopt;
  const std::size_t bar = std::min(text.find('/'), text.size());
  const std::string numerator(text.substr(0, bar));
  const std::string denominator(bar < text.size() ? text.substr(bar + 1) : "1");
  for (const std::string& digits : {numerator, denominator}) {
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  }
  Rational value{Integer(numerator, 10), Integer(denominator, 10)};
  if (value.get_den() == 0) return std::nullopt;
  value.canonicalize();
  // Lowest terms, no leading zeros: one number has one text.
  if (number_text(value) != text) return std::nullopt;
  return value;
}

std::string amount_text(PrivacyMeasure measure, const PrivacyAmount& amount) {
  const std::string value = number_text(amount.value);
  return measure == PrivacyMeasure::pure ? value : value + " " + number_text(amount.delta);
}

std::optional<PrivacyAmount> parse_amount(PrivacyMeasure measure, std::string_view text) {
  const bool pure = measure == PrivacyMeasure::pure;
  const std::size_t space = pure ? text.size() : std::min(text.find(' '), text.size());
  const std::optional<Rational> value = parse_number(text.substr(0, space));
  const std::optional<Rational> delta =
      pure ? Rational(0) : parse_number(text.substr(std::min(space + 1, text.size())));
  if (!value || !delta) return std::nullopt;
  return PrivacyAmount(*value, *delta);
}

namespace {

std::string loss_text(PrivacyMeasure measure, const PrivacyLoss& loss) {
  if (measure == PrivacyMeasure::pure) return number_text(loss.epsilon);
  const PrivacyAmount cost = loss.gaussian_cost.value_or(PrivacyAmount());
  std::string text;
  for (const Rational& number : {loss.epsilon, loss.delta, loss.rho, cost.value, cost.delta})
    text += (text.empty() ? "" : " ") + number_text(number);
  return text;
}

// Takes a number and the space behind it off a line.
std::optional<Rational> take_number(std::string_view& line) {
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  std::optional<Rational> number = parse_number(line.substr(0, space));
  line.remove_prefix(space + 1);
  return number;
}

// A loss that charges_text() may have written, taken off a line.
std::optional<PrivacyLoss> take_loss(PrivacyMeasure measure, std::string_view& line) {
  std::array<Rational, 5> numbers;
  const std::size_t count = measure == PrivacyMeasure::pure ? 1 : numbers.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::optional<Rational> number = take_number(line);
    if (!number) return std::nullopt;
    numbers[i] = *std::move(number);
  }
  PrivacyLoss loss = PrivacyLoss::approximate(numbers[0], numbers[1]);
  loss.rho = numbers[2];
  if (numbers[3] != 0 || numbers[4] != 0) loss.gaussian_cost = PrivacyAmount(numbers[3], numbers[4]);
  if (loss.is_zero() || (loss.rho == 0 && loss.gaussian_cost)) return std::nullopt;
  return loss;
}

}  // namespace

std::string charges_text(PrivacyMeasure measure, const std::vector<LedgerCharge>& charges) {
  std::string text;
  for (const LedgerCharge& charge : charges)
    text += loss_text(measure, charge.loss) + " " + charge.name + "\n";
  return text;
}

std::optional<std::vector<LedgerCharge>> parse_charges(PrivacyMeasure measure, std::string_view text) {
  std::vector<LedgerCharge> charges;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos || charges.size() == Ledger::max_charges) return std::nullopt;
    std::string_view line = text.substr(0, end);
    std::optional<PrivacyLoss> loss = take_loss(measure, line);
    if (!loss || !is_name(line)) return std::nullopt;
    charges.push_back({std::string(line), *std::move(loss)});
    text.remove_prefix(end + 1);
  }
  return charges;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 256 &&
         is_text(text, [](char32_t point) { return point >= 0x20 && !(point >= 0x7f && point <= 0x9f); });
}

std::optional<Neighbors> parse_neighbors(std::string_view text) {
  for (const Neighbors neighbors : {Neighbors::change_one, Neighbors::add_remove})
    if (text == to_string(neighbors)) return neighbors;
  return std::nullopt;
}

namespace {
constexpr std::string_view label_mark = "# snapdp label: ";
}

std::string label_line(std::string_view label) {
  return label.empty() ? "" : std::string(label_mark) + std::string(label) + "\n";
}

std::string take_label(std::string& text) {
  const std::size_t end = text.find('\n');
  if (!text.starts_with(label_mark) || end == std::string::npos) return "";
  std::string label = text.substr(label_mark.size(), end - label_mark.size());
  if (!is_name(label)) return "";
  text.erase(0, end + 1);
  return label;
}

bool is_document(std::string_view text) {
  return text.size() <= Ledger::max_text_bytes && is_text(text, is_of_documents);
}

std::string document_of(std::string_view text) {
  std::string document;
  while (!text.empty()) {
    char32_t point = 0;
    std::size_t length = decode_utf8(text, point);
    if (length > 0 && is_of_documents(point)) {
      document += text.substr(0, length);
    } else {
      constexpr std::string_view digits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[0]);
      document += "\\x";
      document += digits[byte >> 4];
      document += digits[byte & 0xf];
      length = 1;
    }
    text.remove_prefix(length);
  }
  return document;
}

bool is_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-ddTdd:dd:ddZ";
  return text.size() == form.size() && std::equal(text.begin(), text.end(), form.begin(), [](char c, char f) {
           return f == 'd' ? c >= '0' && c <= '9' : c == f;
         });
}

std::string time_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> buffer{};
  return std::string(buffer.data(), std::strftime(buffer.data(), buffer.size(), "%Y-%m-%dT%H:%M:%SZ", &utc));
}

std::string to_hex(const Hash& hash) {
  std::string text;
  for (const char c : hash) {
    const auto byte = static_cast<unsigned char>(c);
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

Hash hash_of(const Genesis& genesis) {
  Hasher hasher;
  hasher.add("snapdp ledger " + std::to_string(genesis.version))
      .add(genesis.identity.dataset)
      .add(to_string(genesis.identity.neighbors))
      .add(genesis.identity.privacy_unit);
  if (genesis.version > 1) hasher.add(genesis.declaration);
  if (genesis.version == version_of_others) hasher.add(to_string(genesis.measure));
  return hasher.add(genesis.budget).add(genesis.created).add(genesis.nonce).finish();
}

Hash hash_of(const Hash& previous, const Record& record) {
  return Hasher()
      .add("snapdp record 1")
      .add(previous)
      .add(std::to_string(record.position))
      .add(record.kind)
      .add(std::to_string(record.release))
      .add(record.time)
      .add(record.cost)
      .add(record.spent)
      .add(record.charges)
      .add(record.text)
      .finish();
}

}  // namespace snapdp::privacy_internal::ledger_format
