// A table in parts: each part's states are folded where its rows are, and merged where the noise is drawn.
//
//   std::string bytes = fold_part(*open_duckdb_source({.path = "part-3.parquet"}), selection, requests, {});
//   std::unique_ptr<Source> table = open_parts({bytes, ...}, columns);   // whose fold() merges them
//
// What a part holds is as private as its rows: exact sums and counts.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "snapdp/framework/source.h"

namespace snapdp {

struct PartOptions {
  // Whoever made the parts says that no privacy unit has rows in two of them. Only then can a limit on a
  // unit's rows be kept part by part.
  bool whole_units = false;
};

// Folds the rows of one part for all requests, and gives the states as bytes, with a random identity of
// their own. The byte form, integers little-endian:
//
//   magic      8 bytes   "SNDPPRT" and a zero
//   version    u32       1
//   identity   16 bytes  random
//   question   32 bytes  SHA-256 of what the selection and the requests ask
//   units      u8        1 when whole_units
//   rows       u64       of the part, before any selection
//   count      u32       of states, each: u64 length, then Aggregation::to_bytes
//   checksum   32 bytes  SHA-256 of everything before it
//
// Throws invalid_argument naming "whole_units" when the selection limits the rows of units and nobody says
// that they are whole, and what Source::fold throws.
std::string fold_part(Source& rows, const RowSelection& selection, std::span<const FoldRequest> requests,
                      const PartOptions& options, const Progress& progress = {});

// A source that merges such parts, at least one. They are untrusted: fold() throws bad_data naming "states"
// for bytes that are truncated, altered or of another question, for a part that is there twice, and for
// parts that do not say that units are whole when rows of units are limited; and what
// Aggregation::from_bytes throws. What cannot be told is a part that is missing: name them all. `columns`
// are those that the parts had.
std::unique_ptr<Source> open_parts(std::vector<std::string> parts, const std::vector<std::string>& columns);

}  // namespace snapdp
