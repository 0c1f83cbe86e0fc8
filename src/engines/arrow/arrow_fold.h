// What a fold over a stream does with its rows: which it selects, and what it folds of them.
//
//   ArrowFold fold(layout, columns, selection, requests, threads);   // everything that can be refused is refused here
//   FoldResult result = fold.run(stream, progress);                 // reads the stream
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engines/arrow/arrow_cells.h"
#include "engines/arrow/arrow_stream.h"
#include "engines/arrow/piece_queue.h"
#include "framework/shared/unit_store.h"
#include "snapdp/framework/source.h"

namespace snapdp::engines_internal {

// Requests that see the same rows.
class ArrowPass {
 public:
  explicit ArrowPass(const std::optional<FoldRequest::GroupLimit>& groups) : groups_(groups) {}

  const std::optional<FoldRequest::GroupLimit>& groups() const { return groups_; }
  // `number` is the request's; `read` are its columns.
  void add(std::size_t number, const FoldRequest& request, const std::vector<ArrowInput>& read);

  // Without repetition.
  const std::vector<ArrowInputReader>& inputs() const { return inputs_; }
  const std::vector<ArrowKeyReader>& keys() const { return keys_; }
  // The requests' numbers.
  const std::vector<std::size_t>& numbers() const { return numbers_; }

  std::vector<AggregateState> start() const;
  // At most block_rows rows: a column an input and places for each of the keys.
  void update(std::vector<AggregateState>& states, std::span<const Column> columns,
              std::span<const std::uint32_t* const> places, std::size_t count) const;
  void merge(std::vector<AggregateState>& into, const std::vector<AggregateState>& from) const;

 private:
  struct Folded {
    const Aggregation* aggregation;
    std::vector<std::size_t> inputs;  // in the order of the aggregation's columns
    std::optional<std::size_t> key;   // instead of the first of them
  };
  std::optional<FoldRequest::GroupLimit> groups_;
  std::vector<std::size_t> numbers_;
  std::vector<ArrowInputReader> inputs_;
  std::vector<ArrowKeyReader> keys_;
  std::vector<Folded> folded_;
};

class ArrowFold {
 public:
  // `columns` are those of the layout. Throws as Source::fold() does for what is asked in vain.
  ArrowFold(const ArrowLayout& layout, const std::vector<SourceColumn>& columns,
            const RowSelection& selection, std::span<const FoldRequest> requests, unsigned threads);

  // Once.
  FoldResult run(ArrowStream& stream, const Progress& progress);

 private:
  class Worker;

  std::size_t find(const std::string& name);
  std::unique_ptr<PreparedBatch> prepare(ArrowOwned<ArrowArray> array) const;
  // Returns the number of rows.
  std::uint64_t read(ArrowStream& stream, std::vector<Worker>& workers, const Progress& progress);
  void fold_kept(std::size_t pass, std::vector<Worker>& workers) const;

  const ArrowLayout& layout_;
  const std::vector<SourceColumn>& columns_;
  unsigned threads_;
  std::size_t requests_;
  std::vector<std::size_t> used_;  // columns
  std::optional<Predicate> where_;
  std::vector<ArrowInputReader> where_inputs_;
  std::vector<ArrowPass> passes_;
  // Where units are limited: the cells that are kept of a row, the number of the unit's among them, and for each pass those
  // of its inputs, of its keys and of its groups.
  struct KeptCells {
    std::vector<std::size_t> inputs;
    std::vector<std::size_t> keys;
    std::optional<UnitStore::Groups> groups;
  };
  std::vector<ArrowInputReader> cells_;
  std::size_t unit_ = 0;
  std::vector<KeptCells> kept_cells_;
  std::unique_ptr<UnitStore> store_;
};

}  // namespace snapdp::engines_internal
