// Groups whose keys nobody declared: which of them may be shown is decided by how many privacy units each
// has, and of those that are shown statistics are released. One debit pays for both.
//
//   const PrivateKeys cities{.column = "city", .epsilon = "1/2", .delta = "1e-6"};
//   PrivateGroups groups({}, {cities}, [](const std::vector<KeyValues>& keys) {
//     const Bins cities = Bins::texts(keys[0].texts);
//     return std::vector<GroupsPart>{{{{"city"}, count_by(cities)}, 0}};   // group i is key i
//   });
//   groups.price();                                       // 1/2 and 1e-6, and what the counts cost
//   GroupsRelease r = groups.release(table, accountant);  // r.shown[0].texts, r.values[0]
//
// What is promised: with D the rows, first the set of keys that are shown is chosen, (epsilon, delta)-
// privately (mechanism/selection.h), then the statistics of these groups are released. For each set of keys
// these are a composition with public keys (composition.h), so that both together lose what both cost
// (adaptive composition, Dwork and Roth 2014, Theorem 3.16). Proof: proofs/private_groups.md.
//
// Keys are shown in their own order, whatever the order of rows; a group that is not shown leaves no trace.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "snapdp/framework/composition.h"
#include "snapdp/framework/key_values.h"
#include "snapdp/mechanism/selection.h"

namespace snapdp {

struct PrivateKeys {
  KeyColumn column;
  Epsilon epsilon;  // of a privacy unit, whatever the number of its groups; > 0
  Epsilon delta;    // likewise; 0 < delta < 1
  // Of a privacy unit at most so many groups count where it is decided which are shown; the fewer the better
  // small groups are seen. 1 where each row is a unit of its own.
  std::uint64_t max_groups = 1;
  // Groups of fewer units are never shown. From 1 on, which is optimal: a group of n units is shown with the
  // probability of n - (min_units - 1) units.
  std::uint64_t min_units = 1;
  // No more groups are shown: of those that may be, the first in order. Public, so that what a release takes
  // is known before it is paid for.
  std::size_t most = 1'000;
};

// The law of the choice, by group and by units beyond min_units - 1. A unit is in at most max_groups groups,
// and in no more than it has rows; without units each row is in one. Throws what per_group throws.
SelectionLaw law_of(const PrivateKeys& keys, const RowSelection& selection);

// A part of a table, and by which of the keys its groups are; the others are about all rows. The statistic of
// a part by groups is that of key 0, of key 1 ..., one after the other, as make_grouped gives it.
struct GroupsPart {
  TablePart part;
  std::optional<std::size_t> keys = {};
};

// The parts of a release where the keys are these. Whatever the keys, there are as many parts, and of each
// part the price and the noise are the same.
using GroupsParts = std::function<std::vector<GroupsPart>(const std::vector<KeyValues>& keys)>;

struct GroupsRelease {
  std::vector<KeyValues> shown;  // one a PrivateKeys
  // Whether more could be shown than PrivateKeys::most.
  std::vector<bool> cut;
  // One a part: of its groups' numbers those of the keys that are shown, in their order.
  std::vector<std::vector<Dyadic>> values;
  PrivacyLoss loss;
};

class PrivateGroups {
 public:
  // Throws invalid_argument naming "epsilon", "delta", "max_groups", "min_units", "most", "type" or "keys"
  // for what is out of range, twice the same column or keys that no part is by, mismatch naming "metric"
  // unless neighbors differ by a row or by a unit, and what make_on_table throws.
  PrivateGroups(RowSelection selection, std::vector<PrivateKeys> keys, GroupsParts parts);

  // What a release debits: the sum of what choosing the keys and the parts cost.
  const PrivacyLoss& price() const { return price_; }
  // Of the choice of one column's keys: its epsilon and delta.
  PrivacyLoss price_of(std::size_t keys) const;
  // Of that choice, see law_of().
  const SelectionLaw& law(std::size_t keys) const { return laws_.at(keys); }

  // Gathers the keys, folds the statistics of every candidate, debits price() at once, then chooses and
  // draws. Throws what Composition::release and Source::fold_by_keys throw; when it throws before the debit
  // nothing is spent, afterwards all of it is, and stays. Neither an error nor a message tells of keys.
  GroupsRelease release(Source& table, BudgetAccountant& accountant, const Progress& progress = {}) const;
  // The same without choice and noise: every candidate with its number of units and its exact statistics.
  // They are not private: for tests of the claim, and to see whether a release would succeed.
  struct Candidates {
    std::vector<KeyValues> keys;
    std::vector<std::vector<std::uint64_t>> units;  // one a PrivateKeys and key
    std::vector<std::vector<Dyadic>> statistics;    // one a part
  };
  Candidates exact(Source& table, const Progress& progress = {}) const;

 private:
  struct Folded;
  std::vector<FoldRequest> requests(Folded& folded, const std::vector<KeyValues>& keys) const;
  Folded fold(Source& table, const Progress& progress) const;
  void check_parts(const std::vector<GroupsPart>& parts, const std::vector<KeyValues>& keys) const;

  RowSelection selection_;
  std::vector<PrivateKeys> keys_;
  GroupsParts parts_;
  std::vector<SelectionLaw> laws_;
  std::vector<GroupsPart> expected_;  // with one key each
  PrivacyLoss price_;
  std::string description_;
};

}  // namespace snapdp
