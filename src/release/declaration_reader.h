// From a TOML document to the declaration that it is, or that it must agree with.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "release/toml_document.h"
#include "snapdp/release/declaration.h"

namespace snapdp::release_internal {

// The tables of a file: of a declaration, a specification, or both.
const std::vector<std::string>& root_keys();

// [data] and [columns] of a document; relative data paths start in `folder`. What is wrong goes to `faults`. Nothing is
// returned when statistics cannot be judged by it: when it does not say who its neighbors are, or the columns are wrong.
std::optional<Declaration> read_declaration(const TomlDocument& document, const std::filesystem::path& folder,
                                            Faults& faults);

// The declaration that a ledger keeps, with what an analyst's document may add to it. Throws budget_refused naming the
// first key in which the two differ, or that only the declaration's author may write. Paths are not compared:
// declared_path() in release.h does so.
std::optional<Declaration> amended_declaration(const TomlDocument& document, const Declaration& declared,
                                               Faults& faults);

}  // namespace snapdp::release_internal
