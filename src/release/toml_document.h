// A TOML document whose numbers are read from the source text, so that 0.1 is one tenth, and whose errors say
// where they are: "people.toml:14: statistic "age": bounds = [9, 0]: ...".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapdp {

// The parser asserts that a table's name begins as a name does, although the text may say anything ("[=x]"): an abort in
// one build, undefined behaviour in another. Its assertions throw this instead, in every build.
struct TomlAssertion {};
[[noreturn]] inline void fail_toml_assertion() {
  throw TomlAssertion();
}

}  // namespace snapdp

#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(condition) ((condition) ? static_cast<void>(0) : ::snapdp::fail_toml_assertion())
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "snapdp/error.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {

class TomlDocument {
 public:
  // `name` is how errors call the document. Throws invalid_argument when `text` is not TOML or breaks the
  // limits of docs/specification.md.
  TomlDocument(std::string_view text, std::string name);

  const toml::table& root() const { return root_; }
  const std::string& name() const { return name_; }
  // The source text of a value on one line of at most 60 bytes, for error messages.
  std::string shown(const toml::node& node) const;
  // A number as it is written, or as a text holds it ("1/3", "0x1p-3"). `parameter` names it in errors.
  Rational number(const toml::node& node, const std::string& context, const std::string& parameter) const;
  // Throws invalid_argument at the place of `node`.
  [[noreturn]] void refuse(const toml::node& node, const std::string& context, const std::string& parameter,
                           const std::string& rule) const;
  // "people.toml:14: ".
  std::string place(const toml::source_region& region) const;

 private:
  std::size_t offset(toml::source_position position) const;

  std::string text_;
  std::string name_;
  std::vector<std::size_t> characters_;  // where each code point begins, in bytes
  std::vector<std::size_t> lines_;       // the first code point of each line
  toml::table root_;
};

// One table of a document. Every get_ function throws invalid_argument, naming the key, when the key is
// missing or has another type.
class TomlTable {
 public:
  // Names, categories and paths are not longer.
  static constexpr std::size_t max_text_bytes = 4096;

  // `context` opens error messages: "[data]: " or "statistic "age": ". Keys that are not in `known` are
  // refused with a suggestion.
  TomlTable(const TomlDocument& document, const toml::table& table, std::string context,
            const std::vector<std::string>& known);

  bool has(const std::string& key) const { return table_.contains(key); }
  int line() const { return static_cast<int>(table_.source().begin.line); }
  const std::string& context() const { return context_; }

  std::string get_text(const std::string& key) const;
  // One of `values`, with a suggestion when it is another.
  std::string get_choice(const std::string& key, const std::vector<std::string>& values) const;
  bool get_flag(const std::string& key) const;
  Rational get_number(const std::string& key) const;
  Rational get_positive(const std::string& key) const;
  // A whole number from 1 to 2^63 - 1.
  std::uint64_t get_count(const std::string& key) const;
  const toml::array& get_array(const std::string& key) const;
  const toml::table& get_table(const std::string& key) const;
  std::vector<Rational> get_numbers(const std::string& key) const;
  std::vector<std::string> get_texts(const std::string& key) const;

  const toml::node& get(const std::string& key) const;
  // `key = value: rule`, at its place.
  [[noreturn]] void refuse(const std::string& key, const std::string& rule) const;
  // For something that is missing: the place is the table's.
  [[noreturn]] void refuse_missing(const std::string& key, const std::string& rule) const;

 private:
  void check_text(const toml::value<std::string>& text, const std::string& key) const;

  const TomlDocument& document_;
  const toml::table& table_;
  std::string context_;
};

}  // namespace snapdp
