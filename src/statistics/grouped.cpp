#include <algorithm>
#include <array>
#include <stdexcept>

#include "framework/shared/keyed_fold.h"
#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "statistics/bin_index.h"

namespace snapdp {

using namespace framework_internal;
using namespace statistics_internal;

namespace {

// What the states of all groups share.
struct Grouping {
  Grouping(AtomType type, const Bins& keys, Aggregation aggregation)
      : index(type, keys),
        inner(std::move(aggregation)),
        empty(inner.fold().start()->totals()),
        description("by " + keys.description() + ": " + inner.description()) {}

  BinIndex index;
  Aggregation inner;
  Totals empty;  // of a group without rows
  std::string description;
};

// Brings the rows of each group in a block side by side, by a counting sort that copies each column.
class GroupSort {
 public:
  // Calls each(group, rows) for every group below `groups` that has rows, in the order of their first rows.
  template <typename Each>
  void for_each_group(const Chunk& block, const std::uint32_t* group, std::size_t groups, Each each) {
    if (next_.size() <= groups) next_.resize(groups + 1);
    std::array<std::uint32_t, block_rows> present;
    std::size_t parts = 0;
    for (std::size_t row = 0; row < block.length; ++row) {
      if (next_[group[row]]++ == 0 && group[row] != groups) present[parts++] = group[row];
    }
    std::array<std::uint32_t, block_rows + 1> first;
    first[0] = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      first[i + 1] = first[i] + next_[present[i]];
      next_[present[i]] = first[i];
    }
    std::array<std::uint32_t, block_rows> place;
    for (std::size_t row = 0; row < block.length; ++row)
      place[row] = group[row] == groups ? std::uint32_t{block_rows} : next_[group[row]]++;
    next_[groups] = 0;
    for (std::size_t i = 0; i < parts; ++i) next_[present[i]] = 0;

    const Chunk sorted = sort(block, place.data(), first[parts]);
    for (std::size_t i = 0; i < parts; ++i) each(present[i], sorted.slice(first[i], first[i + 1] - first[i]));
  }

