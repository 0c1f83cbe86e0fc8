// docs/errata.md and these tests name each other: every erratum has its test and every test its erratum.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <string>

namespace {

TEST(ErrataRegister, EveryErratumHasATestAndTheReverse) {
  std::ifstream document(SNAPDP_SOURCE "/docs/errata.md");
  ASSERT_TRUE(document) << SNAPDP_SOURCE "/docs/errata.md";
  // "### 7. What is wrong" and "Test: `Errata.Name`".
  const std::string heading = "### ";
  const std::string test = "Test: `Errata.";
  std::set<std::string> named;
  int errata = 0;
  bool tested = true;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with(heading)) {
      EXPECT_TRUE(tested) << "erratum " << errata << " names no test";
      EXPECT_TRUE(line.starts_with(heading + std::to_string(++errata) + ". ")) << line;
      tested = false;
    } else if (line.starts_with(test)) {
      const std::string name = line.substr(test.size(), line.find('`', test.size()) - test.size());
      EXPECT_TRUE(named.insert(name).second) << "named twice: " << name;
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
