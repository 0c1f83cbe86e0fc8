#include "snapdp/testing/memory_source.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "framework/shared/row_hash.h"
#include "snapdp/framework/source.h"
#include "snapdp/framework/transformation.h"

namespace snapdp {

using namespace framework_internal;

namespace {

// Folds over columns that somebody else holds.
class PlainFold {
 public:
  using Reals = MemorySource::Reals;
  using Integers = MemorySource::Integers;
  using Texts = MemorySource::Texts;
  using Cells = MemorySource::Cells;

  PlainFold(const std::map<std::string, Cells>& cells, std::size_t count) : cells_(cells), count_(count) {}

  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests) const {
    FoldResult result;
    result.rows = count_;
    const std::vector<OwnedColumn> read = columns_read(selection, requests);
    const std::vector<Column> content = views(read);
    const Rows selected = select(selection, content);
    for (const FoldRequest& request : requests) {
      const Rows rows =
          request.groups ? limit_groups(*selection.unit, *request.groups, content, selected) : selected;
      std::vector<OwnedColumn> owned;
      for (std::size_t i = 0; i < request.columns.size(); ++i) {
        owned.push_back(
            convert(cells_.at(request.columns[i]), request.aggregation->input_domain().columns()[i].type)
                .of(rows));
      }
      const Chunk all(views(owned), rows.size());
      AggregateState state = request.aggregation->start();
      const std::size_t half = rows.size() / 2;
      AggregateState other = request.aggregation->start();
      request.aggregation->update(other, all.slice(0, half));
      request.aggregation->update(state, all.slice(half, rows.size() - half));
      request.aggregation->merge(state, other);
      result.states.push_back(std::move(state));
    }
    return result;
  }

 private:
  using Rows = std::vector<std::size_t>;

  struct OwnedColumn {
    AtomType type = AtomType::real;
    Reals reals;
    Integers integers;
    Texts texts;
    std::shared_ptr<std::vector<std::string>> written;  // what texts look at, unless somebody else holds it
    std::vector<std::uint8_t> validity;

    explicit OwnedColumn(AtomType wanted) : type(wanted) {}
    Column view() const {
      Column column;
      column.type = type;
      column.values = type == AtomType::real      ? static_cast<const void*>(reals.data())
                      : type == AtomType::integer ? static_cast<const void*>(integers.data())
                                                  : static_cast<const void*>(texts.data());
      column.validity = validity.data();
      return column;
    }
    void append(const Column& from, std::size_t row, std::size_t at) {
      validity.resize(at / 8 + 1);
      const bool valid = from.valid(row);
      if (valid) validity[at / 8] = static_cast<std::uint8_t>(validity[at / 8] | 1U << (at % 8));
      if (type == AtomType::real) reals.push_back(valid ? from.reals()[row] : 0);
      if (type == AtomType::integer) integers.push_back(valid ? from.integers()[row] : 0);
      if (type == AtomType::text) texts.push_back(valid ? from.texts()[row] : std::string_view());
    }
    OwnedColumn of(const Rows& rows) const {
      OwnedColumn some(type);
      some.written = written;
      some.validity.resize(1);
      for (std::size_t i = 0; i < rows.size(); ++i) some.append(view(), rows[i], i);
      return some;
    }
  };

  static std::vector<Column> views(const std::vector<OwnedColumn>& owned) {
    std::vector<Column> columns;
    for (const OwnedColumn& column : owned) columns.push_back(column.view());
    return columns;
  }

  // The cells as they are.
  static OwnedColumn exact(const Cells& cells) {
    OwnedColumn column(static_cast<AtomType>(cells.index()));
    if (const auto* reals = std::get_if<Reals>(&cells)) column.reals = *reals;
    if (const auto* integers = std::get_if<Integers>(&cells)) column.integers = *integers;
    if (const auto* texts = std::get_if<Texts>(&cells)) column.texts = *texts;
    const std::size_t rows = std::visit([](const auto& values) { return values.size(); }, cells);
    column.validity.assign(rows / 8 + 1, 0xff);
    for (std::size_t row = 0; row < column.texts.size(); ++row) {
      if (column.texts[row].data() == nullptr)
        column.validity[row / 8] = static_cast<std::uint8_t>(column.validity[row / 8] & ~(1U << (row % 8)));
    }
    return column;
  }

  // Numbers as their shortest texts.
  static OwnedColumn written(const OwnedColumn& numbers) {
    OwnedColumn column(AtomType::text);
    column.validity = numbers.validity;
    column.written = std::make_shared<std::vector<std::string>>();
    std::array<char, 32> room{};
    const auto write = [&](auto number) {
      const char* const end = std::to_chars(room.data(), room.data() + room.size(), number).ptr;
      column.written->emplace_back(room.data(), static_cast<std::size_t>(end - room.data()));
    };
    for (const double number : numbers.reals) write(number);
    for (const std::int64_t number : numbers.integers) write(number);
    column.texts.assign(column.written->begin(), column.written->end());
    return column;
  }

