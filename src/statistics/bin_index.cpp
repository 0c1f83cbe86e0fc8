#include "statistics/bin_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

#include "numeric/shared/float_environment.h"
#include "snapdp/error.h"

namespace snapdp::statistics_internal {

using namespace numeric_internal;

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

// An odd constant near 2^64 / phi: multiplication by it spreads words over the high bits (Knuth, The Art of Computer
// Programming, vol. 3, section 6.4).
constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15;

template <typename Word>
std::uint64_t word_at(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// With the size it is all of a text of up to 8 bytes, and a mixture of the words of a longer one.
std::uint64_t head_of(std::string_view text) {
  const char* bytes = text.data();
  const std::size_t size = text.size();
  if (size >= 8) {
    std::uint64_t mixed = word_at<std::uint64_t>(bytes);
    for (std::size_t at = 8; at < size; at += 8)
      mixed = std::rotl(mixed * multiplier, 32) ^ word_at<std::uint64_t>(bytes + std::min(at, size - 8));
    return mixed;
  }
  if (size >= 4) return word_at<std::uint32_t>(bytes) << 32 | word_at<std::uint32_t>(bytes + size - 4);
  if (size == 0) return 0;
  return word_at<std::uint8_t>(bytes) << 16 | word_at<std::uint8_t>(bytes + size / 2) << 8 |
         word_at<std::uint8_t>(bytes + size - 1);
}

}  // namespace

TextPlaces::TextPlaces(std::vector<std::string> texts) : texts_(std::move(texts)) {
  const std::size_t size = std::bit_ceil(4 * texts_.size() + 2);
  shift_ = 64U - static_cast<unsigned>(std::countr_zero(size));
  slots_.resize(size);
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::uint64_t head = head_of(texts_[i]);
    std::size_t slot = slot_of(head, texts_[i].size());
    while (slots_[slot].place != absent) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {head, texts_[i].size(), static_cast<std::uint32_t>(i)};
  }
}

std::size_t TextPlaces::slot_of(std::uint64_t head, std::size_t size) const {
  return static_cast<std::size_t>(((head ^ size << 56) * multiplier) >> shift_);
}

std::uint32_t TextPlaces::find(std::string_view text) const {
  const std::uint64_t head = head_of(text);
  for (std::size_t slot = slot_of(head, text.size());; slot = (slot + 1) & (slots_.size() - 1)) {
    const Slot& each = slots_[slot];
    if (each.place == absent) return absent;
    if (each.head == head && each.size == text.size() && (text.size() <= 8 || texts_[each.place] == text))
      return each.place;
  }
}

BinIndex::BinIndex(AtomType type, const Bins& bins)
    : type_(type),
      description_(bins.description()),
      edges_(bins.kind_ == Bins::Kind::edges),
      bins_(bins.size()),
      elsewhere_(bins.has_other() ? bins.size() - 1 : bins.size()) {
  const FloatEnvironment environment;
  if (bins.are_texts()) {
    texts_ = TextPlaces(bins.texts_);
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
      integers_.push_back(category.to_int64());
    } else {
      reals_.push_back(category.to_double_nearest());
    }
  }
  bin_of_ = std::move(kept);
}

template <typename Value>
std::size_t BinIndex::find_among(const std::vector<Value>& sorted, const Value& value) const {
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
      return std::isnan(column.reals()[row]) ? elsewhere_ : find_among(reals_, column.reals()[row]);
    case AtomType::integer:
      return find_among(integers_, column.integers()[row]);
    case AtomType::text:
      break;
  }
  const std::uint32_t found = texts_.find(column.texts()[row]);
  return found == TextPlaces::absent ? elsewhere_ : found;
}

Places BinIndex::places() const {
  Places places{.type = type_,
                .count = bins_,
                .elsewhere = elsewhere_,
                .cuts = edges_,
                .reals = reals_,
                .integers = integers_,
                .place_of = bin_of_};
  if (type_ == AtomType::text) {
    places.place_of.resize(texts_.texts().size());
    std::iota(places.place_of.begin(), places.place_of.end(), std::size_t{0});
    std::sort(places.place_of.begin(), places.place_of.end(),
              [&](std::size_t a, std::size_t b) { return texts_.texts()[a] < texts_.texts()[b]; });
    for (const std::size_t place : places.place_of) places.texts.push_back(texts_.texts()[place]);
  }
  if (edges_) {
    const std::size_t cuts = std::max(reals_.size(), integers_.size());
    places.place_of.push_back(elsewhere_);
    for (std::size_t bin = 0; bin + 1 < cuts; ++bin) places.place_of.push_back(bin);
    places.place_of.push_back(open_top_ ? cuts - 2 : elsewhere_);
  }
  return places;
}

void BinIndex::find(const Column& column, std::size_t rows, std::uint32_t* bin) const {
  for (std::size_t row = 0; row < rows; ++row) bin[row] = static_cast<std::uint32_t>(bin_of(column, row));
}

void BinIndex::count(const Column& column, std::size_t rows, std::uint64_t* counts) const {
  for (std::size_t row = 0; row < rows; ++row) ++counts[bin_of(column, row)];
}

}  // namespace snapdp::statistics_internal
