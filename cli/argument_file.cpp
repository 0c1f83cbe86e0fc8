#include "argument_file.h"

#include <algorithm>
#include <fstream>

#include "snapdp/error.h"

namespace snapdp::cli {

std::vector<std::string> lines_of_file(const std::string& option, const std::string& argument,
                                       const std::string& content) {
  constexpr std::size_t most_bytes = std::size_t{16}
                                     << 20;  // of a file that may have no end, such as a device
  std::ifstream file(argument.substr(1), std::ios::binary);
  std::string text(most_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorCode::io, option, option + " " + argument + ": cannot be read; check the path");
  }
  if (text.size() > most_bytes) {
    throw Error(
        ErrorCode::invalid_argument, option,
        option + " " + argument + ": is longer than 16 MiB; give a file of " + content + ", one a line");
  }
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(std::move(line));
    begin = end + 1;
  }
  return lines;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
  const std::size_t last = text.find_last_not_of(blanks);
  return text.substr(first, last == std::string_view::npos ? 0 : last + 1 - first);
}

}  // namespace snapdp::cli
