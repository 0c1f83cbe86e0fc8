// Where the tool writes: data to standard output or to a file, messages to standard error. Nothing is written in part
// without an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "snapdp/release/text_table.h"

namespace snapdp::cli {

// Throws io, so that a full disk or a closed pipe is never taken for success.
void write_standard_output(std::string_view text);
// Best effort: there is nowhere left to complain.
void write_standard_error(std::string_view text) noexcept;

// Throws io when standard output is closed, before anything has been paid for.
void check_standard_output();
// Throws io when write_file(path, ...) is bound to fail, before anything has been paid for.
void check_writable(const std::filesystem::path& path);
// Replaces the file at once, mode 0600: readers see the old text or the new one, whole. A device or pipe (/dev/stdout)
// is written to as it is. Throws io.
void write_file(const std::filesystem::path& path, std::string_view text);

// Color when the stream is a terminal, unless NO_COLOR is set (https://no-color.org) or the terminal is dumb.
TableStyle style_of_standard_output();
TableStyle style_of_standard_error();
bool standard_error_is_terminal();
// A person can be asked: standard input and standard error are terminals.
bool can_ask();
// Writes the question to standard error; true for an answer that begins with y or Y.
bool ask(const std::string& question);

}  // namespace snapdp::cli
