// What a check of rows says, in words and as JSON.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "snapdp/release/check.h"
#include "snapdp/text.h"

namespace snapdp {
namespace {

using Json = nlohmann::ordered_json;

// "10,000"
std::string grouped(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string number_of(std::uint64_t count, const std::string& noun) {
  return grouped(count) + " " + noun + (count == 1 ? "" : "s");
}

constexpr std::string_view warning = "\xe2\x96\xb2 ";  // a triangle

// Lines of findings; those to look at are marked.
class Findings {
 public:
  void add(const std::string& finding, bool look = false) {
    text_ += std::string(look ? warning : "  ") + shown_text(finding) + "\n";
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
};

// One row in a hundred that is not as declared is worth a look.
bool are_many(std::uint64_t some, std::uint64_t all) {
  return some > 0 && some >= all / 100;
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i)
    text += (i == 0 ? "" : ", ") + quoted_text(names[i]);
  if (names.size() > most) text += " and " + grouped(names.size() - most) + " more";
  return text;
}

void add_rows(const DataCheck& check, Findings& findings) {
  const bool wrong = check.declared_rows && *check.declared_rows != check.rows;
  findings.add(
      number_of(check.rows, "row") + (!check.declared_rows ? ""
                                      : wrong ? ", but size = " + std::to_string(*check.declared_rows) +
                                                    " is declared: a release will be refused"
                                              : ", as declared"),
      wrong || check.rows == 0);
  if (!check.where) return;
  findings.add(number_of(check.counted, "row") + " where " + *check.where, check.counted == 0);
}

void add_units(const UnitCheck& units, std::uint64_t rows, Findings& findings) {
  findings.add(number_of(units.units, "unit") + " in column " + quoted_text(units.column) + ", at most " +
               number_of(units.most_rows, "row") + " each");
  if (units.above_limit > 0) {
    findings.add(number_of(units.above_limit, "unit") + " above the limit of " +
                     number_of(units.max_rows, "row") + ", which drops " + number_of(units.dropped, "row"),
                 are_many(units.dropped, rows));
  }
  if (units.without_unit > 0)
    findings.add(number_of(units.without_unit, "row") + " without a unit, which never count", true);
}

void add_cells(const CellCheck& cell, std::uint64_t rows, Findings& findings) {
  if (cell.missing > 0)
    findings.add(number_of(cell.missing, "cell") + " empty", are_many(cell.missing, rows));
  if (cell.unreadable > 0)
    findings.add(number_of(cell.unreadable, "cell") + " that cannot be read as declared, and count as empty",
                 true);
  if (cell.places) {
    const CellCheck::Places& at = *cell.places;
    const std::uint64_t outside = at.below + at.above;
    findings.add(grouped(at.below) + " below, " + grouped(at.at_lower) + " at the lower bound, " +
                     grouped(at.between) + " between, " + grouped(at.at_upper) + " at the upper bound, " +
                     grouped(at.above) + " above",
                 are_many(outside, rows) || at.between == 0);
  }
  if (cell.values) {
    findings.add(
        grouped(cell.values->known) + " among them, " + grouped(cell.values->unknown) + " none of them",
        cell.values->unknown > 0 || cell.values->known == 0);
    if (!cell.values->never.empty()) findings.add("no row has " + joined(cell.values->never, 10), true);
  }
}

}  // namespace

std::string DataCheck::to_text(const std::vector<std::string>& form) const {
  std::string text = std::string(notice) + "\n\n";
  Findings table;
  for (const std::string& line : form) table.add(line, true);
  add_rows(*this, table);
  if (units) add_units(*units, counted, table);
  text += std::move(table).text();
  for (const CellCheck& cell : cells) {
    text += "\n" + shown_text(cell.column + ", " + cell.expected + " (" + joined(cell.statistics, 5) + ")") +
            "\n";
    Findings findings;
    add_cells(cell, counted, findings);
    text += std::move(findings).text();
  }
  return text + "\n" + notice + "\n";
}

std::string DataCheck::to_json(const std::vector<std::string>& form) const {
  Json json = {{"notice", notice}, {"form", form}, {"rows", rows}};
  json["declared_rows"] = declared_rows ? Json(*declared_rows) : Json();
  json["where"] = where ? Json(*where) : Json();
  json["counted"] = counted;
  if (units) {
    json["units"] = {{"column", units->column},       {"max_rows", units->max_rows},
                     {"units", units->units},         {"without_unit", units->without_unit},
                     {"most_rows", units->most_rows}, {"above_limit", units->above_limit},
                     {"dropped", units->dropped}};
  }
  json["columns"] = Json::array();
  for (const CellCheck& cell : cells) {
    Json column = {{"column", cell.column},
                   {"statistics", cell.statistics},
                   {"expected", cell.expected},
                   {"missing", cell.missing},
                   {"unreadable", cell.unreadable}};
    if (cell.places) {
      const CellCheck::Places& at = *cell.places;
      column["places"] = {{"below", at.below},
                          {"at_lower", at.at_lower},
                          {"between", at.between},
                          {"at_upper", at.at_upper},
                          {"above", at.above}};
    }
    if (cell.values) {
      column["values"] = {
          {"known", cell.values->known}, {"unknown", cell.values->unknown}, {"never", cell.values->never}};
    }
    json["columns"].push_back(std::move(column));
  }
  return escape_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace snapdp
