#include "postgresql/server.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <utility>

namespace snapdp {
namespace {

namespace fs = std::filesystem;

// Debian keeps the server's programs off the path.
fs::path programs() {
  fs::path best;
  std::error_code error;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error)) {
    if (fs::exists(version.path() / "bin/initdb")) best = std::max(best, version.path() / "bin");
  }
  return best;
}

// Exit status and output of a command for the shell.
std::pair<int, std::string> shell(const std::string& command) {
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, "no shell"};
  std::string output;
  std::array<char, 4096> buffer;
  while (std::fgets(buffer.data(), buffer.size(), pipe) != nullptr) output += buffer.data();
  return {::pclose(pipe), output};
}

void run(const std::string& command) {
  const std::string as_postgres = ::geteuid() == 0 ? "cd / && runuser -u postgres -- " : "";
  const auto [status, output] = shell(as_postgres + command);
  if (status != 0) throw std::runtime_error(command + "\n" + output);
}

}  // namespace

std::string Server::missing() {
  if (programs().empty()) return "no initdb in /usr/lib/postgresql/*/bin (apt-get install postgresql-15)";
  if (::geteuid() == 0 && shell("id -u postgres").first != 0)
    return "this is root, who may not run a server, and there is no user postgres";
  return "";
}

Server& Server::shared() {
  static Server server;
  return server;
}

Server::Server() {
  std::string pattern = "/tmp/snapdp_pg_XXXXXX";  // short: a socket's path has at most 107 bytes
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = pattern;
  if (::geteuid() == 0 && shell("chown postgres " + pattern).first != 0) throw std::runtime_error("chown");
  run((programs() / "initdb").string() + " -D " + pattern +
      "/data -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync");
  run("sh -c 'echo \"local all locked scram-sha-256\" | cat - " + pattern + "/data/pg_hba.conf > " + pattern +
      "/hba && mv " + pattern + "/hba " + pattern + "/data/pg_hba.conf'");
  start();
}

Server::~Server() {
  try {
    stop("immediate");
  } catch (const std::exception&) {
    // It has been stopped by a test.
  }
  std::error_code error;
  fs::remove_all(folder_, error);
}

std::string Server::control(const std::string& action) const {
  return (programs() / "pg_ctl").string() + " -D " + folder_.string() + "/data " + action;
}

void Server::start() {
  run(control("-w -l " + folder_.string() + "/log -o \"-c listen_addresses= -c unix_socket_directories=" +
              folder_.string() + " -c fsync=off -c max_connections=30\" start"));
}

void Server::stop(const std::string& mode) {
  run(control("-w -m " + mode + " stop"));
}

std::string Server::connection(const std::string& role, const std::string& more) const {
  return "host=" + folder_.string() + " port=5432 dbname=postgres user=" + role + " " + more;
}

std::vector<std::vector<std::string>> run_sql_there(const std::string& connection,
                                                    const std::vector<std::string>& statements) {
  std::vector<std::vector<std::string>> rows;
  PGconn* const session = PQconnectdb(connection.c_str());
  EXPECT_EQ(PQstatus(session), CONNECTION_OK) << PQerrorMessage(session);
  PQsetNoticeReceiver(
      session, [](void*, const PGresult*) {}, nullptr);
  for (const std::string& statement : statements) {
    PGresult* const result = PQexec(session, statement.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << statement << "\n"
                                                                         << PQresultErrorMessage(result);
    rows.assign(static_cast<std::size_t>(PQntuples(result)), {});
    for (int row = 0; row < PQntuples(result); ++row) {
      for (int column = 0; column < PQnfields(result); ++column)
        rows[static_cast<std::size_t>(row)].emplace_back(PQgetvalue(result, row, column));
    }
    PQclear(result);
  }
  PQfinish(session);
  return rows;
}

}  // namespace snapdp

int main(int argument_count, char** arguments) {
  testing::InitGoogleTest(&argument_count, arguments);
  for (const char* name :
       {"PGHOST", "PGSERVICE", "PGUSER", "PGPASSWORD", "PGDATABASE", "PGOPTIONS", "PGCONNECT_TIMEOUT"})
    ::unsetenv(name);
  if (const std::string reason = snapdp::Server::missing(); !reason.empty()) {
    std::printf("skipped: %s\n", reason.c_str());
    return 77;
  }
  return RUN_ALL_TESTS();
}
