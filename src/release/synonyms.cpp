#include "release/synonyms.h"

#include <algorithm>
#include <array>

#include "release/shared/suggestion.h"

namespace snapdp::release_internal {
namespace {

// What people say, and the words of specifications that they may mean by it: the first of these that is possible.
struct Synonym {
  std::string_view said;
  std::array<std::string_view, 3> meant;
};

constexpr Synonym synonyms[] = {
    // Kinds.
    {"average", {"mean"}},
    {"avg", {"mean"}},
    {"arithmetic_mean", {"mean"}},
    {"expectation", {"mean"}},
    {"std", {"standard_deviation"}},
    {"stdev", {"standard_deviation"}},
    {"stddev", {"standard_deviation"}},
    {"std_dev", {"standard_deviation"}},
    {"stdv", {"standard_deviation"}},
    {"sd", {"standard_deviation"}},
    {"sigma", {"standard_deviation"}},
    {"deviation", {"standard_deviation"}},
    {"var", {"variance"}},
    {"cov", {"covariance"}},
    {"cor", {"correlation"}},
    {"corr", {"correlation"}},
    {"pearson", {"correlation"}},
    {"ols", {"regression"}},
    {"lm", {"regression"}},
    {"least_squares", {"regression"}},
    {"linear_regression", {"regression"}},
    {"hist", {"histogram"}},
    {"freq", {"histogram"}},
    {"frequency", {"histogram"}},
    {"frequencies", {"histogram"}},
    {"distribution", {"histogram"}},
    {"value_counts", {"histogram"}},
    {"percentile", {"quantiles"}},
    {"percentiles", {"quantiles"}},
    {"quantile", {"quantiles"}},
    {"quartile", {"quantiles"}},
    {"quartiles", {"quantiles"}},
    {"decile", {"quantiles"}},
    {"deciles", {"quantiles"}},
    {"q", {"quantiles"}},
    {"total", {"sum"}},
    {"number", {"count", "real"}},
    {"n", {"count", "size"}},
    {"len", {"count"}},
    {"unique", {"distinct"}},
    {"nunique", {"distinct"}},
    {"cardinality", {"distinct"}},
    {"count_distinct", {"distinct"}},
    {"distinct_count", {"distinct"}},
    {"skewness", {"moment"}},
    {"kurtosis", {"moment"}},
    {"min", {"quantiles", "bounds"}},
    {"max", {"quantiles", "bounds"}},
    {"minimum", {"quantiles", "bounds"}},
    {"maximum", {"quantiles", "bounds"}},
    // Neighbors.
    {"replace", {"change-one"}},
    {"replace_one", {"change-one"}},
    {"substitute", {"change-one"}},
    {"substitution", {"change-one"}},
    {"bounded", {"change-one"}},
    {"change", {"change-one"}},
    {"unbounded", {"add-remove"}},
    {"add", {"add-remove"}},
    {"remove", {"add-remove"}},
    {"add_or_remove", {"add-remove"}},
    // Types and formats.
    {"float", {"real"}},
    {"float64", {"real"}},
    {"double", {"real"}},
    {"decimal", {"real"}},
    {"numeric", {"real"}},
    {"int", {"integer"}},
    {"int64", {"integer"}},
    {"long", {"integer"}},
    {"bigint", {"integer"}},
    {"str", {"text"}},
    {"string", {"text"}},
    {"varchar", {"text"}},
    {"categorical", {"text"}},
    {"factor", {"text"}},
    {"tsv", {"csv"}},
    {"pq", {"parquet"}},
    // Other values.
    {"discrete_laplace", {"geometric"}},
    {"two_sided_geometric", {"geometric"}},
    {"snapping", {"laplace"}},
    {"keep", {"bin"}},
    {"ignore", {"drop"}},
    // Keys.
    {"eps", {"epsilon"}},
    {"privacy_loss", {"epsilon"}},
    {"error", {"accuracy"}},
    {"tolerance", {"accuracy"}},
    {"confidence", {"alpha"}},
    {"beta", {"alpha"}},
    {"share", {"weight"}},
    {"range", {"bounds"}},
    {"clip", {"bounds"}},
    {"clamp", {"bounds"}},
    {"limits", {"bounds"}},
    {"lower", {"bounds"}},
    {"upper", {"bounds"}},
    {"bins", {"edges", "categories"}},
    {"buckets", {"edges", "categories"}},
    {"breaks", {"edges", "categories"}},
    {"levels", {"categories", "edges"}},
    {"values", {"categories", "keys"}},
    {"set", {"categories"}},
    {"col", {"column"}},
    {"variable", {"column"}},
    {"field", {"column"}},
    {"attribute", {"column"}},
    {"groupby", {"group_by"}},
    {"group", {"group_by"}},
    {"by", {"group_by"}},
    {"groups", {"keys"}},
    {"degree", {"order"}},
    {"power", {"order"}},
    {"mechanism", {"noise"}},
    {"dtype", {"type"}},
    {"statistic", {"kind"}},
    {"aggregate", {"kind"}},
    {"measure", {"kind"}},
    {"filter", {"where"}},
    {"query", {"where"}},
    {"condition", {"where"}},
    {"file", {"path"}},
    {"filename", {"path"}},
    {"data", {"path"}},
    {"sep", {"delimiter"}},
    {"separator", {"delimiter"}},
    {"id", {"privacy_unit", "name"}},
    {"unit", {"privacy_unit"}},
    {"user", {"privacy_unit"}},
    {"user_id", {"privacy_unit"}},
    {"privacy_id", {"privacy_unit"}},
    {"max_contributions", {"max_rows_per_unit"}},
    {"rows_per_unit", {"max_rows_per_unit"}},
    {"rows", {"size"}},
    {"nrows", {"size"}},
    {"length", {"size"}},
    {"na", {"nulls"}},
    {"nan", {"nulls"}},
    {"missing", {"nulls"}},
    {"impute", {"nulls"}},
    {"label", {"name", "description"}},
    {"title", {"name", "description"}},
};

// In the form of the table: "Std-Dev" is "std_dev".
std::string normalized(std::string_view word) {
  std::string text(word);
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '-' || c == ' ') c = '_';
  }
  return text;
}

