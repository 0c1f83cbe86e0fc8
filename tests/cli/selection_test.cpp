// snapdp selection and snapdp select-top.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/tool.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

using Json = nlohmann::json;

class SelectionToolTest : public ToolTest {
 protected:
  Json json_of(const std::vector<std::string>& words) { return Json::parse(succeed(words)); }

  // That the decimal lies in the enclosure, and how wide that is.
  static Rational width_around(const Json& enclosure, const std::string& decimal) {
    const Rational low = parse_rational(enclosure.at(0).get<std::string>(), "low");
    const Rational high = parse_rational(enclosure.at(1).get<std::string>(), "high");
    const Rational value = parse_rational(decimal, "value");
    // The decimal is rounded at its 30th digit.
    const Rational slack = value * parse_rational("1e-29", "slack");
    EXPECT_LE(low - slack, value);
    EXPECT_GE(high + slack, value);
    return high - low;
  }
};

TEST_F(SelectionToolTest, Selection) {
  const Json json = json_of({"selection", "--epsilon", "1", "--delta", "1e-5", "--units", "3", "--json"});
  EXPECT_LT(width_around(json.at("probability"), "1.11073379273896954625907149319e-04"),
            parse_rational("1e-33", "width"));
  EXPECT_EQ(json.at("certain_from"), "23");
  EXPECT_EQ(json.at("turn"), "11");
  EXPECT_EQ(json.at("units"), "3");
  const Json exact = json_of({"selection", "--epsilon", "1", "--delta", "1e-5", "--units", "1", "--json"});
  EXPECT_EQ(exact.at("probability"), Json::array({"0.00001", "0.00001"}));
  const Json certain =
      json_of({"selection", "--epsilon", "1", "--delta", "1e-5", "--units", "1e30", "--json"});
  EXPECT_EQ(certain.at("probability"), Json::array({"1", "1"}));
  EXPECT_EQ(certain.at("hidden"), Json::array({"0", "0"}));
  const Json grouped =
      json_of({"selection", "--epsilon", "3", "--delta", "3e-5", "--groups", "3", "--units", "3", "--json"});
  EXPECT_EQ(grouped.at("probability"), json.at("probability"));
  EXPECT_EQ(grouped.at("epsilon"), "1");
  const std::string table = succeed({"selection", "--epsilon", "1", "--delta", "1e-5", "--units", "3"});
  EXPECT_NE(table.find("0.000111073379274"), std::string::npos) << table;
  EXPECT_NE(table.find("23 units"), std::string::npos) << table;
}

TEST_F(SelectionToolTest, SelectionRefusals) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& option) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.error;
    EXPECT_NE(outcome.error.find(option), std::string::npos) << outcome.error;
  };
  refused({"selection", "--epsilon", "1", "--delta", "0", "--units", "3"},
          "--delta = 0: must be greater than 0");
  refused({"selection", "--epsilon", "1", "--delta", "1.5", "--units", "3"},
          "--delta = 1.5: must be at most 1");
  refused({"selection", "--epsilon=-1", "--delta", "0.1", "--units", "3"},
          "--epsilon = -1: must be positive");
  refused({"selection", "--epsilon", "1", "--delta", "0.1", "--units", "2.5"},
          "--units = 2.5: must be a whole");
  refused({"selection", "--epsilon", "1", "--delta", "0.1", "--units=-1"}, "--units = -1: must be a whole");
  refused({"selection", "--epsilon", "1", "--delta", "0.1", "--units", "1", "--groups", "0"}, "--groups = 0");
}

TEST_F(SelectionToolTest, SelectTop) {
  const Json json = json_of({"select-top", "--epsilon", "1", "--scores", "0,1", "--json"});
  EXPECT_LT(width_around(json.at("probabilities").at(0), "3.03265329856316711801899767496e-01"),
            parse_rational("1e-30", "width"));
  EXPECT_LT(width_around(json.at("probabilities").at(1), "6.96734670143683288198100232504e-01"),
            parse_rational("1e-30", "width"));
  EXPECT_EQ(json.at("chosen"), json.at("probabilities"));
  EXPECT_TRUE(json.at("lists").is_null());
  const Json monotone = json_of({"select-top", "--epsilon", "1", "--scores", "0, 1", "--monotone", "--json"});
  EXPECT_LT(width_around(monotone.at("probabilities").at(0), "1.83939720585721160797761885081e-01"),
            parse_rational("1e-30", "width"));
  const Json two = json_of({"select-top", "--epsilon", "2", "--scores", "0,1,1/2", "--k", "2", "--json"});
  EXPECT_EQ(two.at("lists").size(), 6);
  EXPECT_EQ(two.at("chosen").size(), 3);
  const Json many =
      json_of({"select-top", "--epsilon", "2", "--scores", "1,2,3,4,5,6,7,8,9", "--k", "9", "--json"});
  EXPECT_TRUE(many.at("lists").is_null());
  EXPECT_TRUE(many.at("chosen").is_null());
  EXPECT_NE(many.at("why_no_lists").get<std::string>().find("362880"), std::string::npos);
  const std::string table = succeed({"select-top", "--epsilon", "1", "--scores", "0,1"});
  EXPECT_NE(table.find("0.303265329857"), std::string::npos) << table;
}

TEST_F(SelectionToolTest, SelectTopRefusals) {
  const auto refused = [&](const std::vector<std::string>& words, const std::string& option) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.error;
    EXPECT_NE(outcome.error.find(option), std::string::npos) << outcome.error;
  };
  refused({"select-top", "--epsilon", "0", "--scores", "0,1"}, "--epsilon = 0: must be positive");
  refused({"select-top", "--epsilon", "1", "--scores", "0,,1"}, "--scores: has an empty entry");
  refused({"select-top", "--epsilon", "1", "--scores", "0,x"}, "--scores");
  refused({"select-top", "--epsilon", "1", "--scores", "0,1", "--k", "3"},
          "--k = 3: must be a whole number from 1 to 2");
  refused({"select-top", "--epsilon", "1", "--scores", "0,1", "--sensitivity", "0"}, "--sensitivity = 0");
}

}  // namespace
}  // namespace snapdp
