// Finding the bin of a cell quickly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "framework/shared/keyed_fold.h"
#include "framework/shared/row_language.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp::statistics_internal {

using namespace framework_internal;

// The places of some distinct texts, in a hash table with open addressing. Most keys are short: up to 8 bytes a text is
// told apart by one comparison of words.
class TextPlaces {
 public:
  static constexpr std::uint32_t absent = 0xffffffff;
  explicit TextPlaces(std::vector<std::string> texts = {});
  // i for texts[i], else absent.
  std::uint32_t find(std::string_view text) const;
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  struct Slot {
    std::uint64_t head = 0;
    std::size_t size = 0;
    std::uint32_t place = absent;
  };
  std::size_t slot_of(std::uint64_t head, std::size_t size) const;

  std::vector<std::string> texts_;
  unsigned shift_ = 0;
  std::vector<Slot> slots_;  // a power of two of them, at most a quarter of them in use
};

class BinIndex final : public KeyIndex {
 public:
  BinIndex(AtomType type, const Bins& bins);
  BinIndex(const BinIndex&) = delete;
  BinIndex& operator=(const BinIndex&) = delete;

  AtomType type() const override { return type_; }
  std::size_t keys() const override { return bins_; }
  // keys() where no bin counts the row.
  void find(const Column& column, std::size_t rows, std::uint32_t* bin) const override;
  std::string description() const override { return description_; }
  // The same as data.
  Places places() const;
  // Adds each row to counts[its bin]; rows that no bin counts go to counts[keys()].
  void count(const Column& column, std::size_t rows, std::uint64_t* counts) const;

 private:
  template <typename Value>
  std::size_t find_among(const std::vector<Value>& sorted, const Value& value) const;
  std::size_t bin_of(const Column& column, std::size_t row) const;

  AtomType type_;
  std::string description_;
  bool edges_;
  bool open_top_ = false;
  std::size_t bins_;
  std::size_t elsewhere_;            // where rows outside every category or edge go
  std::vector<std::size_t> bin_of_;  // of the i-th smallest category; of [edge i, edge i + 1)
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
  TextPlaces texts_;
};

}  // namespace snapdp::statistics_internal
