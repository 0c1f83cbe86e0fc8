#include "ui/server.h"

#include <httplib.h>
#include <openssl/crypto.h>

#include <array>
#include <chrono>
#include <mutex>

#include "output.h"
#include "snapdp/error.h"
#include "snapdp/random/system_generator.h"

namespace snapdp::cli {
namespace {

constexpr const char* loopback = "127.0.0.1";
constexpr std::chrono::seconds patience{5};
constexpr std::size_t threads = 8;
constexpr std::size_t longest_body = std::size_t{2} << 20;

// 128 bits in hexadecimal digits.
std::string new_secret() {
  std::array<std::uint64_t, 2> words{};
  thread_generator().fill(words);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string secret;
  for (std::uint64_t word : words) {
    for (int i = 0; i < 16; ++i, word >>= 4U) secret += digits[word & 15U];
  }
  return secret;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

class PageServer::Implementation {
 public:
  Implementation(int port, AnswerPage answer) : answer_(std::move(answer)), secret_(new_secret()) {
    server_.set_payload_max_length(longest_body);
    server_.set_keep_alive_max_count(1000);
    server_.set_tcp_nodelay(true);
    // The library would let another process of this user listen on the same port.
    server_.set_socket_options([](socket_t socket) {
      const int yes = 1;
      static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes));
    });
    // A slow client does not keep the others waiting.
    server_.set_read_timeout(patience);
    server_.set_write_timeout(patience);
    server_.new_task_queue = [] { return new httplib::ThreadPool(threads); };
    const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
      respond(request, response);
    };
    server_.Get(".*", handler);
    server_.Post(".*", handler);
    // Whatever the library answers itself (another method, a body that is too long) says no more than its status.
    server_.set_error_handler([](const httplib::Request&, httplib::Response& response) {
      set_headers(response, PageAnswer{}.policy);
    });
    port_ =
        port == 0 ? server_.bind_to_any_port(loopback) : (server_.bind_to_port(loopback, port) ? port : -1);
    if (port_ <= 0) {
      throw Error(
          ErrorCode::io, "--port",
          "--port " + std::to_string(port) + ": cannot be listened on; choose another, or leave it out");
    }
  }

  std::string address() const { return origin(loopback) + "/" + secret_ + "/"; }
  void run() { server_.listen_after_bind(); }

 private:
  std::string origin(const std::string& host) const { return "http://" + host + ":" + std::to_string(port_); }

  static void set_headers(httplib::Response& response, const std::string& policy) {
    for (const auto& [name, value] : {std::pair<const char*, std::string>{"Content-Security-Policy", policy},
                                      {"X-Content-Type-Options", "nosniff"},
                                      {"X-Frame-Options", "DENY"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Cache-Control", "no-store"},
                                      {"Cross-Origin-Opener-Policy", "same-origin"},
                                      {"Cross-Origin-Resource-Policy", "same-origin"}}) {
      response.set_header(name, value);
    }
  }

  // Why a request is not let in; empty when it is.
  std::string objection(const httplib::Request& request) const {
    const std::string host = request.get_header_value("Host");
    const bool host_is_right =
        request.get_header_value_count("Host") == 1 &&
        ("http://" + host == origin(loopback) || "http://" + host == origin("localhost"));
    if (!host_is_right) return "this server has another name";
    const std::string prefix = request.path.substr(0, secret_.size() + 2);
    if (!equal_secrets(prefix, "/" + secret_ + "/"))
      return "the address lacks the secret; use the one that snapdp ui printed";
    if (request.has_header("Origin")) {
      const std::string from = request.get_header_value("Origin");
      if (request.get_header_value_count("Origin") != 1 || from != "http://" + host)
        return "the request comes from another site";
    } else if (request.method == "POST") {
      return "the request does not say where it comes from";
    }
    const std::string site = request.get_header_value("Sec-Fetch-Site");
    if (!site.empty() && site != "same-origin" && site != "none")
      return "the request comes from another site";
    // Forms of other sites cannot send this type.
    if (request.method == "POST" && request.get_header_value("Content-Type") != "application/json")
      return "a POST must be JSON";
    return "";
  }

  void respond(const httplib::Request& request, httplib::Response& response) {
    PageAnswer answer;
    if (const std::string why = objection(request); !why.empty()) {
      answer.status = 403;
      answer.type = "text/plain; charset=utf-8";
      answer.body = why + "\n";
    } else {
      try {
        const std::lock_guard one_at_a_time(mutex_);
        answer = answer_({request.path.substr(secret_.size() + 1), request.body, request.method == "POST",
                          [&](const std::string& name) {
                            return request.has_param(name) ? request.get_param_value(name) : std::string();
                          }});
      } catch (const std::exception&) {
        write_standard_error("snapdp: a request of the page failed inside the program\n");
        answer = PageAnswer{};
        answer.status = 500;
        answer.body = "{}\n";
      }
    }
    response.status = answer.status;
    set_headers(response, answer.policy);
    if (!answer.file_name.empty())
      response.set_header("Content-Disposition", "attachment; filename=\"" + answer.file_name + "\"");
    response.set_content(answer.body, answer.type);
  }

  AnswerPage answer_;
  std::string secret_;
  int port_ = 0;
  std::mutex mutex_;
  httplib::Server server_;
};

PageServer::PageServer(int port, AnswerPage answer)
    : implementation_(std::make_unique<Implementation>(port, std::move(answer))) {}
PageServer::~PageServer() = default;

std::string PageServer::address() const {
  return implementation_->address();
}
void PageServer::run() {
  implementation_->run();
}

}  // namespace snapdp::cli
