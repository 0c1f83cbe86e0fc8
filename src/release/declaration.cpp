#include "snapdp/release/declaration.h"

#include <algorithm>
#include <set>

#include "numeric/shared/float_environment.h"
#include "release/declaration_reader.h"
#include "release/shared/suggestion.h"
#include "release/toml_text.h"
#include "release/toml_values.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

const std::vector<std::string> neighbor_names = {to_string(Neighbors::change_one),
                                                 to_string(Neighbors::add_remove)};
const std::vector<std::string> data_keys = {
    "path",          "format", "delimiter",    "dataset",           "title", "neighbors",  "size",
    "expected_size", "nulls",  "privacy_unit", "max_rows_per_unit", "where", "population", "row_grid"};
const std::vector<std::string> column_keys = {"type",        "bounds", "categories", "keys",
                                              "description", "unit",   "labels"};

// Keys of [data] that a specification may have although the declaration is silent about them: each chooses among
// functions of one row, or guesses. Everything else says how rows are read or what is protected.
const std::set<std::string> free_keys = {"where", "nulls", "expected_size", "row_grid"};
// Keys whose numbers may be written as texts.
const std::set<std::string> numeric_keys = {"bounds", "impute", "size", "expected_size", "max_rows_per_unit"};

// A value for a message: cut to 60 bytes.
std::string shortened(const std::string& text) {
  constexpr std::size_t longest = 60;
  if (text.size() <= longest) return text;
  std::size_t length = longest;
  while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xc0U) == 0x80U) --length;
  return text.substr(0, length) + "...";
}

// Whether a declaration that says it means `value`: numbers of people have limits, and those of theirs that are written in
// another form may break them.
bool reads_back(const std::string& text, const Rational& value) {
  try {
    return parse_rational(text, "") == value;
  } catch (const Error&) {
    return false;
  }
}

// N 10^-places, as d.ddd e+-x.
std::string scientific(const Integer& whole, long places) {
  const bool negative = whole < 0;
  std::string digits = Integer(::abs(whole)).get_str();
  const long exponent = static_cast<long>(digits.size()) - 1 - places;
  digits.erase(digits.find_last_not_of('0') + 1);
  return (negative ? "-" : "") + digits.substr(0, 1) + (digits.size() > 1 ? "." + digits.substr(1) : "") +
         "e" + std::to_string(exponent);
}

// A number of at most 100 digits as TOML reads it back, whatever its size: 12, 0.25, 123e-45; nothing when only the form
// that it was written in is short enough.
std::optional<std::string> canonical_number(const Rational& value) {
  constexpr int most_places = 600;  // parse_rational reads no decimal of more
  if (value.get_den() == 1 && value.get_num().fits_slong_p()) return value.get_num().get_str();
  std::string text = to_string(value);
  std::string shorter;
  if (text.find('/') == std::string::npos) {
    const bool whole = text.find_first_not_of("-0123456789") == std::string::npos;
    if (whole) {
      text += ".0";
      shorter = scientific(value.get_num(), 0);
    }
  } else {
    text = '"' + text + '"';
    Rational scaled = value;
    for (int places = 0; places <= most_places; ++places, scaled *= 10) {
      if (scaled.get_den() != 1) continue;
      text = scaled.get_num().get_str() + "e-" + std::to_string(places);
      shorter = scientific(scaled.get_num(), places);
      break;
    }
  }
  const std::string bare = text.front() == '"' ? text.substr(1, text.size() - 2) : text;
  if (reads_back(bare, value)) return text;
  if (reads_back(shorter, value)) return shorter;
  return std::nullopt;
}

class Canonical {
 public:
  explicit Canonical(const TomlDocument& document) : document_(document) {}