 private:
  // `place[row]` is where the row goes; rows beyond `kept` places are left out.
  Chunk sort(const Chunk& block, const std::uint32_t* place, std::size_t kept) {
    Chunk sorted = block;
    sorted.length = kept;
    for (std::size_t i = 0; i < block.column_count; ++i) {
      const Column& column = block.column[i];
      Scratch::Buffer& buffer = room_.buffer(i);
      switch (column.type) {
        case AtomType::real:
          move(column.reals(), block.length, place, buffer.reals());
          break;
        case AtomType::integer:
          move(column.integers(), block.length, place, buffer.integers());
          break;
        case AtomType::text:
          move(column.texts(), block.length, place, buffer.texts());
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

  template <typename Value>
  static void move(const Value* from, std::size_t rows, const std::uint32_t* place, Value* to) {
    for (std::size_t row = 0; row < rows; ++row) {
      if (place[row] < block_rows) to[place[row]] = from[row];
    }
  }

  Scratch room_;
  std::vector<std::uint32_t> next_;  // zeros between blocks
};

// Room for one block at work. The calling thread has one for each that it is in the midst of: groups may have groups.
class Room {
 public:
  Room() : room_(of_depth(depth()++)) {}
  ~Room() { --depth(); }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  Scratch& scratch() { return room_.scratch; }
  GroupSort& sort() { return room_.sort; }

 private:
  struct Parts {
    Scratch scratch;  // of the row functions
    GroupSort sort;
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

// A state of the inner fold for each group that has rows, whatever the fold.
class SeparateStates final : public GroupStates {
 public:
  explicit SeparateStates(const Grouping& grouping) : grouping_(grouping), states_(grouping.index.keys()) {}

  void update(const Chunk& block, const std::uint32_t* group) override {
    Room room;
    room.sort().for_each_group(block, group, states_.size(),
                               [this](std::size_t one, const Chunk& rows) { update_group(one, rows); });
  }
  void update_group(std::size_t group, const Chunk& rows) override { of(group).update(rows); }
  void merge(const GroupStates& other) override {
    const auto& from = static_cast<const SeparateStates&>(other);
    for (std::size_t group = 0; group < states_.size(); ++group) {
      if (from.states_[group]) of(group).merge(*from.states_[group]);
    }
  }
  Totals totals(std::size_t group) const override {
    return states_[group] ? states_[group]->totals() : grouping_.empty;
  }
  void restore(std::size_t group, const Totals& totals) override {
    states_[group] = grouping_.inner.fold().restore(totals);
  }

 private:
  FoldState& of(std::size_t group) {
    if (!states_[group]) states_[group] = grouping_.inner.fold().start();
    return *states_[group];
  }

  const Grouping& grouping_;
  std::vector<std::unique_ptr<FoldState>> states_;  // null until a row comes
};

std::unique_ptr<GroupStates> start_groups(const Grouping& grouping) {
  const auto* fold = dynamic_cast<const SideBySideFold*>(&grouping.inner.fold());
  if (fold != nullptr) return fold->start_groups(grouping.index.keys());
  return std::make_unique<SeparateStates>(grouping);
}

class GroupedState final : public FoldState {
 public:
  explicit GroupedState(std::shared_ptr<const Grouping> grouping)
      : grouping_(std::move(grouping)), groups_(start_groups(*grouping_)) {}
  // With parts[i] as the totals of group i.
  GroupedState(std::shared_ptr<const Grouping> grouping, std::uint64_t rows, const std::vector<Totals>& parts)
      : GroupedState(std::move(grouping)) {
    rows_ = rows;
    for (std::size_t group = 0; group < parts.size(); ++group) {
      if (parts[group] != grouping_->empty) groups_->restore(group, parts[group]);
    }
  }

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
    if (done == functions.size()) return groups_->update(rows, group);
    room.sort().for_each_group(rows, group, grouping_->index.keys(), [&](std::size_t one, Chunk part) {
      for (std::size_t i = done; i < functions.size(); ++i) functions[i]->transform(part, room.scratch());
      groups_->update_group(one, part);
    });
  }

  void merge(const FoldState& other) override {
    const auto& from = static_cast<const GroupedState&>(other);
    rows_ = add_rows(rows_, from.rows_);
    groups_->merge(*from.groups_);
  }

  // The groups' totals one after the other, each its rows and its values.
  Totals totals() const override {
    Totals all;
    all.rows = rows_;
    for (std::size_t group = 0; group < grouping_->index.keys(); ++group) {
      const Totals totals = groups_->totals(group);
      all.values.emplace_back(Integer(static_cast<unsigned long>(totals.rows)), 0);
      all.values.insert(all.values.end(), totals.values.begin(), totals.values.end());
    }
    return all;
  }

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

  std::shared_ptr<const Grouping> grouping_;
  std::uint64_t rows_ = 0;
  std::unique_ptr<GroupStates> groups_;
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
    const std::vector<Totals> parts =
        split_totals(totals, grouping_->index.keys(), grouping_->empty.values.size());
    return std::make_unique<GroupedState>(grouping_, totals.rows, parts);
  }

  std::string description() const override { return grouping_->description; }
  void tell(RowLanguage& language) const override {
    language.groups(grouping_->index.places(), grouping_->inner);
  }

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
  const Aggregation of_group = inner(rest, metric);
  if (!(of_group.input_domain() == rest) || of_group.input_metric() != metric) {
    throw Error(ErrorCode::mismatch, "domain",
                "make_grouped: the statistic of a group takes " + describe(Domain(of_group.input_domain())) +
                    " by the " + to_string(of_group.input_metric()) + ", the rows of a group are " +
                    describe(Domain(rest)) + " by the " + to_string(metric) +
                    "; build it on the domain and metric that it is given");
  }
  const auto grouping = std::make_shared<const Grouping>(key.type, keys, of_group);
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
