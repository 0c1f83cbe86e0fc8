// A Source of columns in memory, for tests: of what is released from a table, and of other sources, which can
// be held against this one. It selects rows one step after the other, as source.h says, in the plainest way.
//
//   MemorySource people;
//   people.add("age", MemorySource::Reals{31, 45, 27});
//   people.add("city", MemorySource::Texts{"ulm", "bonn", "ulm"});
//   composition.exact(people);
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "snapdp/framework/source.h"

namespace snapdp {

class MemorySource : public Source {
 public:
  using Reals = std::vector<double>;
  using Integers = std::vector<std::int64_t>;
  using Texts = std::vector<std::string_view>;  // their bytes are the caller's; std::string_view() is null
  using Cells = std::variant<Reals, Integers, Texts>;

  // All columns have the same number of cells. Those of integers are read as reals too, and texts as any
  // type.
  MemorySource& add(SourceColumn column, Cells cells);
  // As a CSV column: without a type.
  MemorySource& add(const std::string& name, Cells cells) {
    return add(SourceColumn{name, std::nullopt, ""}, std::move(cells));
  }

  std::vector<SourceColumn> columns() override { return header_; }
  using Source::fold;
  // In two pieces, which are merged. Throws std::logic_error for a conversion that it does not know.
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override;

  std::function<void()> before_fold;  // to look at the ledger, say
  int folds = 0;

 private:
  std::vector<SourceColumn> header_;
  std::map<std::string, Cells> cells_;
  std::size_t rows_ = 0;
};

}  // namespace snapdp
