// snapdp audit: SnapDP's own mechanisms pass, broken programs are found out, programs that misbehave are named.
#include <gmock/gmock.h>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Ours may be refuted by chance with this probability a test.
constexpr const char* sure = "0.9999999999";

class AuditTest : public ToolTest {
 protected:
  Outcome audit(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"audit", "--sensitivity", "1", "--confidence", sure};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(std::move(arguments));
  }
  // A program of awk, for epsilon 1 and the values 0 and 1. Its generator has a fixed seed.
  Outcome audit_awk(const std::string& program, std::vector<std::string> more = {}) const {
    write("program.awk", program);
    std::vector<std::string> arguments = {"--epsilon", "1",         "--values",
                                          "0,1",       "--command", "awk -f program.awk"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return audit(std::move(arguments));
  }
};

TEST_F(AuditTest, OwnMechanismsAreNotRefuted) {
  const std::vector<std::vector<std::string>> mechanisms = {
      {},
      {"--grid", "notes"},
      {"--lower", "0", "--upper", "3"},
      {"--noise", "geometric"},
      {"--mode", "precision", "--lower", "-100", "--upper", "100"},
  };
  for (const std::vector<std::string>& mechanism : mechanisms) {
    std::vector<std::string> arguments = {"--epsilon", "1/2", "--values", "0,1", "--json"};
    arguments.insert(arguments.end(), mechanism.begin(), mechanism.end());
    const Outcome outcome = audit(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.error;
    const Json json = Json::parse(outcome.out);
    EXPECT_EQ(json.at("epsilon"), "0.5");
    EXPECT_EQ(json.at("samples"), 100'000);
    EXPECT_EQ(json.at("refuted"), false);
    EXPECT_LE(json.at("loss_lower_bound").get<double>(), 0.5);
    // Of use: what comes out is about 0.39 and more, nine standard deviations above this.
    EXPECT_GT(json.at("loss_lower_bound").get<double>(), 0.3);
    EXPECT_EQ(json.at("likelier").at("trials"), 50'000);
    EXPECT_GT(json.at("likelier").at("hits").get<int>(), json.at("rarer").at("hits").get<int>());
    EXPECT_TRUE(json.at("event").at("intervals").is_array());
  }
}

constexpr const char* laplace =
    "BEGIN { srand(7) } { u = 1 - rand(); s = rand() < 0.5 ? -1 : 1; x = s * SCALE * log(u); ";

std::string program(const std::string& scale, const std::string& print) {
  return replaced(laplace, "SCALE", scale) + print + " }\n";
}

TEST_F(AuditTest, ForeignProgramsAreJudgedByTheirAnswers) {
  // Rounded to a lattice, with the right scale and with one for epsilon 2.
  const Outcome right = audit_awk(program("1", "printf \"%d\\n\", $1 + int(x * 3)"), {"--samples", "50000"});
  EXPECT_EQ(right.code, 0) << right.out << right.error;
  EXPECT_THAT(right.out, HasSubstr("not refuted"));
  const Outcome weak = audit_awk(program("0.5", "printf \"%.2f\\n\", $1 + x"), {"--samples", "50000"});
  EXPECT_EQ(weak.code, 1) << weak.out << weak.error;
  EXPECT_EQ(weak.error, "");
  EXPECT_THAT(weak.out, HasSubstr("REFUTED"));
  EXPECT_THAT(weak.out, HasSubstr("at most 1"));
  // All digits of a double: the last one tells the values apart, with the right scale.
  const Outcome naive =
      audit_awk(program("1", "printf \"%.17g\\n\", $1 + x"), {"--samples", "50000", "--json"});
  EXPECT_EQ(naive.code, 1);
  const Json json = Json::parse(naive.out);
  EXPECT_EQ(json.at("refuted"), true);
  EXPECT_EQ(json.at("event").at("feature"), "last_bit");
  EXPECT_GT(json.at("loss_lower_bound").get<double>(), 4);
  // No noise at all; the values as they are written.
  write("heard", "");
  const Outcome none =
      audit({"--epsilon", "10", "--values", "-0.25,1/2", "--command", "tee heard", "--samples", "100000"});
  EXPECT_EQ(none.code, 0) << "one of 50,000 is not enough for epsilon 10";
  EXPECT_EQ(audit({"--epsilon", "7", "--values", "-0.25,1/2", "--command", "tee heard"}).code, 1);
  EXPECT_THAT(read_text(path("heard")), StartsWith("-0.25\n0.5\n-0.25\n"));
}

TEST_F(AuditTest, AnswersMayComeInManyForms) {
  // At the end only, with carriage returns and spaces, hexadecimal, as fractions, as infinities, without a last line end.
  const Outcome late = audit_awk(
      "{ n++ } END { for (i = 1; i < n; i++) printf \" %s\\r\\n\", i % 3 == 0 ? \"0x1p-3\" : i % 3 == 1 ? "
      "\"1/8\" : \"inf\"; "
      "printf \"1e-2\" }",
      {"--samples", "1000"});
  EXPECT_EQ(late.code, 0) << late.error;
  EXPECT_THAT(late.out, HasSubstr("not refuted"));
}

TEST_F(AuditTest, ProgramsThatMisbehaveAreNamed) {
  struct Case {
    std::string command;
    int code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {"head -n 5", 5, "ended with exit code 0 after 5 of 20000 answers"},
      {"exit 3", 5, "ended with exit code 3 after 0 of 20000 answers"},
      {"kill -9 $$", 5, "was ended by signal 9 after 0 of 20000"},
      {"no-such-program-anywhere", 5, "ended with exit code 127"},
      {"cat; exit 4", 5, "ended with exit code 4 after all answers"},
      {"sed 's/^/x/'", 4, "answered line 1 with \"x0\""},
      {"sed '7s/.*/nan/'", 4, "answered line 7 with \"nan\""},
      {"sed '3s/.*//'", 4, "answered line 3 with \"\""},
      {"awk '{ print; print }'", 4, "more than the 20000 lines"},
      {"yes 1", 4, "more than the 20000 lines"},
      {"tr '\\n' ' '", 4, "answered line 1 with \"0 1 0 1"},
      {"cat >/dev/null; sleep 100", 5, "is silent for 1 s after 0 of 20000"},
      {"cat; exec >&-; sleep 100", 5, "is silent for 1 s after 20000 of 20000"},
  };
  for (const Case& each : cases) {
    const Outcome outcome = audit({"--epsilon", "1", "--values", "0,1", "--samples", "10000", "--timeout",
                                   "1", "--command", each.command});
    EXPECT_EQ(outcome.code, each.code) << each.command;
    EXPECT_EQ(outcome.out, "") << each.command;
    EXPECT_THAT(outcome.error, HasSubstr("snapdp: error: --command: ")) << each.command;
    EXPECT_THAT(outcome.error, HasSubstr(each.message)) << each.command;
  }
}

TEST_F(AuditTest, SamplesThatWouldTakeHoursAreRefused) {
  const Outcome outcome = audit({"--epsilon", "1", "--values", "0,1", "--grid", "2^-1000"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.error,
              HasSubstr("--samples = 100000: the noise scale is 2^1000 steps of the grid 2^-1000"));
  EXPECT_EQ(audit({"--epsilon", "1", "--values", "0,1", "--grid", "2^-1000", "--samples", "100"}).code, 0);
  EXPECT_EQ(audit({"--epsilon", "1e-300", "--values", "0,1", "--noise", "geometric"}).code, 2);
}

TEST_F(AuditTest, QuestionsThatMakeNoSenseAreRefused) {
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"--values", "0,2"}, "--values = 0,2: must be at most --sensitivity = 1 apart"},
      {{"--values", "1,1"}, "two different values"},
      {{"--values", "1"}, "two numbers with a comma"},
      {{"--values", "0,1,2"}, "two numbers with a comma"},
      {{"--values", "a,1"}, "--values"},
      {{"--values", "0,1", "--samples", "99"}, "--samples = 99: must be a whole number from 100"},
      {{"--values", "0,1", "--samples", "1.5"}, "--samples"},
      {{"--values", "0,1", "--grid", "2^-3", "--command", "cat"}, "--grid: describes SnapDP's own mechanism"},
      {{"--values", "0,1", "--command", "cat", "--timeout", "0"}, "--timeout"},
      {{"--values", "0,0.5", "--noise", "geometric"}, "--values = 0,0.5: must be whole numbers"},
  };
  for (const Case& each : cases) {
    std::vector<std::string> arguments = {"--epsilon", "1"};
    arguments.insert(arguments.end(), each.arguments.begin(), each.arguments.end());
    const Outcome outcome = audit(arguments);
    EXPECT_EQ(outcome.code, 2) << each.message;
    EXPECT_THAT(outcome.error, HasSubstr(each.message));
    EXPECT_EQ(outcome.out, "");
  }
  for (const char* confidence : {"0", "1", "-1", "2"}) {
    const Outcome outcome =
        run({"audit", "--epsilon", "1", "--sensitivity", "1", "--values", "0,1", "--confidence", confidence});
    EXPECT_EQ(outcome.code, 2) << confidence;
    EXPECT_THAT(outcome.error, HasSubstr("--confidence"));
  }
  EXPECT_THAT(audit({"--epsilon", "0", "--values", "0,1"}).error, HasSubstr("greater than 0"));
}

}  // namespace
}  // namespace snapdp
