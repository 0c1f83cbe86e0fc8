#include "release/toml_document.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>

#include "release/shared/suggestion.h"
#include "release/synonyms.h"

namespace snapdp::release_internal {
namespace {

// No table of a specification is nested deeper than this.
constexpr std::size_t most_dots = 16;

bool is_bare_key(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// The end of the string that opens at `i`, or the end of the text.
std::size_t skip_string(std::string_view text, std::size_t i) {
  const char quote = text[i];
  const std::string_view triple = text.substr(i, 3);
  const bool multi_line = triple == "\"\"\"" || triple == "'''";
  for (i += multi_line ? 3 : 1; i < text.size(); ++i) {
    if (text[i] == '\\' && quote == '"') {
      ++i;
    } else if (multi_line ? text.substr(i, 3) == triple : text[i] == quote) {
      return i + (multi_line ? 3 : 1);
    } else if (!multi_line && text[i] == '\n') {
      return i;  // not TOML; the parser says so
    }
  }
  return text.size();
}

// The line of the first key with more than most_dots dots, or 0. A key a.a.a... of thousands of parts nests
// tables so deeply that the parser's recursion would exhaust the stack, so it is looked for first.
std::size_t line_of_deep_key(std::string_view text) {
  std::size_t dots = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_string(text, i);
      continue;
    }
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (c == '.') {
      if (++dots > most_dots) {
        return static_cast<std::size_t>(
                   std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(i), '\n')) +
               1;
      }
    } else if (!is_bare_key(c) && c != ' ' && c != '\t') {
      dots = 0;
    }
    ++i;
  }
  return 0;
}

const char* kind_of(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
    case toml::node_type::floating_point:
      return "a number";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

}  // namespace

std::string read_toml_file(const std::filesystem::path& path, const std::string& parameter) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorCode::io, parameter, shown_text(path.string()) + ": " + why);
  };
  if (std::filesystem::is_directory(path)) refuse("is a folder; name a TOML file");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(std::string("cannot be read: ") + std::strerror(errno) + "; check the path");
  // One byte beyond the limit tells whether there is more; nothing longer is ever held or parsed.
  std::string text(TomlDocument::max_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) refuse("cannot be read");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

TomlDocument::TomlDocument(std::string_view text, const std::string& name)
    : text_(text), name_(shown_text(name)) {
  if (text.size() > max_bytes) {
    throw Error(
        ErrorCode::invalid_argument, "specification",
        name_ + ": is larger than 1 MiB; a specification is a short text, split it or use fewer categories");
  }
  if (text_.starts_with("\xef\xbb\xbf")) text_.erase(0, 3);
  lines_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if ((static_cast<unsigned char>(text_[i]) & 0xc0U) != 0x80U) characters_.push_back(i);
    if (text_[i] == '\n') lines_.push_back(characters_.size());
  }
  if (const std::size_t line = line_of_deep_key(text_); line != 0) {
    throw Error(ErrorCode::invalid_argument, "specification",
                name_ + ":" + std::to_string(line) + ": a key has more than " + std::to_string(most_dots) +
                    " dots; no table of a specification lies so deep");
  }
  try {
    root_ = toml::parse(std::string_view(text_));
  } catch (const TomlAssertion&) {
    throw Error(
        ErrorCode::invalid_argument, "specification",
        name_ +
            ": not TOML: its parser cannot make sense of it; look for brackets, quotes and names that "
            "are out of place");
  } catch (const toml::parse_error& error) {
    const std::string description(error.description());
    const bool unheld = description.find("could not be interpreted") != std::string::npos ||
                        description.find("not representable") != std::string::npos;
    throw Error(ErrorCode::invalid_argument, "specification",
                place(error.source()) + "not TOML: " + description +
                    (unheld ? "; a number that TOML cannot hold may be written as text, \"1e-400\"" : ""));
  }
}

std::string TomlDocument::place(const toml::source_region& region) const {
  return name_ + ":" + std::to_string(region.begin.line) + ": ";
}

// The parser counts columns in code points, from 1.
std::size_t TomlDocument::offset(toml::source_position position) const {
  if (position.line == 0 || position.line > lines_.size() || position.column == 0) return text_.size();
  const std::size_t character = lines_[position.line - 1] + position.column - 1;
  return character < characters_.size() ? characters_[character] : text_.size();
}

std::string TomlDocument::shown(const toml::node& node) const {
  constexpr std::size_t longest = 60;
  const std::size_t begin = offset(node.source().begin);
  const std::size_t end = std::max(begin, offset(node.source().end));
  std::string line;
  for (const char c : std::string_view(text_).substr(begin, end - begin)) {
    const bool blank = static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
    if (blank && (line.empty() || line.back() == ' ')) continue;
    line += blank ? ' ' : c;
  }
  while (!line.empty() && line.back() == ' ') line.pop_back();
  if (line.size() <= longest) return line;
  std::size_t length = longest;
  while (length > 0 && (static_cast<unsigned char>(line[length]) & 0xc0U) == 0x80U) --length;
  return line.substr(0, length) + "...";
}

