// Signals that would end the tool at the wrong moment.
#pragma once

namespace snapdp::cli {

// Makes write() report what would otherwise end the process: a closed pipe, a file that grows beyond the limit of the
// process (ulimit -f).
void ignore_signals_of_writing();

// While it lives, signals that would end the process (Ctrl-C, a shutdown, a terminal that closes, a time limit) wait; then
// the first of them is delivered, which ends the process as it would have. Signals that the process ignores stay ignored.
// One at a time, from any thread: unlike a blocked signal, a held one is held in all threads.
class SignalHold {
 public:
  SignalHold();
  ~SignalHold();
  SignalHold(const SignalHold&) = delete;
  SignalHold& operator=(const SignalHold&) = delete;

  // Whether one is waiting.
  bool caught() const;
};

}  // namespace snapdp::cli
