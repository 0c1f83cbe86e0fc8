// A Source over an Arrow C stream: what pandas, Polars, DuckDB, R's arrow and many others hand out, without a
// copy and without the Arrow library (https://arrow.apache.org/docs/format/CStreamInterface.html).
//
//   ArrowArrayStream stream = ...;                      // of record batches, or of one column
//   ArrowSource people(&stream, {.threads = 2});        // the stream is the source's now
//   people.columns();                                   // the schema; no row is read
//   people.fold({{{"age"}, &mean_age}}, {});            // reads the stream to its end, once
//
// A stream is read once, and one reading is enough for all statistics of a release, limits on privacy units
// included. To fold again, give a function that opens the stream anew:
//
//   ArrowSource people([&](ArrowArrayStream* out) { export_frame(out); });
//
// The schema says how cells are converted to the type that is wanted, which it has no say in.
//   stored                     real                     integer                            text
//   boolean                    1 or 0                   1 or 0                             true or false
//   integers                   the nearest double       itself; null beyond 64 signed bits its digits
//   decimal up to 38 digits    within two units in the  itself if it is whole and of 64    as it is written
//                              last place (up to 15     bits, else null
//                              digits: the nearest)
//   float 16, 32, 64           itself; NaN is missing   itself if it is whole and of 64    digits of a whole
//                                                       bits, else null                    number of 64 bits,
//                                                                                          else shortest text
//   utf8, large utf8, views    as a cell of a CSV file  as a cell of a CSV file            itself
//   dictionary                 as its values
//   null                       null                     null                               null
//   dates, times, timestamps, durations, intervals, binary data, lists, structs, maps, unions, longer
//   decimals and run-end encoded columns cannot be used: columns() says what to cast them to
//
// The same rows give the same states, to the bit, as from a Parquet file with these types (duckdb_source.h),
// in however many batches they come and on however many threads. float64 and int64 are folded where they lie;
// other cells are converted block by block. The rows that a limit on units keeps are held in memory as
// the source over DuckDB holds them.
//
// What a stream says is not trusted: bad_data for batches that do not fit the schema, lack a buffer or say
// lengths that cannot be. Buffers must be as long as the interface says they are. A cell whose offset, view
// or dictionary index leads nowhere is null, so that no error hangs on one row. The stream's own messages are
// never shown, as they may quote cells. Columns that nobody asks for are not looked at.
//
// A source serves one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "snapdp/framework/arrow.h"
#include "snapdp/framework/source.h"

namespace snapdp {

struct ArrowOptions {
  // How many threads fold, at most 1024; 0 for one a core. All calls into the stream come from the thread
  // that calls the source, release of arrays included.
  unsigned threads = 1;
};

// Opens the stream from its beginning, in `*stream`. Each time it gives the same columns.
using ArrowStreamOpener = std::function<void(ArrowArrayStream* stream)>;

class ArrowSource final : public Source {
 public:
  // Moves the stream out of `*stream`, which is then released, and releases it when it has been read or is
  // not needed any more. Throws invalid_argument naming "stream" when there is none, or "threads".
  explicit ArrowSource(ArrowArrayStream* stream, const ArrowOptions& options = {});
  explicit ArrowSource(ArrowStreamOpener open, const ArrowOptions& options = {});
  ~ArrowSource() override;
  ArrowSource(const ArrowSource&) = delete;
  ArrowSource& operator=(const ArrowSource&) = delete;

  // Columns without a name are called "". Throws io when the stream gives no schema, bad_data for one that
  // cannot be.
  std::vector<SourceColumn> columns() override;
  using Source::fold;
  // Throws io when the stream fails, and invalid_argument naming "stream" when it has been read before. What
  // can be refused without reading rows is refused first, and leaves the stream as it was. Progress is told 0
  // after each batch and 100 at the end: a stream does not say how long it is.
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace snapdp
