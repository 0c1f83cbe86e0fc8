// A first declaration and a first specification, as TOML with comments: what `snapdp init` writes. Made of the header of the
// data and of answers, never of rows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "snapdp/framework/source.h"
#include "snapdp/release/declaration.h"

namespace snapdp::release_internal {

// What the custodian said of a column; nothing of it is checked here.
struct DraftColumn {
  std::optional<AtomType> type;
  std::optional<DecimalBounds> bounds;
  PublicValues values;
};

struct Draft {
  std::string path;  // as the declaration is to say it
  std::string dataset;
  std::optional<std::uint64_t> size;  // public: change-one neighbors; else add-remove
  std::optional<std::string> unit;
  std::uint64_t max_rows_per_unit = 1;
  std::vector<SourceColumn> header;
  std::map<std::string, DraftColumn> columns;  // those that something was said of
};

// Why nothing can be declared of a column of this header, in words; empty when it can.
std::string undeclarable(const std::vector<SourceColumn>& header, const SourceColumn& column);

// [data] and [columns], with every question that is still open as a comment.
std::string declaration_text(const Draft& draft);
// [budget] and a statistic for each column that is declared: its mean where it has bounds, a histogram where it has
// values; the number of rows first. `command` is what reads it, for the comment at its head.
std::string specification_text(const Declaration& declaration, const std::string& command);

}  // namespace snapdp::release_internal
