// Rows from the Arrow C data interface, without Arrow: the structs below are a published ABI
// (https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html).
//
//   const ArrowTable table(schema, array);            // a record batch: a struct of columns; or one column
//   AggregateState state = aggregation.start();
//   aggregation.update(state, table.chunk({"age"}));  // batch after batch, in any order
//
// What a column becomes: float64 and int64 are used in place, as real and integer; float32 becomes real, and
// booleans and integers of 8, 16 or 32 bits become integer, exactly; utf8 and large utf8 become text. Other
// types are refused. A stream of batches, with every type that holds numbers or text, is read by ArrowSource
// (engines/arrow/arrow_source.h).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "snapdp/framework/chunk.h"
#include "snapdp/framework/domain.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

// NOLINTBEGIN: names and forms are the ABI's.
#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema** children;
  struct ArrowSchema* dictionary;
  void (*release)(struct ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  struct ArrowArray** children;
  struct ArrowArray* dictionary;
  void (*release)(struct ArrowArray*);
  void* private_data;
};
}
// NOLINTEND

#endif  // ARROW_C_DATA_INTERFACE

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

// NOLINTBEGIN: names and forms are the ABI's.
extern "C" {
struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream*, struct ArrowSchema* out);
  int (*get_next)(struct ArrowArrayStream*, struct ArrowArray* out);
  const char* (*get_last_error)(struct ArrowArrayStream*);
  void (*release)(struct ArrowArrayStream*);
  void* private_data;
};
}
// NOLINTEND

#endif  // ARROW_C_STREAM_INTERFACE

namespace snapdp {

class ArrowTable {
 public:
  // Both structs stay the caller's: they must outlive the table and the chunks taken from it, and the caller
  // releases them. What they say is checked as far as it can be (lengths, offsets, numbers of buffers and
  // children, the offsets of texts); buffers must be as long as the interface says they are. Throws bad_data
  // naming "arrow", the column and what is wrong with it, never a cell: released or inconsistent structs,
  // dictionaries, types other than those above, nulls at the level of the struct.
  ArrowTable(const ArrowSchema& schema, const ArrowArray& array);
  ArrowTable(const ArrowTable&) = delete;
  ArrowTable& operator=(const ArrowTable&) = delete;

  std::size_t rows() const { return rows_; }
  // A column without a name is "".
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Column>& columns() const { return columns_; }
  // These columns, in this order, at most Chunk::max_columns. Throws bad_data for a name that is missing or
  // not unique.
  Chunk chunk(const std::vector<std::string>& names) const;
  // What the cells of a chunk may be: everything of these types.
  VectorDomain domain(const std::vector<std::string>& names) const;

 private:
  void add(const ArrowSchema& schema, const ArrowArray& array, std::int64_t offset);

  std::size_t rows_ = 0;
  std::vector<std::string> names_;
  std::vector<Column> columns_;
  // Converted cells; their addresses stay.
  std::deque<std::vector<double>> reals_;
  std::deque<std::vector<std::int64_t>> integers_;
  std::deque<std::vector<std::string_view>> texts_;
};

}  // namespace snapdp
