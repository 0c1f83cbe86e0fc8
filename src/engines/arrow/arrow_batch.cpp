#include "engines/arrow/arrow_batch.h"

#include <string>

#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::engines_internal {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::bad_data, "stream", "stream: " + message + "; export it again");
}

// An array of which `rows` rows from row `offset` on are wanted; `called` is for messages.
class ArrayReader {
 public:
  ArrayReader(const ArrowArray* array, std::string called) : array_(array), called_(std::move(called)) {
    if (array_ == nullptr || array_->release == nullptr) bad("is missing or has been released already");
    constexpr std::int64_t most = std::int64_t{1} << 40;  // sums of two stay far below 2^63
    if (array_->length < 0 || array_->offset < 0 || array_->length > most || array_->offset > most)
      bad("has a length or an offset that is negative or beyond 2^40");
    if (array_->null_count < -1) bad("has a negative number of nulls");
  }

  std::int64_t length() const { return array_->length; }
  std::int64_t offset() const { return array_->offset; }
  const ArrowArray* child(std::int64_t i) const { return array_->children[i]; }
  const ArrowArray* dictionary() const { return array_->dictionary; }

  ArrowCells cells(const ArrowCellType& type, std::int64_t offset, std::int64_t rows) const {
    if (array_->length < offset || array_->length - offset < rows) bad("has fewer rows than its batch");
    ArrowCells cells;
    cells.type = type;
    cells.rows = static_cast<std::size_t>(rows);
    cells.first = static_cast<std::size_t>(array_->offset + offset);
    if (type.form == ArrowForm::null || array_->length == 0) return cells;
    const bool text = type.form == ArrowForm::utf8 || type.form == ArrowForm::large_utf8;
    const bool views = type.form == ArrowForm::utf8_view;
    const std::int64_t buffers = text || views ? 3 : 2;
    if (array_->buffers == nullptr || (views ? array_->n_buffers < buffers : array_->n_buffers != buffers))
      bad("has another number of buffers than its type");
    cells.validity = validity();
    if (array_->buffers[1] == nullptr) bad("lacks a buffer");
    cells.values = static_cast<const char*>(array_->buffers[1]);
    if (text) add_bytes(cells);
    if (views) add_parts(cells);
    return cells;
  }

  // The cells of an array that has nothing but nulls of its own, if it may have them.
  std::optional<ArrowCells> whole_rows() const {
    if (array_->n_buffers < 1 || array_->length == 0 || array_->null_count == 0) return std::nullopt;
    if (array_->buffers == nullptr) bad("lacks its buffers");
    ArrowCells cells;
    cells.rows = static_cast<std::size_t>(array_->length);
    cells.first = static_cast<std::size_t>(array_->offset);
    cells.validity = validity();
    return cells.validity == nullptr ? std::nullopt : std::optional(cells);
  }

  void require_children(std::size_t count) const {
    if (array_->n_children < 0 || static_cast<std::uint64_t>(array_->n_children) != count ||
        (count > 0 && array_->children == nullptr))
      bad("has another number of columns than the schema");
  }

  [[noreturn]] void bad(const char* what) const { refuse(called_ + " " + what); }

 private:
  const std::uint8_t* validity() const {
    if (array_->null_count == 0) return nullptr;
    if (array_->buffers[0] == nullptr && array_->null_count > 0) bad("has nulls but no validity bitmap");
    return static_cast<const std::uint8_t*>(array_->buffers[0]);
  }

  // The last offset is the length of the bytes.
  void add_bytes(ArrowCells& cells) const {
    const auto last = static_cast<std::size_t>(array_->offset + array_->length);
    cells.size = cells.type.form == ArrowForm::utf8 ? cells.value<std::int32_t>(last)
                                                    : cells.value<std::int64_t>(last);
    if (cells.size < 0) bad("has a negative length of its texts");
    cells.bytes = static_cast<const char*>(array_->buffers[2]);
    if (cells.bytes == nullptr) cells.size = 0;
  }

  // Behind the views lie buffers of bytes, and last a buffer with the sizes of these.
  void add_parts(ArrowCells& cells) const {
    cells.part_count = array_->n_buffers - 3;
    cells.parts = array_->buffers + 2;
    cells.part_sizes = static_cast<const char*>(array_->buffers[array_->n_buffers - 1]);
    if (cells.part_count > 0 && cells.part_sizes == nullptr) bad("lacks a buffer");
  }

  const ArrowArray* array_;
  std::string called_;
};

}  // namespace

ArrowBatch::ArrowBatch(ArrowOwned<ArrowArray> array, const ArrowLayout& layout,
                       const std::vector<std::size_t>& used)
    : array_(std::move(array)) {
  const ArrayReader batch(array_.get(), "a batch");
  rows_ = static_cast<std::size_t>(batch.length());
  columns_.resize(layout.columns.size());
  std::optional<ArrowCells> whole;
  if (layout.table) {
    batch.require_children(layout.columns.size());
    whole = batch.whole_rows();
  }
  for (const std::size_t place : used) {
    const ArrowColumnType& type = layout.columns[place];
    const std::string called = "column " + quoted_text(type.name);
    const ArrayReader reader(layout.table ? batch.child(static_cast<std::int64_t>(place)) : array_.get(),
                             called);
    const std::int64_t offset = layout.table ? batch.offset() : 0;
    ArrowColumn& column = columns_[place];
    column.whole = whole;
    if (!type.index) {
      column.cells = reader.cells(type.cells, offset, batch.length());
      continue;
    }
    const ArrayReader dictionary(reader.dictionary(), "the dictionary of " + called);
    column.cells = dictionary.cells(type.cells, 0, dictionary.length());
    column.index = reader.cells({*type.index, ArrowKind::integer}, offset, batch.length());
  }
}

}  // namespace snapdp::engines_internal
