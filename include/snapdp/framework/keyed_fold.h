// What a fold by groups needs beyond a fold: the place of a row's key among public keys, and states that rows in any
// mixture of groups reach directly. Both are for authors of folds and of engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "snapdp/framework/aggregation.h"

namespace snapdp {

// The places of cells among public keys.
class KeyIndex {
 public:
  virtual ~KeyIndex() = default;
  virtual AtomType type() const = 0;
  virtual std::size_t keys() const = 0;
  // places[i] of row i's cell: less than keys(), or keys() when it is none of them. At most block_rows rows.
  virtual void find(const Column& column, std::size_t rows, std::uint32_t* places) const = 0;
  // Indexes of one type with equal descriptions find the same places.
  virtual std::string description() const = 0;
};

// A fold that reads a row's first cell only through an index.
class KeyedFold : public Fold {
 public:
  virtual const KeyIndex& key_index() const = 0;
  // As state.update() with rows whose first cell has been found already; `rest` are the other columns, at most block_rows
  // rows. The state is one of this fold.
  virtual void update_placed(FoldState& state, const std::uint32_t* places, const Chunk& rest) const = 0;
};

// A fold for which rows of mixed groups cost little more than rows of one state. Of others, the rows of each group are
// brought side by side first.
class ScatterFold : public Fold {
 public:
  // As states[group[i]]->update() with row i of a block alone, for each row. A null state is started by its first row.
  virtual void scatter(const Chunk& block, const std::uint32_t* group,
                       std::unique_ptr<FoldState>* states) const = 0;
};

}  // namespace snapdp
