// Record batches made by hand, as an Arrow producer would make them.
#pragma once

#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "snapdp/framework/arrow.h"

namespace snapdp {

class ArrowBatch {
 public:
  ArrowBatch(std::int64_t rows, std::int64_t offset) {
    schema.format = "+s";
    schema.name = "";
    schema.release = [](ArrowSchema*) {};
    array.length = rows;
    array.offset = offset;
    array.release = [](ArrowArray*) {};
    struct_buffers_.push_back(nullptr);
    array.n_buffers = 1;
    array.buffers = struct_buffers_.data();
  }
  ArrowBatch(const ArrowBatch&) = delete;
  ArrowBatch& operator=(const ArrowBatch&) = delete;

  // Cells of a fixed width; `valid` may be empty, else one flag a cell. `skip` cells come before the child's offset.
  template <typename Cell>
  void add(const char* name, const char* format, const std::vector<Cell>& cells,
           const std::vector<bool>& valid = {}, std::int64_t skip = 0) {
    add_child(name, format, {bitmap(valid), keep(cells.data(), cells.size() * sizeof(Cell))},
              static_cast<std::int64_t>(cells.size()) - skip, skip);
  }
  void add_booleans(const char* name, const std::vector<bool>& cells, const std::vector<bool>& valid = {}) {
    add_child(name, "b", {bitmap(valid), bitmap(cells)}, static_cast<std::int64_t>(cells.size()), 0);
  }
  template <typename Offset>
  void add_texts(const char* name, const char* format, const std::vector<std::string>& cells,
                 const std::vector<bool>& valid = {}) {
    std::vector<Offset> ends{0};
    std::string bytes;
    for (const std::string& cell : cells) {
      bytes += cell;
      ends.push_back(static_cast<Offset>(bytes.size()));
    }
    add_child(
        name, format,
        {bitmap(valid), keep(ends.data(), ends.size() * sizeof(Offset)), keep(bytes.data(), bytes.size())},
        static_cast<std::int64_t>(cells.size()), 0);
  }

  ArrowArray& child(std::size_t i) { return *array.children[i]; }
  ArrowSchema& child_schema(std::size_t i) { return *schema.children[i]; }

  ArrowSchema schema{};
  ArrowArray array{};

 private:
  struct Child {
    ArrowSchema schema{};
    ArrowArray array{};
    std::vector<const void*> buffers;
  };

  void add_child(const char* name, const char* format, std::vector<const void*> buffers, std::int64_t rows,
                 std::int64_t offset) {
    Child& child = children_.emplace_back();
    child.buffers = std::move(buffers);
    child.schema.format = format;
    child.schema.name = name;
    child.schema.release = [](ArrowSchema*) {};
    child.array.length = rows;
    child.array.offset = offset;
    child.array.null_count = child.buffers[0] == nullptr ? 0 : -1;
    child.array.n_buffers = static_cast<std::int64_t>(child.buffers.size());
    child.array.buffers = child.buffers.data();
    child.array.release = [](ArrowArray*) {};
    schemas_.push_back(&child.schema);
    arrays_.push_back(&child.array);
    schema.children = schemas_.data();
    array.children = arrays_.data();
    schema.n_children = array.n_children = static_cast<std::int64_t>(schemas_.size());
  }

  // Exactly as many bytes as there are, so that a read beyond them is seen.
  const void* keep(const void* bytes, std::size_t size) {
    if (size == 0) return nullptr;
    std::unique_ptr<std::byte[]>& kept = kept_.emplace_back(new std::byte[size]);
    std::memcpy(kept.get(), bytes, size);
    return kept.get();
  }
  const void* bitmap(const std::vector<bool>& flags) {
    std::vector<std::uint8_t> bytes((flags.size() + 7) / 8);
    for (std::size_t i = 0; i < flags.size(); ++i) {
      if (flags[i]) bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | (1U << (i % 8)));
    }
    return keep(bytes.data(), bytes.size());
  }

  std::deque<Child> children_;
  std::vector<ArrowSchema*> schemas_;
  std::vector<ArrowArray*> arrays_;
  std::vector<const void*> struct_buffers_;
  std::vector<std::unique_ptr<std::byte[]>> kept_;
};

}  // namespace snapdp