  static OwnedColumn convert(const Cells& cells, AtomType type) {
    OwnedColumn same = exact(cells);
    if (same.type == type) return same;
    OwnedColumn converted(type);
    if (same.type == AtomType::integer && type == AtomType::real) {
      converted.reals.assign(same.integers.begin(), same.integers.end());
      converted.validity = same.validity;
      return converted;
    }
    if (type == AtomType::text) return written(same);
    if (same.type != AtomType::text) throw std::logic_error("the fake does not convert this");
    const Transformation parse = make_parse(untrusted_domain({AtomType::text}), symmetric_distance(), {type});
    converted.validity.resize(1);
    const Column view = same.view();
    const Chunk all({&view, 1}, same.texts.size());
    Scratch scratch;
    for (std::size_t first = 0; first < all.length; first += block_rows) {
      const Chunk block = all.slice(first, std::min(block_rows, all.length - first));
      const Chunk parsed = parse.functions().at(0)->apply(block, scratch);
      for (std::size_t row = 0; row < parsed.length; ++row)
        converted.append(parsed.column[0], row, first + row);
    }
    return converted;
  }

  // By unit, in the order of their content.
  std::map<std::string, Rows> by_unit(const RowSelection::UnitLimit& unit, const Rows& rows) const {
    const OwnedColumn cells = exact(cells_.at(unit.column));
    const Column column = cells.view();
    std::map<std::string, Rows> units;
    for (const std::size_t row : rows) {
      if (names_unit(column, row)) units[row_content({&column, 1}, row)].push_back(row);
    }
    return units;
  }

  // What the fold reads, exactly: the content that tells which rows of a unit come first.
  std::vector<OwnedColumn> columns_read(const RowSelection& selection,
                                        std::span<const FoldRequest> requests) const {
    std::set<std::string> read;
    if (selection.unit) read.insert(selection.unit->column);
    if (selection.where) read.insert(selection.where->columns.begin(), selection.where->columns.end());
    for (const FoldRequest& request : requests) {
      read.insert(request.columns.begin(), request.columns.end());
      if (request.groups) read.insert(request.groups->column);
    }
    std::vector<OwnedColumn> owned;
    for (const std::string& name : read) owned.push_back(exact(cells_.at(name)));
    return owned;
  }

  Rows select(const RowSelection& selection, const std::vector<Column>& content) const {
    Rows rows(count_);
    std::iota(rows.begin(), rows.end(), std::size_t{0});
    if (selection.where) {
      std::vector<OwnedColumn> owned;
      for (std::size_t i = 0; i < selection.where->columns.size(); ++i)
        owned.push_back(convert(cells_.at(selection.where->columns[i]), selection.where->types[i]));
      const Chunk all(views(owned), count_);
      std::erase_if(rows, [&](std::size_t row) {
        std::uint8_t holds = 0;
        selection.where->predicate.evaluate(all.slice(row, 1), &holds);
        return holds == 0;
      });
    }
    if (!selection.unit) return rows;

    const OwnedColumn units = exact(cells_.at(selection.unit->column));
    return make_unit_limit(selection.unit->max_rows).kept(units.view(), content, rows);
  }

  // One group after the other, and in each one row after the other.
  Rows limit_groups(const RowSelection::UnitLimit& unit, const FoldRequest::GroupLimit& groups,
                    const std::vector<Column>& content, const Rows& rows) const {
    const std::vector<OwnedColumn> owned{exact(cells_.at(unit.column)), exact(cells_.at(groups.column))};
    const std::vector<Column> columns = views(owned);
    Rows kept;
    for (const auto& [name, of_unit] : by_unit(unit, rows)) {
      std::map<std::pair<std::uint64_t, std::string>, Rows> of_group;
      for (const std::size_t row : of_unit) {
        const std::string group = row_content(columns, row);
        of_group[{hash_content(RowHashKey::groups, group), group}].push_back(row);
      }
      std::uint64_t taken = 0;
      for (const auto& [key, members] : of_group) {
        if (++taken > groups.max_groups) break;
        std::multimap<std::pair<std::uint64_t, std::string>, std::size_t> in_order;
        for (const std::size_t row : members) {
          const std::string text = row_content(content, row);
          in_order.emplace(std::pair(hash_content(RowHashKey::rows, text), text), row);
        }
        std::uint64_t in_group = 0;
        for (const auto& [rank, row] : in_order) {
          if (++in_group <= groups.max_rows) kept.push_back(row);
        }
      }
    }
    return kept;
  }

  const std::map<std::string, Cells>& cells_;
  std::size_t count_;
};

}  // namespace

MemorySource& MemorySource::add(SourceColumn column, Cells cells) {
  rows_ = std::visit([](const auto& values) { return values.size(); }, cells);
  cells_[column.name] = std::move(cells);
  header_.push_back(std::move(column));
  return *this;
}

FoldResult MemorySource::fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                              const Progress& progress) {
  ++folds;
  if (before_fold) before_fold();
  FoldResult result = PlainFold(cells_, rows_).fold(selection, requests);
  if (progress) progress(100);
  return result;
}

}  // namespace snapdp
