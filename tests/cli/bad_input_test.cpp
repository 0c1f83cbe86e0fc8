// Bad input, as a user would meet it: the right exit code, a message that names what to change, and nothing debited.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cmath>
#include <map>

#include "cli/tool.h"

namespace snapdp {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* change_one_toml = R"([data]
path = "people.csv"
dataset = "people"
neighbors = "change-one"
size = 8
[budget]
epsilon = 1000
[[statistic]]
name = "mean_age"
kind = "mean"
column = "age"
bounds = [0, 100]
epsilon = 0.25
)";
constexpr const char* add_remove_toml = R"([data]
path = "people.csv"
dataset = "people"
neighbors = "add-remove"
[budget]
epsilon = 100000000
[[statistic]]
name = "income"
kind = "mean"
column = "income"
bounds = [0, 1000]
epsilon = 0.25
)";
constexpr const char* people_csv =
    "age,income,city\n1,10,ulm\n2,20,ulm\n3,30,bonn\n4,40,SECRETCELL\n5,50,ulm\n6,60,ulm\n7,70,bonn\n8,80,"
    "bonn\n";

class BadInputTest : public ToolTest {
 protected:
  void prepare(const std::string& toml, const std::string& csv = people_csv) {
    write("people.csv", csv);
    write("people.toml", toml);
    std::filesystem::remove(path("people.ledger"));
    create_ledger("1000000000");
  }

  // A release that must fail without having cost anything; the message.
  std::string refusal(int code) {
    const std::string before = read_text(path("people.ledger"));
    const Outcome outcome = release();
    EXPECT_EQ(outcome.code, code) << outcome.out << outcome.error;
    EXPECT_EQ(outcome.out, "");
    EXPECT_TRUE(read_text(path("people.ledger")) == before) << "the ledger has changed";
    EXPECT_THAT(outcome.error, Not(HasSubstr("SECRETCELL")));
    return outcome.error;
  }

