#include "snapdp/framework/transformation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "rows.h"
#include "snapdp/error.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
constexpr double infinity = std::numeric_limits<double>::infinity();
const double nan = std::nan("");

std::vector<double> reals_after(const Transformation& transformation, const Chunk& rows) {
  std::vector<double> result;
  for (std::size_t first = 0; first < rows.length; first += block_rows) {
    Chunk block = rows.slice(first, std::min(block_rows, rows.length - first));
    for (const auto& function : transformation.functions())
      block = function->apply(block, Scratch::of_thread());
    EXPECT_TRUE(transformation.output_domain().of_unknown_size().contains(block));
    result.insert(result.end(), block.column[0].reals(), block.column[0].reals() + block.length);
  }
  return result;
}

std::vector<std::optional<std::int64_t>> integers_of_text(const std::vector<std::string_view>& cells) {
  const Transformation parse =
      make_parse(untrusted_domain({AtomType::text}), change_one(), {AtomType::integer});
  const Chunk block = parse.functions()[0]->apply(Chunk(cells), Scratch::of_thread());
  std::vector<std::optional<std::int64_t>> result;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (block.column[0].valid(i)) {
      result.emplace_back(block.column[0].integers()[i]);
    } else {
      result.emplace_back();
    }
  }
  return result;
}

TEST(Clamp, MovesRowsIntoTheBounds) {
  const std::vector<double> rows{-infinity, -3, -0.0, 0, 1, 5, 7, infinity, 0x1p-1074};
  const Transformation clamp = make_clamp(vector_domain<double>(), symmetric_distance(), Bounds(0, 5));
  EXPECT_EQ(reals_after(clamp, rows), (std::vector<double>{0, 0, 0, 0, 1, 5, 5, 5, 0x1p-1074}));
  EXPECT_EQ(clamp.output_domain().columns()[0].bounds, Bounds(0, 5));
}

TEST(Clamp, OfIntegersAtTheEdges) {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  const Transformation clamp =
      make_clamp(vector_domain<std::int64_t>(), hamming(), Bounds(Dyadic(low), Dyadic(high)));
  const std::vector<std::int64_t> rows{low, -1, 0, high};
  const Chunk block = clamp.functions()[0]->apply(Chunk(rows), Scratch::of_thread());
  EXPECT_EQ(std::vector<std::int64_t>(block.column[0].integers(), block.column[0].integers() + 4), rows);
}

Transformation on_grid(const Bounds& bounds, Grid grid) {
  const VectorDomain rows({AtomDomain{AtomType::real, false, false, bounds}});
  return make_grid_rows(rows, symmetric_distance(), {grid});
}

using Reals = std::vector<double>;

TEST(GridRows, MovesCellsToTheMiddlesOfTheirSteps) {
  EXPECT_EQ(reals_after(on_grid(Bounds(-4, 4), Grid(0)),
                        Reals{0.0, -0.0, 0.25, 1.0, 3.99, 4.0, -0.25, -4.0, 5e-324}),
            (Reals{0.5, 0.5, 0.5, 1.5, 3.5, 4.5, -0.5, -3.5, 0.5}));
  EXPECT_EQ(reals_after(on_grid(Bounds(-100, 100), Grid(4)), Reals{0, 15.9, 16, -1, 100}),
            (Reals{8, 8, 24, -8, 104}));
  // Beside a coarse spacing a subnormal number of steps is rounded, to an even one: databases do the same.
  EXPECT_EQ(reals_after(on_grid(Bounds(-100, 100), Grid(4)), Reals{-5e-324}), (Reals{8}));
}

TEST(GridRows, MovesNoCellByMoreThanHalfASpacingAndStaysInTheBounds) {
  std::mt19937_64 engine(11);
  for (const long exponent : {-40L, -23L, -3L, 0L, 5L}) {
    const Transformation transformation = on_grid(Bounds(Dyadic(-0.1), Dyadic(900.3)), Grid(exponent));
    const Bounds bounds = transformation.output_domain().columns()[0].bounds.value();
    EXPECT_LE(bounds.width(), Dyadic(900.3) + Dyadic(0.1) + Grid(exponent).spacing());
    for (int i = 0; i < 2000; ++i) {
      const double x = std::uniform_real_distribution<double>(-0.1, 900.3)(engine);
      const Dyadic y = reals_after(transformation, Reals{x})[0];
      ASSERT_LE(abs(y - Dyadic(x)), scale_by_power_of_two(Grid(exponent).spacing(), -1)) << x;
      // An odd number of half spacings.
      const Dyadic halves = scale_by_power_of_two(y, 1 - exponent);
      ASSERT_TRUE(halves.is_integer() && halves.exponent() == 0) << x;
      ASSERT_TRUE(bounds.lower() <= y && y <= bounds.upper()) << x;
    }
  }
}

