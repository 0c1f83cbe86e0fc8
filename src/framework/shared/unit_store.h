// The rows that limits on privacy units keep, for sources that read rows once, on several threads: they are written here
// while they are read, and come out again when all are known.
//
//   UnitStore store({.content_cells = 3, .unit = 1, .max_rows = 2});
//   store.add(columns, count);                            // any thread, any order
//   std::atomic<std::size_t> next_shard{0};
//   UnitStore::Cursor kept(store, groups, next_shard);    // one a thread
//   while (const auto record = kept.next()) ...           // take_cell() gives its cells
//
// They are held in memory, in the order of FirstRows (first_rows.h): whatever the order in which rows come, no more than
// it says. Where that is more than may be and the rows can be read twice, it is their hashes that are held:
//
//   if (store.reads_again()) {
//     store.settle();
//     store.choose(columns, count, keeps);                // for all rows once more; any thread, any order
//     store.has_ties()                                    // then what a cursor gives is kept as well
//   }
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/shared/first_rows.h"
#include "framework/shared/row_hash.h"
#include "snapdp/framework/source.h"
#include "snapdp/framework/transformation.h"

namespace snapdp::framework_internal {

class UnitStore {
 public:
  struct Layout {
    // The first cells of a row say which rows are kept; the others are functions of these.
    std::size_t content_cells = 0;
    std::size_t unit = 0;  // the number of the unit's cell, one of these
    std::uint64_t max_rows = 1;
    // Where the rows take more bytes than that, they must be read again.
    std::size_t most_bytes = ~std::size_t{0};
  };
  explicit UnitStore(const Layout& layout);

  // Takes in at most block_rows rows, or those of them for which keeps[row] is 1. Units must have names (names_unit()).
  void add(std::span<const Column> columns, std::size_t count, const std::uint8_t* keeps = nullptr);

  // The memory that the rows take.
  std::size_t bytes() const;
  void forget() { shards_.clear(); }

  // Whether rows came that could not be held.
  bool reads_again() const { return reads_again_; }
  void settle();
  // The second reading of at most block_rows rows: keeps[row] becomes 1 where it is kept, else 0. Some rows of 0 are left
  // for a cursor, as that all of them must be known. False when the rows are not those that were added.
  bool choose(std::span<const Column> columns, std::size_t count, std::uint8_t* keeps);
  // Whether there may be such rows.
  bool has_ties() const;

  // Of the rows of each unit, those that a GroupLimit keeps.
  struct Groups {
    std::size_t cell = 0;  // the number of the group's cell
    GroupLimit limit = {};
  };

  // Gives the rows that are kept, once the last one has been added. Cursors that share `next_shard` share the rows.
  class Cursor {
   public:
    Cursor(const UnitStore& store, const std::optional<Groups>& groups, std::atomic<std::size_t>& next_shard)
        : store_(&store), groups_(groups), next_shard_(&next_shard) {}
    // The next row's cells as append_row_content() wrote them.
    std::optional<std::string_view> next();

   private:
    bool find_unit();

    const UnitStore* store_;
    std::optional<Groups> groups_;
    std::atomic<std::size_t>* next_shard_;
    const FirstRows* shard_ = nullptr;
    std::size_t unit_ = 0;  // of the shard, the next one
    std::vector<FirstRows::Row> of_unit_;
    std::size_t next_ = 0;  // of the unit's rows
  };

 private:
  // A row of a block.
  struct Written {
    FirstRows::Name unit;
    FirstRows::Row row;
  };

  // Units are spread over so many shards, so that threads seldom wait for each other.
  static constexpr unsigned shard_bits = 6;
  static constexpr std::size_t shard_count = std::size_t{1} << shard_bits;
  static std::size_t shard_of(const FirstRows::Name& unit) { return unit.hash >> (64 - shard_bits); }
  struct Shard {
    explicit Shard(std::uint64_t max_rows) : rows(max_rows) {}
    void fetch(std::span<const Written> block, std::span<const std::uint32_t> places) const;
    bool choose(std::span<const Written> block, std::span<const std::uint32_t> places, std::uint8_t* keeps);
    std::mutex mutex;
    FirstRows rows;
  };
  // Calls action(shard, places in the block), shard by shard, with the shard locked.
  template <typename Action>
  void for_shards(std::span<const Written> block, const Action& action);
  void add(Shard& shard, std::span<const Written> block, std::span<const std::uint32_t> places);
  std::size_t write(std::span<const Column> columns, std::size_t count, const std::uint8_t* keeps,
                    std::string& text, std::span<Written> written) const;

  Layout layout_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::atomic<std::size_t> bytes_{0};
  std::atomic<bool> reads_again_{false};
};

// The bits of a number as a column of this type stores it: in a content a real that is an integer stands as one.
std::uint64_t stored_bits(const ContentCell& cell, AtomType stored);

}  // namespace snapdp::framework_internal
