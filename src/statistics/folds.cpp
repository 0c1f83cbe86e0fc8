#include "statistics/folds.h"

#include <algorithm>
#include <string>

#include "framework/shared/keyed_fold.h"
#include "framework/shared/row_language.h"
#include "numeric/shared/group_sums.h"
#include "snapdp/error.h"
#include "snapdp/numeric/exact_sum.h"
#include "statistics/bin_index.h"
#include "statistics/construction.h"
#include "statistics/power_sums.h"

namespace snapdp::statistics_internal {

using namespace numeric_internal;
using namespace framework_internal;

namespace {

[[noreturn]] void refuse_totals(const std::string& why) {
  throw Error(ErrorCode::bad_data, "state",
              "state: its totals are impossible: " + why + "; recompute the state from the rows");
}

void require_totals(bool possible, const char* why) {
  if (!possible) refuse_totals(why);
}

// What the state below needs to know of each accumulator of the numeric room.
std::span<const double> reals(const Chunk& block, std::size_t i) {
  return {block.column[i].reals(), block.length};
}
std::span<const std::int64_t> integers(const Chunk& block, std::size_t i) {
  return {block.column[i].integers(), block.length};
}

void add(ExactSum& sum, const Chunk& block) {
  sum.add(reals(block, 0));
}
void add(IntegerSum& sum, const Chunk& block) {
  sum.add(integers(block, 0));
}
void add(ExactMoments& sums, const Chunk& block) {
  sums.add(reals(block, 0));
}
void add(IntegerMoments& sums, const Chunk& block) {
  sums.add(integers(block, 0));
}
void add(ExactProducts& sums, const Chunk& block) {
  sums.add(reals(block, 0), reals(block, 1));
}
void add(IntegerProducts& sums, const Chunk& block) {
  sums.add(integers(block, 0), integers(block, 1));
}
void add(PowerSums& sums, const Chunk& block) {
  sums.add(block.column[0], block.length);
}

std::vector<Dyadic> values(const ExactSum& sum) {
  return {sum.total()};
}
std::vector<Dyadic> values(const IntegerSum& sum) {
  return {sum.total()};
}
std::vector<Dyadic> values(const PowerSums& sums) {
  return sums.totals();
}
template <typename Moments>
std::vector<Dyadic> values(const Moments& sums) requires requires {
  sums.sum_of_squares();
}
{ return {sums.sum(), sums.sum_of_squares()}; }
template <typename Products>
std::vector<Dyadic> values(const Products& sums) requires requires {
  sums.sum_xy();
}
{ return {sums.sum_x(), sums.sum_y(), sums.sum_xy()}; }

void restore(ExactSum& sum, const std::vector<Dyadic>& totals) {
  sum.add_total(totals[0]);
}
void restore(IntegerSum& sum, const std::vector<Dyadic>& totals) {
  sum.add_total(totals[0]);
}
void restore(PowerSums& sums, const std::vector<Dyadic>& totals) {
  sums.add_totals(totals);
}
template <typename Moments>
void restore(Moments& sums, const std::vector<Dyadic>& totals) requires requires {
  sums.sum_of_squares();
}
{ sums.add_totals(totals[0], totals[1]); }
template <typename Products>
void restore(Products& sums, const std::vector<Dyadic>& totals) requires requires {
  sums.sum_xy();
}
{ sums.add_totals(totals[0], totals[1], totals[2]); }

// What the accumulator sums up, in another language.
template <typename Sums>
void tell(const Sums&, std::size_t totals, RowLanguage& language) {
  language.power_sums(totals);
}
template <typename Products>
void tell(const Products&, std::size_t, RowLanguage& language) requires requires(const Products& sums) {
  sums.sum_xy();
}
{ language.products(); }

// A state of `rows` rows and one of the numeric room's accumulators.
template <typename Accumulator>
class AccumulatorState final : public FoldState {
 public:
  explicit AccumulatorState(Accumulator accumulator) : accumulator_(std::move(accumulator)) {}
  AccumulatorState(Accumulator accumulator, const Totals& totals) : accumulator_(std::move(accumulator)) {
    rows_ = totals.rows;
    restore(accumulator_, totals.values);
  }

  void update(const Chunk& block) override {
    rows_ = add_rows(rows_, block.length);
    add(accumulator_, block);
  }
  void merge(const FoldState& other) override {
    const auto& same = static_cast<const AccumulatorState&>(other);
    rows_ = add_rows(rows_, same.rows_);
    accumulator_.merge(same.accumulator_);
  }
  Totals totals() const override { return {rows_, values(accumulator_)}; }

