// Casts and bins of single cells against their definition.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "snapdp/error.h"
#include "snapdp/statistics/statistics.h"

namespace snapdp {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

// The result of one real cell, or nothing for null.
std::optional<std::int64_t> cast(double cell, CastFailure failure) {
  const Transformation part =
      make_cast(untrusted_domain({AtomType::real}), symmetric_distance(), {AtomType::integer}, failure);
  Scratch scratch;
  const Chunk result = part.functions()[0]->apply(Chunk(std::span<const double>(&cell, 1)), scratch);
  EXPECT_TRUE(part.output_domain().contains(result));
  if (!result.column[0].valid(0)) return std::nullopt;
  return result.column[0].integers()[0];
}

TEST(Cast, RealsToIntegers) {
  for (const double whole : {0.0, -0.0, 1.0, -7.0, 0x1p53, -0x1p63, 0x1.fffffffffffffp62}) {
    EXPECT_EQ(cast(whole, CastFailure::null), static_cast<std::int64_t>(whole));
    EXPECT_EQ(cast(whole, CastFailure::nearest), static_cast<std::int64_t>(whole));
  }
  struct Failing {
    double cell;
    std::int64_t nearest;
  };
  for (const auto& [cell, nearest] : std::vector<Failing>{{0.5, 1},
                                                          {-0.5, 0},
                                                          {-1.5, -1},
                                                          {0.49999999999999994, 0},
                                                          {2.5, 3},
                                                          {0x1p51 + 0.5, (std::int64_t{1} << 51) + 1},
                                                          {0x1p-1074, 0},
                                                          {-0x1p-1074, 0},
                                                          {0x1p63, greatest},
                                                          {1e300, greatest},
                                                          {infinity, greatest},
                                                          {-0x1.0000000000001p63, least},
                                                          {-infinity, least}}) {
    EXPECT_EQ(cast(cell, CastFailure::null), std::nullopt) << cell;
    EXPECT_EQ(cast(cell, CastFailure::nearest), nearest) << cell;
  }
  EXPECT_EQ(cast(std::nan(""), CastFailure::null), std::nullopt);
  EXPECT_EQ(cast(std::nan(""), CastFailure::nearest), std::nullopt);
}

TEST(Cast, IntegersToRealsAndDomains) {
  const VectorDomain integers = untrusted_domain({AtomType::integer, AtomType::text});
  const Transformation part =
      make_cast(integers, change_one(), {AtomType::real, AtomType::text}, CastFailure::null);
  const std::vector<std::int64_t> cells{greatest, least, (std::int64_t{1} << 53) + 1, 0};
  const std::vector<std::string_view> texts{"a", "", "b", "c"};
  const std::uint8_t validity = 0b0111;
  const std::vector<Column> columns{{AtomType::integer, cells.data(), &validity, 0},
                                    {AtomType::text, texts.data()}};
  Scratch scratch;
  const Chunk result = part.functions()[0]->apply(Chunk(columns, 4), scratch);
  EXPECT_EQ(result.column[0].reals()[0], 0x1p63);
  EXPECT_EQ(result.column[0].reals()[1], -0x1p63);
  EXPECT_EQ(result.column[0].reals()[2], 0x1p53);  // a tie, to even
  EXPECT_TRUE(result.column[0].valid(2));
  EXPECT_FALSE(result.column[0].valid(3));
  EXPECT_EQ(result.column[1].texts()[2], "b");
  EXPECT_TRUE(part.output_domain().contains(result));
  EXPECT_FALSE(part.output_domain().columns()[0].nan);

  const VectorDomain reals = vector_domain<double>();
  EXPECT_TRUE(make_cast(reals, hamming(), {AtomType::integer}, CastFailure::null)
                  .output_domain()
                  .columns()[0]
                  .nullable);
  EXPECT_FALSE(make_cast(reals, hamming(), {AtomType::integer}, CastFailure::nearest)
                   .output_domain()
                   .columns()[0]
                   .nullable);
  EXPECT_THROW(make_cast(integers, change_one(), {AtomType::real, AtomType::real}, CastFailure::null), Error);
  EXPECT_THROW(make_cast(reals, change_one(), {AtomType::text}, CastFailure::null), Error);
  EXPECT_THROW(make_cast(reals, Metric::l1_distance, {AtomType::integer}, CastFailure::null), Error);
}

TEST(Bin, IndexesCategoriesAndEdges) {
  const auto index = [](const Bins& bins, const Chunk& cells) {
    const Transformation part =
        make_bin(untrusted_domain({cells.column[0].type}), symmetric_distance(), bins);
    Scratch scratch;
    const Chunk result = part.functions()[0]->apply(cells, scratch);
    EXPECT_TRUE(part.output_domain().contains(result));
    std::vector<std::int64_t> bin;
    for (std::size_t row = 0; row < result.length; ++row)
      bin.push_back(result.column[0].valid(row) ? result.column[0].integers()[row] : -1);
    return bin;
  };
  const std::vector<double> reals{-1, 0, 0.5, 1, 2, 3, std::nan("")};
  const Bins edges = Bins::edges({Dyadic(0), Dyadic(1), Dyadic(2)});
  EXPECT_EQ(index(edges, Chunk(reals)), (std::vector<std::int64_t>{-1, 0, 0, 1, 1, -1, -1}));
  EXPECT_EQ(index(edges.with_other(), Chunk(reals)), (std::vector<std::int64_t>{2, 0, 0, 1, 1, 2, 2}));
  const std::vector<std::string_view> texts{"b", "a", "c"};
  EXPECT_EQ(index(Bins::texts({"a", "b"}), Chunk(texts)), (std::vector<std::int64_t>{1, 0, -1}));
  EXPECT_THROW(make_bin(untrusted_domain({AtomType::text}), symmetric_distance(), edges), Error);
  EXPECT_THROW(make_bin(untrusted_domain({}), symmetric_distance(), edges), Error);
}

}  // namespace
}  // namespace snapdp
