// docs/errata.md and these tests name each other: every erratum has its test and every test its erratum.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <string>

namespace {

TEST(ErrataRegister, EveryErratumHasATestAndTheReverse) {
  std::ifstream document(SNAPDP_DOCS "/errata.md");
  ASSERT_TRUE(document) << SNAPDP_DOCS "/errata.md";
  const std::regex heading("### ([0-9]+)\\. .+");
  const std::regex test("Test: `Errata\\.([A-Za-z]+)`.*");
  std::set<std::string> named;
  int errata = 0;
  bool tested = true;
  std::smatch match;
  for (std::string line; std::getline(document, line);) {
    if (std::regex_match(line, match, heading)) {
      EXPECT_TRUE(tested) << "erratum " << errata << " names no test";
      EXPECT_EQ(std::stoi(match[1]), ++errata);
      tested = false;
    } else if (std::regex_match(line, match, test)) {
      EXPECT_TRUE(named.insert(match[1]).second) << "named twice: " << match[1];
      tested = true;
    }
  }
  EXPECT_TRUE(tested) << "erratum " << errata << " names no test";
  EXPECT_GT(errata, 0);

  std::set<std::string> written;
  const testing::UnitTest& program = *testing::UnitTest::GetInstance();
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *program.GetTestSuite(i);
    if (std::string(suite.name()) != "Errata") continue;
    for (int j = 0; j < suite.total_test_count(); ++j) written.insert(suite.GetTestInfo(j)->name());
  }
  EXPECT_EQ(named, written);
}

}  // namespace