Rational TomlDocument::number(const toml::node& node, const std::string& context,
                              const std::string& parameter) const {
  std::string literal;
  if (const auto* text = node.as_string()) {
    literal = text->get();
  } else if (node.is_number()) {
    std::size_t end = offset(node.source().begin);
    const std::size_t begin = end;
    while (end < text_.size() && (is_bare_key(text_[end]) || text_[end] == '.' || text_[end] == '+')) ++end;
    literal = text_.substr(begin, end - begin);
  } else {
    refuse(node, context, parameter, std::string("must be a number; this is ") + kind_of(node));
  }
  try {
    return parse_rational(literal, parameter);
  } catch (const Error& error) {
    throw Error(error.code(), parameter, place(node.source()) + context + error.what());
  }
}

void TomlDocument::refuse(const toml::node& node, const std::string& context, const std::string& parameter,
                          const std::string& rule) const {
  throw Error(ErrorCode::invalid_argument, parameter,
              place(node.source()) + context + parameter + " = " + shown(node) + ": " + rule);
}

TomlTable::TomlTable(const TomlDocument& document, const toml::table& table, std::string context,
                     const std::vector<std::string>& known, Faults& faults)
    : document_(document), table_(table), context_(std::move(context)) {
  for (const auto& [key, value] : table_) {
    const std::string name(key.str());
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string suggestion = suggestion_for(name, known);
    faults.add(Error(ErrorCode::invalid_argument, name,
                     document_.place(key.source()) + context_ + "unknown key " + quoted_text(name) +
                         (suggestion.empty() ? "; the keys here are " + either_of(known) : suggestion)));
  }
}

const toml::node& TomlTable::get(const std::string& key) const {
  const toml::node* node = table_.get(key);
  if (node == nullptr) refuse_missing(key, "is missing");
  return *node;
}

void TomlTable::refuse(const std::string& key, const std::string& rule) const {
  document_.refuse(get(key), context_, key, rule);
}

void TomlTable::refuse_missing(const std::string& key, const std::string& rule) const {
  throw Error(ErrorCode::invalid_argument, key,
              document_.place(table_.source()) + context_ + key + " " + rule);
}

std::string TomlTable::get_text(const std::string& key) const {
  const auto* text = get(key).as_string();
  if (text == nullptr) refuse(key, std::string("must be a text in quotes; this is ") + kind_of(get(key)));
  check_text(*text, key);
  return text->get();
}

// One line of text. A tab alone is a delimiter.
void TomlTable::check_text(const toml::value<std::string>& text, const std::string& key) const {
  const std::string& value = text.get();
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (value.empty())
    document_.refuse(text, context_, key, "must not be empty; write a value, or leave the key out");
  if (value != "\t" && std::any_of(value.begin(), value.end(), is_control)) {
    document_.refuse(text, context_, key, "must not hold control characters");
  }
  if (value.size() > max_text_bytes) {
    document_.refuse(text, context_, key,
                     "must not be longer than " + std::to_string(max_text_bytes) + " bytes");
  }
}

std::string TomlTable::get_choice(const std::string& key, const std::vector<std::string>& values) const {
  std::string text = get_text(key);
  if (std::find(values.begin(), values.end(), text) == values.end()) {
    std::string hint = other_key_of(text, key);
    if (hint.empty()) hint = suggestion_for(text, values);
    refuse(key, "must be " + either_of(values) + hint);
  }
  return text;
}

bool TomlTable::get_flag(const std::string& key) const {
  const auto* flag = get(key).as_boolean();
  if (flag == nullptr)
    refuse(key, std::string("must be true or false, without quotes; this is ") + kind_of(get(key)));
  return flag->get();
}

Rational TomlTable::get_number(const std::string& key) const {
  return document_.number(get(key), context_, key);
}

Rational TomlTable::get_positive(const std::string& key) const {
  Rational value = get_number(key);
  if (value <= 0) refuse(key, "must be greater than 0");
  return value;
}

std::uint64_t TomlTable::get_count(const std::string& key) const {
  const Rational value = get_number(key);
  if (value.get_den() != 1 || value < 1 || value > Rational(std::numeric_limits<std::int64_t>::max())) {
    refuse(key, "must be a whole number of rows, at least 1 and below 2^63");
  }
  return value.get_num().get_ui();
}

const toml::array& TomlTable::get_array(const std::string& key) const {
  const auto* array = get(key).as_array();
  if (array == nullptr)
    refuse(key, std::string("must be an array in brackets; this is ") + kind_of(get(key)));
  return *array;
}

const toml::table& TomlTable::get_table(const std::string& key) const {
  const auto* table = get(key).as_table();
  if (table == nullptr) refuse(key, std::string("must be a table; this is ") + kind_of(get(key)));
  return *table;
}

std::vector<Rational> TomlTable::get_numbers(const std::string& key) const {
  std::vector<Rational> numbers;
  for (const toml::node& node : get_array(key)) numbers.push_back(document_.number(node, context_, key));
  return numbers;
}

std::vector<std::string> TomlTable::get_texts(const std::string& key) const {
  std::vector<std::string> texts;
  for (const toml::node& node : get_array(key)) {
    const auto* text = node.as_string();
    if (text == nullptr) {
      document_.refuse(node, context_, key,
                       std::string("must hold texts in quotes; this is ") + kind_of(node));
    }
    check_text(*text, key);
    texts.push_back(text->get());
  }
  return texts;
}

}  // namespace snapdp::release_internal
