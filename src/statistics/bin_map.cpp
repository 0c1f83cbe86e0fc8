// make_bin: each cell as the index of its bin.
#include <algorithm>
#include <array>

#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "statistics/bin_index.h"
#include "statistics/construction.h"

namespace snapdp {

using namespace statistics_internal;

namespace {

class BinRows final : public RowFunction {
 public:
  BinRows(AtomType type, const Bins& bins)
      : index_(type, bins), description_("index in " + bins.description()) {}

  void transform(Chunk& rows, Scratch& scratch) const override {
    std::array<std::uint32_t, block_rows> bin;
    index_.find(rows.column[0], rows.length, bin.data());
    Scratch::Buffer& buffer = scratch.buffer(0);
    std::fill(std::begin(buffer.validity), std::end(buffer.validity), std::uint8_t{0});
    for (std::size_t row = 0; row < rows.length; ++row) {
      const bool found = bin[row] < index_.keys();
      buffer.integers()[row] = found ? bin[row] : 0;
      buffer.validity[row / 8] =
          static_cast<std::uint8_t>(buffer.validity[row / 8] | (static_cast<unsigned>(found) << (row % 8)));
    }
    rows.column[0] = {AtomType::integer, buffer.values, buffer.validity, 0};
  }

  KeptRows kept(const Chunk&, std::uint8_t*) const override { return KeptRows::all; }

  std::string description() const override { return description_; }

 private:
  BinIndex index_;
  std::string description_;
};

}  // namespace

Transformation make_bin(const VectorDomain& domain, Metric metric, const Bins& bins) {
  require_dataset_metric(metric, "make_bin");
  if (domain.columns().size() != 1)
    refuse("domain", "domain: make_bin takes one column, not " + describe(Domain(domain)));
  const AtomType type = domain.columns().front().type;
  if ((type == AtomType::text) != bins.are_texts()) {
    refuse("categories", bins.are_texts() ? "categories: text categories need a text column"
                                          : "categories: a text column needs text categories");
  }
  const Dyadic last(Integer(static_cast<unsigned long>(bins.size() - 1)), 0);
  VectorDomain output({AtomDomain{AtomType::integer, !bins.has_other(), false, Bounds(Dyadic(0), last)}});
  if (domain.size()) output = output.of_size(*domain.size());
  return {{domain, output, metric, metric, Relation::stable(1)}, std::make_shared<BinRows>(type, bins)};
}

}  // namespace snapdp
