// The worked example of CONTRIBUTING.md, compiled and run: the document shows the lines between the markers.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "snapdp/error.h"
#include "snapdp/testing/neighbor_tester.h"

namespace snapdp {
namespace {

// [the function]
class AbsoluteRows final : public RowFunction {
 public:
  void transform(Chunk& rows, Scratch& scratch) const override {
    double* const results = scratch.buffer(0).reals();
    for (std::size_t row = 0; row < rows.length; ++row) results[row] = std::abs(rows.column[0].reals()[row]);
    rows.column[0] = {AtomType::real, results};
  }
  std::string description() const override { return "absolute value"; }
};
// [the constructor]
// The absolute value of one real column without null and NaN. 1-stable under the symmetric, change-one and
// Hamming metrics. Proof: proofs/make_absolute.md.
Transformation make_absolute(const VectorDomain& domain, Metric metric) {
  if (!is_dataset_metric(metric)) {
    throw Error(ErrorCode::mismatch, "metric", "make_absolute works on rows; use a metric of datasets");
  }
  AtomDomain wanted = atom_domain<double>();
  if (domain.columns().size() == 1) wanted.bounds = domain.columns()[0].bounds;
  if (domain.columns() != std::vector<AtomDomain>{wanted}) {
    throw Error(ErrorCode::invalid_argument, "domain",
                "make_absolute takes one real column without null and NaN; use make_impute or make_drop");
  }
  if (wanted.bounds)
    wanted.bounds = Bounds(0, std::max(abs(wanted.bounds->lower()), abs(wanted.bounds->upper())));
  VectorDomain output({wanted});
  if (domain.size()) output = output.of_size(*domain.size());
  return {{domain, output, metric, metric, Relation::stable(1)}, std::make_shared<AbsoluteRows>()};
}
// [the neighbor test]
TEST(WorkedExample, PassesTheNeighborTester) {
  const VectorDomain bounded({{AtomType::real, false, false, Bounds(-3, 2)}});
  for (const Metric metric : {symmetric_distance(), change_one(), hamming()}) {
    for (const VectorDomain& domain : {vector_domain<double>(), bounded, bounded.of_size(5)}) {
      const std::optional<Counterexample> found = find_counterexample(make_absolute(domain, metric));
      EXPECT_FALSE(found) << found->description();
    }
  }
}
// [end]

// Lines of a file; with `from`, those after it and before `to`.
std::string lines_of(const std::string& path, const std::string& from, const std::string& to) {
  std::ifstream file(path);
  std::string text;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (inside && line == to) return text;
    if (inside) text += line + '\n';
    inside |= line == from;
  }
  return {};
}

TEST(WorkedExample, IsWhatTheGuideShowsInSixtyLines) {
  const std::string source = SNAPDP_SOURCE "/tests/testing/worked_example_test.cpp";
  const std::string guide = SNAPDP_SOURCE "/CONTRIBUTING.md";
  const std::string code = lines_of(source, "// [the function]", "// [the constructor]") + "\n" +
                           lines_of(source, "// [the constructor]", "// [the neighbor test]") + "\n" +
                           lines_of(source, "// [the neighbor test]", "// [end]");
  EXPECT_EQ(lines_of(guide, "```cpp", "```"), code);
  const std::string proof = lines_of(guide, "```md", "```");
  EXPECT_NE(proof, "");
  EXPECT_LE(std::count(code.begin(), code.end(), '\n') + std::count(proof.begin(), proof.end(), '\n'), 60);
}

TEST(WorkedExample, RefusesWhatItsProofDoesNotCover) {
  EXPECT_THROW(make_absolute(vector_domain<double>(), Metric::l1_distance), Error);
  EXPECT_THROW(make_absolute(vector_domain<std::int64_t>(), change_one()), Error);
  EXPECT_THROW(make_absolute(vector_domain<double, double>(), change_one()), Error);
  EXPECT_THROW(make_absolute(untrusted_domain({AtomType::real}), change_one()), Error);
}

}  // namespace
}  // namespace snapdp
