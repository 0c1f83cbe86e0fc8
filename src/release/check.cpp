#include "snapdp/release/check.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "numeric/shared/float_environment.h"
#include "release/kinds/bins.h"
#include "release/kinds/cells.h"
#include "release/shared/columns.h"

namespace snapdp {

using namespace numeric_internal;
using namespace release_internal;

namespace {

// A fold of exact counts, which no measurement ever sees.
template <typename State>
class CountingFold final : public Fold {
 public:
  CountingFold(State empty, std::string description)
      : empty_(std::move(empty)), description_(std::move(description)) {}

  std::unique_ptr<FoldState> start() const override { return std::make_unique<State>(empty_); }
  std::unique_ptr<FoldState> restore(const Totals&) const override {
    throw std::logic_error("a check of rows has no stored states");
  }
  std::string description() const override { return description_; }

 private:
  State empty_;
  std::string description_;
};

template <typename State>
Aggregation counting(const std::vector<AtomType>& types, State empty, const std::string& description) {
  const std::size_t counts = empty.totals().values.size();
  return Aggregation({untrusted_domain(types),
                      {.dimension = counts, .grid = Grid(0), .integer = true, .range = {}},
                      Metric::symmetric_distance,
                      Metric::l1_distance,
                      Relation::stable(1)},
                     std::make_shared<CountingFold<State>>(std::move(empty), description),
                     [](const Totals& totals) { return totals.values; });
}

Dyadic dyadic(std::uint64_t count) {
  return Dyadic(Integer(static_cast<unsigned long>(count)), 0);
}

std::uint64_t number(const Dyadic& count) {
  return count.rational().get_num().get_ui();
}

// What a column's cells are, read as their type and, for what does not read so, as text.
class CellState final : public FoldState {
 public:
  // Of numbers outside [lower, upper] and at its ends; the bounds are cells of the column's type.
  explicit CellState(const std::optional<Bounds>& bounds) : bounds_(bounds) {
    if (!bounds) return;
    real_ = {to_double_nearest(bounds->lower().rational()), to_double_nearest(bounds->upper().rational())};
  }

  void update(const Chunk& block) override {
    const Column& cells = block.column[0];
    const Column& texts = block.column[1];
    for (std::size_t row = 0; row < block.length; ++row) {
      ++counts_[cells.valid(row) ? place_of(cells, row) : texts.valid(row) ? unreadable : missing];
    }
    rows_ += block.length;
  }
  void merge(const FoldState& other) override {
    const auto& same = static_cast<const CellState&>(other);
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += same.counts_[i];
    rows_ += same.rows_;
  }
  Totals totals() const override {
    Totals totals{rows_, {}};
    for (const std::uint64_t count : counts_) totals.values.push_back(dyadic(count));
    return totals;
  }

  enum Place { missing, unreadable, below, at_lower, between, at_upper, above, places };

 private:
  template <typename Number>
  static Place place_between(Number lower, Number number, Number upper) {
    if (number < lower) return below;
    if (number > upper) return above;
    if (number == lower) return at_lower;
    return number == upper ? at_upper : between;
  }

  Place place_of(const Column& cells, std::size_t row) const {
    if (cells.type == AtomType::real && std::isnan(cells.reals()[row])) return unreadable;
    if (!bounds_) return between;
    if (cells.type == AtomType::real) return place_between(real_[0], cells.reals()[row], real_[1]);
    return place_between(bounds_->lower().to_int64(), cells.integers()[row], bounds_->upper().to_int64());
  }

  std::optional<Bounds> bounds_;
  std::array<double, 2> real_{};
  std::uint64_t rows_ = 0;
  std::array<std::uint64_t, places> counts_{};
};

// The rows of each unit. Its cells are text, as they stand.
class UnitState final : public FoldState {
 public:
  explicit UnitState(std::uint64_t max_rows) : max_rows_(max_rows) {}

