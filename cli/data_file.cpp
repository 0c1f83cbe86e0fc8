#include "data_file.h"

#include "output.h"

namespace snapdp::cli {

void add_question(CLI::App& command, QuestionFiles& files) {
  command.add_option("SPEC", files.specification, "The specification, a TOML file")->required();
  command
      .add_option("--ledger", files.ledger,
                  "The ledger whose declaration is in force; needed when SPEC has no [data]")
      ->type_name("FILE");
  command
      .add_option("--declaration", files.declaration,
                  "Instead of a ledger: the declaration that the custodian wrote")
      ->type_name("FILE")
      ->excludes("--ledger");
}

Files files_of(const QuestionFiles& files) {
  return {.read = {{"SPEC", files.specification}, {"--declaration", files.declaration}},
          .ledgers = {{"--ledger", files.ledger}}};
}

Specification read_question(const QuestionFiles& files) {
  if (!files.ledger.empty())
    return Specification::read(files.specification, Declaration::of(Ledger::open(files.ledger)));
  if (!files.declaration.empty())
    return Specification::read(files.specification, Declaration::read(files.declaration));
  return Specification::read(files.specification);
}

DuckdbOptions declared_options(const std::filesystem::path& path, const Declaration& declaration) {
  DuckdbOptions source;
  source.path = path.string();
  if (declaration.delimiter) source.delimiter = *declaration.delimiter;
  if (declaration.format) {
    source.format = *declaration.format == Declaration::Format::csv ? FileFormat::csv : FileFormat::parquet;
  }
  return source;
}

OpenSource open_declared(const std::filesystem::path& path) {
  return [path](const Declaration& declaration) {
    return open_duckdb_source(declared_options(path, declaration));
  };
}

ProgressLine::ProgressLine() : shown_(standard_error_is_terminal()) {}

ProgressLine::~ProgressLine() {
  if (last_ >= 0) write_standard_error("\r\x1b[K");
}

void ProgressLine::update(double percent) {
  const int whole = static_cast<int>(percent);
  if (!shown_ || whole == last_ || whole < 0 || whole > 100) return;
  last_ = whole;
  constexpr std::size_t width = 25;
  const std::size_t done = static_cast<std::size_t>(whole) * width / 100;
  write_standard_error("\rreading [" + std::string(done, '#') + std::string(width - done, ' ') + "] " +
                       std::to_string(whole) + "%");
}

}  // namespace snapdp::cli
