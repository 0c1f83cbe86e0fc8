#include "release/kinds/bins.h"

#include "release/kinds/cells.h"
#include "release/toml_values.h"

namespace snapdp::release_internal {

std::vector<Rational> read_edges(const TomlTable& table) {
  if (table.get_array("edges").size() > Specification::max_bins)
    table.refuse("edges", "has more than " + std::to_string(Specification::max_bins) + " entries; use fewer");
  std::vector<Rational> edges = table.get_numbers("edges");
  if (edges.size() < 2) table.refuse("edges", "must have at least two edges, [lowest, ..., highest]");
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i - 1] >= edges[i])
      table.refuse("edges", "must increase strictly; sort the edges and remove repeated ones");
  }
  return edges;
}

void read_bins(const StatisticText& text, const std::string& missing, StatisticSpecification& statistic) {
  const TomlTable& table = text.table;
  const bool has_categories = table.has("categories");
  if (table.has("edges")) {
    if (has_categories) table.refuse("edges", "cannot stand beside categories; remove one of them");
    if (statistic.type == AtomType::text)
      table.refuse("edges", "need numbers, and type = \"text\"; use categories");
    statistic.edges = read_edges(table);
    return;
  }
  PublicValues values = text.data.column(statistic.columns.front()).values;
  if (has_categories) {
    values = get_values(table, "categories", "category", statistic.type);
  } else if (values.empty()) {
    table.refuse_missing("categories", missing);
  }
  if (!values.texts.empty()) statistic.type = AtomType::text;
  statistic.categories = std::move(values.numbers);
  statistic.texts = std::move(values.texts);
}

Bins bins_of(const StatisticSpecification& statistic) {
  const AtomType type = statistic.type.value_or(AtomType::real);
  const Bins bins = !statistic.texts.empty() ? Bins::texts(statistic.texts)
                    : !statistic.categories.empty()
                        ? Bins::numbers(cell_values(statistic.categories, type, "categories"))
                        : Bins::edges(cell_values(statistic.edges, type, "edges"));
  return statistic.other ? bins.with_other() : bins;
}

}  // namespace snapdp::release_internal
