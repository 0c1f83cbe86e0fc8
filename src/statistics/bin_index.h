// Finding the bin of a cell quickly.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

class BinIndex {
 public:
  BinIndex(AtomType type, const Bins& bins);
  BinIndex(const BinIndex&) = delete;
  BinIndex& operator=(const BinIndex&) = delete;

  std::size_t bins() const { return bins_; }
  // bin[row] for each row; bins() where no bin counts it.
  void assign(const Column& column, std::size_t rows, std::uint32_t* bin) const;
  // Adds each row to counts[its bin]; rows that no bin counts go to counts[bins()].
  void count(const Column& column, std::size_t rows, std::uint64_t* counts) const;

 private:
  template <typename Value>
  std::size_t find(const std::vector<Value>& sorted, const Value& value) const;
  std::size_t bin_of(const Column& column, std::size_t row) const;

  bool edges_;
  bool open_top_ = false;
  std::size_t bins_;
  std::size_t elsewhere_;            // where rows outside every category or edge go
  std::vector<std::size_t> bin_of_;  // of the i-th smallest category; of [edge i, edge i + 1)
  std::vector<double> reals_;
  std::vector<std::int64_t> integers_;
  std::vector<std::string> texts_;  // views in bin_of_text_ point here
  std::unordered_map<std::string_view, std::size_t> bin_of_text_;
};

}  // namespace snapdp
