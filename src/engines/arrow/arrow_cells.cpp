#include "engines/arrow/arrow_cells.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <optional>

#include "engines/arrow/number_text.h"
#include "framework/shared/source_parts.h"

namespace snapdp::engines_internal {
namespace {

// Arrow's buffers are read as they are, and its bitmaps as a Column has them.
static_assert(std::endian::native == std::endian::little);

// ---- Numbers as they are stored ---------------------------------------------------------------------------------------

struct Half {
  std::uint16_t bits;
};
template <typename Unscaled>
struct Decimal {
  Unscaled unscaled;
};

template <typename Stored>
concept IsDecimal = requires(Stored stored) {
  stored.unscaled;
};

// Cells of one array as values of a C++ type.
template <typename Stored>
struct Values {
  const ArrowCells& cells;
  Stored operator()(std::size_t place) const { return cells.value<Stored>(place); }
};
template <>
struct Values<bool> {
  const ArrowCells& cells;
  bool operator()(std::size_t place) const {
    return (static_cast<unsigned char>(cells.values[place / 8]) >> (place % 8) & 1) != 0;
  }
};

// Calls `visit` with the values of a numeric array.
template <typename Visit>
void visit_numbers(const ArrowCells& cells, const Visit& visit) {
  switch (cells.type.form) {
    case ArrowForm::boolean:
      return visit(Values<bool>{cells});
    case ArrowForm::int8:
      return visit(Values<std::int8_t>{cells});
    case ArrowForm::int16:
      return visit(Values<std::int16_t>{cells});
    case ArrowForm::int32:
      return visit(Values<std::int32_t>{cells});
    case ArrowForm::int64:
      return visit(Values<std::int64_t>{cells});
    case ArrowForm::uint8:
      return visit(Values<std::uint8_t>{cells});
    case ArrowForm::uint16:
      return visit(Values<std::uint16_t>{cells});
    case ArrowForm::uint32:
      return visit(Values<std::uint32_t>{cells});
    case ArrowForm::uint64:
      return visit(Values<std::uint64_t>{cells});
    case ArrowForm::float16:
      return visit(Values<Half>{cells});
    case ArrowForm::float32:
      return visit(Values<float>{cells});
    case ArrowForm::float64:
      return visit(Values<double>{cells});
    case ArrowForm::decimal32:
      return visit(Values<Decimal<std::int32_t>>{cells});
    case ArrowForm::decimal64:
      return visit(Values<Decimal<std::int64_t>>{cells});
    case ArrowForm::decimal128:
      return visit(Values<Decimal<Int128>>{cells});
    case ArrowForm::null:
    case ArrowForm::utf8:
    case ArrowForm::large_utf8:
    case ArrowForm::utf8_view:
      break;
  }
}

// ---- What becomes of one number ---------------------------------------------------------------------------------------

template <typename Stored>
double real_of(Stored stored, const ArrowCellType& type) {
  if constexpr (IsDecimal<Stored>) {
    return decimal_to_real(stored.unscaled, type.digits, type.scale);
  } else if constexpr (std::same_as<Stored, Half>) {
    return half_to_real(stored.bits);
  } else {
    return static_cast<double>(stored);
  }
}

// None beyond 64 bits. Reals and decimals with a fraction are not read as integers here.
template <typename Stored>
std::optional<std::int64_t> integer_of(Stored stored) {
  if constexpr (IsDecimal<Stored>) {
    if (stored.unscaled < std::numeric_limits<std::int64_t>::min() ||
        stored.unscaled > std::numeric_limits<std::int64_t>::max())
      return std::nullopt;
    return static_cast<std::int64_t>(stored.unscaled);
  } else if constexpr (std::integral<Stored>) {
    if constexpr (std::same_as<Stored, std::uint64_t>) {
      if (stored > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    }
    return static_cast<std::int64_t>(stored);
  } else {
    return std::nullopt;
  }
}

// Null for NaN. What it writes is at most longest_number_text bytes.
template <typename Stored>
char* write(Stored stored, const ArrowCellType& type, char* into) {
  if constexpr (IsDecimal<Stored>) {
    return write_decimal(stored.unscaled, type.digits, type.scale, into);
  } else if constexpr (std::same_as<Stored, bool>) {
    const std::string_view word = stored ? "true" : "false";
    return std::copy(word.begin(), word.end(), into);
  } else if constexpr (std::integral<Stored>) {
    return std::to_chars(into, into + longest_number_text, stored).ptr;
  } else {
    const double value = real_of(stored, type);
    return std::isnan(value) ? nullptr : write_real(value, into);
  }
}

// ---- Rows one after the other, none of which is taken away here -------------------------------------------------------

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignof(double) == 0;
}

// Whether every cell that is not null is one of the type `stored` too.
bool keeps_all(const ArrowCells& cells, AtomType stored) {
  if (cells.type.form == ArrowForm::null || cells.type.kind == ArrowKind::text) return false;
  if (stored == AtomType::real) return true;
  if (stored == AtomType::text) return false;
  return cells.type.kind != ArrowKind::large_integer && cells.type.form != ArrowForm::decimal128;
}

Column read_all(const ArrowCells& cells, AtomType stored, std::size_t first, std::size_t count,
                ArrowRoom& room) {
  const std::size_t start = cells.first + first;
  Column column{stored, nullptr, cells.validity, start};
  const bool in_place = (stored == AtomType::real && cells.type.form == ArrowForm::float64) ||
                        (stored == AtomType::integer && cells.type.form == ArrowForm::int64);
  if (in_place && is_aligned(cells.values)) {
    column.values = cells.values + start * sizeof(double);
    return column;
  }
  column.values = room.cells.values;
  visit_numbers(cells, [&](const auto& values) {
    if (stored == AtomType::real) {
      double* const reals = room.cells.reals();
      for (std::size_t row = 0; row < count; ++row) reals[row] = real_of(values(start + row), cells.type);
    } else {
      std::int64_t* const integers = room.cells.integers();
      for (std::size_t row = 0; row < count; ++row)
        integers[row] = integer_of(values(start + row)).value_or(0);
    }
  });
  return column;
}

// ---- Rows each in a place of its own, some of them null ---------------------------------------------------------------

// Calls `read` with the place of each row that has one; it says whether there is a cell.
template <typename Read>
void each_valid(std::size_t count, ArrowRoom& room, const Read& read) {
  for (std::size_t row = 0; row < count; ++row) {
    if (room.valid[row] != 0) room.valid[row] = read(row, room.places[row]) ? 1 : 0;
  }
}

void read_reals(const ArrowCells& cells, std::size_t count, ArrowRoom& room) {
  double* const reals = room.cells.reals();
  visit_numbers(cells, [&](const auto& values) {
    each_valid(count, room, [&](std::size_t row, std::size_t place) {
      reals[row] = real_of(values(place), cells.type);
      return true;
    });
  });
}

void read_integers(const ArrowCells& cells, std::size_t count, ArrowRoom& room) {
  std::int64_t* const integers = room.cells.integers();
  visit_numbers(cells, [&](const auto& values) {
    each_valid(count, room, [&](std::size_t row, std::size_t place) {
      const std::optional<std::int64_t> integer = integer_of(values(place));
      integers[row] = integer.value_or(0);
      return integer.has_value();
    });
  });
}

void write_numbers(const ArrowCells& cells, std::size_t count, ArrowRoom& room) {
  room.written.resize(block_rows * longest_number_text);
  char* end = room.written.data();
  visit_numbers(cells, [&](const auto& values) {
    each_valid(count, room, [&](std::size_t row, std::size_t place) {
      char* const start = end;
      end = write(values(place), cells.type, start);
      if (end == nullptr) {
        end = start;
        return false;
      }
      room.cells.texts()[row] = {start, static_cast<std::size_t>(end - start)};
      return true;
    });
  });
}

template <typename Offset>
void read_texts(const ArrowCells& cells, std::size_t count, ArrowRoom& room) {
  each_valid(count, room, [&](std::size_t row, std::size_t place) {
    const std::int64_t begin = cells.value<Offset>(place);
    const std::int64_t end = cells.value<Offset>(place + 1);
    const bool there = begin >= 0 && begin <= end && end <= cells.size;
    room.cells.texts()[row] =
        there && begin < end ? std::string_view(cells.bytes + begin, static_cast<std::size_t>(end - begin))
                             : std::string_view("");
    return there;
  });
}

// A view is a length and, up to 12 bytes, the text; else its first 4 bytes, the number of a buffer and an offset there.
struct View {
  std::int32_t size;
  std::int32_t first_bytes;
  std::int32_t part;
  std::int32_t offset;
};

std::optional<std::string_view> text_of(const ArrowCells& cells, std::size_t place) {
  constexpr std::int32_t longest_inside = 12;
  const auto view = cells.value<View>(place);
  if (view.size < 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(view.size);
  if (view.size <= longest_inside)
    return std::string_view(cells.values + place * sizeof(View) + sizeof view.size, size);
  if (view.part < 0 || view.part >= cells.part_count || view.offset < 0) return std::nullopt;
  std::int64_t part_size = 0;
  std::memcpy(&part_size, cells.part_sizes + static_cast<std::size_t>(view.part) * sizeof part_size,
              sizeof part_size);
  const auto* part = static_cast<const char*>(cells.parts[view.part]);
  if (part == nullptr || std::int64_t{view.offset} + view.size > part_size) return std::nullopt;
  return std::string_view(part + view.offset, size);
}

void read_views(const ArrowCells& cells, std::size_t count, ArrowRoom& room) {
  each_valid(count, room, [&](std::size_t row, std::size_t place) {
    const std::optional<std::string_view> text = text_of(cells, place);
    room.cells.texts()[row] = text.value_or(std::string_view(""));
    return text.has_value();
  });
}

// Takes away the rows of which the cells are null.
void and_valid(const ArrowCells& cells, std::size_t first, std::size_t count, ArrowRoom& room) {
  if (cells.validity == nullptr) return;
  for (std::size_t row = 0; row < count; ++row) room.valid[row] &= cells.valid(cells.first + first + row);
}

// Where each row's cell lies, and whether it has one.
void find_places(const ArrowColumn& column, std::size_t first, std::size_t count, ArrowRoom& room) {
  for (std::size_t row = 0; row < count; ++row) room.places[row] = column.cells.first + first + row;
  std::fill_n(room.valid.begin(), count, std::uint8_t{column.cells.type.form != ArrowForm::null});
  and_valid(column.cells, first, count, room);
  if (column.whole) and_valid(*column.whole, first, count, room);
}

// The entry of the dictionary that each row has, counted from 0; null where the index leads nowhere.
void find_entries(const ArrowColumn& column, std::size_t first, std::size_t count, ArrowRoom& room) {
  const ArrowCells& index = *column.index;
  const std::size_t start = index.first + first;
  const std::uint64_t entries = column.cells.rows;
  visit_numbers(index, [&](const auto& values) {
    for (std::size_t row = 0; row < count; ++row) {
      // A negative one is larger than all entries.
      const auto entry = static_cast<std::uint64_t>(integer_of(values(start + row)).value_or(-1));
      room.places[row] = entry < entries ? static_cast<std::size_t>(entry) : 0;
      room.valid[row] = entry < entries;
    }
  });
  and_valid(index, first, count, room);
  if (column.whole) and_valid(*column.whole, first, count, room);
}

// And from entries to their cells.
void find_cells(const ArrowColumn& column, ArrowRoom& room, std::size_t count) {
  if (column.cells.type.form == ArrowForm::null) room.valid.fill(0);
  each_valid(count, room, [&](std::size_t row, std::size_t entry) {
    room.places[row] = column.cells.first + entry;
    return column.cells.valid(room.places[row]);
  });
}

Column pack(AtomType type, std::size_t count, ArrowRoom& room) {
  const bool all = std::all_of(room.valid.begin(), room.valid.begin() + static_cast<std::ptrdiff_t>(count),
                               [](std::uint8_t valid) { return valid != 0; });
  Column column{type, room.cells.values};
  if (all) return column;
  std::fill_n(room.cells.validity, (count + 7) / 8, std::uint8_t{0});
  for (std::size_t row = 0; row < count; ++row) {
    room.cells.validity[row / 8] =
        static_cast<std::uint8_t>(room.cells.validity[row / 8] | room.valid[row] << (row % 8));
  }
  column.validity = room.cells.validity;
  return column;
}

// Nothing behind a null is ever read as a value, but it is copied: there must be something.
void clear_nulls(AtomType type, std::size_t count, ArrowRoom& room) {
  for (std::size_t row = 0; row < count; ++row) {
    if (room.valid[row] != 0) continue;
    if (type == AtomType::text) {
      room.cells.texts()[row] = std::string_view();
    } else {
      room.cells.integers()[row] = 0;
    }
  }
}

Column read_placed(const ArrowCells& cells, AtomType stored, std::size_t count, ArrowRoom& room) {
  if (stored == AtomType::real) {
    read_reals(cells, count, room);
  } else if (stored == AtomType::integer) {
    read_integers(cells, count, room);
  } else if (cells.type.form == ArrowForm::utf8) {
    read_texts<std::int32_t>(cells, count, room);
  } else if (cells.type.form == ArrowForm::large_utf8) {
    read_texts<std::int64_t>(cells, count, room);
  } else if (cells.type.form == ArrowForm::utf8_view) {
    read_views(cells, count, room);
  } else {
    write_numbers(cells, count, room);
  }
  clear_nulls(stored, count, room);
  return pack(stored, count, room);
}

}  // namespace

Column read_arrow(const ArrowColumn& column, AtomType stored, std::size_t first, std::size_t count,
                  ArrowRoom& room) {
  if (!column.index && !column.whole && keeps_all(column.cells, stored))
    return read_all(column.cells, stored, first, count, room);
  if (column.index) {
    find_entries(column, first, count, room);
    find_cells(column, room, count);
  } else {
    find_places(column, first, count, room);
  }
  return read_placed(column.cells, stored, count, room);
}

// ---- Inputs -----------------------------------------------------------------------------------------------------------

ArrowInputReader::ArrowInputReader(const ArrowInput& input)
    : input_(input), convert_(cell_conversion(input.stored, input.wanted)) {}

bool ArrowInputReader::has_small_dictionary(const ArrowBatch& batch, const ArrowColumn& column) {
  constexpr std::size_t largest = std::size_t{1} << 16;  // a megabyte
  return column.index && column.cells.rows <= std::min(batch.rows(), largest);
}

template <typename Take>
void ArrowInputReader::entries(const ArrowColumn& column, const Take& take) const {
  const ArrowColumn dictionary{column.cells, std::nullopt, std::nullopt};
  const auto room = std::make_unique<ArrowRoom>();
  for (std::size_t first = 0; first < column.cells.rows; first += block_rows) {
    const std::size_t count = std::min(block_rows, column.cells.rows - first);
    take(first, count, convert(read_arrow(dictionary, input_.stored, first, count, *room), count, *room));
  }
}

ArrowInputReader::Prepared ArrowInputReader::prepare(const ArrowBatch& batch) const {
  Prepared prepared;
  const ArrowColumn& column = batch.column(input_.column);
  const bool texts = input_.wanted == AtomType::text;
  // Numbers as texts would need room.
  if (!has_small_dictionary(batch, column) || (texts && column.cells.type.kind != ArrowKind::text))
    return prepared;
  prepared.used = true;
  prepared.valid.resize(column.cells.rows);
  if (texts) {
    prepared.texts.resize(column.cells.rows);
  } else {
    prepared.bits.resize(column.cells.rows);
  }
  entries(column, [&](std::size_t first, std::size_t count, const Column& cells) {
    if (texts) {
      std::copy_n(cells.texts(), count, prepared.texts.data() + first);
    } else {
      std::memcpy(prepared.bits.data() + first, cells.values, count * sizeof(std::uint64_t));
    }
    for (std::size_t entry = 0; entry < count; ++entry) prepared.valid[first + entry] = cells.valid(entry);
  });
  return prepared;
}

Column ArrowInputReader::read(const ArrowBatch& batch, const Prepared& prepared, std::size_t first,
                              std::size_t count, ArrowRoom& room) const {
  const ArrowColumn& column = batch.column(input_.column);
  if (!prepared.used) return convert(read_arrow(column, input_.stored, first, count, room), count, room);
  find_entries(column, first, count, room);
  if (prepared.valid.empty()) {  // no row has an entry
    clear_nulls(input_.wanted, count, room);
    return pack(input_.wanted, count, room);
  }
  for (std::size_t row = 0; row < count; ++row) room.valid[row] &= prepared.valid[room.places[row]];
  if (input_.wanted == AtomType::text) {
    for (std::size_t row = 0; row < count; ++row) room.cells.texts()[row] = prepared.texts[room.places[row]];
  } else {
    std::int64_t* const bits = room.cells.integers();
    for (std::size_t row = 0; row < count; ++row)
      bits[row] = static_cast<std::int64_t>(prepared.bits[room.places[row]]);
  }
  return pack(input_.wanted, count, room);
}

Column ArrowInputReader::convert(const Column& stored, std::size_t count, ArrowRoom& room) const {
  if (!convert_) return stored;
  return convert_->apply(Chunk(std::span<const Column>(&stored, 1), count), room.converted).column[0];
}

ArrowKeyReader::ArrowKeyReader(const ArrowInput& input, const KeyIndex& index)
    : reader_(input), index_(&index), description_(index.description()) {
  const std::uint8_t none = 0;
  const std::string_view nothing;
  const Column null{input.wanted, &nothing, &none, 0};
  index_->find(null, 1, &null_place_);
}

ArrowKeyReader::Prepared ArrowKeyReader::prepare(const ArrowBatch& batch) const {
  Prepared prepared;
  const ArrowColumn& column = batch.column(input().column);
  if (!ArrowInputReader::has_small_dictionary(batch, column)) return prepared;
  prepared.used = true;
  prepared.places.resize(column.cells.rows);
  reader_.entries(column, [&](std::size_t first, std::size_t count, const Column& cells) {
    index_->find(cells, count, prepared.places.data() + first);
  });
  return prepared;
}

void ArrowKeyReader::read(const ArrowBatch& batch, const Prepared& prepared, std::size_t first,
                          std::size_t count, ArrowRoom& room, std::uint32_t* places) const {
  const ArrowColumn& column = batch.column(input().column);
  if (!prepared.used)
    return find(read_arrow(column, input().stored, first, count, room), count, room, places);
  find_entries(column, first, count, room);
  for (std::size_t row = 0; row < count; ++row)
    places[row] = room.valid[row] != 0 ? prepared.places[room.places[row]] : null_place_;
}

void ArrowKeyReader::find(const Column& stored, std::size_t count, ArrowRoom& room,
                          std::uint32_t* places) const {
  index_->find(reader_.convert(stored, count, room), count, places);
}

}  // namespace snapdp::engines_internal
