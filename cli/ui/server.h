// The door of snapdp ui: an HTTP server for one person on this computer. It listens on the loopback address alone, and
// answers only requests that carry its secret in the path, name it in Host, and do not come from another site's page:
//
//   http://127.0.0.1:PORT/SECRET/...
//
// So neither another user of the computer, who does not know the secret, nor a page of the web in the same browser, which
// cannot read it and whose requests name another Origin or (by DNS rebinding) another Host, gets an answer.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace snapdp::cli {

struct PageRequest {
  std::string path;  // behind the secret: "/", "/api/plan"
  std::string body;  // of a POST; empty for a GET
  bool is_post = false;
  std::function<std::string(const std::string& name)> parameter;  // of the query; empty when absent
};

struct PageAnswer {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  // What the page may do. Only pages of the planner itself run scripts, which it serves.
  std::string policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
  std::string file_name;  // the browser keeps the answer as a file of this name, when there is one
};

// Answers what has passed the door; called by one thread at a time. What it throws is answered with status 500 and without
// its text.
using AnswerPage = std::function<PageAnswer(const PageRequest&)>;

class PageServer {
 public:
  // Takes `port`, or a free one for 0. Throws io when it cannot be had.
  PageServer(int port, AnswerPage answer);
  ~PageServer();
  PageServer(const PageServer&) = delete;
  PageServer& operator=(const PageServer&) = delete;

  // With the secret: to be shown to the person alone.
  std::string address() const;
  // Until the program ends.
  void run();

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace snapdp::cli
