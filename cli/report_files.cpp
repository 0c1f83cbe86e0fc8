#include "report_files.h"

#include "output.h"
#include "snapdp/error.h"
#include "snapdp/text.h"

namespace snapdp::cli {

std::vector<NamedFile> ReportFiles::written() const {
  return {{"--html", html}, {"--csv", csv}, {"--markdown", markdown}, {"--json", json}};
}

void add_report_files(CLI::App& command, ReportFiles& files) {
  command.add_option("--html", files.html, "Write the report there as a page, one file without scripts")
      ->type_name("FILE");
  command.add_option("--csv", files.csv, "Write its numbers there, one a line, with all digits")
      ->type_name("FILE");
  command.add_option("--markdown", files.markdown, "Write it there as Markdown")->type_name("FILE");
}

void add_digits(CLI::App& command, std::string& digits) {
  command
      .add_option("--digits", digits,
                  "Of the table: \"rounded\" where the noise begins (unless told otherwise), or \"all\"")
      ->type_name("rounded|all")
      ->check(CLI::IsMember({"rounded", "all"}));
}

void check_writable(const ReportFiles& files) {
  for (const NamedFile& file : files.written()) {
    if (!file.path.empty()) check_writable(file.path);
  }
}

void write_report_files(const Report& report, const ReportProvenance& provenance, const ReportFiles& files) {
  const auto write = [](const std::string& path, const auto& text) {
    if (path.empty()) return;
    write_file(path, text(), Readers::owner);
    write_standard_error("snapdp: wrote " + quoted_path(path) + "\n");
  };
  write(files.html, [&] { return report.to_html(provenance); });
  write(files.csv, [&] { return report.to_csv(); });
  write(files.markdown, [&] { return report.to_markdown(); });
  write(files.json, [&] { return report.json(); });
}

std::string table_of(const Report& report, const ReportProvenance& provenance, const std::string& digits) {
  TerminalStyle style = report_style_of_standard_output();
  style.all_digits = digits == "all";
  return report.to_table(style, provenance);
}

}  // namespace snapdp::cli