  // A statistic whose noise is negligible, released from `csv`: its value.
  double exact(const std::string& statistic, const std::string& csv, const std::string& head = "") {
    prepare(replaced(add_remove_toml,
                     "[[statistic]]\nname = \"income\"\nkind = \"mean\"\ncolumn = \"income\"\nbounds = "
                     "[0, 1000]\nepsilon = 0.25\n",
                     head + "[[statistic]]\nname = \"x\"\n" + statistic + "\nepsilon = \"1e7\"\n"),
            csv);
    const Outcome outcome = release({"--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.error << csv;
    if (outcome.code != 0) return std::nan("");
    const Json result = Json::parse(outcome.out).at("statistics").at(0);
    const Json& value = result.contains("bins") ? result.at("bins").at(0).at("value") : result.at("value");
    return value.get<double>();
  }
};

struct Fault {
  const char* base;
  std::string from;
  std::string to;
  int code;
  std::string message;
};

TEST_F(BadInputTest, SpecificationsThatAreWrong) {
  const std::vector<Fault> faults = {
      {change_one_toml, "[0, 100]", "[100, 0]", 2,
       "people.toml:12: statistic \"mean_age\": bounds = [100, 0]"},
      {change_one_toml, "[0, 100]", "[nan, 100]", 2, "finite ends"},
      {change_one_toml, "[0, 100]", "[0, inf]", 2, "finite ends"},
      {change_one_toml, "[0, 100]", "[0]", 2, "two ends"},
      {change_one_toml, "[0, 100]", "[0, \"1e401\"]", 2, "exponent"},
      {change_one_toml, "[0, 100]", "[0, 1e400]", 2, "people.toml:12"},
      {change_one_toml, "[0, 100]", "[0, \"1e400\"]", 2, "range of doubles"},
      {change_one_toml, "epsilon = 0.25", "epsilon = 0", 2, "greater than 0"},
      {change_one_toml, "epsilon = 0.25", "epsilon = -1", 2, "greater than 0"},
      {change_one_toml, "epsilon = 0.25", "epsilon = nan", 2, "finite number"},
      {change_one_toml, "epsilon = 0.25", "epsilon = inf", 2, "finite number"},
      {change_one_toml, "epsilon = 0.25", "epsilon = \"1e999999999999\"", 2, "exponent"},
      {change_one_toml, "epsilon = 0.25", "epsilon = \"1e-320\"", 2, "mean_age"},
      {change_one_toml, "epsilon = 0.25", "epsilon = 0.25\nalpha = 0", 2, "alpha"},
      {change_one_toml, "epsilon = 0.25", "epsilon = 0.25\nalpha = 1", 2, "alpha"},
      {change_one_toml, "epsilon = 0.25", "accuracy = 0", 2, "accuracy"},
      {change_one_toml, "epsilon = 0.25", "accuracy = 100", 2, "accuracy"},
      {change_one_toml, "epsilon = 0.25", "accuracy = 1000", 2, "accuracy"},
      {change_one_toml, "epsilon = 0.25", "epsilo = 0.25", 2, "did you mean \"epsilon\"?"},
      {change_one_toml, "column = \"age\"", "column = \"Age\"", 4, "is not in the header"},
      {change_one_toml, "column = \"age\"", "column = \"agee\"", 4, "is not in the header"},
      {change_one_toml, "size = 8", "size = 9", 4, "size = 9: the data do not have that many rows"},
      {change_one_toml, "size = 8", "size = 7", 4, "size = 7: the data do not have that many rows"},
      {change_one_toml, "epsilon = 1000", "epsilon = \"0.2\"", 3,
       "cost epsilon 0.25 together, but [budget] allows this run 0.2"},
      {change_one_toml, "people.csv", "missing.csv", 5, "missing.csv"},
      {change_one_toml, "people.csv", "*.csv", 5, "patterns are not expanded"},
      {change_one_toml, "people.csv", "https://example.org/people.csv", 2, ""},
      {change_one_toml, "size = 8", "", 2, "size is missing"},
      {change_one_toml, "[budget]", "[budget", 2, "not TOML"},
  };
  write("people.csv", people_csv);
  for (const Fault& fault : faults) {
    write("people.toml", replaced(fault.base, fault.from, fault.to));
    std::filesystem::remove(path("people.ledger"));
    // What is wrong with the declaration is told to its author.
    const Outcome created = run({"ledger", "create", "people.ledger", "people.toml", "--epsilon", "1000"});
    EXPECT_TRUE(created.code == 0 || created.code == fault.code) << created.error;
    EXPECT_THAT(created.code == 0 ? refusal(fault.code) : created.error, HasSubstr(fault.message))
        << fault.to;
    EXPECT_EQ(std::filesystem::exists(path("people.ledger")), created.code == 0);
  }
  prepare(change_one_toml);
  write("people.toml", "x = [" + std::string(10 << 20, '1'));
  EXPECT_THAT(refusal(2), HasSubstr("larger than 1 MiB"));
  EXPECT_THAT(run({"plan", "people.toml"}).error, HasSubstr("larger than 1 MiB"));
  std::filesystem::remove(path("people.toml"));
  EXPECT_THAT(refusal(5), HasSubstr("people.toml: cannot be read"));
  // After all that the same files release.
  prepare(change_one_toml);
  EXPECT_EQ(release().code, 0);
}

TEST_F(BadInputTest, LedgersThatAreMissingForeignOrCorrupt) {
  prepare(change_one_toml);
  const auto refused = [&](const std::string& file, const std::string& message) {
    for (const std::vector<std::string>& command :
         std::vector<std::vector<std::string>>{{"release", "people.toml", "--ledger", file, "--yes"},
                                               {"ledger", "show", file},
                                               {"ledger", "verify", file}}) {
      const Outcome outcome = run(command);
      EXPECT_EQ(outcome.code, 3) << command[0] << " " << file << outcome.error;
      EXPECT_EQ(outcome.out, "");
      EXPECT_THAT(outcome.error, HasSubstr(message));
    }
  };
  refused("missing.ledger", "missing.ledger");
  EXPECT_FALSE(std::filesystem::exists(path("missing.ledger")));
  write("foreign.ledger", "not a ledger at all");
  ::chmod(path("foreign.ledger").c_str(), 0600);
  refused("foreign.ledger", "foreign.ledger");
  std::string bytes = read_text(path("people.ledger"));
  for (std::size_t i = 4096; i < bytes.size() && i < 4700; ++i) bytes[i] = static_cast<char>(bytes[i] ^ 0x55);
  write("corrupt.ledger", bytes);
  ::chmod(path("corrupt.ledger").c_str(), 0600);
  refused("corrupt.ledger", "corrupt.ledger");
  // Budgets protect a unit; a specification of rows may not spend that of persons.
  write("persons.toml", replaced(replaced(add_remove_toml, "\"add-remove\"",
                                          "\"add-remove\"\nprivacy_unit = \"pid\"\nmax_rows_per_unit = 1"),
                                 "people.csv", "persons.csv"));
  succeed({"ledger", "create", "persons.ledger", "persons.toml", "--epsilon", "1"});
  EXPECT_EQ(run({"release", "people.toml", "--ledger", "persons.ledger", "--yes"}).code, 3);
  EXPECT_EQ(run({"ledger", "create", "persons.ledger", "persons.toml", "--epsilon", "1"}).code, 2);
}

// Whoever writes a specification decides neither how the file is read nor which file it is: one person's row cannot be
// made to decide an exit code by choosing where cells are split.
TEST_F(BadInputTest, AnAnalystDecidesNothingAboutTheFile) {
  prepare(change_one_toml, "age,income,city\n41,1,Private\n41?,1,Private\n");
  for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
           {"delimiter", "\"?\""}, {"format", "\"parquet\""}, {"dataset", "\"folk\""}}) {
    write("people.toml", key == "dataset"
                             ? replaced(change_one_toml, "\"people\"", value)
                             : replaced(change_one_toml, "dataset", key + " = " + value + "\ndataset"));
    EXPECT_THAT(refusal(3), HasSubstr("[data]: " + key + " = " + value));
  }
  // Another file with the same header is not charged to this ledger, unless whoever types the command names it.
  write("other.csv", people_csv);
  write("people.toml", replaced(change_one_toml, "people.csv", "other.csv"));
  EXPECT_THAT(refusal(3), HasSubstr("path = \"other.csv\""));
  EXPECT_EQ(release({"--data", "other.csv"}).code, 0);
  // Four lines are a specification.
  write("people.toml",
        "[budget]\nepsilon = 1\n[[statistic]]\nname = \"m\"\nkind = \"mean\"\ncolumn = \"age\"\n"
        "bounds = [0, 9]\nepsilon = 1\n");
  EXPECT_EQ(release({"--data", "other.csv"}).code, 0);
  EXPECT_EQ(run({"plan", "people.toml"}).code, 2);
  const std::string plan = succeed({"plan", "people.toml", "--ledger", "people.ledger", "--json"});
  EXPECT_EQ(succeed({"explain", "people.toml", "--ledger", "people.ledger"}).empty(), false);
  write("declaration.toml", change_one_toml);
  EXPECT_EQ(succeed({"plan", "people.toml", "--declaration", "declaration.toml", "--json"}), plan);
  EXPECT_EQ(
      run({"plan", "people.toml", "--declaration", "declaration.toml", "--ledger", "people.ledger"}).code, 2);
  EXPECT_THAT(succeed({"ledger", "show", "people.ledger", "--declaration"}),
              HasSubstr("path = \"people.csv\""));
}

