#include "snapdp/statistics/private_groups.h"

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>

#include "framework/shared/memory_reserve.h"
#include "framework/shared/paid.h"
#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {

using namespace framework_internal;
using namespace numeric_internal;

namespace {

[[noreturn]] void refuse(const char* parameter, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, parameter, std::string(parameter) + why);
}

void check_keys(const PrivateKeys& keys) {
  if (keys.column.type == AtomType::real) {
    refuse("type", ": the cells of " + quoted_text(keys.column.name) +
                       " are read as reals, which are no keys; read them as integers or texts");
  }
  if (keys.max_groups == 0) refuse("max_groups", " = 0: a unit counts nowhere; allow at least 1");
  if (keys.min_units == 0) refuse("min_units", " = 0: no group has fewer than 1 unit; give at least 1");
  constexpr std::size_t most_shown = 100'000;
  if (keys.most == 0 || keys.most > most_shown) {
    refuse("most", " = " + std::to_string(keys.most) + ": must be from 1 to " + std::to_string(most_shown) +
                       "; it is how many groups may be shown");
  }
  if (keys.delta.value() >= 1) {
    refuse("delta", " = " + to_string(keys.delta.value()) + ": must be less than 1; choose one such as 1e-6");
  }
}

Bins bins_of(const KeyValues& keys) {
  if (keys.type == AtomType::text) return Bins::texts(keys.texts);
  std::vector<Dyadic> numbers;
  for (const std::int64_t key : keys.integers) numbers.emplace_back(key);
  return Bins::numbers(std::move(numbers));
}

// A list that is not empty, as statistics by groups need one. No row has the key that is added: it would be there.
KeyValues never_empty(KeyValues keys) {
  if (!keys.empty()) return keys;
  if (keys.type == AtomType::text) keys.texts.emplace_back("-");
  if (keys.type == AtomType::integer) keys.integers.push_back(0);
  return keys;
}

// How many rows each group has: with one row of each unit and group, how many units.
Aggregation count_by(const KeyValues& keys) {
  return make_grouped(untrusted_domain({keys.type}), symmetric_distance(), bins_of(keys), make_count());
}

// Whether the noise of a part by groups does not depend on the keys.
bool same_noise(const Measurement& a, const Measurement& b) {
  const Mechanism& one = a.mechanism();
  const Mechanism& other = b.mechanism();
  return one.kind() == other.kind() && one.scale() == other.scale() && one.grid() == other.grid() &&
         one.lower() == other.lower() && one.upper() == other.upper();
}

// The numbers of the groups at `places`, of `groups` groups.
std::vector<Dyadic> of_groups(const std::vector<Dyadic>& statistic, const std::vector<std::size_t>& places,
                              std::size_t groups) {
  const std::size_t numbers = statistic.size() / groups;
  std::vector<Dyadic> chosen;
  chosen.reserve(places.size() * numbers);
  for (const std::size_t place : places) {
    const auto first = statistic.begin() + static_cast<std::ptrdiff_t>(place * numbers);
    chosen.insert(chosen.end(), first, first + static_cast<std::ptrdiff_t>(numbers));
  }
  return chosen;
}

KeyValues keys_at(const KeyValues& keys, const std::vector<std::size_t>& places) {
  KeyValues chosen{keys.type, {}, {}};
  for (const std::size_t place : places) {
    if (keys.type == AtomType::text) chosen.texts.push_back(keys.texts[place]);
    if (keys.type == AtomType::integer) chosen.integers.push_back(keys.integers[place]);
  }
  return chosen;
}

}  // namespace

// What is folded before the debit.
struct PrivateGroups::Folded {
  std::vector<KeyValues> keys;
  std::vector<Aggregation> unit_counts;  // one a PrivateKeys
  std::vector<GroupsPart> parts;
  std::vector<std::vector<std::uint64_t>> units;
  std::vector<std::vector<Dyadic>> statistics;
};

