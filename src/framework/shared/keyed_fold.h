// What a fold by groups needs beyond a fold: the place of a row's key among public keys, and the states of all groups as
// one object. Both are for authors of folds and of engines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "snapdp/framework/aggregation.h"

namespace snapdp::framework_internal {

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

// The states of many groups of one fold, as one object: a group's is what FoldState would be for its rows alone. Whoever
// calls sees to it that all groups together have at most most_rows rows.
class GroupStates {
 public:
  virtual ~GroupStates() = default;
  // Rows of mixed groups, at most block_rows of them: row i goes to group[i], or nowhere when that is the number of groups.
  virtual void update(const Chunk& block, const std::uint32_t* group) = 0;
  // At most block_rows rows of one group.
  virtual void update_group(std::size_t group, const Chunk& rows) = 0;
  // `other` are states of as many groups of the same fold.
  virtual void merge(const GroupStates& other) = 0;
  virtual Totals totals(std::size_t group) const = 0;
  // Gives these totals to a group that has no rows. They are untrusted: see Fold::restore().
  virtual void restore(std::size_t group, const Totals& totals) = 0;
};

// A fold that keeps the states of many groups side by side, so that rows of mixed groups cost little more than rows of one.
// Others have a FoldState a group, and the rows of each group are brought side by side first.
class SideBySideFold : public Fold {
 public:
  // No group has rows yet. The states must not outlive the fold.
  virtual std::unique_ptr<GroupStates> start_groups(std::size_t groups) const = 0;
};

}  // namespace snapdp::framework_internal
