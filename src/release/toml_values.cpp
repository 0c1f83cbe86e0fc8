#include "release/toml_values.h"

#include <algorithm>
#include <set>

namespace snapdp::release_internal {
namespace {

const std::vector<std::string> type_names = {to_string(AtomType::real), to_string(AtomType::integer),
                                             to_string(AtomType::text)};

template <typename Value>
bool repeats(const std::vector<Value>& values) {
  return std::set<Value>(values.begin(), values.end()).size() != values.size();
}

}  // namespace

std::string get_name(const TomlTable& table, const std::string& key) {
  std::string name = table.get_text(key);
  if (name.size() > longest_name) table.refuse(key, "must not be longer than 256 bytes");
  return name;
}

AtomType get_type(const TomlTable& table, bool text_allowed) {
  std::vector<std::string> names = type_names;
  if (!text_allowed) names.pop_back();
  const std::string type = table.get_choice("type", names);
  return type == "real" ? AtomType::real : type == "integer" ? AtomType::integer : AtomType::text;
}

DecimalBounds get_bounds(const TomlDocument& document, const TomlTable& table, const toml::array& pair) {
  std::vector<Rational> ends;
  for (const toml::node& end : pair) {
    if (is_not_finite(document.shown(end)) || (end.is_string() && is_not_finite(end.as_string()->get()))) {
      table.refuse("bounds",
                   "must have finite ends; choose public ones that hold what matters, and values beyond them "
                   "are clamped");
    }
    ends.push_back(document.number(end, table.context(), "bounds"));
  }
  if (ends.size() != 2) table.refuse("bounds", "must have two ends, [lower, upper]; give both");
  if (ends[0] > ends[1]) table.refuse("bounds", "the lower bound must not be above the upper one; swap them");
  return {ends[0], ends[1]};
}

PublicValues get_values(const TomlTable& table, const std::string& key, const std::string& noun,
                        std::optional<AtomType> type) {
  const toml::array& array = table.get_array(key);
  if (array.empty()) table.refuse(key, "must have at least one entry");
  if (array.size() > Declaration::max_values) {
    table.refuse(key, "has more than " + std::to_string(Declaration::max_values) + " entries; use fewer");
  }
  const auto is_text = [](const toml::node& node) { return node.is_string(); };
  const bool all_texts = std::all_of(array.begin(), array.end(), is_text);
  if (type == AtomType::text && !all_texts)
    table.refuse(key, "must be texts in quotes, because type = \"text\"");
  if (!type && !all_texts && std::any_of(array.begin(), array.end(), is_text))
    table.refuse(key, "mixes texts and numbers; use one of them");
  PublicValues values;
  if (type ? type == AtomType::text : all_texts) {
    values.texts = table.get_texts(key);
    for (const std::string& text : values.texts) {
      if (text.size() > longest_name) table.refuse(key, "a " + noun + " must not be longer than 256 bytes");
    }
  } else {
    values.numbers = table.get_numbers(key);
  }
  if (repeats(values.texts) || repeats(values.numbers))
    table.refuse(key, "names a " + noun + " twice; remove one");
  return values;
}

}  // namespace snapdp::release_internal
