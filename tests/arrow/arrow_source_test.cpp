// The source over an Arrow stream: every type, however arrays are sliced and cut, and what is refused.
#include "snapdp/engines/arrow/arrow_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#include <cfenv>
#include <cmath>
#include <limits>

#include "arrow_producer.h"
#include "snapdp/statistics/statistics.h"
#include "source_rows.h"

namespace snapdp {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
constexpr AtomType real = AtomType::real;
constexpr AtomType integer = AtomType::integer;
constexpr AtomType text = AtomType::text;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

ArrowInt operator""_i(unsigned long long value) {
  return static_cast<ArrowInt>(value);
}

// The cells of one column as the type wanted, in the order of the rows.
std::vector<std::string> cells(const ArrowTestColumn& column, AtomType wanted) {
  ArrowProducer producer({column});
  ArrowArrayStream stream = producer.open();
  std::vector<std::string> rows;
  {
    ArrowSource source(&stream);
    EXPECT_EQ(stream.release, nullptr);
    RowRecorder recorder({wanted});
    const FoldRequest request{{column.name}, recorder.aggregation()};
    const FoldResult result = source.fold({&request, 1}, {});
    EXPECT_EQ(result.rows, column.cells.size());
    rows = recorder.in_order();
  }
  EXPECT_EQ(producer.counts().live(), 0);
  return rows;
}

TEST(ArrowSource, ReadsEveryType) {
  const std::vector<ArrowCell> small = {1_i, {}, 0_i, 100_i};
  for (const std::string format : {"c", "C", "s", "S", "i", "I", "l", "L"}) {
    SCOPED_TRACE(format);
    EXPECT_THAT(cells({"x", format, small}, integer), ElementsAre("1", "null", "0", "100"));
    EXPECT_THAT(cells({"x", format, small}, real), ElementsAre("0x1p+0", "null", "0x0p+0", "0x1.9p+6"));
    EXPECT_THAT(cells({"x", format, small}, text), ElementsAre("'1'", "null", "'0'", "'100'"));
  }
  for (const std::string format : {"c", "s", "i", "l"})
    EXPECT_THAT(cells({"x", format, {-1_i}}, integer), ElementsAre("-1"));
  EXPECT_THAT(cells({"x", "L", {ArrowInt{most}, ArrowInt{most} + 1, ArrowInt{most} * 2 + 1}}, integer),
              ElementsAre("9223372036854775807", "null", "null"));
  EXPECT_THAT(cells({"x", "L", {ArrowInt{most} * 2 + 1}}, real), ElementsAre("0x1p+64"));
  EXPECT_THAT(cells({"x", "L", {ArrowInt{most} * 2 + 1}}, text), ElementsAre("'18446744073709551615'"));

  EXPECT_THAT(cells({"x", "b", {1_i, 0_i, {}}}, integer), ElementsAre("1", "0", "null"));
  EXPECT_THAT(cells({"x", "b", {1_i, 0_i, {}}}, real), ElementsAre("0x1p+0", "0x0p+0", "null"));
  EXPECT_THAT(cells({"x", "b", {1_i, 0_i, {}}}, text), ElementsAre("'true'", "'false'", "null"));

  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const std::string format : {"e", "f", "g"}) {
    SCOPED_TRACE(format);
    const ArrowTestColumn column{"x", format, {1.5, -2.0, nan, {}, infinity, -infinity, 0x1p-24}};
    EXPECT_THAT(cells(column, real),
                ElementsAre("0x1.8p+0", "-0x1p+1", "nan", "null", "inf", "-inf", "0x1p-24"));
    EXPECT_THAT(cells(column, integer), ElementsAre("null", "-2", "null", "null", "null", "null", "null"));
    EXPECT_THAT(cells(column, text),
                ElementsAre("'1.5'", "'-2'", "null", "null", "'inf'", "'-inf'", "'5.960464477539063e-08'"));
  }
  EXPECT_THAT(cells({"x", "g", {1e300, -0x1p63, 0x1p63, 1e22, 0.0001, 123456.75}}, text),
              ElementsAre("'1e+300'", "'-9223372036854775808'", "'9.223372036854776e+18'", "'1e+22'",
                          "'0.0001'", "'123456.75'"));

