#include "statistics/bin_index.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "snapdp/error.h"

namespace snapdp {
namespace {

// `edge` rounded as the caller says, for an integer column.
std::int64_t integer_edge(const Integer& edge) {
  if (!edge.fits_slong_p()) {
    throw Error(ErrorCode::invalid_argument, "edges",
                "edges: " + to_string(Rational(edge)) +
                    " is beyond the 64-bit integers of the column; move the edge inside");
  }
  return edge.get_si();
}

}  // namespace

BinIndex::BinIndex(AtomType type, const Bins& bins)
    : edges_(bins.kind_ == Bins::Kind::edges),
      bins_(bins.size()),
      elsewhere_(bins.has_other() ? bins.size() - 1 : bins.size()) {
  if (bins.are_texts()) {
    texts_ = bins.texts_;
    for (std::size_t bin = 0; bin < texts_.size(); ++bin) bin_of_text_.emplace(texts_[bin], bin);
    return;
  }
  if (edges_) {
    // Row x lies in bin i when edge i <= x < edge i + 1. The last bin is closed: its edge becomes the next
    // value above, or the bin has no upper end when there is none.
    for (const Dyadic& edge : bins.numbers_) {
      if (type == AtomType::integer) {
        integers_.push_back(integer_edge(ceil(edge.rational())));
      } else {
        reals_.push_back(edge.to_double_up());
      }
    }
    const Dyadic& last = bins.numbers_.back();
    if (type == AtomType::integer) {
      const std::int64_t top = integer_edge(floor(last.rational()));
      open_top_ = top == std::numeric_limits<std::int64_t>::max();
      integers_.back() = open_top_ ? top : top + 1;
    } else {
      reals_.back() = std::nextafter(last.to_double_down(), std::numeric_limits<double>::infinity());
    }
    return;
  }
  bin_of_.resize(bins.numbers_.size());
  std::iota(bin_of_.begin(), bin_of_.end(), std::size_t{0});
  std::sort(bin_of_.begin(), bin_of_.end(),
            [&](std::size_t a, std::size_t b) { return bins.numbers_[a] < bins.numbers_[b]; });
  std::vector<std::size_t> kept;
  for (const std::size_t bin : bin_of_) {
    const Dyadic& category = bins.numbers_[bin];
    if (type == AtomType::integer ? !category.is_int64() : !category.is_double())
      continue;  // no cell equals it
    kept.push_back(bin);
    if (type == AtomType::integer) {
      integers_.push_back(category.rational().get_num().get_si());
    } else {
      reals_.push_back(category.to_double_nearest());
    }
  }
  bin_of_ = std::move(kept);
}

template <typename Value>
std::size_t BinIndex::find(const std::vector<Value>& sorted, const Value& value) const {
  const auto above = std::upper_bound(sorted.begin(), sorted.end(), value);
  if (above == sorted.begin()) return elsewhere_;
  const auto place = static_cast<std::size_t>(above - sorted.begin()) - 1;
  if (edges_) {
    if (above != sorted.end()) return place;
    return open_top_ ? sorted.size() - 2 : elsewhere_;
  }
  return sorted[place] == value ? bin_of_[place] : elsewhere_;
}

std::size_t BinIndex::bin_of(const Column& column, std::size_t row) const {
  if (!column.valid(row)) return elsewhere_;
  switch (column.type) {
    case AtomType::real:
      return std::isnan(column.reals()[row]) ? elsewhere_ : find(reals_, column.reals()[row]);
    case AtomType::integer:
      return find(integers_, column.integers()[row]);
    case AtomType::text:
      break;
  }
  const auto found = bin_of_text_.find(column.texts()[row]);
  return found == bin_of_text_.end() ? elsewhere_ : found->second;
}

void BinIndex::assign(const Column& column, std::size_t rows, std::uint32_t* bin) const {
  for (std::size_t row = 0; row < rows; ++row) bin[row] = static_cast<std::uint32_t>(bin_of(column, row));
}

void BinIndex::count(const Column& column, std::size_t rows, std::uint64_t* counts) const {
  for (std::size_t row = 0; row < rows; ++row) ++counts[bin_of(column, row)];
}

}  // namespace snapdp
