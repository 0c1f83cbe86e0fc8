// Arrow streams made by hand, as a producer would make them: every array with its own buffers, exactly as long as they must
// be, so that a read beyond them is seen, and callbacks that count what has not been released.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <variant>
#include <vector>

#include "numeric/shared/float_environment.h"
#include "snapdp/framework/arrow.h"

namespace snapdp {

__extension__ typedef __int128 ArrowInt;

// Nothing, a boolean, an integer or an unscaled decimal; a float; a text.
using ArrowCell = std::variant<std::monostate, ArrowInt, double, std::string>;

struct ArrowTestColumn {
  std::string name;
  std::string format;  // of the cells
  std::vector<ArrowCell> cells;
  std::string index = {};  // the format of indices, for a dictionary
};

// What is still to be released, and whether it was released by the thread that made it.
class ArrowCounts {
 public:
  void add(int count) {
    if (std::this_thread::get_id() != owner_) foreign_ = true;
    live_ += count;
  }
  int live() const { return live_; }
  bool foreign() const { return foreign_; }

 private:
  std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<int> live_{0};
  std::atomic<bool> foreign_{false};
};

namespace arrow_producer {

struct ArrayParts {
  ArrowCounts* counts;
  std::vector<std::unique_ptr<std::byte[]>> bytes;
  std::vector<const void*> buffers;
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> child_pointers;
  std::unique_ptr<ArrowArray> dictionary;
};

struct SchemaParts {
  ArrowCounts* counts;
  std::string format, name;
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> child_pointers;
  std::unique_ptr<ArrowSchema> dictionary;
};

template <typename Struct, typename Parts>
void release(Struct* released) {
  auto* parts = static_cast<Parts*>(released->private_data);
  for (const auto& child : parts->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (parts->dictionary && parts->dictionary->release != nullptr)
    parts->dictionary->release(parts->dictionary.get());
  parts->counts->add(-1);
  delete parts;
  released->release = nullptr;
}

inline std::unique_ptr<ArrowSchema> make_schema(ArrowCounts& counts, const std::string& format,
                                                const std::string& name) {
  auto* parts = new SchemaParts{&counts, format, name, {}, {}, {}};
  auto schema = std::make_unique<ArrowSchema>();
  schema->format = parts->format.c_str();
  schema->name = parts->name.c_str();
  schema->release = release<ArrowSchema, SchemaParts>;
  schema->private_data = parts;
  counts.add(1);
  return schema;
}

inline ArrayParts& parts_of(ArrowArray& array) {
  return *static_cast<ArrayParts*>(array.private_data);
}

inline const void* keep(ArrayParts& parts, const void* bytes, std::size_t size) {
  parts.bytes.emplace_back(new std::byte[size]);
  if (size > 0) std::memcpy(parts.bytes.back().get(), bytes, size);
  return parts.bytes.back().get();
}

inline const void* keep_bits(ArrayParts& parts, const std::vector<bool>& bits) {
  std::vector<std::uint8_t> bytes((bits.size() + 7) / 8);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (bits[i]) bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | (1U << (i % 8)));
  }
  return keep(parts, bytes.data(), bytes.size());
}

template <typename Value>
const void* keep_numbers(ArrayParts& parts, const std::vector<ArrowCell>& cells) {
  std::vector<Value> values;
  for (const ArrowCell& cell : cells) {
    if (const auto* integer = std::get_if<ArrowInt>(&cell)) {
      values.push_back(static_cast<Value>(*integer));
    } else if (const auto* real = std::get_if<double>(&cell)) {
      values.push_back(static_cast<Value>(*real));
    } else {
      values.push_back(static_cast<Value>(77));  // behind a null there may be anything
    }
  }
  return keep(parts, values.data(), values.size() * sizeof(Value));
}

// Of doubles that have one.
inline std::uint16_t half_bits(double value) {
  const auto bits = static_cast<std::uint64_t>(std::bit_cast<std::uint64_t>(value));
  const auto sign = static_cast<std::uint16_t>(bits >> 63 << 15);
  if (value != value) return static_cast<std::uint16_t>(sign | 0x7e00U);
  const double magnitude = value < 0 ? -value : value;
  if (magnitude > 65504) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24));
  const auto exponent = static_cast<unsigned>((bits >> 52 & 0x7ff) - 1023 + 15);
  return static_cast<std::uint16_t>(sign | exponent << 10 | (bits >> 42 & 0x3ff));
}