 private:
  std::uint64_t rows_ = 0;
  Accumulator accumulator_;
};

// A fold whose states are copies of one empty accumulator, with a check of what restored totals may be.
template <typename Accumulator, typename Base = Fold>
class AccumulatorFold : public Base {
 public:
  using Check = std::function<void(const Totals&)>;
  AccumulatorFold(Accumulator empty, std::size_t totals, Check possible, std::string description)
      : empty_(std::move(empty)),
        count_(totals),
        possible_(std::move(possible)),
        description_(std::move(description)) {}

  std::unique_ptr<FoldState> start() const override {
    return std::make_unique<AccumulatorState<Accumulator>>(empty_);
  }
  std::unique_ptr<FoldState> restore(const Totals& totals) const override {
    require_totals(totals.values.size() == count_, "their number is wrong");
    possible_(totals);
    try {
      return std::make_unique<AccumulatorState<Accumulator>>(empty_, totals);
    } catch (const Error& error) {
      refuse_totals(error.what());
    }
  }
  std::string description() const override { return description_; }
  void tell(RowLanguage& language) const override { statistics_internal::tell(empty_, count_, language); }

 private:
  Accumulator empty_;
  std::size_t count_;
  Check possible_;
  std::string description_;
};

// The sums of many groups side by side.
template <typename Sums>
class SumGroups final : public GroupStates {
 public:
  // `fold` restores a group's totals, which shows whether they are possible. The last group is where rows of none go.
  SumGroups(const Fold& fold, Sums sums) : fold_(fold), sums_(std::move(sums)) {}

  void update(const Chunk& block, const std::uint32_t* group) override { sums_.add(cells(block), group); }
  void update_group(std::size_t group, const Chunk& rows) override { sums_.add_to(group, cells(rows)); }
  void merge(const GroupStates& other) override { sums_.merge(static_cast<const SumGroups&>(other).sums_); }
  Totals totals(std::size_t group) const override { return {sums_.rows(group), {sums_.total(group)}}; }
  void restore(std::size_t group, const Totals& totals) override {
    fold_.restore(totals);
    sums_.add_total(group, totals.rows, totals.values[0]);
  }

 private:
  static auto cells(const Chunk& block) {
    if constexpr (std::is_same_v<Sums, IntegerSums>) {
      return integers(block, 0);
    } else {
      return reals(block, 0);
    }
  }

  const Fold& fold_;
  Sums sums_;
};

// The sum of one column clamped to `limits`, of all rows or of each group's.
template <typename Sum, typename Sums, typename Limits>
class SumFold final : public AccumulatorFold<Sum, SideBySideFold> {
 public:
  SumFold(const Limits& limits, typename AccumulatorFold<Sum>::Check possible, std::string description)
      : AccumulatorFold<Sum, SideBySideFold>(Sum(limits.lower(), limits.upper()), 1, std::move(possible),
                                             std::move(description)),
        limits_(limits) {}

  std::unique_ptr<GroupStates> start_groups(std::size_t groups) const override {
    return std::make_unique<SumGroups<Sums>>(*this, Sums(limits_, groups + 1));
  }

 private:
  Limits limits_;
};

template <typename Accumulator>
std::shared_ptr<const Fold> make_fold(Accumulator empty, std::size_t totals,
                                      typename AccumulatorFold<Accumulator>::Check possible,
                                      std::string description) {
  return std::make_shared<AccumulatorFold<Accumulator>>(std::move(empty), totals, std::move(possible),
                                                        std::move(description));
}

Dyadic times(std::uint64_t rows, const Dyadic& value) {
  return Dyadic(Integer(static_cast<unsigned long>(rows)), 0) * value;
}

void require_sum(const Totals& totals, std::size_t i, const Bounds& bounds) {
  require_totals(times(totals.rows, bounds.lower()) <= totals.values[i] &&
                     totals.values[i] <= times(totals.rows, bounds.upper()),
                 "a sum lies outside rows times bounds");
}

// Sums of doubles between -2^63 max and its negative are multiples of 2^-1074, of their products 2^-2148.
void require_kind(const AtomDomain& column, const Totals& totals) {
  if (column.type != AtomType::integer) return;
  for (const Dyadic& value : totals.values)
    require_totals(value.is_integer(), "a sum of integers has a fraction");
}

Bounds product_range(const Bounds& x, const Bounds& y) {
  const auto [low, high] = std::minmax(
      {x.lower() * y.lower(), x.lower() * y.upper(), x.upper() * y.lower(), x.upper() * y.upper()});
  return {low, high};
}

struct CountState final : FoldState {
  explicit CountState(std::uint64_t initial) : rows(initial) {}
  void update(const Chunk& block) override { rows = add_rows(rows, block.length); }
  void merge(const FoldState& other) override {
    rows = add_rows(rows, static_cast<const CountState&>(other).rows);
  }
  Totals totals() const override { return {rows, {}}; }
  std::uint64_t rows;
};

// The counts of many groups side by side.
class CountGroups final : public GroupStates {
 public:
  CountGroups(const Fold& fold, std::size_t groups) : fold_(fold), counts_(groups + 1) {}
  void update(const Chunk& block, const std::uint32_t* group) override {
    std::uint64_t* const counts = counts_.data();
    for (std::size_t row = 0; row < block.length; ++row) ++counts[group[row]];
  }
  void update_group(std::size_t group, const Chunk& rows) override { counts_[group] += rows.length; }
  void merge(const GroupStates& other) override {
    const auto& same = static_cast<const CountGroups&>(other);
    std::transform(counts_.begin(), counts_.end(), same.counts_.begin(), counts_.begin(), std::plus<>());
  }
  Totals totals(std::size_t group) const override { return {counts_[group], {}}; }
  void restore(std::size_t group, const Totals& totals) override {
    fold_.restore(totals);
    counts_[group] = totals.rows;
  }