TEST_F(BadInputTest, TenTenthsFitABudgetOfOne) {
  write("people.csv", people_csv);
  write("people.toml", replaced(change_one_toml, "epsilon = 0.25", "epsilon = 0.1"));
  create_ledger("1");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(release().code, 0);
  EXPECT_EQ(Json::parse(ledger()).at("remaining"), "0");
  EXPECT_THAT(refusal(3), HasSubstr("0.1"));
}

// Two ask for the last epsilon at once, eight times over: each time one of them gets it.
TEST_F(BadInputTest, ConcurrentReleasesNeverOverspend) {
  write("people.csv", people_csv);
  write("people.toml", change_one_toml);
  create_ledger("1");
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    children.push_back(start({"release", "people.toml", "--ledger", "people.ledger", "--yes"},
                             "out" + std::to_string(i), "error" + std::to_string(i)));
  }
  int released = 0;
  for (const pid_t child : children) {
    const int code = wait_for(child);
    EXPECT_TRUE(code == 0 || code == 3) << code;
    released += code == 0 ? 1 : 0;
  }
  EXPECT_EQ(released, 4);
  const Json after = Json::parse(ledger());
  EXPECT_EQ(after.at("remaining"), "0");
  EXPECT_EQ(after.at("releases").size(), 4U);
}

