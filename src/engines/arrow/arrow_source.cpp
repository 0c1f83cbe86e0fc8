#include "snapdp/engines/arrow/arrow_source.h"

#include <algorithm>
#include <optional>
#include <thread>

#include "engines/arrow/arrow_fold.h"
#include "engines/arrow/arrow_layout.h"
#include "engines/arrow/arrow_stream.h"
#include "framework/shared/source_parts.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace engines_internal;
using namespace framework_internal;

namespace {

unsigned threads_of(const ArrowOptions& options) {
  constexpr unsigned most = 1024;
  if (options.threads > most) {
    throw Error(ErrorCode::invalid_argument, "threads",
                "threads = " + std::to_string(options.threads) + ": give at most " + std::to_string(most) +
                    ", or 0 for one a core");
  }
  return options.threads == 0 ? std::max(1U, std::thread::hardware_concurrency()) : options.threads;
}

[[noreturn]] void refuse_stream(const char* problem) {
  throw Error(ErrorCode::invalid_argument, "stream", std::string("stream: ") + problem);
}

ArrowStream taken(ArrowArrayStream* stream) {
  if (stream == nullptr || stream->release == nullptr)
    refuse_stream("there is no Arrow stream, or it has been released; export it again");
  return ArrowStream(ArrowOwned<ArrowArrayStream>::take(stream));
}

}  // namespace

class ArrowSource::Implementation {
 public:
  Implementation(ArrowArrayStream* stream, const ArrowOptions& options)
      : threads_(threads_of(options)), stream_(taken(stream)) {}
  Implementation(ArrowStreamOpener open, const ArrowOptions& options)
      : threads_(threads_of(options)), open_(std::move(open)) {
    if (!open_) refuse_stream("there is no function that opens it");
  }

  const std::vector<SourceColumn>& columns() {
    if (!layout_) open();
    return columns_;
  }

  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) {
    for (const FoldRequest& request : requests) check_domain(request);
    columns();
    ArrowFold fold(*layout_, columns_, selection, requests, threads_);
    if (!stream_) open();
    // Released when it has been read or has failed: it would not begin anew.
    ArrowStream stream = *std::exchange(stream_, std::nullopt);
    return fold.run(stream, progress);
  }

 private:
  // Leaves a stream that has not been read, and the layout.
  void open() {
    if (!stream_) {
      if (!open_) {
        refuse_stream(
            "it has been read before, and an Arrow stream is read once; ask for all statistics in one fold, "
            "or give a "
            "function that opens the stream anew");
      }
      ArrowOwned<ArrowArrayStream> opened;
      open_(opened.out());
      stream_ = taken(opened.get());
    }
    ArrowLayout layout = read_layout(*stream_->schema());
    if (layout_ && *layout_ != layout) {
      stream_.reset();
      throw Error(
          ErrorCode::bad_data, "stream",
          "stream: it has other columns than when it was opened before; give a function that opens the same "
          "data each time");
    }
    columns_ = source_columns(layout);
    layout_ = std::move(layout);
  }

  unsigned threads_;
  ArrowStreamOpener open_;
  std::optional<ArrowStream> stream_;  // not read yet
  std::optional<ArrowLayout> layout_;
  std::vector<SourceColumn> columns_;
};

ArrowSource::ArrowSource(ArrowArrayStream* stream, const ArrowOptions& options)
    : implementation_(std::make_unique<Implementation>(stream, options)) {}

ArrowSource::ArrowSource(ArrowStreamOpener open, const ArrowOptions& options)
    : implementation_(std::make_unique<Implementation>(std::move(open), options)) {}

ArrowSource::~ArrowSource() = default;

std::vector<SourceColumn> ArrowSource::columns() {
  return implementation_->columns();
}

FoldResult ArrowSource::fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                             const Progress& progress) {
  return implementation_->fold(selection, requests, progress);
}

}  // namespace snapdp
