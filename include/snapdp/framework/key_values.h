// Which keys a column has: the candidates of groups that nobody declared. They are data, every one of them:
// what may be shown of them is for private_groups.h to decide.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/chunk.h"

namespace snapdp {

// A column whose cells are keys: of type text or integer.
struct KeyColumn {
  std::string name;
  AtomType type = AtomType::text;

  friend bool operator==(const KeyColumn&, const KeyColumn&) = default;
};

// Keys of one column, each once and in order: texts by their bytes, integers by their size.
struct KeyValues {
  // No fold gathers more: it is refused, before anything is paid.
  static constexpr std::size_t most = 10'000'000;
  // A longer text is no key.
  static constexpr std::size_t longest = 256;

  AtomType type = AtomType::text;
  std::vector<std::string> texts;
  std::vector<std::int64_t> integers;

  std::size_t size() const { return texts.size() + integers.size(); }
  bool empty() const { return size() == 0; }
  friend bool operator==(const KeyValues&, const KeyValues&) = default;
};

// Throws bad_data naming "keys" when so many are more than KeyValues::most.
void require_number_of_keys(std::size_t keys);

// Sorts keys that were gathered in any order, and leaves each once. Throws bad_data naming "keys" when there
// are more than KeyValues::most.
void put_in_order(KeyValues& keys);

// Whether a text may be a key: of 1 to KeyValues::longest bytes of UTF-8 that may be shown (text.h), as each
// view of a report shows keys, and not of blanks alone. Of a row with another text nothing is counted in any
// group, as with a null: which the row alone decides.
bool is_group_key(std::string_view text);

}  // namespace snapdp