PrivateGroups::PrivateGroups(RowSelection selection, std::vector<PrivateKeys> keys, GroupsParts parts)
    : selection_(std::move(selection)), keys_(std::move(keys)), parts_(std::move(parts)) {
  const FloatEnvironment environment;
  if (keys_.empty()) refuse("keys", ": there are none; for public keys use make_on_table");
  if (!parts_) refuse("parts", ": the function that gives them is missing");
  std::set<std::string> columns;
  std::vector<KeyValues> one_each;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const PrivateKeys& each = keys_[i];
    check_keys(each);
    if (!columns.insert(each.column.name).second)
      refuse("keys", ": " + quoted_text(each.column.name) + " is there twice; choose its keys once");
    laws_.push_back(law_of(each, selection_));
    one_each.push_back(never_empty({each.column.type, {}, {}}));
    price_ += price_of(i);
  }
  expected_ = parts_(one_each);
  std::vector<TablePart> table_parts;
  std::set<std::size_t> used;
  for (const GroupsPart& each : expected_) {
    table_parts.push_back(each.part);
    if (!each.keys) continue;
    used.insert(*each.keys);
    const Measurement& measurement = each.part.measurement;
    if (*each.keys >= keys_.size() || each.part.columns.empty() ||
        each.part.columns.front() != keys_[*each.keys].column.name) {
      throw Error(ErrorCode::mismatch, "keys",
                  "keys: \"" + measurement.aggregation().description() +
                      "\" is not by the column of its keys; give that as the first of its columns");
    }
    if (measurement.is_choice() || measurement.mechanism().kind() == NoiseKind::notes) {
      throw Error(ErrorCode::mismatch, "noise",
                  "noise: what is released of groups that nobody declared has exact, geometric or Gaussian "
                  "noise for each number");
    }
  }
  if (used.size() != keys_.size()) refuse("keys", ": no part is by some of them; count their rows at least");
  const Composition composition = make_on_table(selection_, std::move(table_parts));
  const Metric metric = composition.input_metric();
  if (metric != symmetric_distance() && metric != Metric::unit_distance) {
    throw Error(ErrorCode::mismatch, "metric",
                "metric: with keys that nobody declared neighbors differ by a row or a unit that is there or "
                "not, not by the " +
                    to_string(metric) + "; declare the keys instead");
  }
  price_ += composition.price();
  description_ = "groups that are chosen of " + composition.description();
}

SelectionLaw law_of(const PrivateKeys& keys, const RowSelection& selection) {
  const std::uint64_t groups = selection.unit ? std::min(keys.max_groups, selection.unit->max_rows) : 1;
  return per_group(keys.epsilon.value(), keys.delta.value(), groups);
}

PrivacyLoss PrivateGroups::price_of(std::size_t keys) const {
  return PrivacyLoss::approximate(keys_.at(keys).epsilon.value(), keys_.at(keys).delta.value());
}

// A part about all rows must be the same whatever the keys; one by keys has the numbers of one key for each.
void PrivateGroups::check_parts(const std::vector<GroupsPart>& parts,
                                const std::vector<KeyValues>& keys) const {
  const auto dimension = [](const GroupsPart& part) {
    return part.part.measurement.aggregation().output_domain().dimension;
  };
  bool same = parts.size() == expected_.size();
  for (std::size_t i = 0; same && i < parts.size(); ++i) {
    const Measurement& measurement = parts[i].part.measurement;
    const Measurement& expected = expected_[i].part.measurement;
    same =
        parts[i].keys == expected_[i].keys && parts[i].part.columns == expected_[i].part.columns &&
        parts[i].part.groups == expected_[i].part.groups && measurement.price() == expected.price() &&
        measurement.distance() == expected.distance() &&
        (parts[i].keys ? same_noise(measurement, expected) &&
                             dimension(parts[i]) == keys.at(*parts[i].keys).size() * dimension(expected_[i])
                       : measurement.aggregation().description() == expected.aggregation().description());
  }
  if (!same) throw std::logic_error("the parts of a release depend on more than the keys");
}

std::vector<FoldRequest> PrivateGroups::requests(Folded& folded, const std::vector<KeyValues>& keys) const {
  for (const KeyValues& each : keys) folded.keys.push_back(never_empty(each));
  folded.parts = parts_(folded.keys);
  check_parts(folded.parts, folded.keys);
  for (const KeyValues& each : folded.keys) folded.unit_counts.push_back(count_by(each));
  std::vector<FoldRequest> requests;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    requests.push_back({{keys_[i].column.name}, &folded.unit_counts[i]});
    if (selection_.unit)
      requests.back().groups = FoldRequest::GroupLimit{keys_[i].column.name, keys_[i].max_groups, 1};
  }
  for (const GroupsPart& each : folded.parts)
    requests.push_back({each.part.columns, &each.part.measurement.aggregation(), each.part.groups});
  return requests;
}

