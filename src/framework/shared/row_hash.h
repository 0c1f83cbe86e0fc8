// The order in which a privacy unit's rows and groups are kept: by a fixed keyed hash of their content.
//
// Which rows a limit keeps must depend on the unit's own rows alone, not on where they lie in the file, which thread
// reads them or which other units there are: then adding or removing a unit leaves the choice for all others as it is.
// Ties are broken by the content itself; rows that agree in it are the same row to every statistic that reads it. The
// hash spreads the choice evenly. It need not withstand an adversary: whoever can write a unit's rows can choose them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "snapdp/framework/chunk.h"

namespace snapdp::framework_internal {

// The two keys: what is kept of a unit's rows tells nothing about which of its groups are kept. The values are the
// ASCII codes of "SnapRows" and "SnapGrps"; they are part of the format of results and never change.
enum class RowHashKey : std::uint64_t { rows = 0x536e6170526f7773, groups = 0x536e617047727073 };

// The content of one row: its cells in order. A cell is a byte 0 for a null; 1 and the 8 bytes of an integer; 2 and the
// 8 bytes of a double that is no 64-bit integer, every NaN as one; 3, the 8 bytes of the length and the bytes of a text.
// Numbers are little-endian. Rows have equal content exactly when their cells are equal; 2 and 2.0 are, because whether
// a file stores integers or doubles may hang on whether some other row has a null.
std::string row_content(std::span<const Column> columns, std::size_t row);
// The same at the end of `content`.
void append_row_content(std::string& content, std::span<const Column> columns, std::size_t row);

// XXH3 with 64 bits, seeded by the key, of the content of a row or a group.
std::uint64_t hash_content(RowHashKey key, std::string_view content);

// A cell of a content. Its texts lie in the content.
struct ContentCell {
  std::string_view bytes;        // all of it
  std::optional<AtomType> type;  // none for a null
  std::uint64_t bits = 0;        // of an integer, or of a double that is none
  std::string_view text;
};
// Takes the first cell off `content`, which is what is left of one that append_row_content() wrote.
ContentCell take_cell(std::string_view& content);

// False for a cell that names no privacy unit: null, NaN or text of nothing but white space.
bool names_unit(const Column& column, std::size_t row);

}  // namespace snapdp::framework_internal