  void update(const Chunk& block) override {
    const Column& units = block.column[0];
    for (std::size_t row = 0; row < block.length; ++row) {
      if (units.valid(row) && units.texts()[row].find_first_not_of(" \t") != std::string_view::npos) {
        ++rows_of_[std::string(units.texts()[row])];
      } else {
        ++without_;
      }
    }
    rows_ += block.length;
  }
  void merge(const FoldState& other) override {
    const auto& same = static_cast<const UnitState&>(other);
    for (const auto& [unit, rows] : same.rows_of_) rows_of_[unit] += rows;
    without_ += same.without_;
    rows_ += same.rows_;
  }
  Totals totals() const override {
    std::uint64_t most = 0;
    std::uint64_t above = 0;
    std::uint64_t dropped = 0;
    for (const auto& [unit, rows] : rows_of_) {
      most = std::max(most, rows);
      if (rows <= max_rows_) continue;
      ++above;
      dropped += rows - max_rows_;
    }
    return {rows_, {dyadic(rows_of_.size()), dyadic(without_), dyadic(most), dyadic(above), dyadic(dropped)}};
  }

 private:
  std::uint64_t max_rows_;
  std::unordered_map<std::string, std::uint64_t> rows_of_;
  std::uint64_t without_ = 0;
  std::uint64_t rows_ = 0;
};

std::string type_of(AtomType type) {
  return type == AtomType::text ? "text" : type == AtomType::integer ? "integer" : "number";
}

// One column as statistics read it: what is asked of the source, and what its counts say.
struct AskedColumn {
  CellCheck cell;
  Aggregation places;
  std::optional<Aggregation> values;
  std::vector<std::string> labels;  // of values
};

class DataChecker {
 public:
  explicit DataChecker(const Plan& plan) : plan_(plan) {
    const Specification& specification = plan.specification();
    for (const PlannedStatistic& planned : plan.statistics()) {
      const StatisticSpecification& statistic = planned.specification;
      const AtomType type = statistic.type.value_or(AtomType::real);
      for (std::size_t i = 0; i < statistic.columns.size(); ++i)
        add(statistic.name, statistic.columns[i], type, bounds_of(planned, i), bins_for(statistic));
      if (statistic.group_by)
        add(statistic.name, *statistic.group_by, statistic.key_type, {}, keys_of(statistic));
    }
    if (specification.data.privacy_unit) {
      units_ =
          counting({AtomType::text}, UnitState(specification.data.max_rows_per_unit), "rows of each unit");
    }
  }

  DataCheck check(Source& source, const Progress& progress) {
    const Declaration& data = plan_.specification().data;
    std::vector<FoldRequest> requests = requests_of(data);
    // The limit on units is what is looked at, so it is not carried out.
    const FoldResult result =
        source.fold(RowSelection{plan_.selection().where, std::nullopt}, requests, progress);
    DataCheck check;
    check.rows = result.rows;
    check.declared_rows = data.neighbors == Neighbors::change_one ? data.size : std::nullopt;
    if (data.where) check.where = data.where->text();
    auto state = result.states.begin();
    check.counted = (state++)->totals().rows;
    for (AskedColumn& asked : asked_) {
      tell_places(*state++, asked.cell);
      if (asked.values) tell_values(*asked.values, *state++, asked);
      check.cells.push_back(std::move(asked.cell));
    }
    if (units_) check.units = tell_units(state->totals(), data);
    return check;
  }

 private:
  // The bounds, or the outer edges of bins.
  static std::optional<Bounds> bounds_of(const PlannedStatistic& planned, std::size_t column) {
    if (!planned.bounds.empty()) return planned.bounds[column];
    const StatisticSpecification& statistic = planned.specification;
    if (statistic.edges.empty()) return std::nullopt;
    const AtomType type = statistic.type.value_or(AtomType::real);
    return Bounds(cell_value(statistic.edges.front(), type, "edges"),
                  cell_value(statistic.edges.back(), type, "edges"));
  }

  static std::optional<Bins> bins_for(const StatisticSpecification& statistic) {
    if (statistic.categories.empty() && statistic.texts.empty()) return std::nullopt;
    const Bins bins = bins_of(statistic);
    return bins.has_other() ? bins : bins.with_other();
  }

