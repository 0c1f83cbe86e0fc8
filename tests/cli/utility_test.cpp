// law, accuracy, bias, bound and plot, against independent vectors and on bad input, in both modes.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

using Row = std::vector<std::string>;

std::vector<Row> csv_rows(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);  // header
  while (std::getline(lines, line)) {
    Row row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(cell);
    rows.push_back(row);
  }
  return rows;
}

std::vector<Row> vectors(const std::string& name) {
  std::vector<Row> rows = csv_rows(read_text(std::string(SNAPDP_TEST_DATA) + "/" + name));
  EXPECT_GE(rows.size(), 40U);
  return rows;
}

// The vectors are rounded to 31 digits, the tool's numbers to doubles.
void expect_same(double found, double expected, const Row& row) {
  EXPECT_LE(std::abs(found - expected), 1e-14 * std::abs(expected)) << testing::PrintToString(row);
}

double number(const std::string& text) {
  return std::strtod(text.c_str(), nullptr);
}

std::string negative(const std::string& text) {
  return text[0] == '-' ? text.substr(1) : "-" + text;
}

class UtilityTest : public ToolTest {
 protected:
  // output -> probability, as printed.
  std::map<double, double> law_of(Row arguments) const {
    arguments.insert(arguments.begin(), {"law", "--csv"});
    const std::string text = succeed(std::move(arguments));
    EXPECT_THAT(text, StartsWith("output,probability\n"));
    std::map<double, double> law;
    for (const Row& row : csv_rows(text)) {
      if (row[0] != "below" && row[0] != "above") law[number(row[0])] = number(row[1]);
    }
    return law;
  }
  void refuses(Row arguments, const std::string& parameter) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << testing::PrintToString(arguments) << outcome.out;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, StartsWith("snapdp: error: ")) << testing::PrintToString(arguments);
    EXPECT_THAT(outcome.error, HasSubstr(parameter)) << testing::PrintToString(arguments);
  }
};

TEST_F(UtilityTest, HelpBeginsWithExamples) {
  for (const Row& command : std::vector<Row>{{"law", "--help"},
                                             {"accuracy", "--help"},
                                             {"bias", "--help"},
                                             {"bound", "--help"},
                                             {"plot", "--help"},
                                             {"plot", "law", "--help"}}) {
    const std::string help = succeed(command);
    EXPECT_THAT(help, HasSubstr("\n\nExamples:\n  snapdp "));
    EXPECT_LT(help.find("Examples:"), help.find("Usage: snapdp"));
  }
}

TEST_F(UtilityTest, LawIsThatOfTheVectors) {
  std::map<Row, std::map<double, double>> laws;
  for (const Row& row : vectors("law.csv")) {
    const Row key(row.begin(), row.begin() + 4);
    if (!laws.contains(key)) {
      laws[key] = law_of({"--epsilon", row[0], "--sensitivity", "1", "--grid", row[1], "--lower",
                          negative(row[2]), "--upper", row[2], "--value", row[3]});
    }
    ASSERT_TRUE(laws[key].contains(number(row[4]))) << testing::PrintToString(row);
    expect_same(laws[key][number(row[4])], number(row[5]), row);
  }
}

TEST_F(UtilityTest, MissIsThatOfTheVectors) {
  for (const Row& row : vectors("miss.csv")) {
    const Json json = json_of({"accuracy", "--epsilon", row[0], "--sensitivity", "1", "--grid", row[1],
                               "--value", row[2], "--at", row[3], "--json"});
    expect_same(json.at("miss"), number(row[4]), row);
  }
}

TEST_F(UtilityTest, BiasIsThatOfTheVectors) {
  for (const Row& row : vectors("bias.csv")) {
    const Json json = json_of({"bias", "--epsilon", row[0], "--sensitivity", "1", "--grid", row[1], "--lower",
                               negative(row[2]), "--upper", row[2], "--value", row[3], "--json"});
    expect_same(json.at("bias"), number(row[4]), row);
    EXPECT_GE(json.at("worst").get<double>(), std::abs(json.at("bias").get<double>()) * (1 - 1e-12));
  }
}

