// Batches cut into pieces, which several threads work off. One thread, the first, owns the stream: it adds batches, works
// too, and lets go of them, so that the producer's callbacks see no other thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "engines/arrow/arrow_cells.h"

namespace snapdp::engines_internal {

// A batch and what has been converted for it beforehand.
struct PreparedBatch {
  PreparedBatch(ArrowBatch of) : batch(std::move(of)) {}  // NOLINT: a batch becomes one
  ArrowBatch batch;
  std::vector<ArrowInputReader::Prepared> where;
  std::vector<ArrowInputReader::Prepared> inputs;
  std::vector<ArrowKeyReader::Prepared> keys;
  std::atomic<std::size_t> pieces{0};  // not worked off yet
};

struct BatchPiece {
  PreparedBatch* batch;
  std::size_t first;
  std::size_t count;
};

class PieceQueue {
 public:
  // For so many threads.
  explicit PieceQueue(unsigned threads) : most_waiting_(4 * std::size_t{threads}) {}

  // Of the first thread. After abandon() the batch is dropped.
  void add(std::unique_ptr<PreparedBatch> batch);
  // Of the first thread: whether it had better work than add more.
  bool is_full();
  // Of the first thread: lets go of batches that have been worked off.
  void release();
  // No batch follows.
  void close();
  // Nothing more is to be done: somebody failed.
  void abandon();
  bool abandoned();

  // The next piece: none when there is none now, or, with `wait`, when none will come.
  std::optional<BatchPiece> take(bool wait);
  static void done(const BatchPiece& piece) { piece.batch->pieces.fetch_sub(1, std::memory_order_acq_rel); }

 private:
  std::size_t most_waiting_;
  std::deque<std::unique_ptr<PreparedBatch>> batches_;  // of the first thread
  std::mutex mutex_;                                    // of what follows
  std::condition_variable more_;
  std::deque<BatchPiece> pieces_;
  bool closed_ = false;
  bool abandoned_ = false;
};

// Calls work(0) here and work(1) ... on threads of their own, fewer if the system has no more, and rethrows what one of them
// threw once all have ended.
void run_on_threads(unsigned threads, const std::function<void(unsigned)>& work);

}  // namespace snapdp::engines_internal
