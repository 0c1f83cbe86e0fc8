// The files that a report goes to besides standard output: as a page, as a table of values, as Markdown, as
// the record.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "files.h"
#include "snapdp/release/report.h"

namespace snapdp::cli {

struct ReportFiles {
  std::string html;
  std::string csv;
  std::string markdown;
  std::string json;
  std::string digits = "rounded";  // of the table: "rounded" or "all"

  bool any() const { return !html.empty() || !csv.empty() || !markdown.empty() || !json.empty(); }
  std::vector<NamedFile> written() const;
};

// --html, --csv and --markdown.
void add_report_files(CLI::App& command, ReportFiles& files);
// --digits.
void add_digits(CLI::App& command, std::string& digits);

// Throws io when one of them cannot be written, before anything has been paid for.
void check_writable(const ReportFiles& files);
// Replaces each file at once, with mode 0600, and says so on standard error. Throws io.
void write_report_files(const Report& report, const ReportProvenance& provenance, const ReportFiles& files);

// The table for standard output.
std::string table_of(const Report& report, const ReportProvenance& provenance, const std::string& digits);

}  // namespace snapdp::cli
