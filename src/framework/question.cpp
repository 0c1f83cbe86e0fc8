#include "framework/shared/question.h"

namespace snapdp::framework_internal {
namespace {

void add(std::string& text, const std::string& part) {
  text += std::to_string(part.size()) + ":" + part + ";";
}

void add_columns(std::string& text, const std::vector<std::string>& columns) {
  add(text, std::to_string(columns.size()) + " columns");
  for (const std::string& column : columns) add(text, column);
}

}  // namespace

std::string question_text(const RowSelection& selection, std::span<const FoldRequest> requests) {
  std::string text;
  if (selection.where) {
    add_columns(text, selection.where->columns);
    for (const AtomType type : selection.where->types) add(text, to_string(type));
    add(text, "where " + selection.where->predicate.description());
  }
  if (selection.unit) {
    add(text, "unit " + selection.unit->column);
    add(text, std::to_string(selection.unit->max_rows));
  }
  for (const FoldRequest& request : requests) {
    add_columns(text, request.columns);
    if (request.groups) {
      add(text, "groups " + request.groups->column);
      add(text, std::to_string(request.groups->max_groups) + " " + std::to_string(request.groups->max_rows));
    }
    add(text, request.aggregation->description());
  }
  return text;
}

}  // namespace snapdp::framework_internal
