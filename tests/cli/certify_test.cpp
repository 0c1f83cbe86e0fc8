// snapdp certify: the numbers, their order, and what is refused.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/tool.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

class CertifyTest : public ToolTest {
 protected:
  Json certify(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"certify", "--json"});
    return Json::parse(succeed(std::move(arguments)));
  }
  static Rational number(const Json& json, const char* key) {
    return parse_rational(json.at(key).get<std::string>(), key);
  }
};

TEST_F(CertifyTest, ExactModeHasNothingBetweenItsEnds) {
  const Json json = certify({"--epsilon", "0.3", "--sensitivity", "1"});
  EXPECT_LE(number(json, "bound") - number(json, "witness"), Rational(1e-15));
  EXPECT_LE(number(json, "bound"), Rational(3, 10));
  EXPECT_GT(number(json, "witness"), Rational(299999999, 1000000000));
  EXPECT_EQ(json.at("notes_claim_holds"), true);
  EXPECT_EQ(json.at("within_epsilon"), true);
  EXPECT_GE(json.at("witness").get<std::string>().size(), 27U);
  const Json geometric =
      certify({"--scale", "3", "--sensitivity", "2", "--noise", "geometric", "--lower", "0", "--upper", "1"});
  EXPECT_EQ(geometric.at("witness"), "0.333333333333333333333333333333");
  EXPECT_EQ(geometric.at("epsilon"), nullptr);
  // Between near bounds the loss is smaller than sensitivity / scale.
  const Json narrow =
      certify({"--scale", "1", "--sensitivity", "1", "--lower", "0", "--upper", "1", "--grid", "2^-4"});
  EXPECT_LT(number(narrow, "bound"), 1);
  // With one bound it is that again.
  for (const char* bound : {"--lower", "--upper"}) {
    for (const std::vector<std::string>& noise :
         std::vector<std::vector<std::string>>{{}, {"--noise", "geometric"}}) {
      std::vector<std::string> arguments = {"--scale", "2", "--sensitivity", "1", bound, "0"};
      arguments.insert(arguments.end(), noise.begin(), noise.end());
      const Json one = certify(arguments);
      EXPECT_EQ(one.at("witness"), "0.500000000000000000000000000000");
      EXPECT_EQ(one.at("bound"), one.at("witness"));
      arguments[0] = "--epsilon";
      EXPECT_EQ(certify(arguments).at("within_epsilon"), true);
    }
  }
  EXPECT_THAT(succeed({"certify", "--epsilon", "1", "--sensitivity", "1", "--upper", "2"}),
              HasSubstr("2 or less"));
}

TEST_F(CertifyTest, PrecisionModeIsEnclosedAndTheClaimJudged) {
  // 53 bits, a scale of 100 and bounds at 1 from the middle: the notes' claim is false there.
  const Json violated = certify({"--scale", "0x1.9p+6", "--sensitivity", "1", "--lower", "-1", "--upper", "1",
                                 "--mode", "precision", "--precision", "53"});
  EXPECT_EQ(violated.at("notes_claim_holds"), false);
  EXPECT_GT(number(violated, "witness"), number(violated, "notes_claim"));
  EXPECT_LT(number(violated, "witness"), number(violated, "bound"));
  // The same for epsilon = .01, which no release takes.
  const Json refused = certify({"--epsilon", "0.01", "--sensitivity", "1", "--lower", "-1", "--upper", "1",
                                "--mode", "precision", "--precision", "53"});
  EXPECT_EQ(refused.at("notes_claim_holds"), false);
  const Json kept = certify(
      {"--epsilon", "1", "--sensitivity", "1", "--lower", "0", "--upper", "100", "--mode", "precision"});
  EXPECT_EQ(kept.at("notes_claim_holds"), true);
  EXPECT_EQ(kept.at("within_epsilon"), true);
  EXPECT_EQ(kept.at("precision"), 118);
  EXPECT_LT(number(kept, "witness"), number(kept, "bound"));
  EXPECT_LE(number(kept, "bound"), 1);
}

