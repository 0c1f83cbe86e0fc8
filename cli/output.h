// Where the tool writes: data to standard output or to a file, messages to standard error. Nothing is written in part
// without an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "snapdp/release/report.h"
#include "snapdp/text.h"

namespace snapdp::cli {

// Throws io, so that a full disk or a closed pipe is never taken for success.
void write_standard_output(std::string_view text);
// Best effort: there is nowhere left to complain.
void write_standard_error(std::string_view text) noexcept;

// Throws io when standard output is closed, before anything has been paid for.
void check_standard_output();
// Throws io when write_file(path, ...) is bound to fail, before anything has been paid for.
void check_writable(const std::filesystem::path& path);
// Who may read a file: its owner alone (mode 0600), or whoever the umask lets (0666 without its bits).
enum class Readers { owner, umask };
// Replaces the file at once: readers see the old text or the new one, whole. A device or pipe (/dev/stdout) is written
// to as it is. Throws io.
void write_file(const std::filesystem::path& path, std::string_view text, Readers readers);
// Whether write_file() would write to a device or a pipe as it is.
bool is_device(const std::filesystem::path& path);
// The file that write_file() replaces: links are followed, so that a link to a file stays one.
std::filesystem::path target_of(const std::filesystem::path& path);

// Color when the stream is a terminal, unless NO_COLOR is set (https://no-color.org) or the terminal is dumb.
TableStyle style_of_standard_output();
// And bars when it is a terminal: of UTF-8 where the locale has it.
ReportStyle report_style_of_standard_output();
TableStyle style_of_standard_error();
bool standard_error_is_terminal();
// A person can be asked: standard input and standard error are terminals.
bool can_ask();
// Writes the question to standard error; true for an answer that begins with y or Y.
bool ask(const std::string& question);
// Writes the question to standard error; the line that is typed, without the blanks around it. Throws invalid_argument at
// the end of input.
std::string ask_line(const std::string& question);

}  // namespace snapdp::cli