bool has(const std::vector<std::string>& known, std::string_view word) {
  return std::find(known.begin(), known.end(), word) != known.end();
}

std::string synonym_of(std::string_view word, const std::vector<std::string>& known) {
  const auto* const found = std::find_if(std::begin(synonyms), std::end(synonyms),
                                         [&](const Synonym& synonym) { return synonym.said == word; });
  if (found == std::end(synonyms)) return "";
  const auto* const meant =
      std::find_if(found->meant.begin(), found->meant.end(),
                   [&](std::string_view name) { return !name.empty() && has(known, name); });
  return meant == found->meant.end() ? "" : std::string(*meant);
}

// "mean_age" and "total_income": the first part that says something.
std::string part_of(std::string_view word, const std::vector<std::string>& known) {
  while (!word.empty()) {
    const std::size_t end = std::min(word.find('_'), word.size());
    const std::string_view part = word.substr(0, end);
    if (has(known, part)) return std::string(part);
    if (std::string meant = synonym_of(part, known); !meant.empty()) return meant;
    word.remove_prefix(std::min(end + 1, word.size()));
  }
  return "";
}

}  // namespace

std::string suggestion_for(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 64;
  const std::string said = normalized(word.substr(0, longest));
  std::string meant = synonym_of(said, known);
  if (meant.empty()) meant = nearest_name(word, known);
  if (meant.empty()) meant = part_of(said, known);
  return meant.empty() ? "" : "; did you mean " + quoted_text(meant) + "?";
}

std::string other_key_of(std::string_view word, std::string_view key) {
  struct Value {
    std::string_view word;
    std::string_view key;
  };
  constexpr Value values[] = {
      {"laplace", "noise"}, {"geometric", "noise"}, {"exact", "mode"},           {"precision", "mode"},
      {"real", "type"},     {"integer", "type"},    {"change-one", "neighbors"}, {"add-remove", "neighbors"},
      {"auto", "grid"},     {"notes", "grid"}};
  for (const Value& value : values) {
    if (value.word != word || value.key == key) continue;
    return "; that is " + std::string(value.key) + " = " + quoted_text(word) + ", a key of its own";
  }
  return "";
}

}  // namespace snapdp::release_internal
