// The files of one run of the tool: nothing is written over what the run reads or keeps, nor over any ledger, under
// whatever name.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace snapdp::cli {

struct NamedFile {
  std::string name;            // as messages call it: "--output", "SPEC"
  std::filesystem::path path;  // empty when none is given
};

struct Files {
  std::vector<NamedFile> read = {};
  std::vector<NamedFile> ledgers = {};  // SQLite writes these and their journals
  std::vector<NamedFile> written = {};  // replaced
};

// Throws invalid_argument when a file that is written is another of these too, by the same path, through links or as
// another name of one file: an output, a ledger, a ledger's journal or the file where standard output goes. Devices and
// pipes are no files. Opens nothing.
void check_distinct(const Files& files);

// Throws invalid_argument when an output would replace a ledger or its journal, be it one that this run has nothing to do
// with. To be called before any ledger is open.
void check_outputs(const Files& files);

}  // namespace snapdp::cli
