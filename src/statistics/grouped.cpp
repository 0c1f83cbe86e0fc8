#include "snapdp/statistics/grouped.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "snapdp/error.h"
#include "snapdp/framework/keyed_fold.h"
#include "statistics/bin_index.h"

namespace snapdp {
namespace {

// What the states of all groups share.
struct Grouping {
  Grouping(AtomType type, const Bins& keys, Aggregation aggregation)
      : index(type, keys),
        inner(std::move(aggregation)),
        scatter(dynamic_cast<const ScatterFold*>(&inner.fold())),
        empty(inner.fold().start()->totals()),
        description("by " + keys.description() + ": " + inner.description()) {}

  BinIndex index;
  Aggregation inner;
  const ScatterFold* scatter;  // the inner fold, when it takes rows of mixed groups
  Totals empty;                // of a group without rows
  std::string description;
};

// Rows of one block sorted by group: a copy of each column, so that a group's rows lie side by side.
class SortedBlock {
 public:
  // `place[row]` is where the row goes; rows beyond `kept` places are left out.
  Chunk sort(const Chunk& block, const std::uint32_t* place, std::size_t kept) {
    Chunk sorted = block;
    sorted.length = kept;
    for (std::size_t i = 0; i < block.column_count; ++i) {
      const Column& column = block.column[i];
      Scratch::Buffer& buffer = room_.buffer(i);
      switch (column.type) {
        case AtomType::real:
          scatter(column.reals(), block.length, place, buffer.reals());
          break;
        case AtomType::integer:
          scatter(column.integers(), block.length, place, buffer.integers());
          break;
        case AtomType::text:
          scatter(column.texts(), block.length, place, buffer.texts());
          break;
      }
      sorted.column[i] = {column.type, buffer.values};
      if (column.validity == nullptr) continue;
      std::fill(std::begin(buffer.validity), std::end(buffer.validity), std::uint8_t{0});
      for (std::size_t row = 0; row < block.length; ++row) {
        if (place[row] < block_rows && column.valid(row)) {
          const unsigned bit = 1U << (place[row] % 8);
          buffer.validity[place[row] / 8] = static_cast<std::uint8_t>(buffer.validity[place[row] / 8] | bit);
        }
      }
      sorted.column[i].validity = buffer.validity;
    }
    return sorted;
  }

 private:
  template <typename Value>
  static void scatter(const Value* from, std::size_t rows, const std::uint32_t* place, Value* to) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (place[row] < block_rows) to[place[row]] = from[row];
    }
  }

  Scratch room_;
};

// Room for one block at work. The calling thread has one for each fold that it is in: groups may have groups.
class Room {
 public:
  Room() : room_(of_depth(depth()++)) {}
  ~Room() { --depth(); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  Scratch& scratch() { return room_.scratch; }
  SortedBlock& sorted() { return room_.sorted; }

 private:
  struct Parts {
    Scratch scratch;  // of the row functions
    SortedBlock sorted;
  };
  static std::size_t& depth() {
    thread_local std::size_t depth = 0;
    return depth;
  }
  static Parts& of_depth(std::size_t depth) {
    thread_local std::vector<std::unique_ptr<Parts>> all;
    while (all.size() <= depth) all.push_back(std::make_unique<Parts>());
    return *all[depth];
  }

  Parts& room_;
};

class GroupedState final : public FoldState {
 public:
  explicit GroupedState(std::shared_ptr<const Grouping> grouping)
      : grouping_(std::move(grouping)), groups_(grouping_->index.keys() + 1) {}

  void update(const Chunk& block) override {
    std::array<std::uint32_t, block_rows> group;
    grouping_->index.find(block.column[0], block.length, group.data());
    Chunk rest = block;
    std::copy(block.column.begin() + 1, block.column.end(), rest.column.begin());
    --rest.column_count;
    update(group.data(), rest);
  }

