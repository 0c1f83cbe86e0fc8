#include "release/shared/columns.h"

#include <algorithm>
#include <utility>

#include "release/shared/suggestion.h"
#include "snapdp/error.h"

namespace snapdp::release_internal {
namespace {

[[noreturn]] void refuse_column(const std::string& place, const std::string& name,
                                const std::string& problem) {
  throw Error(ErrorCode::bad_data, "column", place + "column " + name + " " + problem);
}

bool has_name(const std::vector<SourceColumn>& header, const std::string& name) {
  return std::any_of(header.begin(), header.end(),
                     [&](const SourceColumn& column) { return column.name == name; });
}

// What to try when a text file has none of the columns that are asked for.
std::string about_delimiter(const std::vector<SourceColumn>& header) {
  const bool is_text = !header.empty() && !header.front().type && header.front().unusable.empty();
  if (!is_text) return "";
  return std::string("; ") +
         (header.size() == 1 ? "the header is read as a single column"
                             : "none of the columns that are asked for is there") +
         ", so the cells may be separated otherwise: declare it in [data], delimiter = \";\" for example. "
         "Spaces are no delimiter: write such a file anew with commas or tabs";
}

// Columns, each after its place in the specification.
std::vector<std::pair<std::string, std::string>> placed_columns(const Specification& specification) {
  std::vector<std::pair<std::string, std::string>> columns;
  const auto check = [&](const std::string& place, const std::string& name) {
    columns.emplace_back(place, name);
  };
  if (specification.data.privacy_unit)
    check(specification.name + ": [data]: privacy_unit: ", *specification.data.privacy_unit);
  if (specification.data.where) {
    for (const std::string& name : specification.data.where->columns())
      check(specification.name + ": [data]: where: ", name);
  }
  for (const StatisticSpecification& statistic : specification.statistics) {
    if (statistic.group_by) check(specification.place(statistic) + "group_by: ", *statistic.group_by);
    for (const std::string& name : statistic.columns) check(specification.place(statistic), name);
  }
  return columns;
}

}  // namespace

std::vector<std::string> columns_of(const Specification& specification) {
  std::vector<std::string> names;
  for (const auto& [place, name] : placed_columns(specification)) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

void require_columns(const Specification& specification, const std::vector<SourceColumn>& header) {
  const std::vector<std::pair<std::string, std::string>> columns = placed_columns(specification);
  std::vector<std::string> found;
  bool none_there = true;
  for (const auto& [place, name] : columns) {
    if (column_problem(header, name).empty()) found.push_back(name);
    none_there = none_there && !has_name(header, name);
  }
  for (const auto& [place, name] : columns) {
    const std::string problem = column_problem(header, name);
    if (problem.empty()) continue;
    refuse_column(place, quoted_text(name),
                  problem + (none_there ? about_delimiter(header) : did_you_mean(name, found)));
  }
}

}  // namespace snapdp::release_internal
