// Which rows a source folds, and as what: an aggregation that remembers every row it was given.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "snapdp/error.h"
#include "snapdp/framework/aggregation.h"
#include "snapdp/framework/source.h"

namespace snapdp {

// "null", "0x1.8p+1" and so on: cells as text in which different values differ.
inline std::string cell_text(const Column& column, std::size_t row) {
  if (!column.valid(row)) return "null";
  switch (column.type) {
    case AtomType::real: {
      char text[64];
      std::snprintf(text, sizeof text, "%a", column.reals()[row]);
      return text;
    }
    case AtomType::integer:
      return std::to_string(column.integers()[row]);
    case AtomType::text:
      break;
  }
  return "'" + std::string(column.texts()[row]) + "'";
}

// A fold that writes down every row, in whatever order they come.
class RowRecorder {
 public:
  explicit RowRecorder(std::vector<AtomType> types) : log_(std::make_shared<Log>()) {
    const VectorDomain domain = untrusted_domain(types);
    aggregation_ = std::make_unique<Aggregation>(
        Signature<VectorDomain, StatisticDomain>{domain, StatisticDomain{}, symmetric_distance(),
                                                 Metric::absolute_distance, Relation::stable(1)},
        std::make_shared<RecordingFold>(log_), [](const Totals& totals) { return totals.values; });
  }

  const Aggregation* aggregation() const { return aggregation_.get(); }
  // Cells of a row are separated by |. Sorted.
  std::vector<std::string> rows() const {
    std::vector<std::string> rows = log_->rows;
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  // As they came.
  std::vector<std::string> in_order() const { return log_->rows; }

 private:
  struct Log {
    std::mutex mutex;
    std::vector<std::string> rows;
  };
  class State final : public FoldState {
   public:
    explicit State(std::shared_ptr<Log> log) : log_(std::move(log)) {}
    void update(const Chunk& block) override {
      const std::lock_guard lock(log_->mutex);
      for (std::size_t row = 0; row < block.length; ++row) {
        std::string text;
        for (const Column& column : block.columns())
          text += (text.empty() ? "" : "|") + cell_text(column, row);
        log_->rows.push_back(std::move(text));
      }
      rows_ += block.length;
    }
    void merge(const FoldState& other) override { rows_ += static_cast<const State&>(other).rows_; }
    Totals totals() const override { return {rows_, {}}; }

   private:
    std::shared_ptr<Log> log_;
    std::uint64_t rows_ = 0;
  };
  class RecordingFold final : public Fold {
   public:
    explicit RecordingFold(std::shared_ptr<Log> log) : log_(std::move(log)) {}
    std::unique_ptr<FoldState> start() const override { return std::make_unique<State>(log_); }
    std::unique_ptr<FoldState> restore(const Totals&) const override { return start(); }
    std::string description() const override { return "rows written down"; }

   private:
    std::shared_ptr<Log> log_;
  };

  std::shared_ptr<Log> log_;
  std::unique_ptr<Aggregation> aggregation_;
};

// The rows of some columns as the source gives them.
inline std::vector<std::string> read_rows(Source& source, const std::vector<std::string>& columns,
                                          const std::vector<AtomType>& types) {
  const RowRecorder recorder(types);
  const FoldRequest request{columns, recorder.aggregation()};
  const FoldResult result = source.fold({&request, 1}, {});
  const std::vector<std::string> rows = recorder.rows();
  EXPECT_EQ(result.rows, rows.size());
  EXPECT_EQ(result.states.at(0).totals().rows, rows.size());
  return rows;
}

template <typename Action>
Error error_of(const Action& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorCode::io, "", "");
}

// What a request saw: the rows, sorted.
using Seen = std::vector<std::vector<std::string>>;

struct Wanted {
  std::vector<std::string> columns;
  std::vector<AtomType> types;
  std::optional<FoldRequest::GroupLimit> groups = {};
};

inline Seen see(Source& source, const RowSelection& selection, const std::vector<Wanted>& wanted,
                std::uint64_t raw_rows) {
  std::deque<RowRecorder> recorders;
  std::vector<FoldRequest> requests;
  for (const Wanted& each : wanted) {
    recorders.emplace_back(each.types);
    requests.push_back({each.columns, recorders.back().aggregation(), each.groups});
  }
  const FoldResult result = source.fold(selection, requests, {});
  EXPECT_EQ(result.rows, raw_rows);
  Seen seen;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    seen.push_back(recorders[i].rows());
    // The zeros are one number, and a Parquet file's dictionary keeps whichever came first.
    for (std::string& row : seen.back()) {
      for (std::size_t at = row.find("-0x0p+0"); at != std::string::npos; at = row.find("-0x0p+0"))
        row.erase(at, 1);
    }
    std::sort(seen.back().begin(), seen.back().end());
    EXPECT_EQ(result.states.at(i).totals().rows, seen.back().size());
  }
  return seen;
}

}  // namespace snapdp