  for (const std::string format : {"u", "U", "vu"}) {
    SCOPED_TRACE(format);
    const ArrowTestColumn column{
        "x", format, {"7", {}, " 1.5 ", "", "1.00E+05", "a text of more than twelve bytes", "nan"}};
    EXPECT_THAT(cells(column, text), ElementsAre("'7'", "null", "' 1.5 '", "''", "'1.00E+05'",
                                                 "'a text of more than twelve bytes'", "'nan'"));
    EXPECT_THAT(cells(column, real),
                ElementsAre("0x1.cp+2", "null", "0x1.8p+0", "null", "0x1.86ap+16", "null", "null"));
    EXPECT_THAT(cells(column, integer), ElementsAre("7", "null", "null", "null", "100000", "null", "null"));
  }

  for (const AtomType wanted : {real, integer, text})
    EXPECT_THAT(cells({"x", "n", {{}, {}}}, wanted), ElementsAre("null", "null"));
}

TEST(ArrowSource, ReadsDecimals) {
  for (const std::string bits : {"", ",32", ",64", ",128"}) {
    const ArrowTestColumn column{"x", "d:9,2" + bits, {150_i, -50_i, 700_i, {}, 0_i}};
    EXPECT_THAT(cells(column, real), ElementsAre("0x1.8p+0", "-0x1p-1", "0x1.cp+2", "null", "0x0p+0"));
    EXPECT_THAT(cells(column, integer), ElementsAre("null", "null", "7", "null", "0"));
    EXPECT_THAT(cells(column, text), ElementsAre("'1.50'", "'-0.50'", "'7.00'", "null", "'0.00'"));
  }
  EXPECT_THAT(cells({"x", "d:2,2", {5_i, -99_i}}, text), ElementsAre("'.05'", "'-.99'"));
  ArrowInt large = 1;
  for (int i = 0; i < 37; ++i) large = large * 10 + 1;
  EXPECT_THAT(
      cells({"x", "d:38,0", {large, -large}}, text),
      ElementsAre("'11111111111111111111111111111111111111'", "'-11111111111111111111111111111111111111'"));
  EXPECT_THAT(cells({"x", "d:38,37", {-large}}, text),
              ElementsAre("'-1.1111111111111111111111111111111111111'"));
  EXPECT_THAT(cells({"x", "d:38,0", {large}}, integer), ElementsAre("null"));
  EXPECT_THAT(cells({"x", "d:18,0", {ArrowInt{most}, ArrowInt{most} + 1}}, integer),
              ElementsAre("9223372036854775807", "null"));
}

TEST(ArrowSource, ReadsDictionaries) {
  for (const std::string index : {"c", "C", "s", "S", "i", "I", "l", "L"}) {
    SCOPED_TRACE(index);
    for (const std::string values : {"u", "U", "vu"}) {
      const ArrowTestColumn column{
          "x", values, {"12", {}, "b", "12", "", "a text of more than twelve bytes"}, index};
      EXPECT_THAT(cells(column, text),
                  ElementsAre("'12'", "null", "'b'", "'12'", "''", "'a text of more than twelve bytes'"));
      EXPECT_THAT(cells(column, integer), ElementsAre("12", "null", "null", "12", "null", "null"));
      EXPECT_THAT(cells(column, real), ElementsAre("0x1.8p+3", "null", "null", "0x1.8p+3", "null", "null"));
    }
    EXPECT_THAT(cells({"x", "l", {7_i, {}, -1_i, 7_i}, index}, real),
                ElementsAre("0x1.cp+2", "null", "-0x1p+0", "0x1.cp+2"));
    EXPECT_THAT(cells({"x", "g", {1.5, {}, 2.0}, index}, integer), ElementsAre("null", "null", "2"));
    EXPECT_THAT(cells({"x", "d:5,1", {15_i, {}}, index}, text), ElementsAre("'1.5'", "null"));
    EXPECT_THAT(cells({"x", "b", {1_i, 0_i}, index}, text), ElementsAre("'true'", "'false'"));
    EXPECT_THAT(cells({"x", "n", {{}, {}}, index}, real), ElementsAre("null", "null"));
  }
}