// The mean of the vectors' biases with weights, from the command line and from a file.
TEST_F(UtilityTest, ExpectedBiasIsTheMeanOfTheVectors) {
  std::map<Row, std::vector<Row>> noises;
  for (const Row& row : vectors("bias.csv")) noises[Row(row.begin(), row.begin() + 3)].push_back(row);
  for (const auto& [noise, rows] : noises) {
    std::string list;
    std::string lines = "# value:weight\n\n";
    double sum = 0;
    double magnitude = 0;
    double weights = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const int weight = static_cast<int>(i % 3) + 1;
      list += (i == 0 ? "" : ", ") + rows[i][3] + (weight == 1 ? "" : ":" + std::to_string(weight));
      lines += " " + rows[i][3] + " : " + std::to_string(weight) + (i % 2 == 0 ? "\r\n" : "\n");
      sum += weight * number(rows[i][4]);
      magnitude += weight * std::abs(number(rows[i][4]));
      weights += weight;
    }
    write("guesses.txt", lines);
    for (const std::string& values : {list, std::string("@guesses.txt")}) {
      const Json json =
          json_of({"bias", "--epsilon", noise[0], "--sensitivity", "1", "--grid", noise[1], "--lower",
                   negative(noise[2]), "--upper", noise[2], "--values=" + values, "--json"});
      EXPECT_NEAR(json.at("expected").get<double>(), sum / weights, 1e-13 * magnitude / weights);
    }
  }
  const Row bias = {"bias", "--epsilon", "1", "--sensitivity", "1", "--lower", "0", "--upper", "20"};
  Row with = bias;
  with.insert(with.end(), {"--values", "15,18:2,20"});
  EXPECT_THAT(succeed(with), HasSubstr("on average over the 3 of --values"));
  with = bias;
  with.push_back("--json");
  EXPECT_EQ(json_of(with).at("expected"), nullptr);
  // Precision mode is about the middle; in geometric noise guesses are whole.
  with.insert(with.end(), {"--mode", "precision", "--values", "0,20"});
  EXPECT_NEAR(json_of(with).at("expected").get<double>(), 0, 1e-12);
  for (const auto& [values, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "--values"},
           {"1,,2", "an entry is empty"},
           {"1,", "an entry is empty"},
           {"1:0", "a weight greater than 0"},
           {"1:-2", "a weight greater than 0"},
           {"1:2:3", "--values"},
           {"x", "is not a number"},
           {"1e400", "--values: guesses: their bias cannot be computed"},
           {"@guesses.csv", "cannot be read"}}) {
    with = bias;
    with.insert(with.end(), {"--values", values});
    const Outcome outcome = run(with);
    EXPECT_EQ(outcome.code, values == "@guesses.csv" ? 5 : 2) << values;
    EXPECT_THAT(outcome.error, HasSubstr(what)) << values;
  }
  write("none.txt", "# nothing\n");
  with = bias;
  with.insert(with.end(), {"--values", "@none.txt"});
  refuses(with, "has no guess");
  with = bias;
  with.insert(with.end(), {"--noise", "geometric", "--values", "1.5"});
  refuses(with, "must be a whole number");
  std::string many;
  for (int i = 0; i <= 100'000; ++i) many += "1\n";
  write("many.txt", many);
  with = bias;
  with.insert(with.end(), {"--values", "@many.txt"});
  refuses(with, "more than 100000 guesses");
}

TEST_F(UtilityTest, UnclampedLawsEndInTwoTails) {
  for (const Row& noise : std::vector<Row>{{"--grid", "notes"}, {"--noise", "geometric"}, {}}) {
    Row arguments = {"law", "--csv", "--epsilon", "1", "--sensitivity", "1", "--value", "2"};
    arguments.insert(arguments.end(), noise.begin(), noise.end());
    const std::vector<Row> rows = csv_rows(succeed(arguments));
    ASSERT_GT(rows.size(), 10U);
    EXPECT_EQ(rows[rows.size() - 2][0], "below");
    EXPECT_EQ(rows.back()[0], "above");
    double total = 0;
    for (const Row& row : rows) total += number(row[1]);
    EXPECT_NEAR(total, 1, 1e-11);
    EXPECT_GE(number(rows.front()[1]), 1e-15);
    EXPECT_GT(number(rows.back()[1]), 0);
    EXPECT_LT(number(rows.back()[1]), 1e-11);
  }
}

