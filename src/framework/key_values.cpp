#include "snapdp/framework/key_values.h"

#include <algorithm>
#include <stdexcept>
#include <unordered_set>

#include "snapdp/error.h"
#include "snapdp/framework/source.h"
#include "snapdp/text.h"

namespace snapdp {

namespace {}  // namespace

void require_number_of_keys(std::size_t keys) {
  if (keys <= KeyValues::most) return;
  throw Error(ErrorCode::bad_data, "keys",
              "keys: the column has more than " + std::to_string(KeyValues::most) +
                  " different keys; group by a coarser column, or declare the keys of interest");
}

namespace {

// The keys of some rows, and nothing else of them.
class KeySetState final : public FoldState {
 public:
  explicit KeySetState(AtomType type) : type_(type) {}

  void update(const Chunk& block) override {
    rows_ = add_rows(rows_, block.length);
    const Column& column = block.column[0];
    for (std::size_t row = 0; row < block.length; ++row) {
      if (!column.valid(row)) continue;
      if (type_ == AtomType::integer) {
        integers_.insert(column.integers()[row]);
      } else {
        add(column.texts()[row]);
      }
    }
    check_number();
  }
  void merge(const FoldState& other) override {
    const auto& from = dynamic_cast<const KeySetState&>(other);
    rows_ = add_rows(rows_, from.rows_);
    texts_.insert(from.texts_.begin(), from.texts_.end());
    integers_.insert(from.integers_.begin(), from.integers_.end());
    check_number();
  }
  Totals totals() const override { return {rows_, {}}; }

  KeyValues keys() const {
    KeyValues keys{type_, {texts_.begin(), texts_.end()}, {integers_.begin(), integers_.end()}};
    put_in_order(keys);
    return keys;
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  void add(std::string_view text) {
    if (texts_.find(text) == texts_.end() && is_group_key(text)) texts_.emplace(text);
  }
  void check_number() const { require_number_of_keys(texts_.size() + integers_.size()); }

  AtomType type_;
  std::uint64_t rows_ = 0;
  std::unordered_set<std::string, Hash, std::equal_to<>> texts_;
  std::unordered_set<std::int64_t> integers_;
};

class KeySetFold final : public Fold {
 public:
  explicit KeySetFold(AtomType type) : type_(type) {}
  std::unique_ptr<FoldState> start() const override { return std::make_unique<KeySetState>(type_); }
  // Its states are never kept.
  std::unique_ptr<FoldState> restore(const Totals&) const override {
    throw Error(ErrorCode::bad_data, "state", "state: keys are not kept; fold the rows again");
  }
  std::string description() const override { return "keys of " + to_string(type_) + " cells"; }

 private:
  AtomType type_;
};

// Not for releases: no two datasets are claimed to give statistics at any distance.
Aggregation make_key_set(AtomType type) {
  const Relation unclaimed([](const Rational&, const Rational&) { return false; });
  return {{untrusted_domain({type}), StatisticDomain{}, symmetric_distance(), Metric::l1_distance, unclaimed},
          std::make_shared<KeySetFold>(type),
          [](const Totals&) -> std::vector<Dyadic> { throw std::logic_error("keys are no statistic"); }};
}

}  // namespace

void put_in_order(KeyValues& keys) {
  std::sort(keys.texts.begin(), keys.texts.end());
  keys.texts.erase(std::unique(keys.texts.begin(), keys.texts.end()), keys.texts.end());
  std::sort(keys.integers.begin(), keys.integers.end());
  keys.integers.erase(std::unique(keys.integers.begin(), keys.integers.end()), keys.integers.end());
  require_number_of_keys(keys.size());
}

bool is_group_key(std::string_view text) {
  return text.find_first_not_of(' ') != std::string_view::npos && text.size() <= KeyValues::longest &&
         shown_text(text) == text;
}

FoldResult Source::fold_by_keys(const RowSelection& selection, std::span<const KeyColumn> columns,
                                const RequestsOfKeys& requests, const Progress& progress) {
  std::vector<Aggregation> sets;
  for (const KeyColumn& column : columns) sets.push_back(make_key_set(column.type));
  std::vector<FoldRequest> asked;
  for (std::size_t i = 0; i < columns.size(); ++i) asked.push_back({{columns[i].name}, &sets[i]});
  const auto half = [&](double done) {
    return progress ? Progress([&progress, done](double percent) { progress(done + percent / 2); })
                    : Progress();
  };
  const FoldResult first = fold({selection.where, std::nullopt}, asked, half(0));
  std::vector<KeyValues> keys;
  for (const AggregateState& state : first.states)
    keys.push_back(dynamic_cast<const KeySetState&>(state.fold()).keys());
  constexpr double all = 50;
  FoldResult second = fold(selection, requests(keys), half(all));
  if (second.rows != first.rows) {
    throw Error(ErrorCode::bad_data, "rows",
                "rows: they changed while they were read; release from a copy that nobody writes to");
  }
  return second;
}

}  // namespace snapdp
