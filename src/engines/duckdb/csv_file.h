// A CSV file: its bytes, and the header that its first line is.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engines/duckdb/csv_rows.h"

namespace snapdp::engines_internal {

// Throws invalid_argument unless `delimiter` may separate cells.
void check_csv_delimiter(char delimiter);

class CsvFile final : public ByteSource {
 public:
  // Opens it and reads its first line. Throws io when the file cannot be read, and bad_data when the line is no header:
  // not UTF-8 text, longer than max_row_bytes, with stray quotes, or without a name.
  CsvFile(const std::string& path, char delimiter);
  ~CsvFile() override;
  CsvFile(const CsvFile&) = delete;
  CsvFile& operator=(const CsvFile&) = delete;

  // One a column, to the letter; some may be empty or alike.
  const std::vector<std::string>& names() const { return names_; }
  const CsvFormat& format() const { return format_; }
  // Where the rows start and, as far as was known when the file was opened, end.
  std::uint64_t first_row() const { return first_row_; }
  std::uint64_t size() const { return static_cast<std::uint64_t>(opened_.st_size); }

  // Throws io.
  std::size_t read(std::uint64_t offset, std::span<char> into) const override;
  // Throws io when the file has another size or time of change than when it was opened.
  void require_unchanged() const;

 private:
  [[noreturn]] void fail(const std::string& problem) const;
  std::string read_start() const;
  void read_header(char delimiter);

  std::string path_;
  int file_;
  struct stat opened_ {};
  std::vector<std::string> names_;
  CsvFormat format_;
  std::uint64_t first_row_ = 0;
};

}  // namespace snapdp::engines_internal
