// A Source of rows held in memory, which folds in several pieces and remembers how it was used.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "snapdp/release/source.h"

namespace snapdp {

class MemorySource : public Source {
 public:
  using Reals = std::vector<double>;
  using Integers = std::vector<std::int64_t>;
  using Texts = std::vector<std::string_view>;
  using Cells = std::variant<Reals, Integers, Texts>;

  MemorySource& add(SourceColumn column, Cells cells) {
    rows_ = std::visit([](const auto& values) { return values.size(); }, cells);
    cells_[column.name] = std::move(cells);
    header_.push_back(std::move(column));
    return *this;
  }
  // As a CSV column: without a type.
  MemorySource& add(const std::string& name, Cells cells) {
    return add(SourceColumn{name, std::nullopt, ""}, std::move(cells));
  }

  std::function<void()> before_fold;  // to look at the ledger, say
  int folds = 0;

  std::vector<SourceColumn> columns() override { return header_; }

  using Source::fold;
  FoldResult fold(const RowSelection&, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    ++folds;
    if (before_fold) before_fold();
    FoldResult result;
    result.rows = rows_;
    for (const FoldRequest& request : requests) {
      Converted converted;
      std::vector<Column> columns;
      for (std::size_t i = 0; i < request.columns.size(); ++i) {
        columns.push_back(convert(cells_.at(request.columns[i]),
                                  request.aggregation->input_domain().columns()[i].type, converted));
      }
      const Chunk all(columns, rows_);
      AggregateState state = request.aggregation->start();
      const std::size_t half = rows_ / 2;
      AggregateState other = request.aggregation->start();
      request.aggregation->update(other, all.slice(0, half));
      request.aggregation->update(state, all.slice(half, rows_ - half));
      request.aggregation->merge(state, other);
      result.states.push_back(std::move(state));
    }
    if (progress) progress(100);
    return result;
  }

 private:
  using Converted = std::vector<std::unique_ptr<Reals>>;

  static Column convert(const Cells& cells, AtomType type, Converted& converted) {
    Column column;
    column.type = type;
    if (const auto* integers = std::get_if<Integers>(&cells); integers != nullptr && type == AtomType::real) {
      converted.push_back(std::make_unique<Reals>(integers->begin(), integers->end()));
      column.values = converted.back()->data();
      return column;
    }
    if (cells.index() != static_cast<std::size_t>(type))
      throw std::logic_error("the fake does not convert this");
    column.values = std::visit([](const auto& values) -> const void* { return values.data(); }, cells);
    return column;
  }

  std::vector<SourceColumn> header_;
  std::map<std::string, Cells> cells_;
  std::size_t rows_ = 0;
};

}  // namespace snapdp
