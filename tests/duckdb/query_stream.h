// What DuckDB hands out as Arrow.
#pragma once

#include <string>
#include <vector>

#include "duckdb/source_testing.h"
#include "snapdp/framework/arrow.h"

namespace snapdp {

// A query's result as an Arrow stream.
class QueryStream {
 public:
  QueryStream(const std::string& query, const std::vector<std::string>& settings) {
    EXPECT_EQ(duckdb_open(nullptr, database_.out()), DuckDBSuccess);
    EXPECT_EQ(duckdb_connect(database_.get(), connection_.out()), DuckDBSuccess);
    for (const std::string& sql : settings) {
      engines_internal::Result result;
      EXPECT_EQ(duckdb_query(connection_.get(), sql.c_str(), result.out()), DuckDBSuccess)
          << sql << duckdb_result_error(result.out());
    }
    EXPECT_EQ(duckdb_query_arrow(connection_.get(), query.c_str(), result_.out()), DuckDBSuccess)
        << duckdb_query_arrow_error(result_.get());
  }

  // Once.
  ArrowArrayStream open() {
    ArrowArrayStream stream{};
    stream.private_data = result_.get();
    stream.get_schema = [](ArrowArrayStream* from, ArrowSchema* out) {
      auto schema = reinterpret_cast<duckdb_arrow_schema>(out);
      return duckdb_query_arrow_schema(static_cast<duckdb_arrow>(from->private_data), &schema) ==
                     DuckDBSuccess
                 ? 0
                 : 1;
    };
    stream.get_next = [](ArrowArrayStream* from, ArrowArray* out) {
      *out = ArrowArray{};
      auto array = reinterpret_cast<duckdb_arrow_array>(out);
      return duckdb_query_arrow_array(static_cast<duckdb_arrow>(from->private_data), &array) == DuckDBSuccess
                 ? 0
                 : 1;
    };
    stream.release = [](ArrowArrayStream* released) { released->release = nullptr; };
    return stream;
  }

 private:
  engines_internal::Handle<duckdb_database, duckdb_close> database_;
  engines_internal::Handle<duckdb_connection, duckdb_disconnect> connection_;
  engines_internal::Handle<duckdb_arrow, duckdb_destroy_arrow> result_;
};

}  // namespace snapdp