TEST_F(CertifyTest, BoundsMayLieFarApart) {
  for (const char* upper : {"1e12", "1e25"}) {
    const Json far = certify(
        {"--epsilon", "1", "--sensitivity", "1", "--lower", "0", "--upper", upper, "--mode", "precision"});
    EXPECT_LE(number(far, "witness"), number(far, "bound"));
    EXPECT_LE(number(far, "bound"), 1);
    EXPECT_GT(number(far, "witness"), Rational(1) - Rational(1e-5));
  }
}

TEST_F(CertifyTest, IsReadableAndHelps) {
  const std::string table = succeed({"certify", "--epsilon", "1", "--sensitivity", "1"});
  for (const char* text : {"witness", "occurs", "bound", "is never exceeded", "is kept"})
    EXPECT_THAT(table, HasSubstr(text));
  EXPECT_THAT(succeed({"certify", "--help"}), HasSubstr("Examples:"));
}

TEST_F(CertifyTest, RefusesWhatIsNoMechanism) {
  using Arguments = std::vector<std::string>;
  const std::vector<std::pair<Arguments, std::string>> refused = {
      {{"--sensitivity", "1"}, "--epsilon"},
      {{"--sensitivity", "1", "--epsilon", "1", "--scale", "1"}, "--epsilon"},
      {{"--sensitivity", "1", "--epsilon", "0"}, "--epsilon"},
      {{"--sensitivity", "1", "--scale", "-1"}, "--scale"},
      {{"--sensitivity", "0", "--scale", "1"}, "--sensitivity"},
      {{"--sensitivity", "1", "--scale", "1", "--precision", "60"}, "--precision"},
      {{"--sensitivity", "1", "--scale", "1", "--mode", "precision"}, "--lower"},
      {{"--sensitivity", "1", "--scale", "1", "--mode", "precision", "--upper", "1"}, "--lower"},
      {{"--sensitivity", "1", "--scale", "1", "--mode", "precision", "--lower", "1"}, "--upper"},
      {{"--sensitivity", "1", "--epsilon", "1", "--mode", "precision", "--lower", "1"}, "--upper"},
      {{"--sensitivity", "1", "--scale", "1", "--lower", "-inf"}, "--lower"},
      {{"--sensitivity", "1", "--scale", "1/3", "--mode", "precision", "--lower", "0", "--upper", "9"},
       "--scale"},
      {{"--sensitivity", "1", "--scale", "1", "--mode", "precision", "--lower", "0", "--upper", "9", "--grid",
        "2^3"},
       "--grid"},
      {{"--sensitivity", "1", "--scale", "1", "--mode", "precision", "--lower", "0", "--upper", "9",
        "--noise", "geometric"},
       "--noise"},
      {{"--sensitivity", "1", "--epsilon", "2^-200", "--mode", "precision", "--lower", "0", "--upper", "9"},
       "--epsilon"},
      {{"--sensitivity", "1", "--epsilon", "0x1p-60", "--mode", "precision", "--precision", "53", "--lower",
        "0", "--upper", "9"},
       "--precision"},
      {{"--sensitivity", "1", "--scale", "1", "--lower", "3", "--upper", "3"}, "--lower"},
      {{"--sensitivity", "1", "--scale", "1", "--lower", "4", "--upper", "3"}, "--lower"}};
  for (const auto& [arguments, parameter] : refused) {
    Arguments all = arguments;
    all.insert(all.begin(), "certify");
    const Outcome outcome = run(all);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(all) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, StartsWith("snapdp: error: " + parameter)) << testing::PrintToString(all);
  }
}

