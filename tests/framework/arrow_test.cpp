#include "snapdp/framework/arrow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "framework/arrow_batch.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

TEST(Arrow, ReadsEveryTypeWithOffsetsAndNulls) {
  ArrowBatch batch(3, 1);  // rows 1, 2 and 3 of the children
  const std::vector<bool> valid{false, true, false, true};
  batch.add<double>("g", "g", {9, 1.5, -0.0, std::numeric_limits<double>::infinity()});
  batch.add<double>("later", "g", {7, 7, 9, 1.5, 2.5, 3.5}, {true, true, true, true, false, true}, 2);
  batch.add<float>("f", "f", {9, 1e38F, -1e38F, 0x1p-149F}, valid);
  batch.add<std::int64_t>(
      "l", "l", {9, std::numeric_limits<std::int64_t>::min(), 0, std::numeric_limits<std::int64_t>::max()});
  batch.add<std::int32_t>("i", "i", {9, std::numeric_limits<std::int32_t>::min(), -1, 7});
  batch.add<std::uint32_t>("I", "I", {9, 4'000'000'000U, 0, 7});
  batch.add<std::int8_t>("c", "c", {9, -128, 0, 127});
  batch.add<std::uint8_t>("C", "C", {9, 255, 0, 127});
  batch.add<std::int16_t>("s", "s", {9, -32768, 0, 1});
  batch.add<std::uint16_t>("S", "S", {9, 65535, 0, 1});
  batch.add_booleans("b", {true, true, false, true}, valid);
  batch.add_texts<std::int32_t>("u", "u", {"x", "\xc3\xa4", "", "longer than fifteen bytes"}, valid);
  batch.add_texts<std::int64_t>("U", "U", {"x", "", "", ""});
  const ArrowTable table(batch.schema, batch.array);
  ASSERT_EQ(table.rows(), 3U);
  const auto reals = [&](const char* name) {
    const Chunk chunk = table.chunk({name});
    const double* values = chunk.column[0].reals();
    return std::vector<double>(values, values + 3);
  };
  const auto integers = [&](const char* name) {
    const Chunk chunk = table.chunk({name});
    const std::int64_t* values = chunk.column[0].integers();
    return std::vector<std::int64_t>(values, values + 3);
  };
  EXPECT_EQ(reals("g"), (std::vector<double>{1.5, 0, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(reals("later"), (std::vector<double>{1.5, 2.5, 3.5}));
  EXPECT_FALSE(table.chunk({"later"}).column[0].valid(1));
  EXPECT_TRUE(table.chunk({"later"}).column[0].valid(2));
  EXPECT_EQ(reals("f"),
            (std::vector<double>{static_cast<double>(1e38F), static_cast<double>(-1e38F), 0x1p-149}));
  EXPECT_EQ(integers("l"), (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), 0,
                                                      std::numeric_limits<std::int64_t>::max()}));
  EXPECT_EQ(integers("i"), (std::vector<std::int64_t>{std::numeric_limits<std::int32_t>::min(), -1, 7}));
  EXPECT_EQ(integers("I"), (std::vector<std::int64_t>{4'000'000'000, 0, 7}));
  EXPECT_EQ(integers("c"), (std::vector<std::int64_t>{-128, 0, 127}));
  EXPECT_EQ(integers("C"), (std::vector<std::int64_t>{255, 0, 127}));
  EXPECT_EQ(integers("s"), (std::vector<std::int64_t>{-32768, 0, 1}));
  EXPECT_EQ(integers("S"), (std::vector<std::int64_t>{65535, 0, 1}));
  EXPECT_EQ(integers("b"), (std::vector<std::int64_t>{1, 0, 1}));
  const Chunk texts = table.chunk({"u", "U", "b"});
  EXPECT_EQ(texts.column[0].texts()[0], "\xc3\xa4");
  EXPECT_EQ(texts.column[0].texts()[2], "longer than fifteen bytes");
  EXPECT_EQ(texts.column[1].texts()[2], "");
  for (const std::size_t column : {0U, 2U}) {
    EXPECT_TRUE(texts.column[column].valid(0));
    EXPECT_FALSE(texts.column[column].valid(1));
    EXPECT_TRUE(texts.column[column].valid(2));
  }
  EXPECT_TRUE(table.domain({"u", "U", "b"}).contains(texts));
  EXPECT_TRUE(table.domain({"f", "l"}).contains(table.chunk({"f", "l"})));
}

TEST(Arrow, ReadsOneColumnAndNoRows) {
  ArrowBatch batch(0, 0);
  batch.add<double>("x", "g", {1, 2, 3});
  EXPECT_EQ(ArrowTable(batch.schema, batch.array).rows(), 0U);
  EXPECT_EQ(ArrowTable(batch.child_schema(0), batch.child(0)).chunk({"x"}).column[0].reals()[2], 3);
  ArrowBatch empty(0, 0);
  EXPECT_TRUE(ArrowTable(empty.schema, empty.array).names().empty());
}

TEST(Arrow, RefusesWhatIsInconsistent) {
  const auto refusal = [](const std::function<void(ArrowBatch&)>& change) {
    ArrowBatch batch(2, 0);
    batch.add<double>("income", "g", {1, 2});
    batch.add_texts<std::int32_t>("name", "u", {"a", "bc"});
    change(batch);
    try {
      const ArrowTable table(batch.schema, batch.array);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_EQ(error.parameter(), "arrow");
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal([](ArrowBatch&) {}), "accepted");
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.schema.release = nullptr; }), HasSubstr("released"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.release = nullptr; }), HasSubstr("released"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(1).release = nullptr; }), HasSubstr("column \"name\""));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(1).null_count = -2; }), HasSubstr("nulls is negative"));
  EXPECT_THAT(refusal([](ArrowBatch& b) {
                b.child(0).buffers[1] = static_cast<const char*>(b.child(0).buffers[1]) + 1;
              }),
              HasSubstr("not aligned"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).length = b.array.length = std::int64_t{1} << 41; }),
              HasSubstr("2^40"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.length = -1; }), HasSubstr("negative"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.length = 3; }),
              HasSubstr("column \"income\": it has fewer rows"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.offset = 1; }), HasSubstr("fewer rows"));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.offset = most; }), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).offset = most; }), HasSubstr("beyond 64 bits"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(1).length = -5; }), HasSubstr("column \"name\""));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).n_buffers = 1; }), HasSubstr("number of buffers"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).buffers = nullptr; }), HasSubstr("number of buffers"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).buffers[1] = nullptr; }),
              HasSubstr("a buffer is missing"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(1).buffers[2] = nullptr; }),
              HasSubstr("a buffer is missing"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).null_count = 1; }), HasSubstr("no validity bitmap"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).dictionary = &b.array; }), HasSubstr("dictionary"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.n_children = 1; }), HasSubstr("different numbers"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.schema.n_children = b.array.n_children = -1; }),
              HasSubstr("different numbers"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.children = nullptr; }), HasSubstr("different numbers"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.array.children[0] = nullptr; }), HasSubstr("missing"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child_schema(0).format = nullptr; }), HasSubstr("no format"));
  for (const char* format : {"", "tsu:UTC", "e", "L", "z", "+l", "d:19,10", "gg"}) {
    EXPECT_THAT(refusal([&](ArrowBatch& b) { b.child_schema(0).format = format; }),
                HasSubstr("its format is \"" + std::string(format) + "\""));
  }
  EXPECT_THAT(refusal([](ArrowBatch& b) {
                static const std::uint8_t none = 0;
                b.array.buffers[0] = &none;
                b.array.null_count = -1;
              }),
              HasSubstr("whole rows are null"));
  static const std::int32_t falling[3] = {0, 2, 1};
  static const std::int32_t negative[3] = {-1, 0, 1};
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(1).buffers[1] = falling; }), HasSubstr("do not increase"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(1).buffers[1] = negative; }), HasSubstr("do not increase"));

  // Beyond the last offset, which is the length of the bytes; and farther out than any buffer is long.
  static const std::int32_t beyond[3] = {0, 1000, 3};
  EXPECT_THAT(refusal([](ArrowBatch& b) {
                b.child(1).buffers[1] = beyond;
                b.array.length = 1;
              }),
              HasSubstr("do not increase"));
  EXPECT_THAT(refusal([](ArrowBatch& b) { b.child(0).offset = (std::int64_t{1} << 40) + 1; }),
              HasSubstr("more than 2^40 rows"));

  ArrowBatch twins(1, 0);
  twins.add<double>("x", "g", {1});
  twins.add<double>("x", "g", {2});
  const ArrowTable table(twins.schema, twins.array);
  EXPECT_THROW(table.chunk({"x"}), Error);
  EXPECT_THROW(table.chunk({"y"}), Error);
}

}  // namespace
}  // namespace snapdp