PrivateGroups::Folded PrivateGroups::fold(Source& table, const Progress& progress) const {
  Folded folded;
  std::vector<KeyColumn> columns;
  for (const PrivateKeys& each : keys_) columns.push_back(each.column);
  const FoldResult result = table.fold_by_keys(
      selection_, columns, [&](const std::vector<KeyValues>& keys) { return requests(folded, keys); },
      progress);
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::vector<std::uint64_t>& units = folded.units.emplace_back();
    for (const Dyadic& count : folded.unit_counts[i].finish(result.states[i]))
      units.push_back(count.rational().get_num().get_ui());
  }
  for (std::size_t i = 0; i < folded.parts.size(); ++i) {
    const Measurement& measurement = folded.parts[i].part.measurement;
    folded.statistics.push_back(measurement.aggregation().finish(result.states[keys_.size() + i]));
    measurement.check(folded.statistics.back());
  }
  return folded;
}

PrivateGroups::Candidates PrivateGroups::exact(Source& table, const Progress& progress) const {
  const FloatEnvironment environment;
  Folded folded = fold(table, progress);
  return {std::move(folded.keys), std::move(folded.units), std::move(folded.statistics)};
}

GroupsRelease PrivateGroups::release(Source& table, BudgetAccountant& accountant,
                                     const Progress& progress) const {
  const FloatEnvironment environment;
  Folded folded = fold(table, progress);

  // Whatever may fail is done before the debit: the tables of the choice, and the memory of what is drawn, as if every
  // candidate were shown.
  std::vector<Selection> selections;
  std::size_t memory = 0;
  std::size_t of_decision = 0;
  std::size_t candidates = 0;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    selections.emplace_back(laws_[i]);
    candidates = std::max(candidates, folded.keys[i].size());
    constexpr std::size_t of_key = 2 * (sizeof(std::string) + KeyValues::longest);
    memory +=
        std::min(folded.keys[i].size(), keys_[i].most) * of_key + folded.keys[i].size() * sizeof(std::size_t);
  }
  const std::unique_ptr<bool[]> shown(new bool[candidates]);  // NOLINT: std::vector<bool> has no span
  GroupsRelease release{{}, {}, {}, price_};
  release.values.reserve(folded.parts.size());
  for (const GroupsPart& each : folded.parts) {
    const Measurement& measurement = each.part.measurement;
    constexpr std::size_t of_number = 128;  // a copy of the exact number
    memory += memory_to_draw(measurement) + measurement.aggregation().output_domain().dimension * of_number;
    of_decision = std::max(of_decision, memory_to_decide(measurement));
  }

  const Metric metric = selection_.unit ? Metric::unit_distance : symmetric_distance();
  const Paid paid({price_, metric, 1, description_, selection_.unit ? selection_.unit->column : ""},
                  accountant, memory + of_decision);
  std::vector<std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    std::vector<std::uint64_t>& units = folded.units[i];
    for (std::uint64_t& number : units) number -= std::min(number, keys_[i].min_units - 1);
    selections[i].select(units, {shown.get(), units.size()}, paid.generator());
    std::vector<std::size_t>& chosen = places.emplace_back();
    std::size_t all = 0;
    for (std::size_t key = 0; key < units.size(); ++key) {
      if (shown[key] && ++all <= keys_[i].most) chosen.push_back(key);
    }
    release.cut.push_back(all > keys_[i].most);
    release.shown.push_back(keys_at(folded.keys[i], chosen));
  }
  for (std::size_t i = 0; i < folded.parts.size(); ++i) {
    const GroupsPart& each = folded.parts[i];
    std::vector<Dyadic> statistic = std::move(folded.statistics[i]);
    if (each.keys) statistic = of_groups(statistic, places[*each.keys], folded.keys[*each.keys].size());
    release.values.push_back(each.part.measurement.draw(std::move(statistic), paid));
  }
  return release;
}

}  // namespace snapdp
