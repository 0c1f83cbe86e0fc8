// The most frequent of public categories, and nothing of how frequent they are.
#include <algorithm>

#include "release/kinds/bins.h"
#include "release/toml_values.h"

namespace snapdp::release_internal {
namespace {

class TopKind final : public Kind {
 public:
  TopKind() : Kind(StatisticKind::top, "top", {"column", "type", "categories", "k"}) {}

  std::string instead_of(const std::string& key) const override {
    return key == "bounds" || key == "edges" ? "categories" : "";
  }
  std::string why_not(const std::string&) const override {
    return "does not apply to top, which names categories and releases no number; remove it, and give "
           "epsilon "
           "or weight";
  }
  void read_values(const StatisticText& text, StatisticSpecification& statistic) const override {
    for (const std::string key : {"grid", "mode", "precision", "noise"}) {
      if (text.table.has(key))
        text.table.refuse(key, "is about noise on a number, and top releases none; remove it");
    }
    if (text.table.has("group_by")) {
      text.table.refuse("group_by",
                        "does not go with top: ask for one top a group with where, or for a histogram by "
                        "groups");
    }
    read_bins(text,
              "are missing; declare the public categories, categories = [\"a\", \"b\"], or categories under "
              "[columns.NAME]",
              statistic);
    if (!text.table.has("k"))
      text.table.refuse_missing("k", "is missing; say how many of the categories to name, k = 3");
    const std::uint64_t count = text.table.get_count("k");
    const std::size_t candidates = std::max(statistic.categories.size(), statistic.texts.size());
    if (count > candidates) {
      text.table.refuse("k", "must be at most " + std::to_string(candidates) + ", the number of categories");
    }
    statistic.top_count = static_cast<std::size_t>(count);
  }
  std::vector<KindPart> parts(Neighbors, std::size_t) const override {
    return {{"", [](const StatisticRows& rows) {
               return make_histogram(bins_of(rows.planned().specification));
             }}};
  }
  bool is_choice() const override { return true; }
  bool is_integer(const StatisticSpecification&) const override { return true; }
  bool is_one_number() const override { return false; }
  NumberRange public_range(const std::vector<DecimalBounds>&, std::optional<std::uint64_t>,
                           int) const override {
    return {};
  }
  void prepare(const Declaration&, PlannedStatistic& planned) const override {
    planned.bins = bins_of(planned.specification).labels();
  }
  void conclude(PlannedStatistic& planned) const override {
    planned.gap = planned.measurements.front().accuracy.tight;
    planned.accuracy.reset();  // no number is released that could be off
  }
  void add_values(ShownEntry& entry, const PlannedStatistic& planned, const ShownValues& values,
                  std::size_t) const override {
    if (!values.any()) return;
    const std::vector<std::string>& labels = planned.bins;
    const std::size_t count = planned.specification.top_count;
    entry.chosen.reserve(count);
    if (values.released() == nullptr) {
      const auto shorter = [](const std::string& a, const std::string& b) { return a.size() < b.size(); };
      entry.chosen.assign(count, {*std::max_element(labels.begin(), labels.end(), shorter), {}});
      return;
    }
    for (const Dyadic& index : values.released()->front())
      entry.chosen.push_back({labels.at(static_cast<std::size_t>(index.to_int64())), {}});
  }
};

}  // namespace

const Kind& top_kind() {
  static const TopKind kind;
  return kind;
}

}  // namespace snapdp::release_internal