  std::string value(const toml::node& node, const std::string& key) const {
    if (const auto* array = node.as_array()) {
      std::string text;
      for (const toml::node& entry : *array) text += (text.empty() ? "" : ", ") + value(entry, key);
      return "[" + text + "]";
    }
    if (const auto* table = node.as_table()) {
      std::map<std::string, std::string> sorted;
      for (const auto& [name, entry] : *table)
        sorted[std::string(name.str())] = value(entry, key == "labels" ? key : std::string(name.str()));
      std::string text;
      for (const auto& [name, entry] : sorted)
        text += (text.empty() ? "" : ", ") + toml_key(name) + " = " + entry;
      return "{ " + text + " }";
    }
    if (node.is_number()) {
      const Rational number = document_.number(node, "", key);
      return canonical_number(number).value_or(toml_string(to_string(number)));
    }
    if (const auto* text = node.as_string()) return this->text(text->get(), key);
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    return document_.shown(node);  // a date; no key takes one
  }

 private:
  static std::string text(const std::string& text, const std::string& key) {
    // Beyond these, TOML's own parser does not take the number.
    static const Rational largest = parse_rational("1e300", "");
    if (numeric_keys.contains(key)) {
      try {
        const Rational number = parse_rational(text, key);
        const Rational size = abs(number);
        if (size == 0 || (size < largest && size * largest > 1))
          return canonical_number(number).value_or(toml_string(text));
      } catch (const Error&) {
        return toml_string(text);  // the reader of the key says what is wrong with it
      }
    }
    return toml_string(text);
  }

  const TomlDocument& document_;
};

// The tables that a declaration is made of, by the names that Entries has for them.
std::map<std::string, const toml::table*> tables_of(const TomlDocument& document) {
  std::map<std::string, const toml::table*> tables;
  const toml::table& root = document.root();
  if (const auto* data = root.get_as<toml::table>("data")) tables["data"] = data;
  if (const auto* columns = root.get_as<toml::table>("columns")) {
    for (const auto& [name, column] : *columns) {
      if (const auto* table = column.as_table()) tables["columns." + toml_key(name.str())] = table;
    }
  }
  return tables;
}

Declaration::Entries entries_of(const TomlDocument& document) {
  const Canonical canonical(document);
  Declaration::Entries entries;
  for (const auto& [name, table] : tables_of(document)) {
    for (const auto& [key, value] : *table)
      entries[name][std::string(key.str())] = canonical.value(value, std::string(key.str()));
    if (table->empty()) entries[name];  // a column that is declared, and nothing about it
  }
  return entries;
}

void read_nulls(const TomlDocument& document, const TomlTable& data, Declaration& declaration,
                Faults& faults) {
  const bool add_remove = declaration.neighbors == Neighbors::add_remove;
  if (data.get("nulls").is_string()) {
    if (data.get_text("nulls") != "drop") data.refuse("nulls", "must be \"drop\" or { impute = NUMBER }");
    if (!add_remove) {
      data.refuse(
          "nulls",
          "is not available under change-one, because the number of rows that are left would show; use "
          "nulls = { impute = NUMBER }");
    }
    declaration.drop_nulls = true;
    return;
  }
  const TomlTable nulls(document, data.get_table("nulls"), "[data]: nulls: ", {"impute"}, faults);
  declaration.impute = nulls.get_number("impute");
  declaration.drop_nulls = false;
}

void read_where(const TomlTable& data, Declaration& declaration) {
  if (declaration.neighbors == Neighbors::change_one) {
    data.refuse("where",
                "is not available under change-one, because the number of rows that are left is not public; "
                "use neighbors = \"add-remove\"");
  }
  try {
    const auto* empty = data.get("where").as_string();
    declaration.where = Where::parse(empty != nullptr && empty->get().empty() ? "" : data.get_text("where"));
    static_cast<void>(declaration.where->bind(declaration.types()));
  } catch (const Error& error) {
    const std::string why = error.what();
    const std::string opening = "where: ";
    if (!why.starts_with(opening)) throw;
    data.refuse("where", why.substr(opening.size()));
  }
}

void read_expected_size(const TomlTable& data, Declaration& declaration) {
  if (declaration.neighbors == Neighbors::change_one)
    data.refuse("expected_size", "belongs to add-remove; under change-one use size");
  declaration.expected_size = data.get_count("expected_size");
}