TEST(ArrowSource, FoldsWhatStatisticsAsk) {
  std::vector<ArrowCell> ages, names;
  for (int i = 0; i < 5000; ++i) {
    ages.emplace_back(i % 50 + 0.5);
    names.emplace_back(std::string(i % 3 == 0 ? "ulm" : "bonn"));
  }
  ArrowProducer producer({{"age", "g", ages}, {"city", "u", names, "c"}});
  producer.ends = {0, 1700, 1700, 5000};
  ArrowArrayStream stream = producer.open();
  ArrowSource source(&stream);
  const Transformation complete = make_drop(untrusted_domain({real}), symmetric_distance());
  const Aggregation sum =
      complete >> make_clamp(complete.output_domain(), symmetric_distance(), Bounds(0, 100)) >> make_sum();
  const Aggregation count = make_count(untrusted_domain({}), symmetric_distance());
  const std::vector<FoldRequest> requests{{{"age"}, &sum}, {{}, &count}};
  const FoldResult result = source.fold(requests, {});
  EXPECT_EQ(result.rows, 5000U);
  EXPECT_EQ(sum.finish(result.states.at(0)).at(0), Dyadic(125'000));
  EXPECT_EQ(count.finish(result.states.at(1)).at(0), Dyadic(5000));
}

// A host's arithmetic, as threads inherit it: rounding, and subnormals that are zeros.
class OtherArithmetic {
 public:
  explicit OtherArithmetic(int rounding) {
    std::fegetenv(&saved_);
    std::fesetround(rounding);
#if defined(__SSE2__)
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
  }
  ~OtherArithmetic() {
    std::fesetenv(&saved_);
  }
  OtherArithmetic(const OtherArithmetic&) = delete;
  OtherArithmetic& operator=(const OtherArithmetic&) = delete;

 private:
  std::fenv_t saved_;
};

TEST(ArrowSource, DoesNotDependOnTheHostsArithmeticParallel) {
  const ArrowInt large = ArrowInt{most} * 1000 + 12345;
  std::vector<ArrowTestColumn> columns{{"half", "e", {0x1p-24, 1.5}},
                                       {"float", "f", {0x1p-140, 1.5}},
                                       {"double", "g", {0x1p-1060, 1.1}},
                                       {"long", "L", {ArrowInt{most} * 2 - 1, ArrowInt{most}}},
                                       {"int", "l", {ArrowInt{most}, -ArrowInt{most}}},
                                       {"decimal", "d:30,7", {large, -large}},
                                       {"text", "u", {"0.1", "1e-320"}},
                                       {"dictionary", "u", {"0.1", "1e-320"}, "c"},
                                       {"unit", "l", {ArrowInt{1}, ArrowInt{2}}}};
  for (ArrowTestColumn& column : columns) {
    const std::vector<ArrowCell> two = column.cells;
    for (int i = 0; i < 9; ++i) column.cells.insert(column.cells.end(), two.begin(), two.end());
  }
  const auto seen = [&](const RowSelection& selection) {
    ArrowProducer producer(columns);
    producer.ends = {2, 9, 20};
    ArrowArrayStream stream = producer.open();
    ArrowSource source(&stream, {.threads = 3});
    std::vector<Wanted> wanted;
    for (const ArrowTestColumn& column : columns) {
      for (const AtomType type : {real, integer, text}) wanted.push_back({{column.name}, {type}});
    }
    return see(source, selection, wanted, 20);
  };
  for (const RowSelection& selection :
       {RowSelection{}, RowSelection{std::nullopt, RowSelection::UnitLimit{"unit", 3}}}) {
    const Seen expected = seen(selection);
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
      Seen other;
      {
        const OtherArithmetic arithmetic(rounding);
        other = seen(selection);
      }
      EXPECT_EQ(other, expected);
    }
  }
}

}  // namespace
}  // namespace snapdp