// Cells with the same bytes are the same.
inline std::string bytes_of(const ArrowCell& cell) {
  const auto bytes = [](const auto& value) {
    return std::string(reinterpret_cast<const char*>(&value), sizeof value);
  };
  if (const auto* integer = std::get_if<ArrowInt>(&cell)) return "i" + bytes(*integer);
  if (const auto* real = std::get_if<double>(&cell)) return "r" + bytes(*real);
  if (const auto* text = std::get_if<std::string>(&cell)) return "t" + *text;
  return "";
}

inline std::string text_of(const ArrowCell& cell) {
  const auto* text = std::get_if<std::string>(&cell);
  return text == nullptr ? "#" : *text;
}

template <typename Offset>
void keep_texts(ArrayParts& parts, const std::vector<ArrowCell>& cells) {
  std::vector<Offset> ends{0};
  std::string bytes;
  for (const ArrowCell& cell : cells) {
    bytes += text_of(cell);
    ends.push_back(static_cast<Offset>(bytes.size()));
  }
  parts.buffers.push_back(keep(parts, ends.data(), ends.size() * sizeof(Offset)));
  parts.buffers.push_back(bytes.empty() ? nullptr : keep(parts, bytes.data(), bytes.size()));
}

// Long texts lie in two buffers in turn.
inline void keep_views(ArrayParts& parts, const std::vector<ArrowCell>& cells) {
  std::string views, bytes[2];
  std::size_t turn = 0;
  const auto put = [&](const auto& value) {
    views.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const ArrowCell& cell : cells) {
    const std::string text = text_of(cell);
    put(static_cast<std::int32_t>(text.size()));
    if (text.size() <= 12) {
      views += text;
      views.append(12 - text.size(), '\0');
    } else {
      std::string& part = bytes[++turn % 2];
      views += text.substr(0, 4);
      put(static_cast<std::int32_t>(turn % 2));
      put(static_cast<std::int32_t>(part.size()));
      part += text;
    }
  }
  const std::int64_t sizes[2] = {static_cast<std::int64_t>(bytes[0].size()),
                                 static_cast<std::int64_t>(bytes[1].size())};
  parts.buffers.push_back(keep(parts, views.data(), views.size()));
  for (const std::string& part : bytes) parts.buffers.push_back(keep(parts, part.data(), part.size()));
  parts.buffers.push_back(keep(parts, sizes, sizeof sizes));
}

inline std::unique_ptr<ArrowArray> empty_array(ArrowCounts& counts) {
  auto array = std::make_unique<ArrowArray>();
  array->private_data = new ArrayParts{&counts, {}, {}, {}, {}, {}};
  array->release = release<ArrowArray, ArrayParts>;
  counts.add(1);
  return array;
}

inline void point(ArrowArray& array) {
  ArrayParts& parts = parts_of(array);
  array.n_buffers = static_cast<std::int64_t>(parts.buffers.size());
  array.buffers = parts.buffers.data();
  for (const auto& child : parts.children) parts.child_pointers.push_back(child.get());
  array.n_children = static_cast<std::int64_t>(parts.children.size());
  array.children = parts.child_pointers.data();
  array.dictionary = parts.dictionary.get();
}

inline std::vector<bool> validity_of(const std::vector<ArrowCell>& cells) {
  std::vector<bool> valid;
  for (const ArrowCell& cell : cells) valid.push_back(!std::holds_alternative<std::monostate>(cell));
  return valid;
}

