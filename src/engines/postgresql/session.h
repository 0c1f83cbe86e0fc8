// libpq, as little of it as the Source needs, with owners for its handles and its messages replaced.
#pragma once

#include <libpq-fe.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace snapdp::engines_internal {

template <typename T, void (*destroy)(T*)>
struct Destroy {
  void operator()(T* value) const { destroy(value); }
};

using PgConnection = std::unique_ptr<PGconn, Destroy<PGconn, PQfinish>>;
using PgResult = std::unique_ptr<PGresult, Destroy<PGresult, PQclear>>;
using PgCancel = std::unique_ptr<PGcancel, Destroy<PGcancel, PQfreeCancel>>;
using PgOptions = std::unique_ptr<PQconninfoOption, Destroy<PQconninfoOption, PQconninfoFree>>;

// A statement that the server refused. Its message, which may quote rows, is dropped; what remains is the SQLSTATE.
class ServerRefusal : public std::exception {
 public:
  explicit ServerRefusal(std::string state) : state_(std::move(state)) {}
  const std::string& state() const { return state_; }
  const char* what() const noexcept override { return "the server refused a statement"; }

 private:
  std::string state_;
};

// A connection, and on it statements one after the other.
class Session {
 public:
  // What may go on while the server works; it may throw.
  using Waiting = std::function<void()>;

  // Throws Error (io naming "connection").
  explicit Session(const std::string& connection);

  // One statement with these parameters, $1 and so on. Throws ServerRefusal, or Error (io naming "connection") when the
  // connection is lost. What `waiting` throws cancels the statement, and the session is then of no use.
  PgResult run(const std::string& sql, const std::vector<std::string>& parameters = {},
               const Waiting& waiting = {});

 private:
  void wait(const Waiting& waiting);
  PgResult take_result();

  PgConnection connection_;
};

// Rows as texts; a null is "".
std::vector<std::vector<std::string>> rows_of(const PGresult& result);

// Throws invalid_argument naming "connection" unless libpq can read it.
void check_connection(const std::string& connection);

}  // namespace snapdp::engines_internal