TEST(GridRows, KeepsTheWidthOfBoundsOnTheGrid) {
  EXPECT_EQ(on_grid(Bounds(0, 100), Grid(-23)).output_domain().columns()[0].bounds->width(), Dyadic(100));
}

TEST(GridRows, RefusesWhatBreaksItsProof) {
  const auto refused = [](const VectorDomain& rows, Grid grid) {
    try {
      make_grid_rows(rows, symmetric_distance(), {grid});
      return std::string();
    } catch (const Error& error) {
      return error.parameter();
    }
  };
  const VectorDomain bounded({AtomDomain{AtomType::real, false, false, Bounds(0, 1)}});
  EXPECT_EQ(refused(bounded, Grid(-51)), "");
  EXPECT_EQ(refused(bounded, Grid(-52)), "row_grid");
  EXPECT_EQ(refused(bounded, Grid(971)), "row_grid");
  EXPECT_EQ(refused(vector_domain<double>(), Grid(-10)), "row_grid");
  EXPECT_EQ(refused(untrusted_domain({AtomType::real}), Grid(-10)), "row_grid");
  EXPECT_EQ(refused(VectorDomain({AtomDomain{AtomType::integer, false, false, Bounds(0, 1)}}), Grid(0)),
            "row_grid");
  EXPECT_THROW(make_grid_rows(bounded, symmetric_distance(), {Grid(0), Grid(0)}), Error);
}