// All cells, the first `skip` of which lie before the array's offset.
inline std::unique_ptr<ArrowArray> make_array(ArrowCounts& counts, const std::string& format,
                                              const std::vector<ArrowCell>& cells, std::size_t skip) {
  std::unique_ptr<ArrowArray> array = empty_array(counts);
  ArrayParts& parts = parts_of(*array);
  array->length = static_cast<std::int64_t>(cells.size() - skip);
  array->offset = static_cast<std::int64_t>(skip);
  if (format == "n") {
    array->null_count = array->length;
    point(*array);
    return array;
  }
  const std::vector<bool> valid = validity_of(cells);
  const bool nulls = std::find(valid.begin(), valid.end(), false) != valid.end();
  array->null_count = nulls ? -1 : 0;
  parts.buffers.push_back(nulls ? keep_bits(parts, valid) : nullptr);
  if (format == "b") {
    std::vector<bool> bits;
    for (const ArrowCell& cell : cells) {
      const auto* value = std::get_if<ArrowInt>(&cell);
      bits.push_back(value != nullptr && *value != 0);
    }
    parts.buffers.push_back(keep_bits(parts, bits));
  } else if (format == "c") {
    parts.buffers.push_back(keep_numbers<std::int8_t>(parts, cells));
  } else if (format == "C") {
    parts.buffers.push_back(keep_numbers<std::uint8_t>(parts, cells));
  } else if (format == "s") {
    parts.buffers.push_back(keep_numbers<std::int16_t>(parts, cells));
  } else if (format == "S") {
    parts.buffers.push_back(keep_numbers<std::uint16_t>(parts, cells));
  } else if (format == "i" || format.ends_with(",32")) {
    parts.buffers.push_back(keep_numbers<std::int32_t>(parts, cells));
  } else if (format == "I") {
    parts.buffers.push_back(keep_numbers<std::uint32_t>(parts, cells));
  } else if (format == "l" || format.ends_with(",64")) {
    parts.buffers.push_back(keep_numbers<std::int64_t>(parts, cells));
  } else if (format == "L") {
    parts.buffers.push_back(keep_numbers<std::uint64_t>(parts, cells));
  } else if (format == "f") {
    parts.buffers.push_back(keep_numbers<float>(parts, cells));
  } else if (format == "g") {
    parts.buffers.push_back(keep_numbers<double>(parts, cells));
  } else if (format == "e") {
    std::vector<ArrowCell> halves;
    for (const ArrowCell& cell : cells) {
      const auto* value = std::get_if<double>(&cell);
      halves.emplace_back(ArrowInt{value == nullptr ? std::uint16_t{0x3c00} : half_bits(*value)});
    }
    parts.buffers.push_back(keep_numbers<std::uint16_t>(parts, halves));
  } else if (format.starts_with("d:")) {
    parts.buffers.push_back(keep_numbers<ArrowInt>(parts, cells));
  } else if (format == "u") {
    keep_texts<std::int32_t>(parts, cells);
  } else if (format == "U") {
    keep_texts<std::int64_t>(parts, cells);
  } else if (format == "vu") {
    keep_views(parts, cells);
  } else {  // a type that nobody reads
    parts.buffers.push_back(keep_numbers<std::int64_t>(parts, cells));
  }
  point(*array);
  return array;
}

}  // namespace arrow_producer

// A stream of batches, each made when it is asked for.
class ArrowProducer {
 public:
  explicit ArrowProducer(std::vector<ArrowTestColumn> columns) : columns_(std::move(columns)) {}

  std::vector<std::size_t> ends = {};  // of batches; the last is the number of rows
  bool single = false;                 // the batches are arrays of the first column
  std::uint64_t seed = 1;              // of the offsets of batches and columns; 0 for none
  int fails_at = -1;                   // the number of the batch that fails
  std::function<void(ArrowSchema&)> spoil_schema = {};
  std::function<void(ArrowArray&)> spoil_array = {};

  ArrowCounts& counts() { return counts_; }
  std::size_t rows() const { return columns_.empty() ? 0 : columns_.front().cells.size(); }
  void cut(std::size_t batches, std::mt19937_64& engine) {
    ends.clear();
    for (std::size_t i = 1; i < batches; ++i) ends.push_back(engine() % (rows() + 1));
    std::sort(ends.begin(), ends.end());
    ends.push_back(rows());
  }

  // The producer must outlive it.
  ArrowArrayStream open() {
    struct Open {
      ArrowProducer* producer;
      std::size_t next = 0;
    };
    ArrowArrayStream stream{};
    stream.private_data = new Open{this};
    counts_.add(1);
    stream.get_schema = [](ArrowArrayStream* from, ArrowSchema* out) {
      *out = static_cast<Open*>(from->private_data)->producer->schema();
      return 0;
    };
    stream.get_next = [](ArrowArrayStream* from, ArrowArray* out) {
      auto* opened = static_cast<Open*>(from->private_data);
      ArrowProducer& producer = *opened->producer;
      if (static_cast<int>(opened->next) == producer.fails_at) return 5;
      *out = ArrowArray{};
      producer.counts_.add(0);
      const std::size_t next = opened->next;
      if (next == producer.ends.size()) return 0;
      *out = producer.batch(next == 0 ? 0 : producer.ends[next - 1], producer.ends[next]);
      ++opened->next;
      return 0;
    };
    stream.get_last_error = [](ArrowArrayStream*) { return "the secret cell"; };
    stream.release = [](ArrowArrayStream* released) {
      auto* opened = static_cast<Open*>(released->private_data);
      opened->producer->counts_.add(-1);
      delete opened;
      released->release = nullptr;
    };
    if (ends.empty()) ends.push_back(rows());
    return stream;
  }

