// Parts of a table, folded apart and merged.
#include "snapdp/engines/states/states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"
#include "snapdp/testing/memory_source.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

constexpr Metric symmetric = Metric::symmetric_distance;

Aggregation sum_to(int upper) {
  const Transformation complete = make_drop(untrusted_domain({AtomType::real}), symmetric);
  return complete >> make_clamp(complete.output_domain(), symmetric, Bounds(0, upper)) >> make_sum();
}

MemorySource rows(const MemorySource::Reals& values) {
  MemorySource source;
  source.add({"x", AtomType::real, ""}, values);
  source.add({"u", AtomType::real, ""}, values);
  return source;
}

class Parts : public testing::Test {
 protected:
  std::string part(const MemorySource::Reals& values, const PartOptions& options = {}) {
    MemorySource source = rows(values);
    return fold_part(source, selection_, requests_, options);
  }
  void expect_refused(std::vector<std::string> parts, const std::string& why) {
    try {
      open_parts(std::move(parts), {"x"})->fold(selection_, requests_, {});
      FAIL() << why;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  }

  Aggregation sum_ = sum_to(10);
  std::vector<FoldRequest> requests_ = {{{"x"}, &sum_}};
  RowSelection selection_;
};

TEST_F(Parts, TogetherAreTheWhole) {
  MemorySource whole = rows({1, 2.5, 0.1, 11, -3});
  const FoldResult expected = whole.fold({}, requests_, {});
  const std::unique_ptr<Source> source = open_parts({part({1, 2.5}), part({}), part({0.1, 11, -3})}, {"x"});
  EXPECT_EQ(source->columns().front().name, "x");
  const FoldResult found = source->fold({}, requests_, {});
  EXPECT_EQ(found.rows, 5U);
  EXPECT_EQ(sum_.to_bytes(found.states[0]), sum_.to_bytes(expected.states[0]));
}

TEST_F(Parts, OfEqualRowsAreTold) {
  const std::string one = part({1});
  const std::string other = part({1});
  EXPECT_NE(one, other);
  EXPECT_EQ(open_parts({one, other}, {"x"})->fold({}, requests_, {}).rows, 2U);
  expect_refused({one, other, one}, "there twice");
}

TEST_F(Parts, AreUntrusted) {
  const std::string bytes = part({1, 2});
  for (std::size_t length = 0; length < bytes.size(); ++length) expect_refused({bytes.substr(0, length)}, "");
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string altered = bytes;
    altered[i] = static_cast<char>(altered[i] ^ 1);
    expect_refused({altered}, "");
  }
  expect_refused({bytes + "x"}, "altered");
  expect_refused({"rows"}, "truncated");
}

TEST_F(Parts, OfAnotherQuestionAreRefused) {
  const std::string bytes = part({1, 2});
  const Aggregation wider = sum_to(11);
  requests_[0].aggregation = &wider;
  expect_refused({bytes}, "another question");
  requests_ = {{{"u"}, &sum_}};
  expect_refused({bytes}, "another question");
}

TEST_F(Parts, LimitUnitsOnlyWhenTheseAreWhole) {
  selection_.unit = RowSelection::UnitLimit{"u", 1};
  EXPECT_THROW(part({1, 2, 2}), Error);
  const std::string whole = part({1, 2, 2}, {.whole_units = true});
  EXPECT_EQ(open_parts({whole}, {"x"})->fold(selection_, requests_, {}).states[0].totals().rows, 2U);
}

TEST_F(Parts, AtLeastOneIsNeeded) {
  EXPECT_THROW(open_parts({}, {"x"}), Error);
}

}  // namespace
}  // namespace snapdp
