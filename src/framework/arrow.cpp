#include "snapdp/framework/arrow.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>

#include "snapdp/error.h"

namespace snapdp {
namespace {

// Names and formats come from outside: at most 40 bytes of them are shown.
std::string shown(const char* text) {
  constexpr std::size_t longest = 40;
  return quoted_text(text == nullptr ? std::string_view() : std::string_view(text), longest);
}

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::bad_data, "arrow", "arrow: " + message);
}
[[noreturn]] void refuse_column(const ArrowSchema& schema, const std::string& message) {
  refuse("column " + shown(schema.name) + ": " + message);
}

// That `offset` + `length` rows are a sensible claim.
void check_extent(const ArrowSchema& schema, const ArrowArray& array) {
  if (schema.release == nullptr || array.release == nullptr)
    refuse_column(schema, "the structs have been released already");
  if (array.length < 0 || array.offset < 0 ||
      array.offset > std::numeric_limits<std::int64_t>::max() - array.length) {
    refuse_column(schema, "its length or offset is negative or beyond 64 bits");
  }
  constexpr std::int64_t most = std::int64_t{1} << 40;
  if (array.length > most || array.offset > most)
    refuse_column(schema, "it claims more than 2^40 rows; pass smaller batches");
  if (array.null_count < -1) refuse_column(schema, "its number of nulls is negative");
  if (array.dictionary != nullptr || schema.dictionary != nullptr)
    refuse_column(schema, "it is dictionary-encoded; decode it first");
}

void check_buffers(const ArrowSchema& schema, const ArrowArray& array, std::int64_t expected) {
  if (array.n_buffers != expected || array.buffers == nullptr)
    refuse_column(schema, "it has another number of buffers than its type");
  if (array.buffers[1] == nullptr && array.length > 0) refuse_column(schema, "a buffer is missing");
}

// The interface asks for aligned buffers; others must not be read as numbers.
bool is_aligned(const void* buffer, std::size_t size) {
  return reinterpret_cast<std::uintptr_t>(buffer) % size == 0;
}

// How many bytes a value takes, or an offset of a text; 1 for bitmaps and bytes.
std::size_t width_of(std::string_view format) {
  if (format == "g" || format == "l" || format == "U") return 8;
  if (format == "f" || format == "i" || format == "I" || format == "u") return 4;
  return format == "s" || format == "S" ? 2 : 1;
}

template <typename To, typename From>
std::vector<To> widened(const void* buffer, std::size_t first, std::size_t rows) {
  const auto* from = static_cast<const From*>(buffer) + first;
  return std::vector<To>(from, from + rows);
}

std::vector<std::int64_t> bits(const void* buffer, std::size_t first, std::size_t rows) {
  const auto* bytes = static_cast<const std::uint8_t*>(buffer);
  std::vector<std::int64_t> result(rows);
  for (std::size_t row = 0; row < rows; ++row)
    result[row] = (bytes[(first + row) / 8] >> ((first + row) % 8)) & 1;
  return result;
}

template <typename Offset>
std::vector<std::string_view> views(const ArrowSchema& schema, const ArrowArray& array, std::size_t first,
                                    std::size_t rows) {
  const auto* ends = static_cast<const Offset*>(array.buffers[1]) + first;
  const auto* bytes = static_cast<const char*>(array.buffers[2]);
  // The last offset is the length of the bytes: none of the others may lie beyond it.
  const Offset size = static_cast<const Offset*>(array.buffers[1])[array.offset + array.length];
  std::vector<std::string_view> result;
  result.reserve(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    if (ends[row] < 0 || ends[row + 1] < ends[row] || ends[row + 1] > size)
      refuse_column(schema, "the offsets of its texts do not increase");
    // A column of empty texts may come without bytes.
    if (bytes == nullptr && ends[row + 1] > 0) refuse_column(schema, "a buffer is missing");
    result.emplace_back(bytes == nullptr ? "" : bytes + ends[row],
                        static_cast<std::size_t>(ends[row + 1] - ends[row]));
  }
  return result;
}

}  // namespace

ArrowTable::ArrowTable(const ArrowSchema& schema, const ArrowArray& array) {
  if (schema.format == nullptr) refuse("the schema has no format");
  check_extent(schema, array);
  rows_ = static_cast<std::size_t>(array.length);
  if (std::string_view(schema.format) != "+s") {
    add(schema, array, 0);
    return;
  }
  if (array.n_buffers >= 1 && array.buffers != nullptr && array.buffers[0] != nullptr &&
      array.null_count != 0)
    refuse("whole rows are null; give every column its own nulls");
  const bool children = schema.n_children >= 0 && schema.n_children == array.n_children;
  if (!children || (schema.n_children > 0 && (schema.children == nullptr || array.children == nullptr)))
    refuse("schema and array have different numbers of columns");
  for (std::int64_t i = 0; i < schema.n_children; ++i) {
    if (schema.children[i] == nullptr || array.children[i] == nullptr) refuse("a column is missing");
    check_extent(*schema.children[i], *array.children[i]);
    if (array.children[i]->length < array.length || array.children[i]->length - array.length < array.offset)
      refuse_column(*schema.children[i], "it has fewer rows than the batch");
    add(*schema.children[i], *array.children[i], array.offset);
  }
}

