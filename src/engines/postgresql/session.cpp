#include "engines/postgresql/session.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <optional>

#include "snapdp/error.h"

namespace snapdp::engines_internal {
namespace {

using Clock = std::chrono::steady_clock;

[[noreturn]] void fail(const std::string& problem) {
  throw Error(ErrorCode::io, "connection", "connection: " + problem);
}

[[noreturn]] void fail_lost() {
  fail("the connection to the PostgreSQL server was lost; nothing was read of it, try again");
}

void swallow_notice(void*, const PGresult*) {}

// The SQLSTATE at the end of what libpq says of a failed connection, which is all that it says of the server's message in
// the verbosity PQERRORS_SQLSTATE: "connection to server ... failed: FATAL:  28P01". Empty when no server has spoken.
std::string state_in(std::string_view message) {
  std::string state;
  constexpr std::size_t length = 5;
  const auto is_state = [](std::string_view text) {
    return text.size() == length && std::all_of(text.begin(), text.end(), [](char c) {
             return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z');
           });
  };
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(message.size(), line.size() + 1));
    if (line.size() < length + 2) continue;
    const std::string_view end = line.substr(line.size() - length - 2);
    if (end.starts_with("  ") && is_state(end.substr(2))) state = end.substr(2);
  }
  return state;
}

// Why there is no connection, in words of ours.
[[noreturn]] void fail_to_connect(PGconn* connection) {
  const std::string state = state_in(PQerrorMessage(connection));
  if (PQconnectionNeedsPassword(connection) != 0) {
    fail(
        "the PostgreSQL server asks for a password and none was found; put it into PGPASSWORD or the "
        "password file that libpq reads (~/.pgpass)");
  }
  if (state.starts_with("28")) {
    fail(
        "the PostgreSQL server does not let this role in; check the role, its password and the server's "
        "pg_hba.conf");
  }
  if (state == "3D000") fail("the PostgreSQL server has no such database; check dbname");
  if (state == "42501") fail("this role may not connect to the database; grant it CONNECT");
  if (state == "53300")
    fail("the PostgreSQL server has no connection to spare; try again, or raise max_connections");
  if (state.starts_with("57P")) {
    fail("the PostgreSQL server is starting, stopping or takes no connections; try again later");
  }
  if (!state.empty()) fail("the PostgreSQL server refuses the connection; its log says why");
  fail(
      "there is no PostgreSQL server to talk to; check host, port, the service and its TLS settings, and try "
      "them with psql");
}

// Seconds as "connect_timeout" says; libpq itself minds it only in its blocking calls.
std::optional<Clock::time_point> end_of_patience(PGconn* connection) {
  const PgOptions options(PQconninfo(connection));
  for (const PQconninfoOption* option = options.get(); option != nullptr && option->keyword != nullptr;
       ++option) {
    if (std::string_view(option->keyword) != "connect_timeout" || option->val == nullptr) continue;
    const std::string_view text(option->val);
    int seconds = 0;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (seconds > 0) return Clock::now() + std::chrono::seconds(seconds);
  }
  return std::nullopt;
}

// Whether the socket is ready for one of these events; false after so many milliseconds, or a signal.
bool is_ready(PGconn* connection, short events, int milliseconds) {
  pollfd socket{PQsocket(connection), events, 0};
  const int ready = ::poll(&socket, 1, milliseconds);
  if (ready < 0 && errno != EINTR) fail_lost();
  return ready > 0;
}

int milliseconds_until(const std::optional<Clock::time_point>& end) {
  if (!end) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

void finish_connecting(PGconn* connection) {
  const std::optional<Clock::time_point> end = end_of_patience(connection);
  for (PostgresPollingStatusType next = PGRES_POLLING_WRITING; next != PGRES_POLLING_OK;) {
    if (next == PGRES_POLLING_FAILED || PQstatus(connection) == CONNECTION_BAD) fail_to_connect(connection);
    if (is_ready(connection, next == PGRES_POLLING_READING ? POLLIN : POLLOUT, milliseconds_until(end))) {
      next = PQconnectPoll(connection);
    } else if (end && Clock::now() >= *end) {
      fail("no PostgreSQL server answered within connect_timeout; check host and port, or allow more time");
    }
  }
}

}  // namespace

Session::Session(const std::string& connection) {
  // The first is expanded, those after it have the last word.
  const std::array<const char*, 4> keywords = {"dbname", "client_encoding", "fallback_application_name",
                                               nullptr};
  const std::array<const char*, 4> values = {connection.c_str(), "UTF8", "snapdp", nullptr};
  connection_.reset(PQconnectStartParams(keywords.data(), values.data(), 1));
  if (!connection_) fail("too little memory is left to connect");
  PQsetErrorVerbosity(connection_.get(), PQERRORS_SQLSTATE);
  PQsetNoticeReceiver(connection_.get(), swallow_notice, nullptr);
  finish_connecting(connection_.get());
}

void Session::wait(const Waiting& waiting) {
  constexpr int patience = 200;  // milliseconds
  while (PQisBusy(connection_.get()) != 0) {
    const bool ready = is_ready(connection_.get(), POLLIN, waiting ? patience : -1);
    if (ready && PQconsumeInput(connection_.get()) == 0) fail_lost();
    if (waiting) waiting();
  }
}

// The last of the statement's results, which is its only one unless it failed.
PgResult Session::take_result() {
  PgResult last;
  while (PGresult* next = PQgetResult(connection_.get())) last.reset(next);
  if (!last || PQstatus(connection_.get()) == CONNECTION_BAD) fail_lost();
  const ExecStatusType status = PQresultStatus(last.get());
  if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return last;
  const char* state = PQresultErrorField(last.get(), PG_DIAG_SQLSTATE);
  throw ServerRefusal(state == nullptr ? "" : state);
}

PgResult Session::run(const std::string& sql, const std::vector<std::string>& parameters,
                      const Waiting& waiting) {
  std::vector<const char*> values;
  for (const std::string& parameter : parameters) values.push_back(parameter.c_str());
  if (PQsendQueryParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                        values.data(), nullptr, nullptr, 0) == 0)
    fail_lost();
  try {
    wait(waiting);
  } catch (...) {
    std::array<char, 256> ignored{};
    if (const PgCancel cancel{PQgetCancel(connection_.get())})
      PQcancel(cancel.get(), ignored.data(), static_cast<int>(ignored.size()));
    throw;
  }
  return take_result();
}

std::vector<std::vector<std::string>> rows_of(const PGresult& result) {
  std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(PQntuples(&result)));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (int column = 0; column < PQnfields(&result); ++column) {
      const int place = static_cast<int>(row);
      rows[row].emplace_back(PQgetvalue(&result, place, column),
                             static_cast<std::size_t>(PQgetlength(&result, place, column)));
    }
  }
  return rows;
}

void check_connection(const std::string& connection) {
  // A name alone would be taken for that of a database.
  const bool is_uri = connection.starts_with("postgresql://") || connection.starts_with("postgres://");
  char* message = nullptr;
  const PgOptions options(PQconninfoParse(connection.c_str(), &message));
  PQfreemem(message);
  if (options && (is_uri || connection.find('=') != std::string::npos)) return;
  throw Error(ErrorCode::invalid_argument, "connection",
              "connection: libpq cannot read what was given (it is not repeated here, as it may hold a "
              "password); write \"service=hr\", \"host=db.example dbname=hr user=auditor\" or "
              "postgresql://auditor@db.example/hr");
}

}  // namespace snapdp::engines_internal