TEST(Clamp, RefusesWhatBreaksItsProof) {
  EXPECT_THROW(Bounds(Dyadic(1), Dyadic(0)), Error);
  EXPECT_THROW(Bounds(Dyadic(nan), Dyadic(1)), Error);
  EXPECT_THROW(make_clamp(untrusted_domain({AtomType::real}), change_one(), Bounds(0, 1)), Error);
  EXPECT_THROW(make_clamp(vector_domain<std::string_view>(), change_one(), Bounds(0, 1)), Error);
  EXPECT_THROW(make_clamp(vector_domain<double>(), Metric::absolute_distance, Bounds(0, 1)), Error);
  EXPECT_THROW(make_clamp(vector_domain<double>(), change_one(), {Bounds(0, 1), Bounds(0, 1)}), Error);
  EXPECT_THROW(make_clamp(vector_domain<std::int64_t>(), change_one(), Bounds(Dyadic(0.5), Dyadic(1))),
               Error);
  EXPECT_THROW(
      make_clamp(vector_domain<double>(), change_one(), Bounds(Dyadic(0), Dyadic(1) + Dyadic(0x1p-80))),
      Error);
  try {
    make_clamp(untrusted_domain({AtomType::real}), change_one(), Bounds(0, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("make_impute"));
  }
}

TEST(Impute, ReplacesNullAndNaN) {
  const std::vector<double> cells{1, nan, 3, infinity};
  const std::uint8_t validity = 0b1011;
  const Column column{AtomType::real, cells.data(), &validity, 0};
  const Transformation impute = make_impute(untrusted_domain({AtomType::real}), change_one(), {Dyadic(9)});
  EXPECT_EQ(reals_after(impute, Chunk({&column, 1}, 4)), (std::vector<double>{1, 9, 9, infinity}));
  EXPECT_THROW(make_impute(untrusted_domain({AtomType::real}), change_one(), {Dyadic(nan)}), Error);
  EXPECT_THROW(make_impute(untrusted_domain({AtomType::real}), change_one(), {Dyadic(infinity)}), Error);
  EXPECT_THROW(make_impute(untrusted_domain({AtomType::integer}), change_one(), {Dyadic(0.5)}), Error);
}

TEST(Drop, RemovesNullAndNaNAndNeedsAddRemove) {
  const std::vector<double> cells{1, nan, 3, 4, -infinity};
  const std::uint8_t validity = 0b10111;
  const Column column{AtomType::real, cells.data(), &validity, 0};
  const Transformation drop = make_drop(untrusted_domain({AtomType::real}), symmetric_distance());
  EXPECT_EQ(reals_after(drop, Chunk({&column, 1}, 5)), (std::vector<double>{1, 3, -infinity}));
  EXPECT_FALSE(
      make_drop(untrusted_domain({AtomType::real}).of_size(5), symmetric_distance()).output_domain().size());
  EXPECT_THROW(make_drop(untrusted_domain({AtomType::real}), change_one()), Error);
  EXPECT_THROW(make_drop(untrusted_domain({AtomType::real}), hamming()), Error);
}

TEST(Drop, TakesARowWhenAnyOfItsCellsIsMissing) {
  const std::vector<double> x{1, nan, 3, 4};
  const std::vector<std::int64_t> y{10, 20, 30, 40};
  const std::uint8_t validity = 0b1011;
  const std::vector<Column> columns{{AtomType::real, x.data()}, {AtomType::integer, y.data(), &validity, 0}};
  const Transformation drop =
      make_drop(untrusted_domain({AtomType::real, AtomType::integer}), symmetric_distance());
  const Chunk block = drop.functions()[0]->apply(Chunk(columns, 4), Scratch::of_thread());
  ASSERT_EQ(block.length, 2U);
  EXPECT_EQ(block.column[0].reals()[1], 4);
  EXPECT_EQ(block.column[1].integers()[0], 10);
  EXPECT_EQ(block.column[1].integers()[1], 40);
}

TEST(Drop, TakesTextToo) {
  const std::vector<std::string_view> text{"a", "", "c", "d"};
  const std::vector<double> x{1, 2, 3, nan};
  const std::uint8_t validity = 0b1011;
  const std::vector<Column> columns{{AtomType::text, text.data(), &validity, 0}, {AtomType::real, x.data()}};
  const Transformation drop =
      make_drop(untrusted_domain({AtomType::text, AtomType::real}), symmetric_distance());
  EXPECT_TRUE(drop.output_domain() == (vector_domain<std::string_view, double>()));
  const Chunk block = drop.functions()[0]->apply(Chunk(columns, 4), Scratch::of_thread());
  ASSERT_EQ(block.length, 2U);
  EXPECT_EQ(block.column[0].texts()[0], "a");
  EXPECT_EQ(block.column[0].texts()[1], "");
  EXPECT_EQ(block.column[1].reals()[1], 2);
  const Transformation alone = make_drop(untrusted_domain({AtomType::text}), symmetric_distance());
  const Chunk texts = alone.functions()[0]->apply(Chunk({columns.data(), 1}, 4), Scratch::of_thread());
  ASSERT_EQ(texts.length, 3U);
  EXPECT_EQ(texts.column[0].texts()[2], "d");
}

TEST(Domain, NarrowTypesAreCarriedWidenedAndCheckedForMembership) {
  EXPECT_EQ(describe(atom_domain<bool>()), "integer in [0, 1]");
  EXPECT_EQ(describe(atom_domain<std::int8_t>()), "integer in [-128, 127]");
  EXPECT_EQ(describe(atom_domain<std::uint32_t>()), "integer in [0, 4294967295]");
  EXPECT_TRUE(atom_domain<float>() == atom_domain<double>());
  const VectorDomain flags = vector_domain<bool>();
  const VectorDomain numbers = vector_domain<std::int32_t>();
  const std::vector<std::int64_t> bits{0, 1, 1};
  const std::vector<std::int64_t> ints{INT32_MIN, INT32_MAX};
  const std::vector<std::int64_t> beyond{std::int64_t{INT32_MAX} + 1};
  EXPECT_TRUE(flags.contains(Chunk(bits)));
  EXPECT_FALSE(flags.contains(Chunk(ints)));
  EXPECT_TRUE(numbers.contains(Chunk(ints)));
  EXPECT_FALSE(numbers.contains(Chunk(beyond)));
  EXPECT_FALSE(numbers.contains(Chunk(std::vector<double>{1})));
}

// What a row function says of the rows it keeps is what it does.
TEST(RowFunction, SaysWhichRowsItKeeps) {
  const std::vector<double> x{1, nan, 3, 4};
  const std::uint8_t validity = 0b1101;
  const Column column{AtomType::real, x.data(), &validity, 0};
  const VectorDomain raw = untrusted_domain({AtomType::real});
  std::vector<std::uint8_t> keeps(4, 7);
  const auto kept = [&](const Transformation& part, std::size_t length) {
    return part.functions()[0]->kept(Chunk({&column, 1}, length), keeps.data());
  };
  EXPECT_EQ(kept(make_drop(raw, symmetric_distance()), 4), KeptRows::some);
  EXPECT_EQ(keeps, (std::vector<std::uint8_t>{1, 0, 1, 1}));
  EXPECT_EQ(kept(make_drop(raw, symmetric_distance()), 1), KeptRows::all);
  EXPECT_EQ(kept(make_impute(raw, symmetric_distance(), {Dyadic(0)}), 4), KeptRows::all);
  EXPECT_EQ(kept(make_cast(raw, symmetric_distance(), {AtomType::integer}, CastFailure::null), 4),
            KeptRows::all);
  EXPECT_EQ(
      kept(make_select(raw, symmetric_distance(), Predicate::compare(0, AtomType::real, Comparison::less, 4)),
           4),
      KeptRows::some);
  EXPECT_EQ(keeps, (std::vector<std::uint8_t>{1, 0, 1, 0}));
}

TEST(Parse, ReadsRealsAsTheirNearestDoubles) {
  const std::vector<std::string_view> cells{"1.00E+05", " 7 ",       "+3.5",   "-0",
                                            "inf",      "-Infinity", "1e-999", "0.1"};
  const Transformation parse = make_parse(untrusted_domain({AtomType::text}), change_one(), {AtomType::real});
  EXPECT_EQ(reals_after(parse, Chunk(cells)),
            (std::vector<double>{100000, 7, 3.5, 0, infinity, -infinity, 0, 0.1}));
  const std::vector<std::string_view> missing{"",     "  ",  "NA",  "nan", "1e999", "-1e999", "1,5",
                                              "0x10", "1 2", "+-3", "--3", ".",     "1e+-2"};
  const Chunk block = parse.functions()[0]->apply(Chunk(missing), Scratch::of_thread());
  for (std::size_t i = 0; i < missing.size(); ++i) EXPECT_FALSE(block.column[0].valid(i)) << missing[i];
}

TEST(Parse, ReadsIntegersExactlyOrNotAtAll) {
  using Cells = std::vector<std::optional<std::int64_t>>;
  EXPECT_EQ(
      integers_of_text({"1.00E+05", "42", "-7", "+8", "3.0", "1.50e1", "0.0", "-0.0e-5", "9007199254740993"}),
      (Cells{100000, 42, -7, 8, 3, 15, 0, 0, 9007199254740993}));
  EXPECT_EQ(
      integers_of_text({"9223372036854775807", "-9223372036854775808", "92233720368547758.07e2", "900e16"}),
      (Cells{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(),
             std::numeric_limits<std::int64_t>::max(), 9000000000000000000}));
  for (const char* cell :
       {"3.7", "9223372036854775808", "1e19", "-9223372036854775809", "", "NA", "0.99999999999999999999",
        "1e", "e5", "1e99999999999999", "inf", "9007199254740992.5", "-", ".", "1.2.3", "100e+-2", "1e+"}) {
    EXPECT_EQ(integers_of_text({cell}), Cells{std::nullopt}) << cell;
  }
}

TEST(Parse, LeavesColumnsThatHaveTheTypeAlone) {
  EXPECT_EQ(make_parse(untrusted_domain({AtomType::text}), change_one(), {AtomType::real}).output_domain(),
            untrusted_domain({AtomType::real}));
  EXPECT_THROW(make_parse(untrusted_domain({AtomType::integer}), change_one(), {AtomType::real}), Error);
}

std::vector<std::uint8_t> evaluated(const Predicate& predicate, const Chunk& rows) {
  std::vector<std::uint8_t> holds(rows.length);
  predicate.evaluate(rows, holds.data());
  return holds;
}

using Holds = std::vector<std::uint8_t>;

TEST(Predicate, ComparesRealsWithMissingCellsFalse) {
  const std::vector<double> ages{17, 18, nan, infinity, 0.1};
  const Predicate adult = Predicate::compare(0, AtomType::real, Comparison::at_least, 18);
  EXPECT_EQ(evaluated(adult, ages), (Holds{0, 1, 0, 1, 0}));
  EXPECT_EQ(evaluated(!adult, ages), (Holds{1, 0, 1, 0, 1}));
  EXPECT_EQ(evaluated(Predicate::compare(0, AtomType::real, Comparison::not_equal, 18), ages),
            (Holds{1, 0, 0, 1, 1}));
  // A decimal means what a cell with the same text means.
  EXPECT_EQ(evaluated(Predicate::compare(0, AtomType::real, Comparison::equal, Rational(1, 10)), ages),
            (Holds{0, 0, 0, 0, 1}));
  const Predicate teen = adult && Predicate::compare(0, AtomType::real, Comparison::less, 20);
  EXPECT_EQ(evaluated(teen, ages), (Holds{0, 1, 0, 0, 0}));
  EXPECT_EQ(evaluated(teen || Predicate::one_of(0, AtomType::real, {17, 99}), ages), (Holds{1, 1, 0, 0, 0}));
}

TEST(Predicate, ComparesIntegersExactlyAtTheirLimits) {
  constexpr std::int64_t low = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int64_t>::max();
  const std::vector<std::int64_t> rows{low, 17, 18, 19, high};
  const auto compare = [&](Comparison comparison, const Rational& number) {
    return evaluated(Predicate::compare(0, AtomType::integer, comparison, number), rows);
  };
  const Rational half(35, 2);
  EXPECT_EQ(compare(Comparison::less, half), (Holds{1, 1, 0, 0, 0}));
  EXPECT_EQ(compare(Comparison::at_most, half), (Holds{1, 1, 0, 0, 0}));
  EXPECT_EQ(compare(Comparison::greater, half), (Holds{0, 0, 1, 1, 1}));
  EXPECT_EQ(compare(Comparison::at_least, half), (Holds{0, 0, 1, 1, 1}));
  EXPECT_EQ(compare(Comparison::equal, half), (Holds{0, 0, 0, 0, 0}));
  EXPECT_EQ(compare(Comparison::not_equal, half), (Holds{1, 1, 1, 1, 1}));
  const Rational huge(Integer(1) << 70);
  EXPECT_EQ(compare(Comparison::less, huge), (Holds{1, 1, 1, 1, 1}));
  EXPECT_EQ(compare(Comparison::at_least, huge), (Holds{0, 0, 0, 0, 0}));
  EXPECT_EQ(compare(Comparison::less, -huge), (Holds{0, 0, 0, 0, 0}));
  EXPECT_EQ(compare(Comparison::greater, -huge), (Holds{1, 1, 1, 1, 1}));
  EXPECT_EQ(compare(Comparison::at_least, Rational(Integer(high))), (Holds{0, 0, 0, 0, 1}));
  EXPECT_EQ(compare(Comparison::less, Rational(Integer(high))), (Holds{1, 1, 1, 1, 0}));
}

TEST(Predicate, RefusesWhatItCannotCompare) {
  EXPECT_THROW(Predicate::compare(0, AtomType::text, Comparison::equal, 1), Error);
  EXPECT_THROW(Predicate::compare(0, Comparison::less, "a"), Error);
  EXPECT_THROW(Predicate::one_of(0, AtomType::real, {}), Error);
  EXPECT_THROW(Predicate::compare(0, AtomType::real, Comparison::less, Rational(Integer(1) << 2000)), Error);
  const Predicate adult = Predicate::compare(0, AtomType::real, Comparison::at_least, 18);
  EXPECT_THROW(make_select(untrusted_domain({AtomType::integer}), symmetric_distance(), adult), Error);
  EXPECT_THROW(make_select(untrusted_domain({AtomType::real}), change_one(), adult), Error);
}

TEST(Select, CompactsEveryColumnWithItsNulls) {
  const std::vector<double> x{1, 2, 3, 4, 5};
  const std::vector<std::string_view> names{"a", "b", "a", "c", "a"};
  const std::uint8_t validity = 0b01110;
  const std::vector<Column> columns{{AtomType::real, x.data(), &validity, 0}, {AtomType::text, names.data()}};
  const VectorDomain domain = untrusted_domain({AtomType::real, AtomType::text});
  const Transformation select = make_select(domain, symmetric_distance(), Predicate::one_of(1, {"a"}));
  const Transformation chain = select >> make_project(select.output_domain(), symmetric_distance(), 1);
  Chunk block(columns, 5);
  for (const auto& function : chain.functions()) block = function->apply(block, Scratch::of_thread());
  ASSERT_EQ(block.column_count, 1U);
  ASSERT_EQ(block.length, 3U);
  EXPECT_EQ(block.column[0].reals()[1], 3);
  EXPECT_FALSE(block.column[0].valid(0));
  EXPECT_TRUE(block.column[0].valid(1));
  EXPECT_FALSE(block.column[0].valid(2));
  EXPECT_THROW(make_project(domain, symmetric_distance(), 3), Error);
  EXPECT_THROW(make_project(domain, symmetric_distance(), 0), Error);
}

TEST(Map, AppliesTheFunctionAndMakesWhatIsOutsideNull) {
  const AtomDomain output{AtomType::real, true, false, Bounds(0, 4)};
  const Transformation root = make_map(
      untrusted_domain({AtomType::real}), change_one(), output, [](double x) { return std::sqrt(x); },
      "square root", Trusted{});
  const std::vector<double> rows{4, -1, 100, nan};
  const Chunk block = root.functions()[0]->apply(rows, Scratch::of_thread());
  EXPECT_EQ(block.column[0].reals()[0], 2);
  EXPECT_TRUE(block.column[0].valid(0));
  for (std::size_t row = 1; row < 4; ++row) EXPECT_FALSE(block.column[0].valid(row));
  EXPECT_TRUE(root.output_domain().contains(block));
  EXPECT_THROW(make_map(
                   untrusted_domain({AtomType::real}), change_one(), atom_domain<double>(),
                   [](double x) { return x; }, "identity", Trusted{}),
               Error);
}

TEST(Chaining, RefusesMismatchesNamingBothSides) {
  const Transformation impute = make_impute(untrusted_domain({AtomType::real}), change_one(), {Dyadic(0)});
  const Transformation clamp_integers = make_clamp(vector_domain<std::int64_t>(), change_one(), Bounds(0, 1));
  try {
    impute >> clamp_integers;
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::mismatch);
    EXPECT_THAT(error.what(), HasSubstr("vectors of any number of rows (real)"));
    EXPECT_THAT(error.what(), HasSubstr("vectors of any number of rows (integer)"));
  }
  try {
    // An order matters (Hamming) or it does not (change-one): no conversion is implied.
    impute >> make_clamp(vector_domain<double>(), hamming(), Bounds(0, 1));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("change-one"));
    EXPECT_THAT(error.what(), HasSubstr("Hamming"));
  }
  const Transformation chain = impute >> make_clamp(impute.output_domain(), change_one(), Bounds(0, 1));
  EXPECT_EQ(chain.stability().forward(3), 3);
  EXPECT_EQ(chain.functions().size(), 2U);
}