 private:
  const Fold& fold_;
  std::vector<std::uint64_t> counts_;  // the last one is of rows of no group
};

class CountFold final : public SideBySideFold {
 public:
  std::unique_ptr<GroupStates> start_groups(std::size_t groups) const override {
    return std::make_unique<CountGroups>(*this, groups);
  }
  std::unique_ptr<FoldState> start() const override { return std::make_unique<CountState>(0); }
  std::unique_ptr<FoldState> restore(const Totals& totals) const override {
    require_totals(totals.values.empty(), "their number is wrong");
    return std::make_unique<CountState>(totals.rows);
  }
  std::string description() const override { return "count of rows"; }
  void tell(RowLanguage& language) const override { language.count(); }
};

class HistogramState final : public FoldState {
 public:
  explicit HistogramState(std::shared_ptr<const BinIndex> index)
      : index_(std::move(index)), counts_(index_->keys() + 1) {}
  HistogramState(std::shared_ptr<const BinIndex> index, std::uint64_t rows, std::vector<std::uint64_t> counts)
      : index_(std::move(index)), rows_(rows), counts_(std::move(counts)) {
    counts_.push_back(0);
  }

  void update(const Chunk& block) override {
    rows_ = add_rows(rows_, block.length);
    index_->count(block.column[0], block.length, counts_.data());
  }
  void merge(const FoldState& other) override {
    const auto& same = static_cast<const HistogramState&>(other);
    rows_ = add_rows(rows_, same.rows_);
    std::transform(counts_.begin(), counts_.end(), same.counts_.begin(), counts_.begin(), std::plus<>());
  }
  Totals totals() const override {
    Totals result{rows_, {}};
    for (std::size_t bin = 0; bin < index_->keys(); ++bin) {
      result.values.emplace_back(Integer(static_cast<unsigned long>(counts_[bin])), 0);
    }
    return result;
  }

 private:
  std::shared_ptr<const BinIndex> index_;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> counts_;  // one a bin, then one for the rows that no bin counts
};

class HistogramFold final : public Fold {
 public:
  HistogramFold(AtomType type, const Bins& bins)
      : index_(std::make_shared<BinIndex>(type, bins)), description_("histogram of " + bins.description()) {}

  std::unique_ptr<FoldState> start() const override { return std::make_unique<HistogramState>(index_); }
  std::unique_ptr<FoldState> restore(const Totals& totals) const override {
    require_totals(totals.values.size() == index_->keys(), "the number of bins is wrong");
    std::vector<std::uint64_t> counts;
    Dyadic sum;
    for (const Dyadic& count : totals.values) {
      require_totals(count.is_integer() && count.sign() >= 0, "a bin's count is no count");
      sum += count;
      require_totals(sum <= times(totals.rows, Dyadic(1)), "the bins hold more than all rows");
      counts.push_back(count.rational().get_num().get_ui());
    }
    return std::make_unique<HistogramState>(index_, totals.rows, std::move(counts));
  }
  std::string description() const override { return description_; }
  void tell(RowLanguage& language) const override { language.count_places(index_->places()); }