  // group[row] is where the row goes.
  void update(const std::uint32_t* group, Chunk rows) {
    rows_ = add_rows(rows_, rows.length);
    Room room;
    // Functions that say which rows they keep run once for all groups, the others for each group's rows alone.
    const auto& functions = grouping_->inner.functions();
    std::size_t done = 0;
    std::array<std::uint32_t, block_rows> kept_group;
    for (; done < functions.size(); ++done) {
      std::array<std::uint8_t, block_rows> keeps;
      const KeptRows kept = functions[done]->kept(rows, keeps.data());
      if (kept == KeptRows::unknown) break;
      std::size_t length = rows.length;
      if (kept == KeptRows::some) {
        length = keep(group, rows.length, keeps.data(), kept_group.data());
        group = kept_group.data();
      }
      functions[done]->transform(rows, room.scratch());
      if (rows.length != length) throw std::logic_error("a row function keeps other rows than it says");
    }
    if (done == functions.size() && grouping_->scatter != nullptr) {
      grouping_->scatter->scatter(rows, group, groups_.data());
    } else {
      update_sorted(group, rows, done, room);
    }
  }

  void merge(const FoldState& other) override {
    const auto& from = static_cast<const GroupedState&>(other);
    rows_ = add_rows(rows_, from.rows_);
    for (std::size_t group = 0; group < grouping_->index.keys(); ++group) {
      if (from.groups_[group]) of(group).merge(*from.groups_[group]);
    }
  }

  // The groups' totals one after the other, each its rows and its values.
  Totals totals() const override {
    Totals all;
    all.rows = rows_;
    for (std::size_t group = 0; group < grouping_->index.keys(); ++group) {
      const Totals totals = groups_[group] ? groups_[group]->totals() : grouping_->empty;
      all.values.emplace_back(Integer(static_cast<unsigned long>(totals.rows)), 0);
      all.values.insert(all.values.end(), totals.values.begin(), totals.values.end());
    }
    return all;
  }

  void set(std::size_t group, std::unique_ptr<FoldState> state) { groups_[group] = std::move(state); }
  void set_rows(std::uint64_t rows) { rows_ = rows; }

 private:
  // Moves the places of the rows with keeps[row] = 1 to the front of `kept`, which may be `group` itself, and returns how
  // many there are.
  static std::size_t keep(const std::uint32_t* group, std::size_t rows, const std::uint8_t* keeps,
                          std::uint32_t* kept) {
    std::size_t length = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      kept[length] = group[row];
      length += keeps[row];
    }
    return length;
  }

  // A counting sort, then the row functions from number `done` on and the fold, group by group in the order of their first
  // rows.
  void update_sorted(const std::uint32_t* group, const Chunk& block, std::size_t done, Room& room) {
    if (next_.empty()) next_.resize(groups_.size());
    const auto nowhere = static_cast<std::uint32_t>(grouping_->index.keys());
    std::array<std::uint32_t, block_rows> present;
    std::size_t groups = 0;
    for (std::size_t row = 0; row < block.length; ++row) {
      if (next_[group[row]]++ == 0 && group[row] != nowhere) present[groups++] = group[row];
    }
    std::array<std::uint32_t, block_rows> first;
    std::uint32_t kept = 0;
    for (std::size_t i = 0; i < groups; ++i) {
      first[i] = kept;
      kept += next_[present[i]];
      next_[present[i]] = first[i];
    }
    std::array<std::uint32_t, block_rows> place;
    for (std::size_t row = 0; row < block.length; ++row)
      place[row] = group[row] == nowhere ? std::uint32_t{block_rows} : next_[group[row]]++;
    next_[nowhere] = 0;
    for (std::size_t i = 0; i < groups; ++i) next_[present[i]] = 0;

    const Chunk sorted = room.sorted().sort(block, place.data(), kept);
    const auto& functions = grouping_->inner.functions();
    for (std::size_t i = 0; i < groups; ++i) {
      const std::size_t end = i + 1 < groups ? first[i + 1] : kept;
      Chunk rows = sorted.slice(first[i], end - first[i]);
      for (std::size_t k = done; k < functions.size(); ++k) functions[k]->transform(rows, room.scratch());
      of(present[i]).update(rows);
    }
  }

  FoldState& of(std::size_t group) {
    if (!groups_[group]) groups_[group] = grouping_->inner.fold().start();
    return *groups_[group];
  }

  std::shared_ptr<const Grouping> grouping_;
  std::uint64_t rows_ = 0;
  // Null until a row comes. The last one takes rows of no key and is never looked at.
  std::vector<std::unique_ptr<FoldState>> groups_;
  std::vector<std::uint32_t> next_;  // of the counting sort; zeros between blocks
};

