// From Arrow's buffers to the library's columns: the one place where cells are converted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engines/arrow/arrow_batch.h"
#include "engines/arrow/arrow_layout.h"
#include "framework/shared/keyed_fold.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::engines_internal {

using namespace framework_internal;

// Room for one block of one column.
struct ArrowRoom {
  Scratch::Buffer cells;
  std::array<std::size_t, block_rows> places;  // where in the buffers rows have their cells
  std::array<std::uint8_t, block_rows> valid;  // 1 where they have one
  std::string written;                         // numbers as texts
  Scratch converted;
};

// At most block_rows rows from row `first` on as cells of the type `stored`, which is one that arrow_input() gives. They lie
// in the batch or in the room. Call it within a FloatEnvironment.
Column read_arrow(const ArrowColumn& column, AtomType stored, std::size_t first, std::size_t count,
                  ArrowRoom& room);

// An input of one batch after the other. Entries of dictionaries are converted once a batch, unless there are more of
// them than rows.
class ArrowInputReader {
 public:
  explicit ArrowInputReader(const ArrowInput& input);

  const ArrowInput& input() const { return input_; }

  // What is converted once a batch.
  struct Prepared {
    std::vector<std::uint64_t> bits;      // of the dictionary's entries, if they become numbers,
    std::vector<std::string_view> texts;  // else where they lie
    std::vector<std::uint8_t> valid;
    bool used = false;
  };
  Prepared prepare(const ArrowBatch& batch) const;
  // The rows as the type wanted.
  Column read(const ArrowBatch& batch, const Prepared& prepared, std::size_t first, std::size_t count,
              ArrowRoom& room) const;
  // Cells of the type stored as the type wanted.
  Column convert(const Column& stored, std::size_t count, ArrowRoom& room) const;

 private:
  friend class ArrowKeyReader;
  // Whether it is worth while to convert a batch's dictionary first.
  static bool has_small_dictionary(const ArrowBatch& batch, const ArrowColumn& column);
  // Calls `take` with the dictionary's entries, block after block.
  template <typename Take>
  void entries(const ArrowColumn& column, const Take& take) const;

  ArrowInput input_;
  std::shared_ptr<const RowFunction> convert_;  // null when nothing is to be done
};

// The places of an input's cells among public keys, found once for each entry of a dictionary.
class ArrowKeyReader {
 public:
  // The index must live as long as the reader.
  ArrowKeyReader(const ArrowInput& input, const KeyIndex& index);

  struct Prepared {
    std::vector<std::uint32_t> places;  // of the dictionary's entries
    bool used = false;
  };
  Prepared prepare(const ArrowBatch& batch) const;
  void read(const ArrowBatch& batch, const Prepared& prepared, std::size_t first, std::size_t count,
            ArrowRoom& room, std::uint32_t* places) const;
  // Of cells of the type stored.
  void find(const Column& stored, std::size_t count, ArrowRoom& room, std::uint32_t* places) const;

  const ArrowInput& input() const { return reader_.input(); }
  const std::string& description() const { return description_; }

 private:
  ArrowInputReader reader_;
  const KeyIndex* index_;
  std::string description_;
  std::uint32_t null_place_ = 0;
};

}  // namespace snapdp::engines_internal