// Files that are odd are read right, or refused; a column is never silently another one.
TEST_F(BadInputTest, OddFiles) {
  const std::string sum = "kind = \"sum\"\ncolumn = \"b\"\ntype = \"integer\"\nbounds = [0, 1000]";
  const std::string plain = "a,b\n1,10\n2,20\n";
  EXPECT_EQ(exact(sum, plain), 30);
  EXPECT_EQ(exact(sum, "a,b\r1,10\r2,20\r"), 30);
  EXPECT_EQ(exact(sum, "a,b\r\n1,10\r\n2,20\r\n"), 30);
  EXPECT_EQ(exact(sum, "\xef\xbb\xbfz,b\n1,10\n2,20\n"), 30);
  EXPECT_EQ(exact(replaced(sum, "\"b\"", "\"z\""), "\xef\xbb\xbfz,b\n1,10\n2,20\n"), 3);
  EXPECT_EQ(exact(sum, "a,b\n\"1,5\",\"10\"\n2,\"20\"\n"), 30);
  EXPECT_EQ(exact(sum, plain + "\n"), 30);
  EXPECT_EQ(exact(sum, "a,b\n1,10\n2,20"), 30);
  EXPECT_EQ(exact(sum, "a,b\n"), 0);
  EXPECT_EQ(exact("kind = \"count\"", "a,b\n"), 0);
  EXPECT_EQ(exact(sum, "a,b\n7,7\n"), 7);
  // One cell in scientific form does not turn an integer column real.
  EXPECT_EQ(exact(sum, "a,b\n1,1.00E+02\n2,20\n"), 120);
  EXPECT_EQ(exact(replaced(sum, "column", "grid = \"2^0\"\ncolumn"), plain), 30);

  const std::string toml = replaced(replaced(add_remove_toml, "\"income\"\nbounds", "\"b\"\nbounds"),
                                    "epsilon = 0.25", "epsilon = 1");
  for (const char* csv : {"a,b,b\n1,2,3\n", "", "a,B\n1,2\n"}) {
    prepare(toml, csv);
    EXPECT_NE(refusal(4), "") << csv;
  }
  // Rows that are malformed are rows of nulls, and a column that nobody asks for needs no name.
  EXPECT_EQ(exact(sum, "a,,b\n1,2,30\n"), 30);
  for (const char* csv : {"a,b\n1\n2,3,SECRETCELL\n4,30\n", "a,b\n4,30\n\"SECRETCELL\n"})
    EXPECT_EQ(exact(sum, csv), 30) << csv;
  EXPECT_EQ(exact("kind = \"count\"", "a,b\n1\n2,3,SECRETCELL\n4,30\n"), 3);
}

// As write.table of R makes it, with and without quotes: one column, as spaces are no delimiter.
TEST_F(BadInputTest, CellsThatAnotherDelimiterSeparates) {
  prepare(change_one_toml);
  for (const char* const header : {"\"id\" \"age\" \"job\"", "id age job", "id;age;job", "id\tage\tjob"}) {
    write("people.csv", std::string(header) + "\n1 41 x\n");
    const std::string message = refusal(4);
    EXPECT_THAT(message, HasSubstr("delimiter")) << header;
    EXPECT_THAT(message, HasSubstr("with commas or tabs")) << header;
  }
}

