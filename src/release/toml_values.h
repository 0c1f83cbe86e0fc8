// Values that a declaration and a statistic write in the same way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "release/toml_document.h"
#include "snapdp/release/declaration.h"

namespace snapdp::release_internal {

// The names of columns and datasets, and categories, are not longer.
constexpr std::size_t longest_name = 256;

std::string get_name(const TomlTable& table, const std::string& key);

// "real", "integer" or, where it is allowed, "text".
AtomType get_type(const TomlTable& table, bool text_allowed);

// [lower, upper] of the document's key "bounds", or of one column's pair in it.
DecimalBounds get_bounds(const TomlDocument& document, const TomlTable& table, const toml::array& pair);

// A public set of values, all texts or all numbers, at least one, without repetition; texts when `type` says so. `noun`
// is what one of them is called in messages: "category", "key".
PublicValues get_values(const TomlTable& table, const std::string& key, const std::string& noun,
                        std::optional<AtomType> type);

}  // namespace snapdp::release_internal