 private:
  std::shared_ptr<const BinIndex> index_;
  std::string description_;
};

double low(const Bounds& bounds) {
  return bounds.lower().to_double_nearest();
}
double high(const Bounds& bounds) {
  return bounds.upper().to_double_nearest();
}
std::int64_t integer_low(const Bounds& bounds) {
  return bounds.lower().to_int64();
}
std::int64_t integer_high(const Bounds& bounds) {
  return bounds.upper().to_int64();
}

}  // namespace

std::shared_ptr<const Fold> count_fold() {
  return std::make_shared<CountFold>();
}

std::shared_ptr<const Fold> sum_fold(const AtomDomain& column) {
  const Bounds& bounds = column.bounds.value();
  const auto possible = [column](const Totals& totals) {
    require_kind(column, totals);
    require_sum(totals, 0, *column.bounds);
  };
  const std::string description = "sum of " + describe(column);
  if (column.type == AtomType::integer) {
    return std::make_shared<SumFold<IntegerSum, IntegerSums, IntegerBounds>>(
        IntegerBounds(integer_low(bounds), integer_high(bounds)), possible, description);
  }
  return std::make_shared<SumFold<ExactSum, ExactSums, ClampBounds>>(ClampBounds(low(bounds), high(bounds)),
                                                                     possible, description);
}

std::shared_ptr<const Fold> moments_fold(const AtomDomain& column) {
  const Bounds& bounds = column.bounds.value();
  const auto possible = [column](const Totals& totals) {
    require_kind(column, totals);
    require_sum(totals, 0, *column.bounds);
    require_sum(totals, 1, {Dyadic(0), product_range(*column.bounds, *column.bounds).upper()});
    // Cauchy-Schwarz: (sum x)^2 <= rows * sum x^2.
    require_totals(totals.values[0] * totals.values[0] <= times(totals.rows, totals.values[1]),
                   "the squares are too small for the sum");
  };
  const std::string description = "sum and sum of squares of " + describe(column);
  if (column.type == AtomType::integer) {
    return make_fold(IntegerMoments(integer_low(bounds), integer_high(bounds)), 2, possible, description);
  }
  return make_fold(ExactMoments(low(bounds), high(bounds)), 2, possible, description);
}

std::shared_ptr<const Fold> power_sums_fold(const AtomDomain& column, int degree) {
  if (degree == 1) return sum_fold(column);
  if (degree == 2) return moments_fold(column);
  const auto possible = [column, degree](const Totals& totals) {
    require_kind(column, totals);
    for (int power = 1; power <= degree; ++power) {
      const auto i = static_cast<std::size_t>(power - 1);
      require_totals(totals.values[i].exponent() >= power * PowerSums::finest_exponent,
                     "a sum is finer than powers of doubles are");
      require_sum(totals, i, power_range(*column.bounds, power));
    }
    // Cauchy-Schwarz for x^i and x^j: (sum x^(i+j))^2 <= sum x^(2i) sum x^(2j), with x^0 = 1.
    const auto sum = [&](int power) {
      return power == 0 ? times(totals.rows, Dyadic(1)) : totals.values[static_cast<std::size_t>(power - 1)];
    };
    for (int i = 0; 2 * i <= degree; ++i) {
      for (int j = i + 1; 2 * j <= degree; ++j) {
        require_totals(sum(i + j) * sum(i + j) <= sum(2 * i) * sum(2 * j),
                       "a sum of powers is too large for the others");
      }
    }
  };
  return make_fold(PowerSums(column, degree), static_cast<std::size_t>(degree), possible,
                   "sums of powers 1 to " + std::to_string(degree) + " of " + describe(column));
}

std::shared_ptr<const Fold> products_fold(const AtomDomain& x, const AtomDomain& y) {
  const Bounds& x_bounds = x.bounds.value();
  const Bounds& y_bounds = y.bounds.value();
  const auto possible = [x, y](const Totals& totals) {
    require_kind(x, totals);
    require_sum(totals, 0, *x.bounds);
    require_sum(totals, 1, *y.bounds);
    require_sum(totals, 2, product_range(*x.bounds, *y.bounds));
  };
  const std::string description = "sums and sum of products of " + describe(x) + " and " + describe(y);
  if (x.type == AtomType::integer) {
    return make_fold(IntegerProducts(integer_low(x_bounds), integer_high(x_bounds), integer_low(y_bounds),
                                     integer_high(y_bounds)),
                     3, possible, description);
  }
  return make_fold(ExactProducts(low(x_bounds), high(x_bounds), low(y_bounds), high(y_bounds)), 3, possible,
                   description);
}

std::shared_ptr<const Fold> histogram_fold(AtomType type, const Bins& bins) {
  return std::make_shared<HistogramFold>(type, bins);
}

}  // namespace snapdp::statistics_internal
