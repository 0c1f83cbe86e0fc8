// Gaussian noise in the tool: certify, law, accuracy, bias and bound, and what they refuse.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/tool.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class GaussianToolTest : public ToolTest {
 protected:
  Json json(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, {"--json", "--noise", "gaussian"});
    return Json::parse(succeed(std::move(arguments)));
  }
  // Both ends of an enclosure hold the number, and are near it.
  static void expect_holds(const Json& ends, const char* number) {
    const Rational exact = parse_rational(number, "number");
    const Rational low = parse_rational(ends.at(0).get<std::string>(), "low");
    const Rational high = parse_rational(ends.at(1).get<std::string>(), "high");
    EXPECT_LE(low, exact * (1 + Rational(1e-29)));
    EXPECT_GE(high, exact * (1 - Rational(1e-29)));
    EXPECT_LE(high - low, exact * Rational(1e-27));
  }
};

// Of tests/data/gaussian_delta.csv.
TEST_F(GaussianToolTest, CertifyFindsTheThird) {
  const Json delta = json({"certify", "--scale", "1", "--sensitivity", "1", "--epsilon", "1"});
  expect_holds(delta.at("delta"), "1.26936737506643945800829624758e-01");
  EXPECT_EQ(delta.at("rho"), "0.5");
  const Json epsilon = json(
      {"certify", "--scale", "1", "--sensitivity", "1", "--delta", "1.26936737506643945800829624758e-01"});
  expect_holds(epsilon.at("epsilon"), "1");
  const Json scale = json(
      {"certify", "--epsilon", "1", "--sensitivity", "1", "--delta", "1.26936737506643945800829624758e-01"});
  expect_holds(scale.at("scale"), "1");
  // Twice the sensitivity and the scale are the same.
  EXPECT_EQ(json({"certify", "--scale", "2", "--sensitivity", "2", "--epsilon", "1"}).at("delta"),
            delta.at("delta"));
  const std::string text =
      succeed({"certify", "--noise", "gaussian", "--scale", "4", "--sensitivity", "1", "--epsilon", "1"});
  EXPECT_THAT(text, StartsWith("delta: [0.0"));
  EXPECT_THAT(text, HasSubstr("rho: 0.03125"));
}

TEST_F(GaussianToolTest, LawAccuracyAndBias) {
  const Json law = json({"law", "--scale", "1", "--grid", "1", "--value", "0"});
  EXPECT_EQ(law.at("noise"), "gaussian");
  EXPECT_EQ(law.at("mode"), "exact");
  EXPECT_EQ(law.at("epsilon"), nullptr);
  EXPECT_EQ(law.at("mean"), 0);
  for (const Json& row : law.at("outputs")) {
    if (row.at("output") == -3) {
      EXPECT_EQ(row.at("probability"), 5.97703624674061013062817868746e-03);
    }
    if (row.at("output") == -2) {
      EXPECT_EQ(row.at("probability"), 6.05975359430819308375159364057e-02);
    }
  }
  const Json accuracy = json({"accuracy", "--scale", "1", "--grid", "1", "--alpha", "0.05"});
  EXPECT_DOUBLE_EQ(accuracy.at("tight").get<double>(), 2.29621272059619726497268768933);
  EXPECT_DOUBLE_EQ(accuracy.at("conservative").get<double>(), 2.45996398454005423552459443052);
  EXPECT_DOUBLE_EQ(accuracy.at("gaussian").get<double>(), 1.95996398454005423552459443052);
  EXPECT_EQ(json({"accuracy", "--scale", "1", "--grid", "1", "--integer"}).at("tight"), 2);
  const Json bias =
      json({"bias", "--scale", "1", "--grid", "1", "--lower", "-5", "--upper", "5", "--value", "4"});
  EXPECT_DOUBLE_EQ(bias.at("bias").get<double>(), -7.32529123765488463907982519903e-02);
  EXPECT_EQ(json({"bound", "--scale", "1", "--lower", "0", "--upper", "10"}).at("notes"), nullptr);
  for (const char* command : {"law", "accuracy", "bias"})
    EXPECT_THAT(succeed({command, "--noise", "gaussian", "--scale", "2", "--sensitivity", "1"}),
                HasSubstr("rho"));
}

TEST_F(GaussianToolTest, Refuses) {
  using Arguments = std::vector<std::string>;
  const std::vector<std::pair<Arguments, std::string>> refused = {
      {{"law", "--noise", "gaussian"}, "--scale"},
      {{"law", "--noise", "gaussian", "--scale", "0"}, "--scale"},
      {{"law", "--noise", "gaussian", "--scale", "1", "--epsilon", "1"}, "--epsilon"},
      {{"accuracy", "--noise", "gaussian", "--scale", "1", "--target-accuracy", "1"}, "--target-accuracy"},
      {{"bias", "--noise", "gaussian", "--scale", "1", "--mode", "precision"}, "--noise"},
      {{"law", "--scale", "1", "--sensitivity", "1", "--epsilon", "1"}, "--scale"},
      {{"law", "--epsilon", "1"}, "--sensitivity"},
      {{"law", "--noise", "gausian", "--scale", "1"}, "--noise"},
      {{"certify", "--noise", "gaussian", "--scale", "1", "--sensitivity", "1"}, "--delta"},
      {{"certify", "--noise", "gaussian", "--scale", "1", "--epsilon", "1"}, "--sensitivity"},
      {{"certify", "--noise", "gaussian", "--scale", "0", "--sensitivity", "1", "--epsilon", "1"}, "--scale"},
      {{"certify", "--noise", "gaussian", "--scale", "1", "--sensitivity", "1", "--delta", "1"}, "--delta"},
      {{"certify", "--noise", "gaussian", "--scale", "1", "--sensitivity", "1", "--epsilon", "-1"},
       "--epsilon"},
      {{"certify", "--epsilon", "1", "--sensitivity", "1", "--delta", "1e-6"}, "--delta"},
      {{"plot", "accuracy", "--noise", "gaussian", "--scale", "1", "-o", "/dev/null"}, "--noise"}};
  for (const auto& [arguments, parameter] : refused) {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(arguments) << outcome.out;
    EXPECT_THAT(outcome.error, StartsWith("snapdp: error: " + parameter))
        << testing::PrintToString(arguments);
  }
}

}  // namespace
}  // namespace snapdp
