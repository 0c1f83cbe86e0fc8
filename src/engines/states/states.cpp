#include "snapdp/engines/states/states.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "framework/shared/byte_form.h"
#include "framework/shared/digest.h"
#include "framework/shared/question.h"
#include "snapdp/error.h"
#include "snapdp/random/system_generator.h"

namespace snapdp {

using namespace framework_internal;

namespace {

constexpr std::string_view magic("SNDPPRT\0", 8);
constexpr std::uint32_t version = 1;
constexpr std::size_t identity_bytes = 16;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(
      ErrorCode::bad_data, "states",
      "states: " + why + "; fold every part of the rows once, by \"snapdp fold\" with this specification");
}

std::string random_identity() {
  std::array<std::uint64_t, identity_bytes / sizeof(std::uint64_t)> words;
  thread_generator().fill(words);
  std::string identity;
  for (const std::uint64_t word : words) append_number(identity, word);
  return identity;
}

// A part as its bytes say, unread states.
struct Part {
  std::string identity;
  bool whole_units = false;
  std::uint64_t rows = 0;
  std::vector<std::string_view> states;
};

Part read_part(std::string_view bytes, const std::string& question) {
  if (bytes.size() < digest_bytes) refuse("a part is truncated");
  const std::string_view content = bytes.substr(0, bytes.size() - digest_bytes);
  ByteReader reader(content, [] { refuse("a part is truncated"); });
  if (!content.starts_with(magic.substr(0, std::min(magic.size(), content.size()))))
    refuse("a file is no part's states");
  if (sha256(content, "states") != bytes.substr(content.size())) refuse("a part is truncated or altered");
  reader.take(magic.size());
  if (reader.number<std::uint32_t>() != version) refuse("a part is of another version of SnapDP");
  Part part;
  part.identity = reader.take(identity_bytes);
  if (reader.take(digest_bytes) != question) refuse("a part answers another question");
  part.whole_units = reader.number<std::uint8_t>() != 0;
  part.rows = reader.number<std::uint64_t>();
  const auto count = reader.number<std::uint32_t>();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto length = reader.number<std::uint64_t>();
    part.states.push_back(reader.take(length));
  }
  if (reader.left() > 0) refuse("a part is longer than it says");
  return part;
}

class PartsSource final : public Source {
 public:
  PartsSource(std::vector<std::string> parts, const std::vector<std::string>& columns)
      : parts_(std::move(parts)) {
    for (const std::string& column : columns) columns_.push_back({column, {}, ""});
  }

  std::vector<SourceColumn> columns() override { return columns_; }
  FoldResult fold_by_keys(const RowSelection&, std::span<const KeyColumn>, const RequestsOfKeys&,
                          const Progress&) override {
    throw Error(
        ErrorCode::invalid_argument, "keys",
        "keys: which keys there are must be asked where the rows are, before they are folded; release "
        "from a file or a connected database, or list the keys");
  }
  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    const std::string question = sha256(question_text(selection, requests), "states");
    FoldResult result;
    for (const FoldRequest& request : requests) result.states.push_back(request.aggregation->start());
    std::set<std::string> seen;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part part = read_part(parts_[i], question);
      if (!seen.insert(part.identity).second) refuse("a part is there twice");
      if (selection.unit && !part.whole_units)
        refuse("rows of privacy units are limited, and a part does not say that its units are whole");
      if (part.states.size() != requests.size()) refuse("a part has other statistics");
      result.rows = add_rows(result.rows, part.rows);
      for (std::size_t j = 0; j < requests.size(); ++j) {
        const Aggregation& aggregation = *requests[j].aggregation;
        aggregation.merge(result.states[j], aggregation.from_bytes(part.states[j]));
      }
      if (progress) progress(100.0 * static_cast<double>(i + 1) / static_cast<double>(parts_.size()));
    }
    return result;
  }

 private:
  std::vector<std::string> parts_;
  std::vector<SourceColumn> columns_;
};

}  // namespace

std::string fold_part(Source& rows, const RowSelection& selection, std::span<const FoldRequest> requests,
                      const PartOptions& options, const Progress& progress) {
  if (selection.unit && !options.whole_units) {
    throw Error(
        ErrorCode::invalid_argument, "whole_units",
        "whole_units: the rows of each privacy unit are limited, which a part can do only for units that "
        "have all their rows in it; split the rows by unit and say so");
  }
  const FoldResult result = rows.fold(selection, requests, progress);
  std::string bytes(magic);
  append_number(bytes, version);
  bytes += random_identity();
  bytes += sha256(question_text(selection, requests), "states");
  append_number(bytes, static_cast<std::uint8_t>(options.whole_units ? 1 : 0));
  append_number(bytes, result.rows);
  append_number(bytes, static_cast<std::uint32_t>(requests.size()));
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const std::string state = requests[i].aggregation->to_bytes(result.states[i]);
    append_number(bytes, static_cast<std::uint64_t>(state.size()));
    bytes += state;
  }
  return bytes + sha256(bytes, "states");
}

std::unique_ptr<Source> open_parts(std::vector<std::string> parts, const std::vector<std::string>& columns) {
  if (parts.empty())
    throw Error(ErrorCode::invalid_argument, "states", "states: there are none; name at least one part");
  return std::make_unique<PartsSource>(std::move(parts), columns);
}

}  // namespace snapdp
