#include "release/shared/draft.h"

#include <algorithm>

#include "release/toml_text.h"
#include "release/toml_values.h"

namespace snapdp::release_internal {
namespace {

// Bare where TOML takes it: between quotes a number may be a text. Its whole numbers have 64 bits.
std::string toml_number(const Rational& number) {
  const std::string text = to_string(number);
  const bool bare = text.find_first_not_of("-0123456789.") == std::string::npos &&
                    (text.find('.') != std::string::npos || number.get_num().fits_slong_p());
  return bare ? text : toml_string(text);
}

std::string list(const PublicValues& values) {
  std::string text;
  for (const Rational& number : values.numbers) text += (text.empty() ? "" : ", ") + toml_number(number);
  for (const std::string& value : values.texts) text += (text.empty() ? "" : ", ") + toml_string(value);
  return "[" + text + "]";
}

std::string protection_lines(const Draft& draft) {
  if (draft.unit) {
    return "# Protected: everybody, with all rows that carry their name. Nobody learns whether a person is "
           "in the data.\n"
           "neighbors = \"add-remove\"\n"
           "privacy_unit = " +
           toml_string(*draft.unit) + "\nmax_rows_per_unit = " + std::to_string(draft.max_rows_per_unit) +
           "         # of each person's rows; all noise grows with it\n"
           "# expected_size = 10000          # a public guess at the number of rows, for planning only\n";
  }
  if (draft.size) {
    return "# Protected: what one row says. That so many rows are there is public.\n"
           "neighbors = \"change-one\"\n"
           "size = " +
           std::to_string(*draft.size) + "\n";
  }
  return "# Protected: whether a row is there at all. If a person may have several rows, name the column "
         "that tells whose row\n"
         "# it is, and how many rows of a person count:\n"
         "# privacy_unit = \"person\"\n"
         "# max_rows_per_unit = 3\n"
         "# If the number of rows is public, write instead: neighbors = \"change-one\" and size = 10000\n"
         "neighbors = \"add-remove\"\n"
         "# expected_size = 10000          # a public guess at the number of rows, for planning only\n";
}

// What is known, and as comments what is not.
std::string column_lines(DraftColumn column) {
  // Among numbers, one between quotes is a number only where the type says so.
  const auto between_quotes = [](const Rational& number) { return toml_number(number).front() == '"'; };
  if (std::any_of(column.values.numbers.begin(), column.values.numbers.end(), between_quotes))
    column.type = column.type.value_or(AtomType::real);
  std::string text = column.type
                         ? "type = \"" + to_string(*column.type) + "\"\n"
                         : "# type = \"integer\"               # or \"text\"; \"real\" unless it is said\n";
  const std::string unit = "# unit = \"years\"                # words for reports\n";
  const std::string labels = "# labels = { \"a\" = \"first\" }     # what reports call the values\n";
  if (column.bounds)
    return text + "bounds = [" + toml_number(column.bounds->lower) + ", " +
           toml_number(column.bounds->upper) + "]\n" + unit;
  if (!column.values.empty()) return text + "categories = " + list(column.values) + "\n" + labels;
  return text +
         "# bounds = [0, 100]              # of numbers: cells beyond count as the nearer end\n"
         "# categories = [\"a\", \"b\"]        # or all values that count, numbers or texts\n" +
         unit + labels;
}

std::string statistic(const std::string& name, const std::string& lines) {
  return "\n[[statistic]]\nname = " + toml_string(name) + "\n" + lines + "weight = 1\n";
}

// The name of a statistic of a column, which is column number `place`.
std::string named(const std::string& what, const std::string& column, std::size_t place) {
  const std::string name = what + " of " + column;
  return name.size() <= longest_name ? name : what + " of column " + std::to_string(place);
}

}  // namespace

std::string undeclarable(const std::vector<SourceColumn>& header, const SourceColumn& column) {
  if (column.name.empty()) return "has no name";
  if (column.name.size() > longest_name) return "has a name of more than 256 bytes";
  return column_problem(header, column.name);
}

std::string declaration_text(const Draft& draft) {
  std::string text =
      "# What is public about these data, and who is protected. Everything here is published with the "
      "releases, so\n"
      "# write it from what is known without looking at the rows: the questionnaire, the law, a code book.\n"
      "# docs/specification.md describes every key.\n\n"
      "[data]\n"
      "path = " +
      toml_string(draft.path) + "\ndataset = " + toml_string(draft.dataset) +
      "    # the name of the data in the ledger\n"
      "# title = \"People of a town, 2024\" # what reports call the data\n" +
      protection_lines(draft);
  for (const SourceColumn& column : draft.header) {
    const std::string problem = undeclarable(draft.header, column);
    if (!problem.empty()) {
      text += "\n# column " + quoted_text(column.name) + " " + problem + "\n";
      continue;
    }
    if (column.name == draft.unit) continue;
    const auto said = draft.columns.find(column.name);
    text += "\n[columns." + toml_key(column.name) + "]\n" +
            column_lines(said == draft.columns.end() ? DraftColumn{} : said->second);
  }
  return text;
}

std::string specification_text(const Declaration& declaration, const std::string& command) {
  std::string text =
      "# What is asked of the data, and what it may cost:\n#   " + command +
      "\n# Statistics share the budget by weight; give one epsilon = \"0.1\" or accuracy = \"0.5\" instead "
      "to "
      "fix its price.\n\n"
      "# Every statistic may have a title, which is what reports call it: title = \"Mean income\".\n\n"
      "[budget]\nepsilon = \"1\"                    # of this run; the ledger caps all runs\n" +
      statistic("number of rows", "kind = \"count\"\n");
  std::size_t place = 0;
  for (const auto& [name, column] : declaration.columns) {
    ++place;
    const std::string of_column = "column = " + toml_string(name) + "\n";
    if (!column.values.empty()) {
      text += statistic(named("histogram", name, place), "kind = \"histogram\"\n" + of_column);
    } else if (column.bounds && column.type != AtomType::text) {
      text += statistic(named("mean", name, place), "kind = \"mean\"\n" + of_column);
    } else {
      text += "\n# " + shown_text(toml_key(name)) +
              ": declare its bounds or categories, then ask for a mean, sum, median, histogram ...\n";
    }
  }
  return text;
}

}  // namespace snapdp::release_internal
