#include "snapdp/mechanism/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "snapdp/error.h"

namespace snapdp {
namespace {

std::string read(const std::string& name) {
  std::ifstream file(std::string(SNAPDP_TEST_DATA) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The text with its last column, `output`, emptied, so that nothing can be copied from there.
std::string without_output(const std::string& vectors) {
  std::string result = vectors.substr(0, vectors.find('\n') + 1);
  for (std::size_t begin = result.size(); begin < vectors.size();) {
    const std::size_t end = vectors.find("\r\n", begin);
    result += vectors.substr(begin, vectors.rfind(',', end) + 1 - begin) + "\r\n";
    begin = end + 2;
  }
  return result;
}

// The first pair of lines that differ.
std::string first_difference(const std::string& a, const std::string& b) {
  std::istringstream lines_a(a);
  std::istringstream lines_b(b);
  std::string line_a;
  std::string line_b;
  while (std::getline(lines_a, line_a) && std::getline(lines_b, line_b)) {
    if (line_a != line_b) return line_a + "\n" + line_b;
  }
  return a == b ? "" : "different lengths";
}

// Every row is an independent rational and MPFR evaluation; half of them sit next to a rounding boundary.
TEST(Trace, RecomputesEveryVectorOnEveryKernel) {
  const std::string vectors = read("snap_exact.csv");
  ASSERT_EQ(std::count(vectors.begin(), vectors.end(), '\n'), 1501);
  const std::string blank = without_output(vectors);
  ASSERT_NE(blank, vectors);
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!is_supported(set)) continue;
    EXPECT_EQ(first_difference(trace(blank, {.kernel = set}), vectors), "") << to_string(set);
  }
  EXPECT_EQ(first_difference(trace(blank, {.slow_only = true}), vectors), "");
}

TEST(Trace, RecomputesEveryVectorOfPrecisionMode) {
  const std::string vectors = read("snap_precision.csv");
  ASSERT_EQ(std::count(vectors.begin(), vectors.end(), '\n'), 501);
  const std::string blank = without_output(vectors);
  ASSERT_NE(blank, vectors);
  for (const InstructionSet set : {InstructionSet::portable, InstructionSet::avx2, InstructionSet::avx512}) {
    if (!is_supported(set)) continue;
    EXPECT_EQ(first_difference(trace(blank, {.kernel = set}), vectors), "") << to_string(set);
  }
  EXPECT_EQ(first_difference(trace(blank, {.slow_only = true}), vectors), "");
}

const std::string header = "epsilon,sensitivity,lower,upper,value,grid,sign,uniform_bits,output\n";

// ln(1/2) = -.693: 5 - .693 rounds to 4 on the grid 1, 4.25 on 2^-2.
TEST(Trace, KeepsEverythingButTheOutput) {
  EXPECT_EQ(trace(header + "0x1p+0,1,,,5.0,,1,8000000000000000,nonsense\n"),
            header + "0x1p+0,1,,,5.0,,1,8000000000000000,0x1.0000000000000p+2\n");
  EXPECT_EQ(trace("output,value,sign,uniform_bits,epsilon,sensitivity,grid,upper,lower\r\n"
                  ",5,-1,8000000000000000,1,1,0x1p-2,,0\r\n,5,1,8000000000000000,1,1,0x1p-2,,0"),
            "output,value,sign,uniform_bits,epsilon,sensitivity,grid,upper,lower\r\n"
            "0x1.7000000000000p+2,5,-1,8000000000000000,1,1,0x1p-2,,0\r\n"
            "0x1.1000000000000p+2,5,1,8000000000000000,1,1,0x1p-2,,0");
  EXPECT_EQ(trace(header), header);
  // Zero is +0, whatever the sign of the value.
  EXPECT_EQ(trace(header + "4,1,,,-0x0.0p+0,0x1p+3,1,8000000000000000,\n"),
            header + "4,1,,,-0x0.0p+0,0x1p+3,1,8000000000000000,0x0.0p+0\n");
}

TEST(Trace, TakesAnyNumberOfDigitsThatDecides) {
  const auto output = [](const std::string& digits) {
    const std::string text = trace(header + "1,1,,,0,,1," + digits + ",\n");
    return text.substr(text.rfind(',') + 1);
  };
  EXPECT_EQ(output("c"), "0x0.0p+0\n");  // U in [3/4, 13/16): noise above -.29
  EXPECT_EQ(output("4"), "-0x1.0000000000000p+0\n");
  EXPECT_EQ(output("C0000000000000000000000000000000000000"), "0x0.0p+0\n");
  // Sixteen zeros, then 2^-66: -45.7.
  EXPECT_EQ(output("00000000000000004"), "-0x1.7000000000000p+5\n");
  // U in [.6, .66): noise on both sides of -1/2, U = .6065.
  EXPECT_THROW(output("9"), Error);
  EXPECT_THROW(output("9b"), Error);
  EXPECT_THROW(output("00000000"), Error);
}

TEST(Trace, NamesLineAndColumnOfWhatItCannotRead) {
  const std::string good = "1,1,,,5,,1,80000000,\n";
  const auto expect_refused = [](const std::string& text, const std::string& column,
                                 const std::string& place) {
    try {
      trace(text);
      ADD_FAILURE() << "accepted: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_EQ(error.parameter(), column) << error.what();
      EXPECT_THAT(error.what(), testing::HasSubstr(place));
    }
  };
  const auto row = [&](const std::string& text) { return header + good + text + "\n"; };
  expect_refused("", "vectors", "line 1");
  expect_refused("epsilon,sensitivity\n", "lower", "line 1");
  expect_refused("epsilon,epsilon\n", "epsilon", "line 1");
  expect_refused("precision," + header, "precision", "line 1");
  expect_refused("Epsilon" + header.substr(7), "Epsilon", "line 1");
  expect_refused(row("1,1,,,5,,1,80000000"), "vectors", "line 3");
  expect_refused(row("") + good, "vectors", "line 3");
  EXPECT_NO_THROW(trace(row("")));
  expect_refused(row("1,1,,,5,,1,80000000,,"), "vectors", "line 3");
  expect_refused(row("x,1,,,5,,1,80000000,"), "epsilon", "line 3, column epsilon");
  expect_refused(row(",1,,,5,,1,80000000,"), "epsilon", "line 3, column epsilon");
  expect_refused(row("nan,1,,,5,,1,80000000,"), "epsilon", "line 3, column epsilon");
  expect_refused(row("0,1,,,5,,1,80000000,"), "epsilon", "line 3, column epsilon");
  expect_refused(row("1,-1,,,5,,1,80000000,"), "sensitivity", "line 3, column sensitivity");
  expect_refused(row("1,1,inf,,5,,1,80000000,"), "lower", "line 3, column lower");
  expect_refused(row("1,1,3,2,5,,1,80000000,"), "lower", "line 3, column lower");
  expect_refused(row("1,1,,1e400,5,,1,80000000,"), "upper", "line 3, column upper");
  expect_refused(row("1,1,,,0.1,,1,80000000,"), "value", "line 3, column value");
  expect_refused(row("1,1,,,,,1,80000000,"), "value", "line 3, column value");
  expect_refused(row("1,1,,,5,3,1,80000000,"), "grid", "line 3, column grid");
  expect_refused(row("1,1,,,5,0,1,80000000,"), "grid", "line 3, column grid");
  expect_refused(row("1,1,,,5,-1,1,80000000,"), "grid", "line 3, column grid");
  expect_refused(row("1,1,,,5,0x1p-1074,1,80000000,"), "grid", "line 3, column grid");
  expect_refused(row("1,1,,,5,,0,80000000,"), "sign", "line 3, column sign");
  expect_refused(row("1,1,,,5,,1,8000g000,"), "uniform_bits", "line 3, column uniform_bits");
  expect_refused(row("1,1,,,5,,1,,"), "uniform_bits", "line 3, column uniform_bits");
  expect_refused(row("1,1,,,5,,1,00000000,"), "uniform_bits", "line 3, column uniform_bits");
  EXPECT_NO_THROW(trace(row("1,1,,,5,,1,8" + std::string(4095, '0') + ",")));
  expect_refused(row("1,1,,,5,,1,8" + std::string(4096, '0') + ","), "uniform_bits", "more than 4096 digits");
}

TEST(Trace, ReadsTheNamesOfKernels) {
  EXPECT_EQ(parse_kernel("portable"), InstructionSet::portable);
  EXPECT_EQ(parse_kernel("best"), best_instruction_set());
  EXPECT_EQ(parse_kernel(to_string(best_instruction_set())), best_instruction_set());
  EXPECT_THROW(parse_kernel("sse9"), Error);
  EXPECT_THROW(parse_kernel(""), Error);
  if (!is_supported(InstructionSet::avx512)) {
    EXPECT_THROW(parse_kernel("avx512"), Error);
    EXPECT_THROW(trace(header, {.kernel = InstructionSet::avx512}), Error);
  }
}

TEST(Trace, MessagesHoldNothingThatATerminalObeys) {
  try {
    trace("epsilon\x1b[2J\x7f,value\n");
    FAIL();
  } catch (const Error& error) {
    const std::string text = error.what() + error.parameter();
    EXPECT_EQ(text.find_first_of("\x1b\x7f"), std::string::npos) << text;
  }
}

// Gaussian noise: U = 1/2 is |Z| = 0.6744..., and one grid step of 1 with it.
TEST(Trace, GaussianVectors) {
  const std::string columns = "scale,lower,upper,value,grid,sign,uniform_bits,output\n";
  const std::string vectors = columns + "0x1p+0,,,0x0p+0,0x1p+0,1,8000000000000000,\n" +
                              "0x1p+0,,,0x0p+0,0x1p+0,-1,8000000000000000,\n" +
                              "0x1p+2,-0x1p+0,0x1p+0,0x0p+0,,-1,4000000000000000,\n" +
                              "0x1p+2,,,0x0p+0,0x1p-1,1,4000000000000000,\n";
  const std::string expected = columns + "0x1p+0,,,0x0p+0,0x1p+0,1,8000000000000000,-0x1.0000000000000p+0\n" +
                               "0x1p+0,,,0x0p+0,0x1p+0,-1,8000000000000000,0x1.0000000000000p+0\n" +
                               "0x1p+2,-0x1p+0,0x1p+0,0x0p+0,,-1,4000000000000000,0x1.0000000000000p+0\n" +
                               // 4 * 1.1503... = 4.601... on halves
                               "0x1p+2,,,0x0p+0,0x1p-1,1,4000000000000000,-0x1.2000000000000p+2\n";
  EXPECT_EQ(trace(vectors), expected);
  EXPECT_EQ(trace(expected, {.slow_only = true}), expected);
  EXPECT_THROW(trace("scale,epsilon,lower,upper,value,grid,sign,uniform_bits,output\n"), Error);
  EXPECT_THROW(trace(columns + "0,,,0x0p+0,0x1p+0,1,8,\n"), Error);
  // Two digits leave |Z| between two outputs.
  EXPECT_THROW(trace(columns + "0x1p+10,,,0x0p+0,0x1p+0,1,80,\n"), Error);
}

}  // namespace
}  // namespace snapdp