void read_size(const TomlTable& data, Declaration& declaration) {
  if (declaration.neighbors == Neighbors::change_one) {
    if (!data.has("size")) {
      data.refuse_missing("size",
                          "is missing; change-one neighbors need the public number of rows, size = 10000");
    }
    declaration.size = data.get_count("size");
  } else if (data.has("size")) {
    data.refuse("size",
                "is private under add-remove; for planning give a public guess as expected_size, or use "
                "neighbors = \"change-one\" if the number of rows is public");
  }
}

void read_unit(const TomlTable& data, Declaration& declaration) {
  if (data.has("privacy_unit")) {
    if (declaration.neighbors == Neighbors::change_one) {
      data.refuse("privacy_unit",
                  "is not available under change-one, because the number of rows that are left is not "
                  "public; use neighbors = \"add-remove\"");
    }
    declaration.privacy_unit = get_name(data, "privacy_unit");
    if (!data.has("max_rows_per_unit")) {
      data.refuse_missing("max_rows_per_unit",
                          "is missing; say how many rows of one privacy unit count at most, "
                          "max_rows_per_unit = 1 (all noise grows with it)");
    }
  }
  if (!data.has("max_rows_per_unit")) return;
  if (!declaration.privacy_unit)
    data.refuse("max_rows_per_unit",
                "applies only with privacy_unit; name the column of the unit, or remove it");
  declaration.max_rows_per_unit = data.get_count("max_rows_per_unit");
}

void read_population(const TomlTable& data, Declaration& declaration) {
  declaration.population = data.get_flag("population");
  if (declaration.population && declaration.max_rows_per_unit > 1) {
    data.refuse("population",
                "does not go with several rows of a privacy unit, which are no independent draws; use "
                "max_rows_per_unit = 1, or remove it");
  }
}

void read_row_grid(const TomlTable& data, Declaration& declaration) {
  declaration.row_grid.kind = data.get_choice("row_grid", {"auto", "none"}) == "auto"
                                  ? RowGridChoice::Kind::automatic
                                  : RowGridChoice::Kind::none;
}

// How the file is read.
void read_shape(const TomlTable& data, const std::filesystem::path& folder, Declaration& declaration) {
  if (data.has("path")) {
    const std::filesystem::path path = data.get_text("path");
    if (path.string().find("://") != std::string::npos)
      data.refuse("path", "addresses are not opened; download the file and name it");
    declaration.path = path.is_absolute() ? path : folder / path;
  }
  if (data.has("format")) {
    declaration.format = data.get_choice("format", {"csv", "parquet"}) == "csv"
                             ? Declaration::Format::csv
                             : Declaration::Format::parquet;
  }
  if (!data.has("delimiter")) return;
  if (declaration.format == Declaration::Format::parquet)
    data.refuse("delimiter", "does not go with format = \"parquet\"; remove one of them");
  const std::string delimiter = data.get_text("delimiter");
  // Letters, digits, signs, points and quotes occur in cells.
  constexpr std::string_view allowed = "\t!#$%&'()*,/:;<=>?@[\\]^`{|}~";
  if (delimiter.size() != 1 || allowed.find(delimiter[0]) == std::string_view::npos)
    data.refuse("delimiter", R"(must be one character such as ",", ";", "|" or "\t")");
  declaration.delimiter = delimiter[0];
}

// A number with type = "integer" is one that such a cell can be.
void check_integers(const TomlTable& table, const std::string& key, const PublicValues& values) {
  for (const Rational& number : values.numbers) {
    if (number.get_den() != 1 || !number.get_num().fits_slong_p())
      table.refuse(key, "must be whole numbers that fit 64 bits, because type = \"integer\"");
  }
}

// The form in which a report has the value: numbers as to_string() writes them.
std::string canonical_value(const std::string& text) {
  try {
    return to_string(parse_rational(text, "labels"));
  } catch (const Error&) {
    return text;  // a bin: "[0, 20)"
  }
}