 private:
  ArrowSchema schema() {
    using namespace arrow_producer;
    std::vector<std::unique_ptr<ArrowSchema>> columns;
    for (const ArrowTestColumn& column : columns_) {
      std::unique_ptr<ArrowSchema> made =
          make_schema(counts_, column.index.empty() ? column.format : column.index, column.name);
      if (!column.index.empty()) {
        auto* parts = static_cast<SchemaParts*>(made->private_data);
        parts->dictionary = make_schema(counts_, column.format, "");
        made->dictionary = parts->dictionary.get();
      }
      columns.push_back(std::move(made));
      if (single) break;
    }
    std::unique_ptr<ArrowSchema> whole = single ? std::move(columns.front()) : make_schema(counts_, "+s", "");
    if (!single) {
      auto* parts = static_cast<SchemaParts*>(whole->private_data);
      parts->children = std::move(columns);
      for (const auto& child : parts->children) parts->child_pointers.push_back(child.get());
      whole->n_children = static_cast<std::int64_t>(parts->children.size());
      whole->children = parts->child_pointers.data();
    }
    if (spoil_schema) spoil_schema(*whole);
    return *whole;
  }

  std::size_t random(std::size_t below) {
    if (seed == 0) return 0;
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(seed >> 33) % below;
  }

  ArrowArray batch(std::size_t begin, std::size_t end) {
    using namespace arrow_producer;
    const numeric_internal::FloatEnvironment environment;  // the cells are what they are
    const std::size_t before = single ? 0 : random(12);    // rows before the batch's offset
    std::vector<std::unique_ptr<ArrowArray>> columns;
    for (const ArrowTestColumn& column : columns_) {
      const std::size_t skip = random(70);
      // Cells that are not the batch's must not be read.
      std::vector<ArrowCell> cells(skip + before, other(column));
      cells.insert(cells.end(), column.cells.begin() + static_cast<std::ptrdiff_t>(begin),
                   column.cells.begin() + static_cast<std::ptrdiff_t>(end));
      if (!single) cells.insert(cells.end(), random(3), other(column));
      columns.push_back(column.index.empty() ? make_array(counts_, column.format, cells, skip)
                                             : encoded(column, cells, skip));
      if (single) break;
    }
    std::unique_ptr<ArrowArray> whole = single ? std::move(columns.front()) : empty_array(counts_);
    if (!single) {
      ArrayParts& parts = parts_of(*whole);
      parts.children = std::move(columns);
      parts.buffers.push_back(nullptr);
      whole->length = static_cast<std::int64_t>(end - begin);
      whole->offset = static_cast<std::int64_t>(before);
      point(*whole);
    }
    if (spoil_array) spoil_array(*whole);
    return *whole;
  }

  ArrowCell other(const ArrowTestColumn& column) {
    if (random(3) == 0) return {};
    const std::string_view format = column.format;
    if (format == "u" || format == "U" || format == "vu") return std::string("outside the batch");
    if (format == "e" || format == "f" || format == "g") return 1.0;
    return ArrowInt{1};
  }

  // Each value of a dictionary stands in it once, or twice; a null is a null of the rows or an entry.
  std::unique_ptr<ArrowArray> encoded(const ArrowTestColumn& column, const std::vector<ArrowCell>& cells,
                                      std::size_t skip) {
    using namespace arrow_producer;
    std::vector<ArrowCell> entries{other(column)}, indices;
    std::unordered_map<std::string, std::size_t> places;
    for (const ArrowCell& cell : cells) {
      const bool null = std::holds_alternative<std::monostate>(cell);
      if (null && random(2) == 0) {
        indices.emplace_back();
        continue;
      }
      const auto [known, added] = places.emplace(bytes_of(cell), entries.size());
      if (added) entries.push_back(cell);
      indices.emplace_back(static_cast<ArrowInt>(known->second));
    }
    std::unique_ptr<ArrowArray> array = make_array(counts_, column.index, indices, skip);
    const std::size_t first = random(5);
    entries.insert(entries.begin(), first, other(column));
    parts_of(*array).dictionary = make_array(counts_, column.format, entries, first);
    array->dictionary = parts_of(*array).dictionary.get();
    return array;
  }

  std::vector<ArrowTestColumn> columns_;
  ArrowCounts counts_;
};

}  // namespace snapdp
