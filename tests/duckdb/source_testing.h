// What the tests of the DuckDB source share: scratch files, and an aggregation that remembers every row it was given.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <vector>

#include "engines/duckdb/connection.h"
#include "snapdp/engines/duckdb/duckdb_source.h"
#include "snapdp/error.h"
#include "snapdp/framework/aggregation.h"

namespace snapdp {

using namespace engines_internal;

// A folder of the test's own, with a name made to be misread by SQL.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "o'clock \"; DROP--XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    path_ = name;
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string write(const std::string& name, std::string_view text) const {
    const std::filesystem::path file = path_ / name;
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }

 private:
  std::filesystem::path path_;
};

// Runs SQL on an unlocked DuckDB: for writing Parquet files.
inline void run_sql(const std::vector<std::string>& statements) {
  engines_internal::Handle<duckdb_database, duckdb_close> database;
  engines_internal::Handle<duckdb_connection, duckdb_disconnect> connection;
  ASSERT_EQ(duckdb_open(nullptr, database.out()), DuckDBSuccess);
  ASSERT_EQ(duckdb_connect(database.get(), connection.out()), DuckDBSuccess);
  for (const std::string& sql : statements) {
    engines_internal::Result result;
    ASSERT_EQ(duckdb_query(connection.get(), sql.c_str(), result.out()), DuckDBSuccess)
        << sql << "\n"
        << duckdb_result_error(result.out());
  }
}

// `query` as a Parquet file.
inline std::string write_parquet(const ScratchFolder& folder, const std::string& query,
                                 const std::string& options = "") {
  const std::string path = (folder.path() / "table.parquet").string();
  run_sql(
      {"COPY (" + query + ") TO " + engines_internal::sql_text(path) + " (FORMAT parquet" + options + ")"});
  return path;
}

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

}  // namespace snapdp