void read_labels(const TomlDocument& document, const TomlTable& table, ColumnDeclaration& column,
                 Faults& faults) {
  const toml::table& labels = table.get_table("labels");
  if (labels.size() > Declaration::max_values)
    table.refuse("labels",
                 "has more than " + std::to_string(Declaration::max_values) + " entries; use fewer");
  std::vector<std::string> keys;
  for (const auto& [key, node] : labels) keys.emplace_back(key.str());
  const TomlTable entries(document, labels, table.context() + "labels: ", keys, faults);
  std::set<std::string> known(column.values.texts.begin(), column.values.texts.end());
  for (const Rational& number : column.values.numbers) known.insert(to_string(number));
  for (const std::string& key : keys) {
    const std::string value = column.type == AtomType::text ? key : canonical_value(key);
    const bool is_bin = value.find(',') != std::string::npos || value == "other";
    if (!known.empty() && !known.contains(value) && !is_bin) {
      table.refuse("labels", "names " + quoted_text(key) + ", which is none of the column's values" +
                                 did_you_mean(key, {known.begin(), known.end()}));
    }
    if (!column.labels.emplace(value, get_name(entries, key)).second)
      table.refuse("labels", "names " + quoted_text(key) + " twice; remove one");
  }
}

ColumnDeclaration read_column(const TomlDocument& document, const TomlTable& table, Faults& faults) {
  ColumnDeclaration column;
  if (table.has("type")) column.type = get_type(table, true);
  if (table.has("categories") && table.has("keys"))
    table.refuse("keys",
                 "cannot stand beside categories: both are the column's public values; remove one of them");
  for (const std::string key : {"categories", "keys"}) {
    if (!table.has(key)) continue;
    column.values = get_values(table, key, key == "keys" ? "key" : "category", column.type);
    if (!column.values.texts.empty()) column.type = AtomType::text;
    if (column.type == AtomType::integer) check_integers(table, key, column.values);
  }
  if (table.has("bounds")) {
    if (column.type == AtomType::text)
      table.refuse("bounds", "need numbers, and the column is text; remove them, or say type = \"real\"");
    column.bounds = get_bounds(document, table, table.get_array("bounds"));
  }
  if (table.has("description")) column.description = table.get_text("description");
  if (table.has("unit")) column.unit = get_name(table, "unit");
  if (table.has("labels")) read_labels(document, table, column, faults);
  return column;
}

// Whether nothing is wrong with them.
bool read_columns(const TomlDocument& document, const TomlTable& root, Declaration& declaration,
                  Faults& faults) {
  if (!root.has("columns")) return true;
  const std::size_t before = faults.size();
  const toml::table* columns = nullptr;
  if (!faults.hold([&] { columns = &root.get_table("columns"); })) return false;
  for (const auto& [key, node] : *columns) {
    const std::string name(key.str());
    const std::string context = "[columns." + toml_key(name) + "]: ";
    const auto* table = node.as_table();
    if (table == nullptr || name.empty() || name.size() > longest_name) {
      faults.add(Error(
          ErrorCode::invalid_argument, "columns",
          document.place(node.source()) + "columns: " + quoted_text(name) +
              ": must be a table headed [columns.NAME], with the name of a column of at most 256 bytes"));
      continue;
    }
    const TomlTable column(document, *table, context, column_keys, faults);
    faults.hold([&] { declaration.columns[name] = read_column(document, column, faults); });
  }
  return faults.size() == before;
}

TomlTable data_table(const TomlDocument& document, const TomlTable& root, Faults& faults) {
  return TomlTable(document, root.get_table("data"), "[data]: ", data_keys, faults);
}

void read_neighbors(const TomlTable& data, Declaration& declaration) {
  if (!data.has("neighbors"))
    data.refuse_missing("neighbors", "is missing; it is " + either_of(neighbor_names));
  declaration.neighbors = parse_neighbors(data.get_choice("neighbors", neighbor_names), "neighbors");
  declaration.drop_nulls = declaration.neighbors == Neighbors::add_remove;
}

}  // namespace

