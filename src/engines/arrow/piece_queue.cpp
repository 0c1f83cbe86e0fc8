#include "engines/arrow/piece_queue.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

namespace snapdp::engines_internal {
namespace {

// So that threads seldom ask, and a batch of a million rows keeps several of them busy.
constexpr std::size_t piece_rows = 32 * block_rows;

}  // namespace

void PieceQueue::add(std::unique_ptr<PreparedBatch> batch) {
  const std::size_t rows = batch->batch.rows();
  batch->pieces = (rows + piece_rows - 1) / piece_rows;
  PreparedBatch* const added = batch.get();
  batches_.push_back(std::move(batch));
  {
    const std::lock_guard lock(mutex_);
    if (abandoned_) return;
    for (std::size_t first = 0; first < rows; first += piece_rows)
      pieces_.push_back({added, first, std::min(piece_rows, rows - first)});
  }
  more_.notify_all();
}

bool PieceQueue::is_full() {
  const std::lock_guard lock(mutex_);
  return pieces_.size() >= most_waiting_;
}

void PieceQueue::release() {
  std::erase_if(batches_, [](const std::unique_ptr<PreparedBatch>& batch) {
    return batch->pieces.load(std::memory_order_acquire) == 0;
  });
}

void PieceQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  more_.notify_all();
}

void PieceQueue::abandon() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    abandoned_ = true;
    pieces_.clear();
  }
  more_.notify_all();
}

bool PieceQueue::abandoned() {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

std::optional<BatchPiece> PieceQueue::take(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait) more_.wait(lock, [this] { return closed_ || !pieces_.empty(); });
  if (pieces_.empty()) return std::nullopt;
  const BatchPiece piece = pieces_.front();
  pieces_.pop_front();
  return piece;
}

void run_on_threads(unsigned threads, const std::function<void(unsigned)>& work) {
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto run = [&](unsigned thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;  // joined at the end of the scope
    others.reserve(threads);
    try {
      for (unsigned i = 1; i < threads; ++i) others.emplace_back(run, i);
    } catch (const std::exception&) {  // system_error, bad_alloc
      // The work is shared out among those there are.
    }
    run(0);
  }
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace snapdp::engines_internal
