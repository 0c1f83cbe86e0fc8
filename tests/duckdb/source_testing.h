// What the tests of the DuckDB source share: scratch files.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "engines/duckdb/connection.h"
#include "snapdp/engines/duckdb/duckdb_source.h"
#include "source_rows.h"

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

}  // namespace snapdp