const std::vector<std::string>& release_internal::root_keys() {
  static const std::vector<std::string> keys = {"label",  "headline", "data",     "columns",
                                                "budget", "keys",     "statistic"};
  return keys;
}

Neighbors parse_neighbors(std::string_view text, std::string_view parameter) {
  const auto found = std::find(neighbor_names.begin(), neighbor_names.end(), text);
  if (found == neighbor_names.end()) {
    throw Error(ErrorCode::invalid_argument, std::string(parameter),
                std::string(parameter) + " = " + quoted_text(text) + ": must be " +
                    either_of(neighbor_names) + did_you_mean(text, neighbor_names));
  }
  return static_cast<Neighbors>(found - neighbor_names.begin());
}

namespace {

[[noreturn]] void refuse_disagreement(const std::string& key, const std::string& place,
                                      const std::string& shown, const std::string& why) {
  throw Error(ErrorCode::budget_refused, key,
              place + key + " = " + shown + ": the declaration that the ledger keeps " + why);
}

// What a table of an analyst's document says must be what the entries of the declaration say; what it may add is added.
void agree(Declaration::Entries& entries, const TomlDocument& document, const std::string& name,
           const toml::table& table) {
  const Canonical canonical(document);
  std::map<std::string, std::string>& stated = entries[name];
  for (const auto& [node_key, node] : table) {
    const std::string key(node_key.str());
    if (name == "data" && key == "path") continue;
    const auto refuse = [&, &node = node, &node_key = node_key](const std::string& why) {
      refuse_disagreement(key, document.place(node_key.source()) + "[" + name + "]: ", document.shown(node),
                          why);
    };
    const std::string value = canonical.value(node, key);
    const auto known = stated.find(key);
    if (known != stated.end()) {
      if (known->second != value) {
        refuse("says " + shortened(known->second) + "; remove the line, or use the ledger of that dataset");
      }
    } else if (name == "data" && free_keys.contains(key)) {
      stated[key] = value;
    } else {
      refuse(std::string("does not say this, and only its author may; remove the line") +
             (name == "data" ? "" : ", or write it with the statistic"));
    }
  }
}

}  // namespace

std::optional<Declaration> release_internal::read_declaration(const TomlDocument& document,
                                                              const std::filesystem::path& folder,
                                                              Faults& faults) {
  const TomlTable root(document, document.root(), "", root_keys(), faults);
  if (!root.has("data")) root.refuse_missing("[data]", "is missing; it says what is public about the data");
  const TomlTable data = data_table(document, root, faults);
  Declaration declaration;
  const bool columns_are_known = read_columns(document, root, declaration, faults);
  faults.hold([&] { read_shape(data, folder, declaration); });
  faults.hold([&] { declaration.dataset = get_name(data, "dataset"); });
  if (data.has("title")) faults.hold([&] { declaration.title = get_name(data, "title"); });
  const bool neighbors_are_known = faults.hold([&] { read_neighbors(data, declaration); });
  if (!neighbors_are_known) return std::nullopt;
  if (data.has("expected_size")) faults.hold([&] { read_expected_size(data, declaration); });
  faults.hold([&] { read_size(data, declaration); });
  if (data.has("nulls")) faults.hold([&] { read_nulls(document, data, declaration, faults); });
  faults.hold([&] { read_unit(data, declaration); });
  if (data.has("population")) faults.hold([&] { read_population(data, declaration); });
  if (data.has("row_grid")) faults.hold([&] { read_row_grid(data, declaration); });
  if (!columns_are_known) return std::nullopt;
  if (data.has("where")) faults.hold([&] { read_where(data, declaration); });
  if (faults.size() == 0) declaration.entries = entries_of(document);
  return declaration;
}

