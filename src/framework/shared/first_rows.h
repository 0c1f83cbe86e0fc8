// The rows that limits on privacy units keep: of each unit those that come first by a hash of their content and then by
// the content itself. The memory that they take follows from what is kept, not from the order in which rows come.
//
//   FirstRows rows(2);                              // at most two of each unit
//   rows.add(unit, {hash_content(RowHashKey::rows, content), content});
//   for (std::size_t unit = 0; unit < rows.units(); ++unit) rows.list(unit, ...);
//
// Where the records are too many to be held, the hashes alone say which rows are kept when all come a second time:
//
//   rows.forget_records();                          // at any time; from then on hashes are held and nothing else
//   rows.settle();                                  // all have been added
//   rows.take(name, row) == FirstRows::Taken::yes   // for each row again
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace snapdp::framework_internal {

class FirstRows {
 public:
  explicit FirstRows(std::uint64_t max_rows) : max_rows_(max_rows) {}

  struct Row {
    std::uint64_t hash;
    std::string_view record;
    friend bool operator<(const Row& a, const Row& b) {
      return a.hash != b.hash ? a.hash < b.hash : a.record < b.record;
    }
  };

  // The name of a unit, any bytes.
  struct Name {
    std::string_view text;
    std::uint64_t hash;
  };
  static Name named(std::string_view text);

  // A row of the unit with this name. `row.record` starts with the content that `row.hash` is the hash of.
  void add(const Name& name, const Row& row);
  void add(std::string_view name, const Row& row) { add(named(name), row); }
  // Nearly all the time that add() takes is waiting for memory, unless that has been asked for: for some rows by the
  // first of these, then for all of them by the second.
  void fetch_slot(const Name& name) const;
  void fetch_unit(const Name& name) const;

  std::size_t units() const { return units_.size(); }
  std::string_view name(std::size_t unit) const { return units_[unit]->name(); }
  // Appends the rows that are kept of a unit, in no order; none comes more often than it was added. Their records live
  // until the next add().
  void list(std::size_t unit, std::vector<Row>& rows) const;

  void forget_records();
  bool has_records() const { return has_records_; }
  // No row is added after that.
  void settle();
  // Whether a row that comes a second time is kept. Which of the rows that are tied with others by their hash are kept is
  // known when all have come: list() gives them, and no others. A row is unknown where its unit is, or where the unit has
  // had all of its rows.
  enum class Taken : std::uint8_t { no, yes, tied, unknown };
  Taken take(const Name& name, const Row& row);
  bool has_ties() const { return has_ties_; }

  // The memory held. Of each unit at most a quarter more rows wait than are kept, and at most half as much as rows take
  // lies idle, beside the blocks' ends.
  std::size_t bytes() const;

 private:
  // Memory that is given back all at once.
  class Arena {
   public:
    char* allocate(std::size_t size);
    void add_block(std::size_t size);
    std::size_t bytes() const { return bytes_; }
    std::size_t used() const { return used_; }

   private:
    std::vector<std::unique_ptr<char[]>> blocks_;
    char* next_ = nullptr;  // what is left of the last block
    std::size_t left_ = 0;
    std::size_t bytes_ = 0;
    std::size_t used_ = 0;
  };

  // A row that waits: its record lies in the arena, after its size.
  struct Waiting {
    std::uint64_t hash;
    const char* place;  // null where records are not held

    std::string_view record() const { return record_at(place); }
    Row row() const { return {hash, record()}; }
  };

  // Rows that come a second time, of one unit and with one hash, of which not all are kept.
  struct Tied {
    const char* place;  // of their record
    std::uint64_t times;
  };
  struct Ties {
    std::size_t wanted;  // that many of them are kept
    std::size_t count = 0;
    std::size_t capacity = 0;
    Tied* first = nullptr;  // sorted by their records, which differ
  };

  // The name's bytes follow it.
  struct Unit {
    Unit(std::uint64_t name_hash, std::size_t size) : hash(name_hash), name_size(size) {}

    std::uint64_t hash;  // of the name
    std::size_t name_size;
    bool trimmed = false;    // then no row comes after rows[max_rows - 1] any more
    bool tied = false;       // then a row with the hash of that one has been taken away
    std::uint64_t last = 0;  // that hash
    std::size_t count = 0;   // once all is settled, how many may still come that are not tied
    std::size_t capacity = 0;
    union {
      Waiting* rows = nullptr;
      Ties* ties;  // once all is settled, where there are any
    };

    std::string_view name() const { return {reinterpret_cast<const char*>(this + 1), name_size}; }
  };

  bool comes_too_late(Unit& unit, const Row& row) const;
  Unit* find(const Name& name) const;
  Unit& unit(const Name& name);
  std::size_t slot_of(std::uint64_t hash) const { return hash & (index_.size() - 1); }
  void enlarge_index();
  const char* write(std::string_view record);
  static std::string_view record_at(const char* place);
  // How many rows of a unit wait before some are taken away.
  std::size_t most_waiting() const;
  void enlarge(Unit& unit, std::size_t capacity);
  // Takes all but the first max_rows rows of the unit away.
  void trim(Unit& unit);
  // Lets the unit's ties lie in the arena.
  void settle(Unit& unit, Arena& ties);
  void add_tie(Ties& ties, std::string_view record);
  void enlarge(Ties& ties);
  void list(const Unit& unit, std::vector<Row>& rows) const;
  // Moves the rows to an arena of their own.
  void compact();

  std::uint64_t max_rows_;
  std::vector<Unit*> units_;
  std::vector<Unit*> index_;  // open addressing by the hash of the name
  Arena names_;               // and units
  Arena rows_;
  std::size_t live_ = 0;  // bytes in rows_ that are in use
  bool has_records_ = true;
  bool settled_ = false;
  bool has_ties_ = false;
};

}  // namespace snapdp::framework_internal
