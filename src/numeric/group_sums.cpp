#include "numeric/shared/group_sums.h"

#include <algorithm>
#include <bit>
#include <string>

#include "numeric/shared/float_environment.h"
#include "numeric/shared/targets.h"
#include "numeric/sum_kernels.h"
#include "snapdp/error.h"

namespace snapdp::numeric_internal {
namespace {

Integer to_integer(std::uint64_t value) {
  return snapdp::to_integer(Int128{value, 0});
}

// The distance of the clamped row from `lower`: modulo 2^64, where it fits.
SNAPDP_INLINE std::uint64_t offset_of(std::int64_t row, std::int64_t lower, std::int64_t upper) {
  return static_cast<std::uint64_t>(std::clamp(row, lower, upper)) - static_cast<std::uint64_t>(lower);
}

template <typename Group, typename GroupOf>
SNAPDP_INLINE void add_integers(std::span<const std::int64_t> rows, const IntegerBounds& bounds,
                                Group* groups, GroupOf group_of) {
  const std::int64_t lower = bounds.lower();
  const std::int64_t upper = bounds.upper();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Group& group = groups[group_of(i)];
    ++group.rows;
    group.offset += Int128{offset_of(rows[i], lower, upper), 0};
  }
}

// `one_row` counts a row.
SNAPDP_INLINE void add_packed(std::span<const std::int64_t> rows, const IntegerBounds& bounds,
                              std::uint64_t one_row, std::uint64_t* packed, const std::uint32_t* group) {
  const std::int64_t lower = bounds.lower();
  const std::int64_t upper = bounds.upper();
  for (std::size_t i = 0; i < rows.size(); ++i)
    packed[group[i]] += offset_of(rows[i], lower, upper) + one_row;
}

// Adds a number of at most 2^52. It carries once in 4096 additions at the most, so that a branch costs less than the
// addition of a carry.
SNAPDP_INLINE void add_units(std::uint64_t units, Int128& total) {
  total.low += units;
  if (total.low < units) [[unlikely]]
    ++total.high;
}

// Adds rows from number `i` on, up to the first one that has bits below the last grid, and returns which that is.
template <typename Group, typename GroupOf>
SNAPDP_INLINE std::size_t add_on_grids(std::span<const double> rows, std::size_t i, const ClampGrid grid,
                                       Group* groups, GroupOf group_of) {
  for (; i < rows.size(); ++i) {
    std::uint64_t units[2];
    if (!count_row(rows[i], grid, units)) break;
    Group& group = groups[group_of(i)];
    ++group.rows;
    add_units(units[0], group.units[0]);
    add_units(units[1], group.units[1]);
  }
  return i;
}

template <typename Sums>
void require_equal(const Sums& a, const Sums& b) {
  if (a.bounds() == b.bounds() && a.groups() == b.groups()) return;
  const auto describe = [](const Sums& sums) {
    return std::to_string(sums.groups()) + " groups on [" + to_string(Dyadic(sums.bounds().lower())) + ", " +
           to_string(Dyadic(sums.bounds().upper())) + "]";
  };
  throw Error(ErrorCode::mismatch, "bounds",
              "bounds: sums of " + describe(a) + " and of " + describe(b) +
                  " cannot be merged; use the same bounds and groups for both");
}

}  // namespace

IntegerSums::IntegerSums(const IntegerBounds& bounds, std::size_t groups) : bounds_(bounds), groups_(groups) {
  const auto width =
      static_cast<unsigned>(std::bit_width(offset_of(bounds.upper(), bounds.lower(), bounds.upper())));
  const unsigned row_bits = (64 - width) / 2;
  offset_bits_ = 64 - row_bits;
  capacity_ = (std::uint64_t{1} << row_bits) - 1;
  if (capacity_ >= groups) packed_.resize(groups);
}

void IntegerSums::add(std::span<const std::int64_t> rows, const std::uint32_t* group) noexcept {
  if (packed_.empty())
    return add_integers(rows, bounds_, groups_.data(), [group](std::size_t i) { return group[i]; });
  while (!rows.empty()) {
    if (pending_ == capacity_) unpack();
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), capacity_ - pending_));
    add_packed(rows.first(length), bounds_, std::uint64_t{1} << offset_bits_, packed_.data(), group);
    pending_ += length;
    rows = rows.subspan(length);
    group += length;
  }
}

void IntegerSums::add_to(std::size_t group, std::span<const std::int64_t> rows) noexcept {
  add_integers(rows, bounds_, groups_.data(), [group](std::size_t) { return group; });
}

