// A sampler that is somebody else's program: it reads a value a line and answers each with one number a line.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

namespace snapdp::cli {

// Runs `command` by the shell, writes the questions to its standard input and closes it, and reads one answer for each in
// order. It may answer as it reads or at the end; its messages go to standard error. Throws io when it ends early or with
// a failure, or when nothing moves for `patience`; bad_data when a line is no number or there are too many. It is ended,
// with what it started, on every way out.
std::vector<double> foreign_answers(const std::string& command, std::span<const double> questions,
                                    std::chrono::seconds patience);

}  // namespace snapdp::cli
