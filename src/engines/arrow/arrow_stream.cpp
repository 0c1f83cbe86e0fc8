#include "engines/arrow/arrow_stream.h"

#include "snapdp/error.h"

namespace snapdp::engines_internal {
namespace {

void require_callback(bool there) {
  if (!there) {
    throw Error(ErrorCode::bad_data, "stream",
                "stream: a callback of the Arrow stream is missing; export it again");
  }
}

// Why a stream fails may hang on its rows, and its words may quote them.
[[noreturn]] void refuse_failure(const char* what) {
  throw Error(
      ErrorCode::io, "stream",
      std::string("stream: the Arrow stream failed to give ") + what +
          "; its own message is not shown, as it may quote cells: read the stream without SnapDP to see it");
}

}  // namespace

ArrowOwned<ArrowSchema> ArrowStream::schema() {
  require_callback(stream_->get_schema != nullptr);
  ArrowOwned<ArrowSchema> schema;
  if (stream_->get_schema(stream_.get(), schema.out()) != 0) {
    schema.forget();
    refuse_failure("its schema");
  }
  if (schema.empty()) {
    throw Error(ErrorCode::bad_data, "stream", "stream: the Arrow stream has no schema; export it again");
  }
  return schema;
}

std::optional<ArrowOwned<ArrowArray>> ArrowStream::next() {
  require_callback(stream_->get_next != nullptr);
  ArrowOwned<ArrowArray> array;
  if (stream_->get_next(stream_.get(), array.out()) != 0) {
    array.forget();
    refuse_failure("its next rows");
  }
  if (array.empty()) return std::nullopt;
  return array;
}

}  // namespace snapdp::engines_internal