void IntegerSums::add_total(std::size_t group, std::uint64_t rows, const Dyadic& sum) {
  const auto times_rows = [rows](std::int64_t bound) { return Dyadic(to_integer(rows), 0) * Dyadic(bound); };
  const bool possible = rows <= std::uint64_t{1} << 63 && sum.is_integer() &&
                        times_rows(bounds_.lower()) <= sum && sum <= times_rows(bounds_.upper());
  if (!possible) {
    throw Error(ErrorCode::invalid_argument, "sum",
                "sum: the number given is no sum of that many integers in [" +
                    std::to_string(bounds_.lower()) + ", " + std::to_string(bounds_.upper()) +
                    "]; pass rows and a total that such sums returned");
  }
  const Integer offset = (sum - times_rows(bounds_.lower())).rational().get_num();
  const Integer high = offset >> 64;
  const Integer low = offset - (high << 64);
  groups_[group].rows += rows;
  groups_[group].offset += Int128{low.get_ui(), high.get_ui()};
}

void IntegerSums::merge(const IntegerSums& other) {
  require_equal(*this, other);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const Group more = other.group_of(group);
    groups_[group].rows += more.rows;
    groups_[group].offset += more.offset;
  }
}

Dyadic IntegerSums::total(std::size_t group) const {
  const Group all = group_of(group);
  return {to_integer(all.rows) * static_cast<long>(bounds_.lower()) + snapdp::to_integer(all.offset), 0};
}

IntegerSums::Group IntegerSums::group_of(std::size_t group) const {
  Group all = groups_[group];
  if (packed_.empty()) return all;
  const std::uint64_t rows = packed_[group] >> offset_bits_;
  all.rows += rows;
  all.offset += Int128{packed_[group] - (rows << offset_bits_), 0};
  return all;
}

void IntegerSums::unpack() {
  for (std::size_t group = 0; group < groups_.size(); ++group) groups_[group] = group_of(group);
  std::fill(packed_.begin(), packed_.end(), std::uint64_t{0});
  pending_ = 0;
}

template <typename GroupOf>
void ExactSums::add_rows(std::span<const double> rows, GroupOf group_of) {
  const FloatEnvironment environment;
  const bool fast = bounds_.exponent() <= largest_sum_exponent;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (fast) {
      i = add_on_grids(rows, i, ClampGrid(bounds_, least_sum_exponent), groups_.data(), group_of);
      if (i == rows.size()) return;
    }
    Others& rest = others(group_of(i));
    rest.sum.add(bounds_.clamp(rows[i]));
    ++rest.rows;
    ++groups_[group_of(i)].rows;
  }
}

void ExactSums::add(std::span<const double> rows, const std::uint32_t* group) {
  add_rows(rows, [group](std::size_t i) { return group[i]; });
}

void ExactSums::add_to(std::size_t group, std::span<const double> rows) {
  add_rows(rows, [group](std::size_t) { return group; });
}

ExactSums::Others& ExactSums::others(std::size_t group) {
  if (others_.empty()) others_.resize(groups_.size());
  return others_[group];
}

void ExactSums::add_total(std::size_t group, std::uint64_t rows, const Dyadic& sum) {
  Others& rest = others(group);
  rest.sum.add(sum, "sum");
  rest.rows += rows;
  groups_[group].rows += rows;
}

void ExactSums::merge(const ExactSums& other) {
  require_equal(*this, other);
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    groups_[group].rows += other.groups_[group].rows;
    for (std::size_t level = 0; level < 2; ++level)
      groups_[group].units[level] += other.groups_[group].units[level];
    if (other.others_.empty()) continue;
    others(group).rows += other.others_[group].rows;
    others(group).sum.merge(other.others_[group].sum);
  }
}

Dyadic ExactSums::total(std::size_t group) const {
  const Group& sums = groups_[group];
  std::uint64_t counted = sums.rows;
  Dyadic total;
  if (!others_.empty()) {
    counted -= others_[group].rows;
    total = others_[group].sum.total();
  }
  const int k = std::max(bounds_.exponent(), least_sum_exponent);
  for (int level = 0; level < 2; ++level) {
    const Integer units = snapdp::to_integer(sums.units[level]) - (to_integer(counted) << 51);
    total += Dyadic(units, sum_unit(k, level));
  }
  return total;
}

}  // namespace snapdp::numeric_internal