std::optional<Declaration> release_internal::amended_declaration(const TomlDocument& document,
                                                                 const Declaration& declared,
                                                                 Faults& faults) {
  const TomlTable root(document, document.root(), "", root_keys(), faults);
  Declaration result = declared;
  Declaration repeated;  // checked as a declaration's, so that nonsense is called that
  if (!read_columns(document, root, repeated, faults)) return std::nullopt;
  if (root.has("data")) static_cast<void>(data_table(document, root, faults));
  if (faults.size() > 0) return std::nullopt;
  for (const auto& [name, table] : tables_of(document)) agree(result.entries, document, name, *table);
  if (!root.has("data")) return result;
  const TomlTable data = data_table(document, root, faults);
  if (data.has("expected_size")) faults.hold([&] { read_expected_size(data, result); });
  if (data.has("nulls")) faults.hold([&] { read_nulls(document, data, result, faults); });
  if (data.has("where")) faults.hold([&] { read_where(data, result); });
  if (data.has("row_grid")) faults.hold([&] { read_row_grid(data, result); });
  return result;
}

Declaration Declaration::read(const std::filesystem::path& file) {
  return parse(read_toml_file(file, "declaration"), file.string(), file.parent_path());
}

Declaration Declaration::parse(std::string_view text, const std::string& name,
                               const std::filesystem::path& folder) {
  const FloatEnvironment environment;
  Faults faults;
  std::optional<Declaration> declaration;
  faults.hold([&] { declaration = read_declaration(TomlDocument(text, name), folder, faults); });
  faults.refuse_any();
  return *std::move(declaration);  // without faults there is one
}

std::optional<Declaration> Declaration::of(const Ledger& ledger) {
  if (ledger.declaration().empty()) return std::nullopt;
  const std::string name = shown_text(ledger.path().string());
  const auto refuse = [&](const std::string& why) {
    return Error(ErrorCode::budget_refused, "ledger",
                 name + ": " + why + "; nothing was debited. Use a ledger made by snapdp ledger create");
  };
  try {
    Declaration declaration =
        parse(ledger.declaration(), name + " (declaration)", ledger.path().parent_path());
    if (declaration.identity() != ledger.identity())
      throw refuse("its declaration is of another dataset than the ledger");
    return declaration;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::budget_refused) throw;
    throw refuse(std::string("the declaration it keeps is none (") + error.what() + ")");
  }
}

std::string Declaration::canonical_text() const {
  std::string text;
  const auto add = [&](const std::string& name, const std::map<std::string, std::string>& keys) {
    text += (text.empty() ? "[" : "\n[") + name + "]\n";
    for (const auto& [key, value] : keys) text.append(key).append(" = ").append(value).append("\n");
  };
  const auto data = entries.find("data");
  if (data != entries.end()) add(data->first, data->second);
  for (const auto& [name, keys] : entries) {
    if (name != "data") add(name, keys);
  }
  // Nobody may find out later that a ledger keeps what cannot be read.
  if (parse(text, dataset).entries != entries) {
    throw Error(ErrorCode::invalid_argument, "declaration",
                "declaration: it does not read back as it is kept; write its numbers as shorter decimals");
  }
  return text;
}

Declaration Declaration::moved_to(const std::filesystem::path& folder) const {
  Declaration moved = *this;
  if (path.empty() || entries.at("data").at("path").starts_with("\"/")) return moved;
  const auto full = [](const std::filesystem::path& name) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name));
  };
  const std::filesystem::path relative = full(path).lexically_relative(full(folder.empty() ? "." : folder));
  moved.entries["data"]["path"] = toml_string(relative.string());
  moved.path = folder / relative;
  return moved;
}

std::map<std::string, AtomType> Declaration::types() const {
  std::map<std::string, AtomType> types;
  for (const auto& [name, column] : columns) {
    if (column.type) types[name] = *column.type;
  }
  return types;
}

std::string ColumnDeclaration::label_of(const std::string& value) const {
  if (labels.empty()) return "";
  const auto found = labels.find(type == AtomType::text ? value : canonical_value(value));
  return found == labels.end() ? "" : found->second;
}

const ColumnDeclaration& Declaration::column(const std::string& name) const {
  static const ColumnDeclaration nothing;
  const auto found = columns.find(name);
  return found == columns.end() ? nothing : found->second;
}

}  // namespace snapdp