TEST_F(BadInputTest, OddCellsFollowTheDeclaredPolicy) {
  const std::string sum = "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 100]";
  const std::string csv = "x,y\n5,1\nNaN,1\ninf,1\n-inf,1\n,1\nNA,1\n1e999,1\nSECRETCELL,1\n";
  // 5, 100 and 0 remain under "drop"; the six others become 7 under impute.
  EXPECT_NEAR(exact(sum, csv), 105, 0.01);
  EXPECT_NEAR(exact(replaced(sum, "\nbounds", "\nbounds"), csv), 105, 0.01);
  prepare(replaced(replaced(replaced(add_remove_toml, "[budget]", "nulls = { impute = 7 }\n[budget]"),
                            "kind = \"mean\"", "kind = \"sum\""),
                   "\"income\"\nbounds = [0, 1000]\nepsilon = 0.25",
                   "\"x\"\nbounds = [0, 100]\nepsilon = \"1e7\""),
          csv);
  const Outcome imputed = release({"--json"});
  ASSERT_EQ(imputed.code, 0) << imputed.error;
  EXPECT_NEAR(Json::parse(imputed.out).at("statistics").at(0).at("value"), 105 + 5 * 7, 0.01);
  EXPECT_EQ(exact("kind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 100]", csv), 1);
  // The first bin holds 5; the other bin would hold the seven others.
  EXPECT_EQ(exact("kind = \"histogram\"\ncolumn = \"x\"\ncategories = [5]\nother = \"bin\"", csv), 1);
}

TEST_F(BadInputTest, LargeNumbersAreOrdinary) {
  const std::string cells = "x,y\n9223372036854775807,1\n9223372036854775807,1\n-9223372036854775808,1\n";
  prepare(
      replaced(add_remove_toml, "kind = \"mean\"\ncolumn = \"income\"\nbounds = [0, 1000]\nepsilon = 0.25",
               "kind = \"sum\"\ncolumn = \"x\"\ntype = \"integer\"\nbounds = [-9223372036854775808, "
               "9223372036854775807]\nepsilon = \"1e8\"\ngrid = \"2^0\"\nalpha = \"1e-12\""),
      cells);
  const Outcome outcome = release({"--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.error;
  const Json sum = Json::parse(outcome.out).at("statistics").at(0);
  ASSERT_TRUE(sum.at("value").is_string()) << sum.dump();
  EXPECT_LE(abs(parse_rational(sum.at("value").get<std::string>(), "sum") -
                Rational(Integer("9223372036854775806"))),
            Rational(sum.at("accuracy").at("tight").get<double>()));
  // A mean on (0, 2^47).
  const double mean = exact("kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, \"0x1p47\"]",
                            "x,y\n70368744177664,1\n70368744177664,1\n");
  EXPECT_NEAR(mean, 70368744177664.0, 1e9);
}

TEST_F(BadInputTest, EqualBoundsReleaseTheConstantAndSayIt) {
  prepare(replaced(replaced(change_one_toml, "[0, 100]", "[7, 7.0]"), "epsilon = 0.25\n", ""));
  const std::string before = ledger();
  const Outcome outcome = release();
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.out,
              HasSubstr("mean_age: a public constant; released exactly, without noise and without cost."));
  EXPECT_EQ(ledger(), before);
  prepare(replaced(change_one_toml, "[0, 100]", "[-0.0, 100]"));
  EXPECT_THAT(release({"--json"}).out, HasSubstr("\"0\""));
  EXPECT_THAT(release({"--json"}).out, Not(HasSubstr("-0")));
}

// What may be shown depends on what is public only: no count of rows, no cell.
TEST_F(BadInputTest, MessagesTellNothingPrivate) {
  prepare(replaced(add_remove_toml, "income\"\nbounds", "city\"\nbounds"));
  const Outcome outcome = release();
  EXPECT_EQ(outcome.code, 0) << outcome.error;
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, Not(HasSubstr("SECRETCELL")));
  EXPECT_THAT(outcome.out, Not(testing::ContainsRegex("[0-9] rows")));
  EXPECT_THAT(read_text(path("people.ledger")), Not(HasSubstr("SECRETCELL")));
}

}  // namespace
}  // namespace snapdp
