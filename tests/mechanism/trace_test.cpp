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

}  // namespace
}  // namespace snapdp
