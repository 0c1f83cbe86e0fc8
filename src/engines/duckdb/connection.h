// DuckDB's C interface, as little of it as the Source needs, with owners for its handles and its errors replaced.
#pragma once

#include <duckdb.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace snapdp::engines_internal {

// Owns a handle of the C interface.
template <typename T, void (*destroy)(T*)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T value) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle() { destroy(&value_); }
  T get() const { return value_; }
  // For the interface's output parameters.
  T* out() { return &value_; }

 private:
  T value_{};
};

using Result = Handle<duckdb_result, duckdb_destroy_result>;
using Statement = Handle<duckdb_prepared_statement, duckdb_destroy_prepare>;
using LogicalType = Handle<duckdb_logical_type, duckdb_destroy_logical_type>;
inline void free_text(const char** text) {
  duckdb_free(const_cast<char*>(*text));
}
using Text = Handle<const char*, free_text>;
using DataChunk = Handle<duckdb_data_chunk, duckdb_destroy_data_chunk>;

// 'text' as SQL writes it.
std::string sql_text(const std::string& text);

// The text of a VARCHAR cell.
inline std::string_view view(const duckdb_string_t& text) {
  const std::uint32_t length = text.value.inlined.length;
  return {length <= sizeof(text.value.inlined.inlined) ? text.value.inlined.inlined : text.value.pointer.ptr,
          length};
}

// A failure of DuckDB. Its message, which may quote cells, is dropped; what remains is whose fault it was.
class EngineFailure : public std::exception {
 public:
  enum class Kind { content, reading, memory, other };
  explicit EngineFailure(Kind kind) : kind_(kind) {}
  Kind kind() const { return kind_; }
  const char* what() const noexcept override { return "DuckDB failed"; }

 private:
  Kind kind_;
};

struct ConnectionOptions {
  std::string file = {};  // the one file that DuckDB may read: a full path; none where it is empty
  unsigned threads = 0;
};

// A database in memory with one connection, locked: it reads `file` and nothing else, and writes nothing.
class Connection {
 public:
  // Throws Error (io) when DuckDB does not start.
  explicit Connection(const ConnectionOptions& options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  duckdb_connection get() const { return connection_.get(); }
  // These throw EngineFailure. `progress` gets percentages on the calling thread, DuckDB's own unless `percent` tells
  // them; both may be empty.
  Statement prepare(const std::string& sql) const;
  Result run(const std::string& sql, const std::function<void(double)>& progress = {},
             const std::function<std::optional<double>()>& percent = {}) const;

 private:
  Handle<duckdb_database, duckdb_close> database_;
  Handle<duckdb_connection, duckdb_disconnect> connection_;
};

}  // namespace snapdp::engines_internal
