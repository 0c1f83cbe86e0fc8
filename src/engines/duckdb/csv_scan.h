// The rows of a CSV file as a table function of DuckDB, read on all of its threads. What is a row, and what its cells are,
// follows from csv_rows.h alone: neither from DuckDB nor from the number of threads.
//
//   CsvScan scan(connection, file);
//   connection.run("SELECT ... FROM " + scan.from(), progress, [&] { return scan.percent(); });
//   scan.finish();
#pragma once

#include <memory>
#include <string>

#include "engines/duckdb/csv_file.h"
#include "engines/duckdb/table.h"

namespace snapdp::engines_internal {

// For one query.
class CsvScan final : public Scan {
 public:
  CsvScan(const Connection& connection, std::shared_ptr<const CsvFile> file);
  // Lets go of the file: the query must be over.
  ~CsvScan() override;

  const std::string& from() const override { return function_.call(); }
  std::optional<double> percent() const override;
  void rethrow() const override { function_.rethrow(); }
  void finish() const override;

  class Reader;

 private:
  CsvScan(const Connection& connection, const std::shared_ptr<Reader>& reader);

  std::shared_ptr<Reader> reader_;
  RegisteredFunction function_;
};

}  // namespace snapdp::engines_internal
