// What commands about a question share: the files that it is made of, and the rows that it is asked of.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>

#include "files.h"
#include "snapdp/engines/duckdb/duckdb_source.h"
#include "snapdp/release/release.h"

namespace snapdp::cli {

// A specification, and where the declaration in force is when the specification does not hold it itself.
struct QuestionFiles {
  std::string specification;
  std::string ledger;
  std::string declaration;
};

// SPEC, --ledger and --declaration.
void add_question(CLI::App& command, QuestionFiles& files);
Files files_of(const QuestionFiles& files);
// Throws what Specification::read, Ledger::open and Declaration::read throw.
Specification read_question(const QuestionFiles& files);

// A data file as the declaration in force says that it is read.
DuckdbOptions declared_options(const std::filesystem::path& path, const Declaration& declaration);
OpenSource open_declared(const std::filesystem::path& path);

// Percent on standard error while rows are read, when somebody is looking.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void update(double percent);

 private:
  bool shown_;
  int last_ = -1;
};

}  // namespace snapdp::cli