// Towards a far bound there are millions of outputs: the nearest are listed, the others summed up, and it is said.
TEST_F(UtilityTest, LongLawsAreCut) {
  const Row options = {"--epsilon", "1",       "--sensitivity", "1",       "--lower",
                       "0",         "--upper", "1e9",           "--value", "0"};
  const auto with = [&](const Row& more) {
    Row all = {"law"};
    all.insert(all.end(), options.begin(), options.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const Outcome csv = run(with({"--csv"}));
  EXPECT_EQ(csv.code, 0);
  const std::vector<Row> rows = csv_rows(csv.out);
  ASSERT_EQ(rows.size(), 100'001U);
  EXPECT_EQ(rows.front()[0], "0");
  EXPECT_EQ(rows.back()[0], "above");
  EXPECT_THAT(csv.error, HasSubstr("655209 more outputs, farther from the value than these 100000"));
  const Json json = json_of(with({"--json"}));
  EXPECT_EQ(json.at("outputs").size(), 100'000U);
  EXPECT_EQ(json.at("cut"), 655'209);
  EXPECT_GT(json.at("above"), 0);
  EXPECT_EQ(json.at("below"), 0);
  EXPECT_THAT(succeed(with({})),
              HasSubstr("755209 outputs have a probability worth a row; --csv lists the 100000 "
                        "nearest to the value and sums up the rest."));
  // What is short is whole.
  const Outcome whole = run(with({"--csv", "--grid", "2^-3"}));
  EXPECT_EQ(whole.error, "");
  EXPECT_EQ(json_of(with({"--json", "--grid", "2^-3"})).at("cut"), 0);
}

// Beyond 2^53 steps of the grid outputs are no doubles.
TEST_F(UtilityTest, LawsAndBiasAtTheLastOutput) {
  const Row options = {"--epsilon", "1", "--sensitivity", "1", "--grid", "2^0"};
  Row law = {"law", "--json", "--value=9007199254740991"};
  law.insert(law.end(), options.begin(), options.end());
  const Json json = json_of(law);
  EXPECT_EQ(json.at("outputs").back().at("output"), 0x1p53);
  EXPECT_NEAR(json.at("above"), std::exp(-1.5) / 2, 1e-15);
  Row bias = {"bias", "--json", "--lower=9007199254740992"};
  bias.insert(bias.end(), options.begin(), options.end());
  EXPECT_EQ(json_of(bias).at("worst_value"), 0x1p53);
}

// One bound clamps on its side: the law ends there, and on the other side in one tail.
TEST_F(UtilityTest, LawsWithOneBoundEndInOneTail) {
  for (const Row& noise :
       std::vector<Row>{{"--grid", "notes"}, {"--noise", "geometric"}, {"--grid", "2^-3"}}) {
    for (const bool up : {false, true}) {
      Row arguments = {"--epsilon", "1", "--sensitivity", "1", "--value", up ? "-20" : "20"};
      arguments.insert(arguments.end(), noise.begin(), noise.end());
      Row two = arguments;
      two.insert(two.end(), {"--lower", up ? "-2000" : "0", "--upper", up ? "0" : "2000"});
      arguments.insert(arguments.end(), {up ? "--upper" : "--lower", "0"});
      const std::map<double, double> far = law_of(two);
      const std::map<double, double> law = law_of(arguments);
      for (const auto& [output, probability] : law) {
        ASSERT_TRUE(far.contains(output)) << output;
        EXPECT_EQ(probability, far.at(output)) << output;
      }
      EXPECT_EQ(up ? law.rbegin()->first : law.begin()->first, 0);
      Row csv = arguments;
      csv.insert(csv.begin(), {"law", "--csv"});
      const std::vector<Row> rows = csv_rows(succeed(csv));
      double total = 0;
      for (const Row& row : rows) total += number(row[1]);
      EXPECT_NEAR(total, 1, 1e-13);
      ASSERT_EQ(rows.size(), law.size() + 1);
      EXPECT_EQ(rows.back()[0], up ? "below" : "above");
      EXPECT_GE(number(up ? rows.front()[1] : rows[rows.size() - 2][1]), 1e-15);
      EXPECT_LT(number(rows.back()[1]), 1e-13);
      EXPECT_GT(number(rows.back()[1]), 0);
      Row json = arguments;
      json.insert(json.begin(), {"law", "--json"});
      const Json found = json_of(json);
      EXPECT_EQ(found.at(up ? "upper" : "lower"), 0);
      EXPECT_EQ(found.at(up ? "lower" : "upper"), nullptr);
      EXPECT_EQ(found.at(up ? "above" : "below"), 0);
      EXPECT_GT(found.at(up ? "below" : "above"), 0);
    }
  }
  // The value that is taken when none is given.
  const auto value = [&](const Row& bounds) {
    Row arguments = {"law", "--json", "--epsilon", "1", "--sensitivity", "1", "--grid", "notes"};
    arguments.insert(arguments.end(), bounds.begin(), bounds.end());
    return json_of(arguments).at("value").get<double>();
  };
  EXPECT_EQ(value({"--lower", "5"}), 5);
  EXPECT_EQ(value({"--lower", "-5"}), 0);
  EXPECT_EQ(value({"--upper", "5"}), 0);
  EXPECT_EQ(value({"--upper", "-5"}), -5);
  const std::string table = succeed(
      {"law", "--epsilon", "1", "--sensitivity", "1", "--grid", "notes", "--lower", "0", "--value", "3"});
  EXPECT_THAT(table, HasSubstr("0 or more"));
  EXPECT_THAT(table, HasSubstr(" above  1.41"));
  EXPECT_THAT(table, testing::Not(HasSubstr(" below ")));
}

// Somewhere on a half line a value is as badly off as on the whole one; the bias is worst near the bound.
TEST_F(UtilityTest, AccuracyAndBiasWithOneBound) {
  for (const Row& noise : std::vector<Row>{{"--grid", "notes"}, {"--noise", "geometric"}, {}}) {
    const auto with = [&](const char* command, const Row& more) {
      Row arguments = {command, "--json", "--epsilon", "1", "--sensitivity", "1"};
      arguments.insert(arguments.end(), noise.begin(), noise.end());
      arguments.insert(arguments.end(), more.begin(), more.end());
      return json_of(arguments);
    };
    const Json free = with("accuracy", {"--at", "2"});
    for (const char* bound : {"--lower", "--upper"}) {
      const bool up = bound == std::string("--upper");
      Json one = with("accuracy", {bound, "0", "--at", "2"});
      EXPECT_EQ(one, free);
      one = with("accuracy", {bound, "0", "--value", "0", "--at", "2"});
      EXPECT_EQ(one.at("tight"), free.at("tight"));
      // At the bound only one side can miss: P(error > a) = e^-a / 2, about.
      EXPECT_LT(one.at("for_value").get<double>(), free.at("tight").get<double>() - 0.5);
      EXPECT_LT(one.at("miss").get<double>(), free.at("miss").get<double>());
      EXPECT_EQ(one, with("accuracy", {"--lower", up ? "-2000" : "0", "--upper", up ? "0" : "2000", "--value",
                                       "0", "--at", "2"}));
      const Json target = with("accuracy", {"--target-accuracy", "5"});
      EXPECT_EQ(with("accuracy", {bound, "0", "--target-accuracy", "5"}).at("epsilon"), target.at("epsilon"));

      const Json bias = with("bias", {bound, "0", "--value", up ? "-1" : "1"});
      const Json far = with(
          "bias", {"--lower", up ? "-2000" : "0", "--upper", up ? "0" : "2000", "--value", up ? "-1" : "1"});
      EXPECT_EQ(bias.at("bias"), far.at("bias"));
      EXPECT_EQ(bias.at("worst"), far.at("worst"));
      EXPECT_EQ(bias.at("bias").get<double>() < 0, up);
      EXPECT_LE(std::abs(bias.at("worst_value").get<double>()), 1);
      EXPECT_LT(std::abs(with("bias", {bound, "0", "--value", up ? "-500" : "500"}).at("bias").get<double>()),
                1e-12);
      // A guess on the other side is clamped.
      EXPECT_NEAR(with("bias", {bound, "0", "--value", up ? "3" : "-3"}).at("bias").get<double>(),
                  with("bias", {bound, "0", "--value", "0"}).at("bias").get<double>() + (up ? -3 : 3), 1e-14);
    }
  }
  // There is no uniform value on a half line.
  const Row bias = {"bias", "--epsilon", "1", "--sensitivity", "1", "--upper", "20"};
  EXPECT_THAT(succeed(bias), HasSubstr("20 or less"));
  EXPECT_THAT(succeed(bias), testing::Not(HasSubstr("uniform")));
  refuses({"accuracy", "--epsilon", "1", "--sensitivity", "1", "--lower", "0", "--value", "-1"}, "value");
}

// In precision mode the law lies around the middle of the bounds, to the bounds.
TEST_F(UtilityTest, LawOfPrecisionMode) {
  const Row options = {"--epsilon", "1",       "--sensitivity", "1",      "--lower",
                       "0.5",       "--upper", "101.5",         "--mode", "precision"};
  const std::map<double, double> law = law_of(options);
  EXPECT_EQ(law.begin()->first, 0.5);
  EXPECT_EQ(law.rbegin()->first, 101.5);
  double total = 0;
  for (const auto& [output, probability] : law) {
    total += probability;
    // Multiples of the grid 2 about 51, or a bound.
    if (output != 0.5 && output != 101.5) {
      EXPECT_EQ(std::fmod(output - 51, 2), 0) << output;
    }
  }
  EXPECT_NEAR(total, 1, 1e-14);
  EXPECT_NEAR(law.at(51), 1 - std::exp(-1), 1e-12);
  Row json = options;
  json.insert(json.begin(), {"law", "--json"});
  EXPECT_EQ(json_of(json).at("grid"), 2);
  EXPECT_EQ(json_of(json).at("value"), 51);
}

TEST_F(UtilityTest, AccuracyForAValueIsTheLeast) {
  for (const char* mode : {"exact", "precision"}) {
    const Row options = {"accuracy", "--epsilon", "1",   "--sensitivity", "1",   "--grid",
                         "auto",     "--lower",   "-20", "--upper",       "20",  "--value",
                         "3.25",     "--mode",    mode,  "--json",        "--at"};
    Row at = options;
    at.push_back("1");
    const Json json = json_of(at);
    const double a = json.at("for_value");
    EXPECT_LE(a, json.at("tight"));
    EXPECT_LE(json.at("tight"), json.at("conservative"));
    at.back() = to_hex(a);
    EXPECT_LE(json_of(at).at("miss").get<double>(), 0.05);
    at.back() = to_hex(a * (1 - 1e-12));
    EXPECT_GT(json_of(at).at("miss").get<double>(), 0.05);
  }
}

// A count is right to n people for less than a real number is: its errors are integers.
TEST_F(UtilityTest, AccuracyOfIntegers) {
  const auto of_count = [&](const Row& more) {
    Row all = {"accuracy", "--sensitivity", "1", "--integer", "--json"};
    all.insert(all.end(), more.begin(), more.end());
    return json_of(all);
  };
  for (const auto& [target, epsilon] :
       std::vector<std::pair<const char*, double>>{{"1", 1.99715}, {"2", 1.19829}, {"10", .285308}}) {
    EXPECT_NEAR(of_count({"--target-accuracy", target}).at("epsilon"), epsilon, 1e-5 * epsilon);
    const double real =
        json_of({"accuracy", "--sensitivity", "1", "--grid", "2^0", "--json", "--target-accuracy", target})
            .at("epsilon");
    EXPECT_GT(real, epsilon * 1.05);
  }
  const Json one = of_count({"--epsilon", "1", "--at", "2", "--value", "5"});
  EXPECT_EQ(one.at("tight"), 3);
  EXPECT_EQ(one.at("for_value"), 3);
  EXPECT_NEAR(one.at("miss"), std::exp(-2.5), 1e-15);
  EXPECT_NEAR(of_count({"--epsilon", "1", "--at", "2"}).at("miss"), std::exp(-2.5), 1e-15);
  EXPECT_EQ(of_count({"--epsilon", "1", "--noise", "geometric"}).at("tight"), 3);
  // Between bounds an odd number apart the grid of precision mode lies half a step off the integers.
  for (const char* upper : {"100", "101"}) {
    for (const char* target : {"1", "3.5", "12"}) {
      Row precise = {"--target-accuracy", target, "--mode", "precision", "--lower", "0", "--upper", upper};
      const Json least = of_count(precise);
      EXPECT_LE(least.at("tight"), parse_rational(target, "target").get_d());
      precise.insert(precise.begin(), {"accuracy", "--sensitivity", "1", "--json"});
      EXPECT_LE(least.at("epsilon"), json_of(precise).at("epsilon"));
    }
  }
  refuses({"accuracy", "--epsilon", "1", "--sensitivity", "1", "--integer", "--value", "0.5"}, "--value");
  refuses({"accuracy", "--epsilon", "1", "--sensitivity", "1", "--integer", "--grid", "2^-3"}, "grid");
  refuses({"accuracy", "--target-accuracy", "0.3", "--sensitivity", "1", "--integer", "--grid", "notes"},
          "accuracy");
}

// Case 21: the least epsilon for an accuracy, true by the law.
TEST_F(UtilityTest, TargetAccuracyInBothModes) {
  for (const Row& more :
       std::vector<Row>{{},
                        {"--grid", "notes"},
                        {"--noise", "geometric"},
                        {"--mode", "precision", "--lower", "-100", "--upper", "100"},
                        {"--mode", "precision", "--precision", "53", "--lower", "-100", "--upper", "100"}}) {
    Row options = {"accuracy", "--sensitivity", "1", "--json"};
    options.insert(options.end(), more.begin(), more.end());
    const auto with = [&](const Row& extra) {
      Row all = options;
      all.insert(all.end(), extra.begin(), extra.end());
      return json_of(all);
    };
    const Json least = with({"--target-accuracy", "4"});
    EXPECT_LE(least.at("tight"), 4);
    const double epsilon = least.at("epsilon");
    EXPECT_LE(epsilon, (1 + std::log(20)) / 4 + 1e-9);
    EXPECT_GT(with({"--epsilon", to_hex(epsilon * (1 - 1e-12))}).at("tight"), 4) << more.size();
    // No error is larger than reported, for the worst value.
    EXPECT_LE(with({"--epsilon", to_hex(epsilon), "--at", to_hex(least.at("tight").get<double>())})
                  .at("miss")
                  .get<double>(),
              0.05 * (1 + 1e-12));
  }
  // Targets out of reach.
  refuses({"accuracy", "--sensitivity", "1", "--target-accuracy", "0.4", "--grid", "2^0"}, "accuracy");
  refuses({"accuracy", "--sensitivity", "1", "--target-accuracy", "300", "--lower", "-100", "--upper", "100"},
          "accuracy");
  refuses({"accuracy", "--sensitivity", "1", "--target-accuracy", "300", "--lower", "-100", "--upper", "100",
           "--mode", "precision"},
          "--target-accuracy");
  refuses({"accuracy", "--sensitivity", "1", "--target-accuracy", "1e-20", "--lower", "-1e15", "--upper",
           "1e15", "--mode", "precision", "--precision", "24"},
          "--target-accuracy");
}

TEST_F(UtilityTest, BoundsAreWideEnough) {
  const Json exact = json_of({"bound", "--epsilon", "1", "--sensitivity", "1", "--grid", "notes", "--lower",
                              "-10", "--upper", "10", "--gamma", "0.01", "--json"});
  // P(out > 10 + k | 10) = e^-(k + 1/2) / 2 falls below 0.01 at k = 4.
  EXPECT_EQ(exact.at("minimal"), 14);
  EXPECT_EQ(exact.at("minimal_bounds"), Json::array({-14, 14}));
  EXPECT_NEAR(exact.at("binding_probability").get<double>(), std::exp(-4.5) / 2, 1e-9);
  EXPECT_LE(exact.at("binding_probability").get<double>(), 0.01);
  // 10 + (2 + 24 2^-52) / 2 (1 + 2 ln 100)
  EXPECT_NEAR(exact.at("notes").get<double>(), 11 + 2 * std::log(100), 1e-9);
  for (const Row& more : std::vector<Row>{{}, {"--precision", "53"}}) {
    Row options = {"bound", "--epsilon", "1",  "--sensitivity", "1",    "--mode", "precision", "--lower",
                   "-10",   "--upper",   "10", "--gamma",       "0.01", "--json"};
    options.insert(options.end(), more.begin(), more.end());
    const Json precision = json_of(options);
    EXPECT_EQ(precision.at("minimal"), 14) << "grid 2";
    EXPECT_LE(precision.at("binding_probability").get<double>(), 0.01);
    EXPECT_EQ(precision.at("notes").is_null(), !more.empty());
    Row target = options;
    target[1] = "--target-accuracy";
    target[2] = "4";
    EXPECT_GE(json_of(target).at("minimal"), 14);
  }
  // Bounds may be chosen around a single point.
  for (const char* mode : {"exact", "precision"}) {
    const Json around = json_of({"bound", "--epsilon", "1", "--sensitivity", "1", "--mode", mode, "--lower",
                                 "5", "--upper", "5", "--json"});
    EXPECT_LT(around.at("minimal_bounds").at(0).get<double>(), 5);
    EXPECT_GT(around.at("minimal_bounds").at(1).get<double>(), 5);
    EXPECT_EQ(json_of({"bound", "--target-accuracy", "3", "--sensitivity", "1", "--mode", mode, "--lower",
                       "5", "--upper", "5", "--json"})
                  .at("minimal_bounds")
                  .size(),
              2U);
  }
  refuses({"bound", "--epsilon", "1", "--sensitivity", "1"}, "--lower: is missing");
  refuses({"bound", "--epsilon", "1", "--sensitivity", "1", "--upper", "1"}, "--lower: is missing");
  refuses({"bound", "--epsilon", "1", "--sensitivity", "1", "--lower", "1"}, "--upper: is missing");
}

// Case 2, in all commands and modes.
TEST_F(UtilityTest, RefusesWhatIsNoMechanism) {
  const std::vector<std::pair<Row, std::string>> wrong = {
      {{"--epsilon", "0", "--sensitivity", "1"}, "--epsilon"},
      {{"--epsilon", "-1", "--sensitivity", "1"}, "--epsilon"},
      {{"--epsilon", "nan", "--sensitivity", "1"}, "--epsilon"},
      {{"--epsilon", "inf", "--sensitivity", "1"}, "--epsilon"},
      {{"--epsilon", "5e-324", "--sensitivity", "1"}, "epsilon"},
      {{"--epsilon", "1", "--sensitivity", "0"}, "--sensitivity"},
      {{"--epsilon", "1", "--sensitivity", "-1"}, "--sensitivity"},
      {{"--epsilon", "1", "--sensitivity", "nan"}, "--sensitivity"},
      {{"--epsilon", "1", "--sensitivity", "inf"}, "--sensitivity"},
      {{"--epsilon", "1", "--sensitivity", "1e309"}, "--sensitivity"},
      {{"--sensitivity", "1"}, "--epsilon: is missing"},
      // Case 30.
      {{"--epsilon", "1", "--sensitivity", "1", "--alpha", "0"}, "--alpha"},
      {{"--epsilon", "1", "--sensitivity", "1", "--alpha", "1"}, "--alpha"},
      {{"--epsilon", "1", "--sensitivity", "1", "--gamma", "1"}, "--gamma"},
      {{"--epsilon", "1", "--sensitivity", "1", "--at", "-1"}, "--at"},
      {{"--sensitivity", "1", "--target-accuracy", "0"}, "--target-accuracy"},
      {{"--epsilon", "1", "--sensitivity", "1", "--value", "inf"}, "--value"},
      {{"--epsilon", "1", "--sensitivity", "1", "--mode", "exactly"}, "did you mean \"exact\"?"},
      {{"--epsilon", "1", "--sensitivity", "1", "--noise", "gauss"}, "--noise"},
      {{"--epsilon", "1", "--sensitivity", "1", "--grid", "3"}, "--grid"},
  };
  for (const char* mode : {"exact", "precision"}) {
    for (const char* command : {"law", "accuracy", "bias", "bound"}) {
      for (const auto& [arguments, parameter] : wrong) {
        Row all = {command, "--lower", "-8", "--upper", "8"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        if (std::find(all.begin(), all.end(), "--mode") == all.end()) all.insert(all.end(), {"--mode", mode});
        refuses(all, parameter);
      }
    }
  }
  for (const char* command : {"law", "accuracy", "bias"}) {
    refuses({command, "--epsilon", "1", "--sensitivity", "1e-312"}, "sensitivity");
    refuses({command, "--epsilon", "1", "--sensitivity", "1", "--mode", "precision"}, "--lower");
    refuses({command, "--epsilon", "1", "--sensitivity", "1", "--precision", "118"}, "precision");
    refuses({command, "--epsilon", "1", "--sensitivity", "1", "--precision", "1e3.5"}, "--precision");
    refuses({command, "--epsilon", "1", "--sensitivity", "1.5", "--noise", "geometric"}, "sensitivity");
    refuses({command, "--epsilon", "1", "--sensitivity", "1", "--noise", "geometric", "--value", "0.5"},
            "--value");
    refuses({command, "--epsilon", "0.01", "--sensitivity", "1", "--mode", "precision", "--lower", "-1",
             "--upper", "1"},
            "");
  }
  // 2^-130 is an epsilon like any other: stated and accurate.
  const Json tiny =
      json_of({"accuracy", "--epsilon", "0x1p-130", "--sensitivity", "1", "--alpha", "1e-300", "--json"});
  EXPECT_NEAR(tiny.at("tight").get<double>() / (std::ldexp(1, 130) * 300 * std::log(10)), 1, 0.01);
}

// Case 3.
TEST_F(UtilityTest, RefusesBoundsThatAreNone) {
  const std::vector<Row> wrong = {{"--lower", "1", "--upper", "-1"},
                                  {"--lower", "2", "--upper", "2"},
                                  {"--lower", "-0.0", "--upper", "0"},
                                  {"--lower", "-inf", "--upper", "inf"},
                                  {"--lower", "-inf"},
                                  {"--upper", "nan"},
                                  {"--lower", "nan", "--upper", "1"},
                                  {"--lower", "-1e309", "--upper", "1"}};
  for (const char* mode : {"exact", "precision"}) {
    for (const char* command : {"law", "accuracy", "bias"}) {
      for (const Row& bounds : wrong) {
        Row all = {command, "--epsilon", "1", "--sensitivity", "1", "--mode", mode};
        all.insert(all.end(), bounds.begin(), bounds.end());
        refuses(all, "--");  // --lower or --upper
      }
    }
  }
  // One bound leaves precision mode without a middle, and geometric noise takes whole numbers.
  for (const char* command : {"law", "accuracy", "bias"}) {
    for (const Row& noise : std::vector<Row>{{"--epsilon", "1"}, {"--target-accuracy", "5"}}) {
      Row lower = {command, "--sensitivity", "1", "--mode", "precision", "--lower", "0"};
      lower.insert(lower.end(), noise.begin(), noise.end());
      refuses(lower, "--upper: is missing; precision mode needs --lower and --upper");
      Row upper = {command, "--sensitivity", "1", "--mode", "precision", "--upper", "0"};
      upper.insert(upper.end(), noise.begin(), noise.end());
      refuses(upper, "--lower: is missing; precision mode needs --lower and --upper");
    }
    refuses({command, "--epsilon", "1", "--sensitivity", "1", "--noise", "geometric", "--lower", "0.5"},
            "lower");
    refuses({command, "--epsilon", "1", "--sensitivity", "1", "--upper", "1e300"}, "upper");
  }
  // -0.0 is 0.
  const std::string law = succeed({"law", "--epsilon", "1", "--sensitivity", "1", "--grid", "notes",
                                   "--lower", "-0.0", "--upper", "3", "--value", "-0.0", "--csv"});
  EXPECT_THAT(law, StartsWith("output,probability\n0,"));
}

// Case 22: the smallest power of two that is not below the scale.
TEST_F(UtilityTest, NotesGridAtPowersOfTwo) {
  for (const auto& [sensitivity, grid] : std::vector<std::pair<const char*, double>>{
           {"0x1.0000000000001p+1", 4}, {"2", 2}, {"0x1.fffffffffffffp+0", 2}}) {
    EXPECT_EQ(json_of({"law", "--epsilon", "1", "--sensitivity", sensitivity, "--grid", "notes", "--json"})
                  .at("grid"),
              grid);
  }
}

// Cases 24 and 25: no output tells neighbors apart by more than e^epsilon.
TEST_F(UtilityTest, LossStaysWithinEpsilon) {
  struct Pair {
    const char* sensitivity;
    const char* range;
    std::vector<std::string> values;
  };
  for (const Pair& pair :
       {Pair{"0.3", "100", {"76.9808188989947", "76.6808188989947"}}, Pair{"1", "1000", {"0", "1"}}}) {
    for (const Row& mode : std::vector<Row>{{"--grid", "notes"}, {"--mode", "precision"}}) {
      std::vector<std::map<double, double>> laws;
      for (const std::string& value : pair.values) {
        Row options = {"--epsilon",          "1",       "--sensitivity", pair.sensitivity, "--lower",
                       negative(pair.range), "--upper", pair.range,      "--value",        value};
        options.insert(options.end(), mode.begin(), mode.end());
        laws.push_back(law_of(options));
      }
      double farthest = 0;
      for (const auto& [output, probability] : laws[0]) {
        if (probability < 1e-307) continue;  // a subnormal has too few digits to compare
        farthest = std::min(farthest, output);
        ASSERT_TRUE(laws[1].contains(output)) << output;
        EXPECT_LE(std::abs(std::log(probability / laws[1][output])), 1 + 1e-9) << output;
      }
      if (pair.values[0] == "0") {
        EXPECT_LE(farthest, -700);
      }
    }
  }
  // Beyond -709 there is still something to compare.
  const std::map<double, double> law = law_of({"--epsilon", "1", "--sensitivity", "1", "--grid", "notes",
                                               "--lower", "-1000", "--upper", "1000", "--value", "1"});
  EXPECT_GT(law.at(-715), 0);
}

TEST_F(UtilityTest, PicturesAreTheSameEveryTime) {
  const std::vector<Row> pictures = {
      {"accuracy", "--epsilon", "1", "--sensitivity", "1", "--grid", "notes"},
      {"accuracy", "--epsilon", "0.1", "--sensitivity", "1", "--lower", "0", "--upper", "100", "--mode",
       "precision"},
      {"bias", "--epsilon", "1", "--sensitivity", "1", "--lower", "0", "--upper", "20", "--value", "18"},
      {"bias", "--epsilon", "1", "--sensitivity", "1", "--grid", "8"},
      {"accuracy", "--epsilon", "1", "--sensitivity", "1", "--lower", "0"},
      {"bias", "--epsilon", "1", "--sensitivity", "1", "--grid", "8", "--lower", "3"},
      {"bias", "--epsilon", "1", "--sensitivity", "1", "--noise", "geometric", "--upper", "-3"},
      {"law", "--epsilon", "1", "--sensitivity", "1", "--upper", "3"},
      {"law", "--epsilon", "1", "--sensitivity", "1", "--lower", "3", "--grid", "notes", "--value", "5"},
      {"law", "--epsilon", "1", "--sensitivity", "1", "--noise", "geometric"},
      {"law", "--epsilon", "1", "--sensitivity", "1", "--lower", "0", "--upper", "20", "--value", "19"}};
  for (Row picture : pictures) {
    picture.insert(picture.begin(), "plot");
    Row again = picture;
    picture.insert(picture.end(), {"-o", "a.svg"});
    again.insert(again.end(), {"--output", "b.svg"});
    succeed(picture);
    succeed(again);
    const std::string svg = read_text(path("a.svg"));
    EXPECT_EQ(svg, read_text(path("b.svg")));
    EXPECT_THAT(svg, StartsWith("<svg "));
    EXPECT_THAT(svg, HasSubstr("</svg>\n"));
    EXPECT_THAT(svg, testing::Not(HasSubstr("nan")));
    EXPECT_THAT(svg, testing::Not(HasSubstr("inf")));
  }
  refuses({"plot", "law", "--epsilon", "1", "--sensitivity", "1"}, "output");
  refuses({"plot", "bias", "--epsilon", "1e-8", "--sensitivity", "1e300", "--lower", "0", "-o", "a.svg"},
          "--epsilon: the values to draw");
  for (const Row& numbers : std::vector<Row>{{"--epsilon", "1e-320", "--sensitivity", "1e-300"},
                                             {"--epsilon", "1e-400", "--sensitivity", "1e-400"},
                                             {"--epsilon", "1", "--sensitivity", "1e308"}}) {
    for (const char* kind : {"accuracy", "law", "bias"}) {
      Row picture = {"plot", kind, "-o", "b.svg"};
      picture.insert(picture.end(), numbers.begin(), numbers.end());
      const Outcome outcome = run(picture);
      ASSERT_TRUE(outcome.code == 0 || outcome.code == 2) << outcome.error;
      if (outcome.code != 0) continue;
      EXPECT_THAT(read_text(path("b.svg")), testing::Not(HasSubstr("nan")));
      EXPECT_THAT(read_text(path("b.svg")), testing::Not(HasSubstr("inf")));
    }
  }
  refuses({"plot", "pie", "-o", "x.svg"}, "unknown command");
  EXPECT_EQ(run({"plot", "law", "--epsilon", "1", "--sensitivity", "1", "-o", "nowhere/x.svg"}).code, 5);
}

TEST_F(UtilityTest, PlansTellWhatOtherChoicesWouldGive) {
  write("people.toml", R"([data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
expected_size = 1000
[budget]
epsilon = 10
[[statistic]]
name = "rows"
kind = "count"
epsilon = 1
[[statistic]]
name = "income"
kind = "sum"
column = "income"
bounds = [0, 100]
epsilon = 1
grid = "notes"
[[statistic]]
name = "mean"
kind = "mean"
column = "income"
bounds = [0, 100]
epsilon = 1
split = [1, 9]
)");
  const Json plan = json_of({"plan", "people.toml", "--json"});
  const Json& count = plan.at("statistics").at(0).at("utility");
  EXPECT_EQ(count.at("tight"), 3);
  EXPECT_NEAR(count.at("laplace"), 2.99573, 1e-5);
  EXPECT_NEAR(count.at("conservative"), 3.49573, 1e-5);
  EXPECT_EQ(count.at("binding_probability"), 0);
  EXPECT_EQ(plan.at("statistics").at(2).at("parts").size(), 2U);
  EXPECT_TRUE(plan.at("statistics").at(2).at("parts").at(0).contains("utility"));
  std::map<std::string, std::string> changes;
  for (const Json& saving : plan.at("savings")) changes[saving.at("statistic")] = saving.at("change");
  EXPECT_EQ(changes.at("rows"), "noise = \"geometric\"");
  EXPECT_EQ(changes.at("income"), "grid = \"auto\"");
  EXPECT_THAT(changes.at("mean"), StartsWith("split = ["));
  const std::string table = succeed({"plan", "people.toml", "--utility"});
  EXPECT_THAT(one_line(table), HasSubstr("rows: noise = \"geometric\" would give"));
  EXPECT_THAT(one_line(table), HasSubstr("0.463 instead of 0.394"));
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 112U) << line;
}

}  // namespace
}  // namespace snapdp
