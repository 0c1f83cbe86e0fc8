// CSV files: the header, and every row by the engine's reader, whole and in small pieces, against a slow reader that takes
// the rules by the letter.
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "engines/duckdb/csv_file.h"
#include "fuzz/fuzz.h"
#include "tests/duckdb/csv_reading.h"

namespace snapdp {
namespace {

using engines_internal::CsvFile;
using engines_internal::CsvFormat;
using engines_internal::Rows;

// A file that is in memory alone.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    SNAPDP_FUZZ_CHECK(file_ >= 0);
    SNAPDP_FUZZ_CHECK(write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

void check_header(const CsvFile& file, std::size_t size) {
  const CsvFormat& format = file.format();
  SNAPDP_FUZZ_CHECK(!file.names().empty() && format.columns == file.names().size());
  SNAPDP_FUZZ_CHECK(format.last_may_lack == file.names().back().empty());
  SNAPDP_FUZZ_CHECK(file.first_row() <= size && file.size() == size);
  for (const std::string& name : file.names()) SNAPDP_FUZZ_CHECK(engines_internal::is_utf8(name));
  file.require_unchanged();
}

// Columns that are read without the others are the same.
void check_columns(const CsvFile& file, const Rows& all, std::size_t column) {
  const auto rows = [&](const std::vector<std::size_t>& wanted) {
    return read_rows(file, file.size(), file.format(), file.first_row(), 8, 8, wanted);
  };
  const std::size_t last = file.format().columns - 1;
  if (column == last) return;  // a column is wanted once
  const Rows of_column = rows({column});
  const Rows of_last = rows({last});
  const Rows of_both = rows({last, column});
  SNAPDP_FUZZ_CHECK(of_column.size() == all.size() && of_last.size() == all.size() &&
                    of_both.size() == all.size());
  for (std::size_t row = 0; row < all.size(); ++row) {
    const bool malformed = of_both[row] == all[row] && of_column[row] == all[row] && of_last[row] == all[row];
    SNAPDP_FUZZ_CHECK(malformed || of_both[row] == of_last[row] + "|" + of_column[row]);
  }
}

void run(fuzz::Input input) {
  constexpr std::array delimiters = {',', ';', '\t', '|'};
  const char delimiter = delimiters[input.below(delimiters.size())];
  const std::size_t piece_bytes = 1 + input.below(64);
  const std::size_t window_bytes = 1 + input.below(64);
  const std::string_view text = input.rest();
  const MemoryFile memory(text);
  fuzz::refuses([&] {
    const CsvFile file(memory.path(), delimiter);
    check_header(file, text.size());
    const Rows all = read_rows(file, file.size(), file.format(), file.first_row(), 1U << 13, 1U << 13);
    SNAPDP_FUZZ_CHECK(
        all == read_rows(file, file.size(), file.format(), file.first_row(), piece_bytes, window_bytes));
    const Rows slow = engines_internal::SlowReader(text.substr(file.first_row()), file.format()).rows();
    SNAPDP_FUZZ_CHECK(engines_internal::without_fault_names(all) ==
                      engines_internal::without_fault_names(slow));
    check_columns(file, all, piece_bytes % file.format().columns);
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
