// A PostgreSQL server of the test program's own: in a private folder, on a socket in it alone, without TCP.
#pragma once

#include <libpq-fe.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace snapdp {

class Server {
 public:
  // Makes a cluster and starts it, as the user postgres where the test runs as root, who may not. Throws
  // std::runtime_error with what the programs said.
  Server();
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Why no server can be started here: its programs are missing. Empty where they are there.
  static std::string missing();
  // The one of this program.
  static Server& shared();

  // For libpq. `more` are further words of it, "options='-c work_mem=1MB'".
  std::string connection(const std::string& role = "postgres", const std::string& more = "") const;
  void start();
  // "fast", or "immediate", which is a crash.
  void stop(const std::string& mode);

 private:
  std::string control(const std::string& action) const;

  std::filesystem::path folder_;
};

// Statements as the superuser, or whomever the connection says; what the last one gave, as texts. Fails the test for those
// that are refused.
std::vector<std::vector<std::string>> run_sql_there(const std::string& connection,
                                                    const std::vector<std::string>& statements);

}  // namespace snapdp
