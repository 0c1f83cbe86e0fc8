#include "engines/duckdb/data_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "engines/duckdb/csv_file.h"
#include "engines/duckdb/file_kind.h"
#include "engines/duckdb/utf8.h"
#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::engines_internal {
namespace {

constexpr const char* patterns = "*?[";

[[noreturn]] void refuse_path(ErrorCode code, const std::string& path, const std::string& rule) {
  throw Error(code, "path", "path = " + quoted_path(path) + ": " + rule);
}

bool is_link(const std::string& path) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
}

// Why stat() failed.
[[noreturn]] void refuse_missing(const std::string& path, int error) {
  switch (error) {
    case ENOENT:
      if (is_link(path))
        refuse_path(ErrorCode::io, path, "it is a symbolic link to a file that is not there");
      if (path.find_first_of(patterns) != std::string::npos)
        refuse_path(ErrorCode::io, path,
                    "there is no such file, and patterns are not expanded; name one file");
      refuse_path(ErrorCode::io, path, "there is no such file; check the name and the folder");
    case ENOTDIR:
      refuse_path(ErrorCode::io, path, "there is no such file: what stands before a / in it is no folder");
    case ELOOP:
      refuse_path(ErrorCode::io, path, "its symbolic links lead in a circle; name the file itself");
    case EACCES:
      refuse_path(ErrorCode::io, path, "a folder on the way to it may not be entered; check the permissions");
    default:
      refuse_path(ErrorCode::io, path, std::string("it cannot be found (") + std::strerror(error) + ")");
  }
}

// The full name of a regular file that may be read.
std::string full_path(const std::string& path) {
  if (path.empty()) refuse_path(ErrorCode::invalid_argument, path, "name a CSV or Parquet file");
  if (path.find('\0') != std::string::npos)
    refuse_path(ErrorCode::invalid_argument, path.substr(0, path.find('\0')),
                "a zero byte follows; name one file");
  if (path.find("://") != std::string::npos)
    refuse_path(ErrorCode::invalid_argument, path, "addresses are not opened; download the file and name it");
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) refuse_missing(path, errno);
  if (S_ISDIR(status.st_mode))
    refuse_path(ErrorCode::invalid_argument, path, "it is a folder; name one file in it");
  if (!S_ISREG(status.st_mode))
    refuse_path(ErrorCode::invalid_argument, path, "it is not a regular file; copy the data into one");
  std::error_code error;
  std::string full = std::filesystem::canonical(path, error).string();
  if (error) refuse_path(ErrorCode::io, path, "it cannot be found (" + error.message() + ")");
  if (access(full.c_str(), R_OK) != 0)
    refuse_path(ErrorCode::io, path, "it may not be read; check its permissions");
  return full;
}

// In lower case.
std::string extension_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

bool holds_tabs(const std::string& extension) {
  return extension == ".tsv" || extension == ".tab";
}

// A few of its first bytes, or none where they cannot be read.
std::string start_of(const std::string& path) {
  constexpr std::streamsize enough = 512;
  std::string start(enough, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), enough);
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start;
}

// `full` is where the file lies.
FileFormat format_of(const DuckdbOptions& options, const std::string& full, const std::string& extension) {
  if (options.format != FileFormat::by_extension) return options.format;
  if (extension == ".parquet" || extension == ".pq") return FileFormat::parquet;
  if (extension == ".csv" || extension == ".txt" || holds_tabs(extension)) return FileFormat::csv;
  // What it is may be plain to see.
  if (const std::string start = start_of(full); !start.empty()) {
    if (const std::string problem = not_csv(start); !problem.empty())
      throw Error(ErrorCode::bad_data, "data", "data: the file " + problem);
  }
  throw Error(ErrorCode::invalid_argument, "format",
              "format: the name " + quoted_path(options.path) +
                  " does not tell whether the file is CSV or Parquet; declare its format, or let it end in "
                  ".csv, .txt, .tsv or "
                  ".tab (tabs between the cells), .parquet or .pq");
}

// DuckDB opens it by its name, in which some characters mean something.
void check_engine_path(const std::string& full, const std::string& path) {
  if (full.find_first_of(patterns) != std::string::npos) {
    refuse_path(
        ErrorCode::invalid_argument, path,
        "its full name holds one of * ? [, which the engine takes for a pattern; rename or move the file");
  }
  if (!is_utf8(full)) {
    refuse_path(ErrorCode::invalid_argument, path,
                "its full name is not UTF-8, which the engine needs; rename or move the file");
  }
}

}  // namespace

DataFile find_data_file(const DuckdbOptions& options) {
  if (options.delimiter) check_csv_delimiter(*options.delimiter);
  DataFile file;
  file.path = full_path(options.path);
  const std::string extension = extension_of(options.path);
  file.format = format_of(options, file.path, extension);
  file.delimiter = options.delimiter.value_or(holds_tabs(extension) ? '\t' : ',');
  if (file.format == FileFormat::parquet) check_engine_path(file.path, options.path);
  return file;
}

}  // namespace snapdp::engines_internal
