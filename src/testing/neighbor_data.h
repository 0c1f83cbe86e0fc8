// Datasets for the neighbor tester: how they are compared, laid out as columns, and made.
#pragma once

#include <random>

#include "snapdp/testing/neighbor_tester.h"

namespace snapdp::testing_internal {

using TestEngine = std::mt19937_64;

inline std::uint64_t below(TestEngine& engine, std::uint64_t end) {
  return engine() % end;
}

// A total order of rows in which equal means equal as cells are compared: zeros and NaN count as one value each.
bool row_less(const DataRow& first, const DataRow& second);
bool same_row(const DataRow& first, const DataRow& second);

// The rows of a chunk.
Dataset rows_of(const Chunk& chunk);

// Rows as columns of the library, with whatever `engine` likes under nulls and as the bitmaps' offsets. The dataset
// outlives the columns.
class DataColumns {
 public:
  DataColumns(const std::vector<AtomDomain>& columns, const Dataset& rows, TestEngine& engine);
  const Chunk& chunk() const { return chunk_; }

 private:
  struct Storage {
    std::vector<double> reals;
    std::vector<std::int64_t> integers;
    std::vector<std::string_view> texts;
    std::vector<std::uint8_t> validity;
  };
  std::vector<Storage> storage_;
  Chunk chunk_;
};

// Makes rows of a domain, and neighbors of datasets.
class DataMaker {
 public:
  // `grid`: of the statistic, for ties; cells at odd multiples of half its spacing are tried.
  DataMaker(const VectorDomain& domain, Metric metric, const NeighborTestOptions& options,
            std::optional<Grid> grid);

  // `rows` rows; the domain's public size when there is one.
  Dataset make(TestEngine& engine, std::size_t rows) const;
  // At distance at most d in the domain, permuted and with other zeros and NaN where these are no distance.
  Dataset neighbor(TestEngine& engine, const Dataset& rows, std::uint64_t d) const;
  // Cells that may stand for `cell` in column i and are simpler, simplest first.
  std::vector<Cell> simpler(std::size_t i, const Cell& cell) const;
  bool contains(const Dataset& rows) const;

 private:
  Cell random_cell(TestEngine& engine, std::size_t i) const;
  DataRow random_row(TestEngine& engine) const;
  DataRow extreme_row(TestEngine& engine) const;
  DataRow changed_row(TestEngine& engine, const Dataset& rows) const;

  VectorDomain domain_;
  Metric metric_;
  std::vector<std::vector<Cell>> special_;  // of each column
  std::vector<std::vector<Cell>> extreme_;
};

}  // namespace snapdp::testing_internal