// The neighbour test of the row-wise transformations: for rows at distance d, what comes out is at distance
// <= d.
TEST(RowTransformations, NeighborsStayNeighbors) {
  std::mt19937_64 engine(5);
  const Transformation impute =
      make_impute(untrusted_domain({AtomType::real}), symmetric_distance(), {Dyadic(0.5)});
  const Transformation drop = make_drop(untrusted_domain({AtomType::real}), symmetric_distance());
  const Transformation clamp =
      make_clamp(vector_domain<double>(), symmetric_distance(), Bounds(Dyadic(-0.1), Dyadic(1)));
  const Transformation select =
      make_select(untrusted_domain({AtomType::real}), symmetric_distance(),
                  !Predicate::compare(0, AtomType::real, Comparison::at_most, 0) ||
                      Predicate::one_of(0, AtomType::real, {Rational(-1), Rational(1, 4)}));
  for (int i = 0; i < 3000; ++i) {
    const std::vector<double> rows = adversarial_reals(engine, engine() % 20);
    std::vector<double> neighbor = rows;
    const std::size_t distance = 1 + engine() % 3;
    for (std::size_t step = 0; step < distance; ++step) {
      if (!neighbor.empty() && engine() % 2 == 0) {
        neighbor.erase(neighbor.begin() + static_cast<std::ptrdiff_t>(engine() % neighbor.size()));
      } else {
        neighbor.insert(neighbor.begin() + static_cast<std::ptrdiff_t>(engine() % (neighbor.size() + 1)),
                        adversarial_reals(engine, 1)[0]);
      }
    }
    ASSERT_LE(multiset_distance(reals_after(select, rows), reals_after(select, neighbor)), distance);
    for (const Transformation* first : {&impute, &drop}) {
      const std::vector<double> a = reals_after(*first, rows);
      const std::vector<double> b = reals_after(*first, neighbor);
      ASSERT_LE(multiset_distance(a, b), distance);
      ASSERT_LE(multiset_distance(reals_after(clamp, a), reals_after(clamp, b)), distance);
    }
  }
}

}  // namespace
}  // namespace snapdp