  static std::optional<Bins> keys_of(const StatisticSpecification& statistic) {
    if (statistic.private_keys) return std::nullopt;
    const Bins bins = statistic.key_texts.empty()
                          ? Bins::numbers(cell_values(statistic.key_numbers, statistic.key_type, "keys"))
                          : Bins::texts(statistic.key_texts);
    return bins.with_other();
  }

  static std::string expectation(AtomType type, const std::optional<Bounds>& bounds,
                                 const std::optional<Bins>& bins) {
    const auto end = [](const Dyadic& bound) { return short_number(bound.rational()); };
    if (bins) return "one of " + std::to_string(bins->size() - 1) + " values";
    return type_of(type) +
           (bounds ? " in [" + end(bounds->lower()) + ", " + end(bounds->upper()) + "]" : std::string());
  }

  void add(const std::string& statistic, const std::string& column, AtomType type,
           const std::optional<Bounds>& bounds, const std::optional<Bins>& bins) {
    const std::string key = column + '\n' + expectation(type, bounds, bins) + '\n' + to_string(type) +
                            (bins ? bins->description() : "");
    const auto [known, is_new] = known_.emplace(key, asked_.size());
    if (!is_new) {
      asked_[known->second].cell.statistics.push_back(statistic);
      return;
    }
    AskedColumn asked{CellCheck{},
                      counting({type, AtomType::text}, CellState(bounds), "cells of a column"),
                      std::nullopt,
                      {}};
    asked.cell.column = column;
    asked.cell.statistics = {statistic};
    asked.cell.expected = expectation(type, bounds, bins);
    if (bounds) asked.cell.places = CellCheck::Places{};
    if (bins) {
      asked.values = make_histogram(untrusted_domain({type}), symmetric_distance(), *bins);
      asked.labels = bins->labels();
      asked.cell.values = CellCheck::Values{};
    }
    asked_.push_back(std::move(asked));
  }

  std::vector<FoldRequest> requests_of(const Declaration& data) const {
    std::vector<FoldRequest> requests = {{{}, &rows_}};
    for (const AskedColumn& asked : asked_) {
      requests.push_back({{asked.cell.column, asked.cell.column}, &asked.places});
      if (asked.values) requests.push_back({{asked.cell.column}, &*asked.values});
    }
    if (units_) requests.push_back({{*data.privacy_unit}, &*units_});
    return requests;
  }

  static void tell_places(const AggregateState& state, CellCheck& cell) {
    const Totals totals = state.totals();
    const auto count = [&](CellState::Place place) { return number(totals.values[place]); };
    cell.missing = count(CellState::missing);
    cell.unreadable = count(CellState::unreadable);
    if (cell.places) {
      cell.places =
          CellCheck::Places{count(CellState::below), count(CellState::at_lower), count(CellState::between),
                            count(CellState::at_upper), count(CellState::above)};
    }
  }

  static void tell_values(const Aggregation& histogram, const AggregateState& state, AskedColumn& asked) {
    const std::vector<Dyadic> counts = histogram.finish(state);
    CellCheck::Values& values = *asked.cell.values;
    for (std::size_t i = 0; i + 1 < counts.size(); ++i) {
      values.known += number(counts[i]);
      if (counts[i] == Dyadic(0)) values.never.push_back(asked.labels[i]);
    }
    values.unknown = number(counts.back()) - asked.cell.missing - asked.cell.unreadable;
  }

  static UnitCheck tell_units(const Totals& totals, const Declaration& data) {
    const auto count = [&](std::size_t i) { return number(totals.values[i]); };
    return {*data.privacy_unit, data.max_rows_per_unit, count(0), count(1), count(2), count(3), count(4)};
  }

  const Plan& plan_;
  Aggregation rows_ = make_count(untrusted_domain({}), symmetric_distance());
  std::vector<AskedColumn> asked_;
  std::map<std::string, std::size_t> known_;  // places in asked_
  std::optional<Aggregation> units_;
};

}  // namespace

DataCheck check_data(const Plan& plan, Source& source, const Progress& progress) {
  const FloatEnvironment environment;
  require_columns(plan.specification(), source.columns());
  return DataChecker(plan).check(source, progress);
}

}  // namespace snapdp
