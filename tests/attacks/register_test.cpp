// docs/attacks.md names the tests that there are, and no others.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

namespace snapdp::attacks {
namespace {

TEST(AttackRegister, NamesEveryTestSuite) {
  std::ifstream file(SNAPDP_SOURCE "/docs/attacks.md");
  ASSERT_TRUE(file.is_open());
  // The last column: names with commas between.
  std::set<std::string> named;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("| ") || line.starts_with("| attack ")) continue;
    const std::size_t end = line.rfind(" |");
    const std::size_t begin = line.rfind("| ", end - 1) + 2;
    std::istringstream names(line.substr(begin, end - begin));
    for (std::string name; std::getline(names >> std::ws, name, ',');) {
      if (name != "tests/secrets") named.insert(name);
    }
  }
  std::set<std::string> present;
  const testing::UnitTest& tests = *testing::UnitTest::GetInstance();
  for (int i = 0; i < tests.total_test_suite_count(); ++i) present.insert(tests.GetTestSuite(i)->name());
  present.erase("AttackRegister");
  EXPECT_EQ(named, present);
  EXPECT_GE(present.size(), 12u);
}

}  // namespace
}  // namespace snapdp::attacks