void ArrowTable::add(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset) {
  if (schema.format == nullptr) refuse_column(schema, "it has no format");
  if (array.offset > std::numeric_limits<std::int64_t>::max() - offset - array.length)
    refuse_column(schema, "its length or offset is negative or beyond 64 bits");
  const std::string_view format = schema.format;
  const bool text = format == "u" || format == "U";
  const bool number =
      format.size() == 1 && std::string_view("gflibcCsSI").find(format) != std::string_view::npos;
  if (!text && !number) {
    refuse_column(schema,
                  "its format is " + shown(schema.format) +
                      "; columns are float64, float32, int64, integers of up to 32 bits, boolean or utf8");
  }
  check_buffers(schema, array, text ? 3 : 2);
  if (!is_aligned(array.buffers[1], width_of(format)))
    refuse_column(schema, "a buffer is not aligned to its type");
  const auto first = static_cast<std::size_t>(array.offset + offset);
  Column column;
  const auto use = [&](AtomType type, const auto& cells) {
    column.type = type;
    column.values = cells.data();
  };
  const void* values = array.buffers[1];
  // Without rows there may be no buffers to read.
  if (rows_ == 0) {
    column.type = text ? AtomType::text : format == "g" || format == "f" ? AtomType::real : AtomType::integer;
  } else if (format == "g") {
    column = {AtomType::real, static_cast<const double*>(values) + first};
  } else if (format == "l") {
    column = {AtomType::integer, static_cast<const std::int64_t*>(values) + first};
  } else if (format == "f") {
    use(AtomType::real, reals_.emplace_back(widened<double, float>(values, first, rows_)));
  } else if (format == "b") {
    use(AtomType::integer, integers_.emplace_back(bits(values, first, rows_)));
  } else if (format == "c") {
    use(AtomType::integer, integers_.emplace_back(widened<std::int64_t, std::int8_t>(values, first, rows_)));
  } else if (format == "C") {
    use(AtomType::integer, integers_.emplace_back(widened<std::int64_t, std::uint8_t>(values, first, rows_)));
  } else if (format == "s") {
    use(AtomType::integer, integers_.emplace_back(widened<std::int64_t, std::int16_t>(values, first, rows_)));
  } else if (format == "S") {
    use(AtomType::integer,
        integers_.emplace_back(widened<std::int64_t, std::uint16_t>(values, first, rows_)));
  } else if (format == "i") {
    use(AtomType::integer, integers_.emplace_back(widened<std::int64_t, std::int32_t>(values, first, rows_)));
  } else if (format == "I") {
    use(AtomType::integer,
        integers_.emplace_back(widened<std::int64_t, std::uint32_t>(values, first, rows_)));
  } else if (format == "u") {
    use(AtomType::text, texts_.emplace_back(views<std::int32_t>(schema, array, first, rows_)));
  } else {
    use(AtomType::text, texts_.emplace_back(views<std::int64_t>(schema, array, first, rows_)));
  }
  if (array.buffers[0] != nullptr) {
    column.validity = static_cast<const std::uint8_t*>(array.buffers[0]);
    column.validity_offset = first;
  } else if (array.null_count > 0) {
    refuse_column(schema, "it has nulls but no validity bitmap");
  }
  names_.emplace_back(schema.name == nullptr ? "" : schema.name);
  columns_.push_back(column);
}

Chunk ArrowTable::chunk(const std::vector<std::string>& names) const {
  std::vector<Column> chosen;
  for (const std::string& name : names) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) refuse("there is no column " + shown(name.c_str()));
    if (std::find(found + 1, names_.end(), name) != names_.end())
      refuse("several columns are called " + shown(name.c_str()));
    chosen.push_back(columns_[static_cast<std::size_t>(found - names_.begin())]);
  }
  return Chunk(chosen, rows_);
}

VectorDomain ArrowTable::domain(const std::vector<std::string>& names) const {
  std::vector<AtomType> types;
  const Chunk chosen = chunk(names);
  for (const Column& column : chosen.columns()) types.push_back(column.type);
  return untrusted_domain(types);
}

}  // namespace snapdp