[[noreturn]] void impossible(const std::string& why) {
  throw Error(ErrorCode::bad_data, "state", "state: " + why + "; no rows have such totals, fold them again");
}

// The totals of each group, from those of all.
std::vector<Totals> split_totals(const Totals& totals, std::size_t groups, std::size_t values) {
  if (totals.values.size() != groups * (values + 1)) impossible("the number of groups is wrong");
  std::vector<Totals> parts;
  auto next = totals.values.begin();
  Dyadic rows;
  for (std::size_t group = 0; group < groups; ++group) {
    const Dyadic& count = *next++;
    if (!count.is_integer() || count.sign() < 0) impossible("a group's rows are no count");
    rows += count;
    if (rows > Dyadic(Integer(static_cast<unsigned long>(totals.rows)), 0))
      impossible("the groups hold more than all rows");
    Totals& part = parts.emplace_back();
    part.rows = count.rational().get_num().get_ui();
    part.values.assign(next, next + static_cast<std::ptrdiff_t>(values));
    next += static_cast<std::ptrdiff_t>(values);
  }
  return parts;
}

class GroupedFold final : public KeyedFold {
 public:
  explicit GroupedFold(std::shared_ptr<const Grouping> grouping) : grouping_(std::move(grouping)) {}

  std::unique_ptr<FoldState> start() const override { return std::make_unique<GroupedState>(grouping_); }

  std::unique_ptr<FoldState> restore(const Totals& totals) const override {
    auto state = std::make_unique<GroupedState>(grouping_);
    const std::vector<Totals> parts =
        split_totals(totals, grouping_->index.keys(), grouping_->empty.values.size());
    for (std::size_t group = 0; group < parts.size(); ++group) {
      if (parts[group] != grouping_->empty) state->set(group, grouping_->inner.fold().restore(parts[group]));
    }
    state->set_rows(totals.rows);
    return state;
  }

  std::string description() const override { return grouping_->description; }

  const KeyIndex& key_index() const override { return grouping_->index; }
  void update_placed(FoldState& state, const std::uint32_t* places, const Chunk& rest) const override {
    static_cast<GroupedState&>(state).update(places, rest);
  }

 private:
  std::shared_ptr<const Grouping> grouping_;
};

}  // namespace

Aggregation make_grouped(const VectorDomain& domain, Metric metric, const Bins& keys,
                         const Partial<Aggregation>& inner) {
  if (metric != Metric::symmetric_distance) {
    throw Error(
        ErrorCode::mismatch, "metric",
        "make_grouped needs the symmetric distance, not the " + to_string(metric) +
            ": a replaced row may move from one group to another, and group sizes are not public; use "
            "symmetric_distance()");
  }
  if (domain.columns().empty()) {
    throw Error(ErrorCode::invalid_argument, "domain",
                "domain: make_grouped takes the key as its first column");
  }
  const AtomDomain& key = domain.columns().front();
  if ((key.type == AtomType::text) != keys.are_texts()) {
    throw Error(
        ErrorCode::invalid_argument, "keys",
        keys.are_texts() ? "keys: text keys need a text column" : "keys: a text column needs text keys");
  }
  const VectorDomain rest(std::vector<AtomDomain>(domain.columns().begin() + 1, domain.columns().end()));
  const auto grouping = std::make_shared<const Grouping>(key.type, keys, inner(rest, metric));
  StatisticDomain output = grouping->inner.output_domain();
  output.dimension *= grouping->index.keys();
  return {{domain, output, metric, Metric::l1_distance, Relation::stable(grouping->inner.sensitivity())},
          std::make_shared<GroupedFold>(grouping),
          [grouping](const Totals& totals) {
            std::vector<Dyadic> all;
            for (const Totals& part :
                 split_totals(totals, grouping->index.keys(), grouping->empty.values.size())) {
              const std::vector<Dyadic> group = grouping->inner.finish(part);
              all.insert(all.end(), group.begin(), group.end());
            }
            return all;
          },
          grouping->inner.steps()};
}

Partial<Aggregation> make_grouped(const Bins& keys, const Partial<Aggregation>& inner) {
  return [keys, inner](const VectorDomain& domain, Metric metric) {
    return make_grouped(domain, metric, keys, inner);
  };
}

}  // namespace snapdp