TEST_F(CertifyTest, ByDilationEverySetOfOutputs) {
  const std::vector<std::string> noise = {"--sensitivity", "1", "--grid",  "notes",
                                          "--lower",       "0", "--upper", "20"};
  const auto dilated = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"certify", "--by", "dilation"};
    arguments.insert(arguments.end(), noise.begin(), noise.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const Outcome kept = dilated({"--epsilon", "1", "--json"});
  EXPECT_EQ(kept.code, 0);
  const Json json = Json::parse(kept.out);
  EXPECT_EQ(json.at("by"), "dilation");
  EXPECT_EQ(json.at("holds"), true);
  EXPECT_EQ(json.at("delta").at(0), 0.0);
  EXPECT_LE(json.at("delta").at(1), 1e-9);
  EXPECT_EQ(json.at("tolerance"), "0.000000001");
  ASSERT_EQ(json.at("checks").size(), 3U);
  // The ends and the middle, with the neighbors that lie between the bounds.
  EXPECT_EQ(json.at("checks").at(0).at("value"), 0.0);
  EXPECT_EQ(json.at("checks").at(0).at("shifts"), Json::parse(R"(["-1", "0"])"));
  EXPECT_EQ(json.at("checks").at(1).at("value"), 10.0);
  EXPECT_EQ(json.at("checks").at(1).at("shifts"), Json::parse(R"(["-1", "1"])"));
  EXPECT_EQ(json.at("checks").at(2).at("outputs"), 21);
  const Outcome text = dilated({"--epsilon", "1", "--value", "3.25"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.out, HasSubstr("holds for the values below"));
  EXPECT_THAT(text.out, HasSubstr("3.25"));

  // A claim about other noise may be false: exit code 1.
  EXPECT_EQ(dilated({"--scale", "1", "--epsilon", "1"}).code, 0);
  const Outcome refuted = dilated({"--scale", "1", "--epsilon", "0.9", "--json"});
  EXPECT_EQ(refuted.code, 1);
  EXPECT_EQ(Json::parse(refuted.out).at("holds"), false);
  EXPECT_GT(Json::parse(refuted.out).at("delta").at(0), 0.01);
  EXPECT_THAT(dilated({"--scale", "1", "--epsilon", "0.9"}).out, HasSubstr("FALSE: delta is at least 0.0"));
  // The mechanism that runs by default, on the automatic grid.
  EXPECT_EQ(run({"certify", "--by", "dilation", "--epsilon", "1", "--sensitivity", "1"}).code, 0);
}

TEST_F(CertifyTest, ByDilationRefusesWhatItCannotCheck) {
  const auto refused = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"certify", "--sensitivity", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.out, "");
    return outcome.error;
  };
  const auto dilated = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--by", "dilation"});
    return refused(more);
  };
  EXPECT_THAT(dilated({}), HasSubstr("--epsilon"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--mode", "precision", "--lower", "0", "--upper", "9"}),
              HasSubstr("finitely many values"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--noise", "geometric"}), HasSubstr("private for integers only"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--grid", "2^-12"}), HasSubstr("or a coarser one"));
  EXPECT_THAT(dilated({"--epsilon", "1001"}), HasSubstr("--epsilon = 1001"));
  EXPECT_THAT(dilated({"--scale", "0x1p-14"}),
              HasSubstr("--scale = 0.00006103515625: dilations are checked"));
  EXPECT_THAT(dilated({"--scale", "1/3"}), HasSubstr("must be a double"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--lower", "0", "--value", "-1"}),
              HasSubstr("--value = -1: lies beyond"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--tolerance", "1e-40"}), HasSubstr("--tolerance"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--tolerance", "x"}), HasSubstr("--tolerance"));
  EXPECT_THAT(dilated({"--epsilon", "1", "--precision", "60"}), HasSubstr("--precision"));
  EXPECT_THAT(refused({"--epsilon", "1", "--by", "dilatoin"}), HasSubstr("did you mean \"dilation\"?"));
  EXPECT_THAT(refused({"--epsilon", "1", "--value", "1"}), HasSubstr("applies only with --by dilation"));
  EXPECT_THAT(refused({"--epsilon", "1", "--tolerance", "1e-3"}),
              HasSubstr("applies only with --by dilation"));
}

}  // namespace
}  // namespace snapdp
