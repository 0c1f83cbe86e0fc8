// Conditions. The first byte says which types are declared; the rest is the condition.
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "fuzz/fuzz.h"
#include "snapdp/framework/transformation.h"
#include "snapdp/release/declaration.h"

namespace snapdp {
namespace {

// Cells of every kind, the same for each column of a type.
struct Cells {
  std::vector<double> reals{0.0,
                            -0.0,
                            1,
                            18,
                            -5,
                            0.1,
                            std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN()};
  std::vector<std::int64_t> integers{0,
                                     1,
                                     18,
                                     -5,
                                     6,
                                     36,
                                     std::numeric_limits<std::int64_t>::min(),
                                     std::numeric_limits<std::int64_t>::max()};
  std::vector<std::string_view> texts{"", "a", "CA", "NY", "'", "18", "\xff", "x y"};
  std::uint8_t validity = 0b10110111;

  Chunk rows(const std::vector<AtomType>& types) const {
    std::vector<Column> columns;
    for (const AtomType type : types) {
      const void* values = type == AtomType::real      ? static_cast<const void*>(reals.data())
                           : type == AtomType::integer ? static_cast<const void*>(integers.data())
                                                       : static_cast<const void*>(texts.data());
      columns.push_back({type, values, columns.size() % 2 == 0 ? nullptr : &validity});
    }
    return Chunk(columns, reals.size());
  }
};

using Holds = std::array<std::uint8_t, 8>;

Holds evaluate(const RowSelection::Condition& condition) {
  static const Cells cells;
  Holds holds{};
  condition.predicate.evaluate(cells.rows(condition.types), holds.data());
  for (const std::uint8_t bit : holds) SNAPDP_FUZZ_CHECK(bit <= 1);
  return holds;
}

void run(fuzz::Input input) {
  const std::size_t kind = input.below(4);
  const std::string text(input.rest());
  Where where;
  if (fuzz::refuses([&] { where = Where::parse(text); })) return;
  SNAPDP_FUZZ_CHECK(where.text() == text);
  SNAPDP_FUZZ_CHECK(!where.columns().empty() && where.columns().size() <= Chunk::max_columns);

  std::map<std::string, AtomType> declared;
  if (kind != 0) {
    const std::array<AtomType, 4> types{AtomType::real, AtomType::real, AtomType::integer, AtomType::text};
    for (const std::string& column : where.columns()) declared[column] = types[kind];
  }
  const auto bound = [&](const std::string& condition) { return Where::parse(condition).bind(declared); };
  std::vector<RowSelection::Condition> conditions;
  if (fuzz::refuses([&] { conditions.push_back(bound(text)); })) return;
  const RowSelection::Condition& condition = conditions.front();
  condition.predicate.require_fits(untrusted_domain(condition.types));
  const Holds holds = evaluate(condition);

  // The same condition in parentheses, twice, and negated, as long as that is not too deep or too long.
  fuzz::refuses([&] {
    const RowSelection::Condition same = bound("(" + text + ")");
    SNAPDP_FUZZ_CHECK(same.predicate.description() == condition.predicate.description());
  });
  fuzz::refuses([&] { SNAPDP_FUZZ_CHECK(evaluate(bound(text + " OR ( " + text + " )")) == holds); });
  fuzz::refuses([&] {
    const Holds negated = evaluate(bound("not (" + text + ")"));
    for (std::size_t row = 0; row < holds.size(); ++row) SNAPDP_FUZZ_CHECK(negated[row] == 1 - holds[row]);
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
