#include "signals.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace snapdp::cli {
namespace {

// Those that come from outside, and whose default is to end the process.
constexpr std::array held = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,   SIGALRM,
                             SIGUSR1, SIGUSR2, SIGXCPU, SIGVTALRM, SIGPROF};
std::array<bool, held.size()> replaced = {};

std::atomic<int> first_caught = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use it");

extern "C" void note_signal(int signal) {
  int none = 0;
  first_caught.compare_exchange_strong(none, signal);
}

}  // namespace

void ignore_signals_of_writing() {
  static_cast<void>(::signal(SIGPIPE, SIG_IGN));
  static_cast<void>(::signal(SIGXFSZ, SIG_IGN));
}

SignalHold::SignalHold() {
  first_caught = 0;
  for (std::size_t i = 0; i < held.size(); ++i) {
    struct sigaction now = {};
    replaced[i] = ::sigaction(held[i], nullptr, &now) == 0 && (now.sa_flags & SA_SIGINFO) == 0 &&
                  now.sa_handler == SIG_DFL;
    if (!replaced[i]) continue;
    struct sigaction note = {};
    note.sa_handler = note_signal;
    note.sa_flags = SA_RESTART;
    ::sigemptyset(&note.sa_mask);
    ::sigaction(held[i], &note, nullptr);
  }
}

SignalHold::~SignalHold() {
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (replaced[i]) static_cast<void>(::signal(held[i], SIG_DFL));
  }
  if (caught()) static_cast<void>(::raise(first_caught));
}

bool SignalHold::caught() const {
  return first_caught != 0;
}

}  // namespace snapdp::cli
