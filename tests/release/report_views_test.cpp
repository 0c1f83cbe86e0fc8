// What readers see of a report: warnings, pages, values and tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "release/html.h"
#include "release/replace.h"
#include "snapdp/error.h"
#include "snapdp/release/report.h"

namespace snapdp {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;
using Marks = TerminalStyle::Marks;

const std::string add_remove_head =
    "[data]\ndataset = \"d\"\nneighbors = \"add-remove\"\n[budget]\nepsilon = 1000\n";
const std::string change_one_head =
    "[data]\ndataset = \"d\"\nneighbors = \"change-one\"\nsize = 1000\n[budget]\nepsilon = 1000\n";

std::string statistic(const std::string& name, const std::string& keys) {
  return "[[statistic]]\nname = \"" + name + "\"\nepsilon = 1\n" + keys;
}

// A report of these values, as if they had been drawn: one vector a measurement.
Report report_of(const std::string& text, const std::vector<std::vector<std::vector<Dyadic>>>& values) {
  const Plan plan(Specification::parse(text, "s.toml"));
  return Report(plan, values, 1, Rational(3), Rational(7));
}

std::vector<std::string> warnings(const Report& report) {
  std::vector<std::string> kinds;
  const Json json = Json::parse(report.json());
  for (const Json& warning : json.at("warnings")) {
    EXPECT_FALSE(warning.at("message").get<std::string>().empty());
    std::string text = warning.at("statistic").get<std::string>();
    for (const char* key : {"group", "bin", "q"}) {
      if (warning.contains(key))
        text +=
            " " + (warning.at(key).is_string() ? warning.at(key).get<std::string>() : warning.at(key).dump());
    }
    kinds.push_back(text + ": " + warning.at("kind").get<std::string>());
  }
  // What is read back says the same.
  EXPECT_EQ(Report::from_json(report.json()).to_table(), report.to_table());
  return kinds;
}

TEST(Warnings, OfCounts) {
  const std::string count = add_remove_head + statistic("n", "kind = \"count\"\n");
  EXPECT_THAT(warnings(report_of(count, {{{Dyadic(100)}}})), ElementsAre());
  EXPECT_THAT(warnings(report_of(count, {{{Dyadic(-2)}}})), ElementsAre("n: below_zero"));
  EXPECT_THAT(warnings(report_of(count, {{{Dyadic(2)}}})), ElementsAre("n: reaches_lower"));
  EXPECT_THAT(warnings(report_of(count, {{{Dyadic(0)}}})), ElementsAre("n: reaches_lower"));
}

TEST(Warnings, OfMeansOnTheirRange) {
  const std::string mean =
      change_one_head + statistic("m", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [-100, 100]\n");
  EXPECT_THAT(warnings(report_of(mean, {{{Dyadic(50)}}})), ElementsAre());
  EXPECT_THAT(warnings(report_of(mean, {{{Dyadic(100)}}})), ElementsAre("m: at_bound"));
  EXPECT_THAT(warnings(report_of(mean, {{{Dyadic(-100)}}})), ElementsAre("m: at_bound"));
  EXPECT_THAT(warnings(report_of(mean, {{{Dyadic(Integer(199), -1)}}})), ElementsAre("m: reaches_upper"));
  EXPECT_THAT(warnings(report_of(mean, {{{Dyadic(Integer(-199), -1)}}})), ElementsAre("m: reaches_lower"));
  EXPECT_THAT(warnings(report_of(replaced(mean, "epsilon = 1\n", "epsilon = 0.001\n"), {{{Dyadic(50)}}})),
              ElementsAre("m: tells_nothing"));
}

// Sums and counts of three groups: enough rows, few rows, none.
TEST(Warnings, OfGroups) {
  const Report report = report_of(
      add_remove_head + statistic("m",
                                  "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 10]\ngroup_by = \"g\"\n"
                                  "keys = [1, 2, 3]\n"),
      {{{Dyadic(0), Dyadic(0), Dyadic(0)}, {Dyadic(1000), Dyadic(3), Dyadic(-4)}}});
  EXPECT_THAT(warnings(report),
              ElementsAre("m 2: tells_nothing", "m 3: tells_nothing", "m 3: placeholder", "m 2: few_rows"));
  // What tells nothing is not printed, but in the record.
  EXPECT_THAT(report.to_table(), ContainsRegex("\n  3 +- "));
  EXPECT_THAT(report.to_html(), HasSubstr("not told"));
  EXPECT_EQ(Json::parse(report.json()).at("statistics").at(0).at("groups").at(2).at("value"), 5.0);
}

TEST(Warnings, OfQuantilesAndSigns) {
  const std::string quantiles =
      "kind = \"quantiles\"\nquantiles = [0, 0.5]\ncolumn = \"x\"\nedges = [0, 1, 2, 3, 4]\n";
  const Plan plan(Specification::parse(add_remove_head + statistic("q", quantiles), "s.toml"));
  std::vector<double> rows;
  for (int i = 0; i < 4000; ++i) rows.push_back(i / 1000.0);
  const Aggregation& exact = plan.statistics()[0].measurements[0].measurement.aggregation();
  const auto of_rows = [&](const std::vector<double>& cells) {
    return warnings(Report(plan, {{exact(cells)}}, 1, Rational(3), Rational(7)));
  };
  EXPECT_THAT(of_rows(rows), ElementsAre("q 0: outer_edge"));
  EXPECT_THAT(of_rows({1, 2, 3}), ElementsAre("q 0: tells_nothing", "q 0.5: tells_nothing"));
  const std::string covariance =
      change_one_head +
      statistic("c", "kind = \"covariance\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 10], [0, 10]]\n");
  EXPECT_THAT(warnings(report_of(covariance, {{{Dyadic(Integer(1), -4)}}})), ElementsAre("c: sign_not_told"));
  EXPECT_THAT(warnings(report_of(covariance, {{{Dyadic(10)}}})), ElementsAre());
}

TEST(Warnings, OfRowsThatNoBinHolds) {
  const std::string histogram = "kind = \"histogram\"\ncolumn = \"x\"\ncategories = [\"a\", \"b\", \"c\"]\n";
  const std::string text = change_one_head + statistic("h", histogram);
  const std::vector<Dyadic> few = {Dyadic(300), Dyadic(300), Dyadic(200)};
  EXPECT_THAT(warnings(report_of(text, {{few}})), ElementsAre("h: rows_missing"));
  EXPECT_THAT(warnings(report_of(text, {{{Dyadic(300), Dyadic(300), Dyadic(350)}}})), ElementsAre());
  // Nothing is missing beyond what the noise explains.
  EXPECT_THAT(warnings(report_of(replaced(text, "epsilon = 1\n", "epsilon = 0.02\n"), {{few}})),
              Not(testing::Contains("h: rows_missing")));
  // Where the number of rows is private, a count of them tells it.
  const std::string counted =
      add_remove_head + statistic("n", "kind = \"count\"\n") + statistic("h", histogram);
  EXPECT_THAT(warnings(report_of(counted, {{{Dyadic(1000)}}, {few}})), ElementsAre("h: rows_missing"));
  EXPECT_THAT(warnings(report_of(counted, {{{Dyadic(800)}}, {few}})), ElementsAre());
}

TEST(Warnings, OfManyNumbersAreCounted) {
  std::string keys = "0";
  for (int i = 1; i < 40; ++i) keys += ", " + std::to_string(i);
  const Report report = report_of(
      add_remove_head + statistic("n", "kind = \"count\"\ngroup_by = \"g\"\nkeys = [" + keys + "]\n"),
      {{std::vector<Dyadic>(40, Dyadic(-1))}});
  const Json json = Json::parse(report.json()).at("warnings");
  EXPECT_EQ(json.size(), 11U);
  EXPECT_THAT(json.back().at("message").get<std::string>(), testing::StartsWith("30 more: "));
  EXPECT_FALSE(json.back().contains("group"));
  EXPECT_EQ(warnings(report).size(), 11U);
}

// What a report may come to is known before it is paid for, with all its warnings.
TEST(Warnings, AreRehearsed) {
  std::string text = add_remove_head;
  std::vector<std::vector<std::vector<Dyadic>>> values;
  for (int i = 0; i < 400; ++i) {
    text += statistic("n" + std::to_string(i), "kind = \"count\"\n");
    values.push_back({{Dyadic(-1)}});
  }
  const Plan plan(Specification::parse(text, "s.toml"));
  const Report report(plan, values, 1, Rational(3), Rational(7));
  EXPECT_EQ(warnings(report).size(), 400U);
  EXPECT_LE(report.json().size(), Report::rehearse(plan).length);
}

TEST(ReportViews, ReportsOfEarlierVersionsAreRead) {
  const std::string text =
      change_one_head + statistic("m", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\n");
  const Report report = report_of(text, {{{Dyadic(50)}}});
  Json json = Json::parse(report.json());
  json.erase("warnings");
  EXPECT_EQ(Report::from_json(json.dump()).to_table(), report.to_table());
  json.erase("certificate");
  json.at("statistics").at(0).erase("bounds");
  const Report old = Report::from_json(json.dump());
  for (const std::string& view : {old.to_table(), old.to_html(), old.to_csv(), old.to_markdown()})
    EXPECT_THAT(view, HasSubstr("50"));
}

// Every kind of statistic and shape of report, with words everywhere that try to be markup.
const std::string hostile = "</style><script>alert(1)</script>\\\"'&amp;|*_`\\n";

std::string toml(const std::string& text) {
  return "\"" + text + "\"";
}

Report hostile_report() {
  const std::string word = toml("<script>alert(1)</script>'&amp;|*_`");
  const std::string key = "\"<script>x</script>\"";
  const std::string text =
      "headline = " + word + "\n[data]\ndataset = " + word + "\ntitle = " + word +
      "\nneighbors = \"add-remove\"\nprivacy_unit = " + word +
      "\nmax_rows_per_unit = 2\nwhere = \"\\\"<script>\\\" = 1\"\n" + "[columns." + word +
      "]\ntype = \"text\"\ncategories = [" + key + "]\nunit = " + word + "\nlabels = { " + key + " = " +
      word + " }\n[columns.x]\nunit = " + word + "\n[budget]\nepsilon = 1000\n" +
      "[[statistic]]\nname = \"<script>n\"\ntitle = " + word + "\nkind = \"count\"\nepsilon = 1\n" +
      "[[statistic]]\nname = \"<script>h\"\ntitle = " + word +
      "\nkind = \"histogram\"\nepsilon = 1\ncolumn = " + word + "\n" +
      "[[statistic]]\nname = \"<script>g\"\nkind = \"sum\"\nbounds = [0, 3]\ncolumn = \"x\"\nepsilon = "
      "1\ngroup_by = " +
      word +
      "\n[[statistic]]\nname = \"<script>q\"\nkind = \"quantiles\"\nquantiles = [0.25]\nedges = [0, 1, "
      "2]\ncolumn = \"x\"\n"
      "epsilon = 1\n";
  const Plan plan(Specification::parse(text, "s.toml"));
  std::vector<std::vector<std::vector<Dyadic>>> values;
  for (const PlannedStatistic& planned : plan.statistics()) {
    values.emplace_back();
    for (const PlannedMeasurement& part : planned.measurements)
      values.back().emplace_back(part.measurement.aggregation().output_domain().dimension, Dyadic(-3));
  }
  return Report(plan, values, 1, Rational(5), Rational(7));
}

// Fails unless every element of the page is one of ours, closed in order, with attributes between quotes.
void expect_well_formed(const std::string& page) {
  const std::set<std::string> empty = {"meta", "rect", "line", "circle", "use", "path"};
  std::vector<std::string> open;
  std::size_t at = page.find("<html");
  ASSERT_NE(at, std::string::npos);
  const std::regex tag(R"re(<(/?)([a-z0-9]+)((?: [a-zA-Z0-9-]+="[^"<>]*")*)(/?)>)re");
  while ((at = page.find('<', at)) != std::string::npos) {
    if (!open.empty() && open.back() == "style" && page.compare(at, 8, "</style>") != 0)
      FAIL() << "markup in the style";
    std::smatch found;
    const std::string rest = page.substr(at, 400);
    ASSERT_TRUE(std::regex_search(rest, found, tag, std::regex_constants::match_continuous))
        << rest.substr(0, 120);
    const std::string name = found[2];
    if (found[1] == "/") {
      ASSERT_FALSE(open.empty());
      ASSERT_EQ(open.back(), name);
      open.pop_back();
    } else if (!empty.contains(name) && found[4] != "/") {
      open.push_back(name);
    }
    EXPECT_NE(name, "script");
    EXPECT_THAT(found[3].str(), Not(testing::ContainsRegex(" (style|on[a-z]+|src)=")));
    at += static_cast<std::size_t>(found.length());
  }
  EXPECT_TRUE(open.empty());
}

TEST(ReportPage, TakesWordsForNothingElse) {
  const Report report = hostile_report();
  const std::string page = report.to_html({.time = "<script>", .anchor = "<script>", .ledger = "<script>"});
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;&#39;&amp;amp;"));
  expect_well_formed(page);
  const std::string again = Report::from_json(report.json()).to_html();
  const std::string once = report.to_html();
  const auto [difference, other] = std::mismatch(once.begin(), once.end(), again.begin(), again.end());
  EXPECT_EQ(std::string(difference, once.end()).substr(0, 200),
            std::string(other, again.end()).substr(0, 200));
}

TEST(ReportPage, AllowsItsStyleAndNothingElse) {
  const std::string page =
      report_of(add_remove_head + statistic("n", "kind = \"count\"\n"), {{{Dyadic(9)}}}).to_html();
  const std::size_t begin = page.find("<style>") + 7;
  const std::string style = page.substr(begin, page.find("</style>") - begin);
  std::array<unsigned char, 32> digest = {};
  ASSERT_EQ(EVP_Digest(style.data(), style.size(), digest.data(), nullptr, EVP_sha256(), nullptr), 1);
  std::array<unsigned char, 45> base64 = {};
  EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
  EXPECT_THAT(page, HasSubstr("content=\"default-src 'none'; style-src 'sha256-" +
                              std::string(base64.begin(), base64.end() - 1) +
                              "'; base-uri 'none'; form-action 'none'\""));
  expect_well_formed(page);
  for (const char* address : {"http:", "https:", "@import"})
    EXPECT_THAT(page, Not(HasSubstr(address))) << address;
  EXPECT_FALSE(std::regex_search(page, std::regex("url\\([^#]")));
}

TEST(PlanPage, ShowsWhatEachEpsilonGives) {
  const std::string text =
      add_remove_head + statistic("people", "title = \"<b>\"\nkind = \"count\"\n") +
      statistic("r", "kind = \"correlation\"\ncolumns = [\"x\", \"y\"]\nbounds = [[0, 1], [0, 1]]\n");
  const Plan plan(Specification::parse(text, "s.toml"));
  const std::string page = plan.to_html();
  expect_well_formed(page);
  EXPECT_THAT(page, HasSubstr("2 statistics would cost ε 2 of the 1000 that this run may cost"));
  // The accuracy of a count at a quarter, half, twice and four times its epsilon.
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;: error against epsilon. At 1 ±3; at half ±6; at double ±1."));
  // Nobody knows how near a correlation will be, and it has no funnel.
  EXPECT_THAT(page, HasSubstr("<li><b>r</b>: how far it may be off is told with the release"));
  EXPECT_EQ(page.find("class=\"fcard\""), page.rfind("class=\"fcard\""));
  const std::string against = plan.to_html(LedgerBalance{5, 3, 2, 0, {}});
  EXPECT_THAT(against, HasSubstr("would cost ε 2 of the 2 that are left"));
  EXPECT_THAT(against, HasSubstr("together with what was released before"));
  EXPECT_THAT(plan.to_html(LedgerBalance{5, 4, 1, 0, {}}), HasSubstr("It does not fit"));
}

std::string groups(int count) {
  std::string keys = "0";
  for (int i = 1; i < count; ++i) keys += ", " + std::to_string(i);
  return statistic("n", "kind = \"count\"\ngroup_by = \"g\"\nkeys = [" + keys + "]\n");
}

TEST(ReportPage, StaysSmall) {
  std::string many;
  std::vector<std::vector<std::vector<Dyadic>>> values;
  for (int i = 0; i < 30; ++i) {
    many += statistic("statistic " + std::to_string(i), "kind = \"count\"\n");
    values.push_back({{Dyadic(1000)}});
  }
  EXPECT_LT(report_of(add_remove_head + many, values).to_html().size(), 200'000U);
  // Of many groups a line each, without a bar and folded; the record is not repeated.
  constexpr std::size_t count = 20'000;
  const Report report =
      report_of(add_remove_head + groups(count), {{std::vector<Dyadic>(count, Dyadic(1000))}});
  const std::string page = report.to_html();
  EXPECT_LT(page.size(), 100 * count);
  EXPECT_THAT(page, HasSubstr("<details><summary>All 20,000 numbers</summary>"));
  EXPECT_THAT(page, HasSubstr("too long for a page"));
}

// The lines and cells of a text of RFC 4180.
std::vector<std::vector<std::string>> lines_of_csv(const std::string& text) {
  std::vector<std::vector<std::string>> lines = {{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string& cell = lines.back().back();
    if (quoted) {
      if (text[i] != '"') {
        cell += text[i];
      } else if (i + 1 < text.size() && text[i + 1] == '"') {
        cell += text[++i];
      } else {
        quoted = false;
      }
    } else if (text[i] == '"') {
      quoted = true;
    } else if (text[i] == ',') {
      lines.back().emplace_back();
    } else if (text.compare(i, 2, "\r\n") == 0) {
      lines.push_back({""});
      ++i;
    } else {
      cell += text[i];
    }
  }
  lines.pop_back();
  return lines;
}

TEST(ReportValues, AreOneLineEach) {
  const std::string text =
      add_remove_head + statistic("n, \\\"all\\\"", "kind = \"count\"\n") +
      statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 1, 2]\nalpha = 0.1\n") +
      statistic("s",
                "kind = \"sum\"\ncolumn = \"x\"\nbounds = [-1, 1]\ngroup_by = \"g\"\nkeys = [\"a,b\"]\n");
  const std::vector<std::vector<std::string>> lines = lines_of_csv(
      report_of(text, {{{Dyadic(-5)}}, {{Dyadic(7), Dyadic(1000)}}, {{Dyadic(Integer(1), -1)}}}).to_csv());
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[0], ElementsAre("statistic", "group", "bin", "value", "lower", "upper", "alpha",
                                    "epsilon", "population_lower", "population_upper"));
  EXPECT_THAT(lines[1], ElementsAre("n, \"all\"", "", "", "-5", "0", "0", "0.05", "1", "", ""));
  EXPECT_THAT(lines[2], ElementsAre("h", "", "[0, 1)", "7", "4", "10", "0.1", "1", "", ""));
  EXPECT_THAT(lines[3], ElementsAre("h", "", "[1, 2]", "1000", "997", "1003", "0.1", "1", "", ""));
  EXPECT_EQ(lines[4].size(), 10U);
  EXPECT_EQ(lines[4][1], "a,b");
  EXPECT_EQ(lines[4][3], "0.5");
}

TEST(ReportMarkdown, TakesWordsForNothingElse) {
  const std::string text = hostile_report().to_markdown();
  EXPECT_FALSE(std::regex_search(text, std::regex("(^|[^\\\\])<")));
  EXPECT_THAT(text, HasSubstr("\\<script\\>"));
  // Each line of a table has as many bars as its head.
  EXPECT_THAT(
      text, HasSubstr("| statistic | released | interval | level | ε |\n|---|--:|--:|--:|--:|\n| \\<script"));
  const std::regex bar("(^|[^\\\\])\\|");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ")) continue;
    const auto bars =
        std::distance(std::sregex_iterator(line.begin(), line.end(), bar), std::sregex_iterator());
    EXPECT_TRUE(bars == 6 || bars == 4) << line;
  }
}

std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

Report plain_report() {
  const std::string text =
      add_remove_head + statistic("people", "kind = \"count\"\n") +
      statistic("education", "kind = \"histogram\"\ncolumn = \"x\"\nedges = [1, 9, 10]\n") +
      statistic("income", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1000]\n");
  return report_of(text, {{{Dyadic(9994)}}, {{Dyadic(5000), Dyadic(4990)}}, {{Dyadic(0)}, {Dyadic(10'000)}}});
}

TEST(ReportTable, FitsATerminalAndDrawsWhatItSays) {
  for (const Marks marks : {Marks::none, Marks::ascii, Marks::utf8}) {
    const std::string table = plain_report().to_table({.marks = marks});
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 80U) << line;
    const bool ascii =
        std::all_of(table.begin(), table.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    EXPECT_EQ(ascii, marks != Marks::utf8);
    EXPECT_EQ(table.find("###") != std::string::npos, marks == Marks::ascii);
    EXPECT_EQ(table.find("███") != std::string::npos, marks == Marks::utf8);
  }
  const std::string table = plain_report().to_table();
  EXPECT_THAT(table, HasSubstr("  people        9,994    [9,991, 9,997]\n"));
  EXPECT_THAT(table, HasSubstr("  [1, 9)   5,000  [4,996, 5,004]\n"));
  EXPECT_THAT(table, HasSubstr("  epsilon 3 spent now, 3 in all, 7 left."));
}

TEST(ReportTable, ShowsAllDigitsWhenAsked) {
  const Report report =
      report_of(change_one_head + statistic("m", "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 1000]\n"),
                {{{Dyadic(Integer(1'000'001), -10)}}});
  EXPECT_THAT(report.to_table(), HasSubstr(" 976.6 "));
  EXPECT_THAT(report.to_table({.all_digits = true}), HasSubstr(" 976.5634765625 "));
}

// What the rows say of where they come from: of a mean, of a bin of two, and of groups.
std::string sample(const std::string& text) {
  return replaced(text, "[budget]", "population = true\n[budget]");
}

const std::string sample_mean = "title = \"<Mean>\"\nkind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 100]\n";

Report report_of_sample() {
  return report_of(sample(change_one_head) + statistic("m", sample_mean) +
                       statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 1, 2]\n") +
                       statistic("s", "kind = \"sum\"\ncolumn = \"x\"\nbounds = [0, 1]\n"),
                   {{{Dyadic(50)}}, {{Dyadic(250), Dyadic(750)}}, {{Dyadic(500)}}});
}

// Of `count` groups of a thousand rows each, whose mean is 5.
Report report_of_groups_of_sample(int count) {
  std::string keys = "0";
  for (int i = 1; i < count; ++i) keys += ", " + std::to_string(i);
  const auto size = static_cast<std::size_t>(count);
  return report_of(sample(add_remove_head) + statistic("m",
                                                       "kind = \"mean\"\ncolumn = \"x\"\nbounds = [0, 10]\n"
                                                       "group_by = \"g\"\nkeys = [" +
                                                           keys + "]\n"),
                   {{std::vector<Dyadic>(size, Dyadic(0)), std::vector<Dyadic>(size, Dyadic(1000))}});
}

// With lines that were broken for a terminal in one.
std::string one_line(const std::string& text) {
  return std::regex_replace(text, std::regex("\n +"), " ");
}

TEST(ReportPopulation, IsANoteOnATerminal) {
  const std::string wrapped = report_of_sample().to_table();
  std::istringstream lines(wrapped);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  const std::string table = one_line(wrapped);
  // Beside the number stands the interval of the noise.
  EXPECT_THAT(table, HasSubstr("50.00    [49.70, 50.30] "));
  EXPECT_THAT(table, HasSubstr("m: in the population that the rows are a sample of, the mean lies in [44, "
                               "56] (95%); that includes the error of sampling.\n"));
  EXPECT_THAT(table,
              HasSubstr("h: in the population that the rows are a sample of, the share lies in [0, 1): "
                        "[0.20, 0.30]; [1, 2]: [0.70, 0.80] (95%, each alone); that includes"));
  EXPECT_THAT(table, HasSubstr("hold the noise only, those of the population sampling too"));
  EXPECT_THAT(table, Not(HasSubstr("s: in the population")));
  EXPECT_THAT(report_of_sample().to_table({.all_digits = true}), Not(HasSubstr("[44, 56]")));
  EXPECT_THAT(plain_report().to_table(), Not(HasSubstr("population")));
}

TEST(ReportPopulation, IsAListOfManyNumbersOnATerminal) {
  const std::string table = report_of_groups_of_sample(12).to_table();
  EXPECT_THAT(one_line(table),
              HasSubstr("the mean lies in these intervals (95%, each alone); that includes the "
                        "error of sampling: 0   ["));
  EXPECT_TRUE(std::regex_search(table, std::regex("\n    11  \\[4\\.[0-9]+, 5\\.[0-9]+\\]\n"))) << table;
}

TEST(ReportPopulation, IsATableOfItsOwnInAPage) {
  const std::string page = report_of_sample().to_html();
  expect_well_formed(page);
  const std::size_t begin = page.find("<h2 id=\"population\">In the population</h2>");
  ASSERT_NE(begin, std::string::npos);
  const std::string section = page.substr(begin, page.find("</section>", begin) - begin);
  EXPECT_THAT(section, HasSubstr("include the error of sampling"));
  EXPECT_THAT(section, HasSubstr("presume that the rows are a random sample"));
  EXPECT_THAT(section, HasSubstr("&lt;Mean&gt;<small>mean</small></th><td class=\"n\">44 to 56<small>"));
  EXPECT_THAT(section, HasSubstr("h, [0, 1)<small>share</small></th><td class=\"n\">0.20 to 0.30<small>"));
  EXPECT_THAT(section, HasSubstr("<small>95&#8239;%</small>"));
  EXPECT_THAT(page.substr(0, begin), HasSubstr("49.70 to 50.30"));
  EXPECT_THAT(plain_report().to_html(), Not(HasSubstr("opulation")));
  const std::string many = report_of_groups_of_sample(100).to_html();
  expect_well_formed(many);
  EXPECT_THAT(many, HasSubstr("<details><summary>All 100 intervals</summary>"));
}

TEST(ReportPopulation, IsATableOfItsOwnInMarkdown) {
  const std::string text = report_of_sample().to_markdown();
  const std::size_t begin = text.find("\n## In the population\n");
  ASSERT_NE(begin, std::string::npos);
  EXPECT_THAT(text.substr(begin), HasSubstr("\n\n| | interval | level |\n|---|--:|--:|\n"
                                            "| \\<Mean\\>: mean | 44 to 56 | 95% |\n"
                                            "| h, \\[0, 1\\): share | 0.20 to 0.30 | 95% |\n"));
  EXPECT_THAT(text.substr(begin), HasSubstr("presume that the rows are a random sample"));
  EXPECT_THAT(text.substr(0, begin), HasSubstr("49.70 to 50.30"));
  EXPECT_THAT(plain_report().to_markdown(), Not(HasSubstr("opulation")));
}

TEST(ReportPopulation, IsTwoColumnsOfValues) {
  const Report report = report_of_sample();
  const std::vector<std::vector<std::string>> lines = lines_of_csv(report.to_csv());
  ASSERT_EQ(lines.size(), 5U);
  const Json statistics = Json::parse(report.json()).at("statistics");
  const auto expect = [](const std::vector<std::string>& line, const Json& number) {
    ASSERT_EQ(line.size(), 10U);
    const Json& interval = number.at("population").at("interval");
    EXPECT_EQ(std::stod(line[8]), interval.at(0).get<double>());
    EXPECT_EQ(std::stod(line[9]), interval.at(1).get<double>());
  };
  expect(lines[1], statistics.at(0));
  expect(lines[2], statistics.at(1).at("bins").at(0));
  expect(lines[3], statistics.at(1).at("bins").at(1));
  ASSERT_EQ(lines[4].size(), 10U);
  EXPECT_EQ(lines[4][8] + lines[4][9], "");
}

// Ends are rounded outward and not beyond what is possible.
TEST(ReportPopulation, HoldsWhatTheRecordSays) {
  const Report report = report_of(
      sample(change_one_head) + statistic("h", "kind = \"histogram\"\ncolumn = \"x\"\nedges = [0, 1, 2]\n"),
      {{{Dyadic(-3), Dyadic(1004)}}});
  EXPECT_THAT(one_line(report.to_table()),
              testing::ContainsRegex(
                  "share lies in \\[0, 1\\): \\[0, 0\\.0[0-9]+\\]; \\[1, 2\\]: \\[0\\.9[0-9]+, 1\\]"));
  const Json bins = Json::parse(report.json()).at("statistics").at(0).at("bins");
  const std::string text = report.to_markdown();
  std::smatch found;
  ASSERT_TRUE(
      std::regex_search(text, found, std::regex("share \\| 0 to ([0-9.]+) .*\n.*share \\| ([0-9.]+) to 1 ")));
  EXPECT_GE(std::stod(found[1]), bins.at(0).at("population").at("interval").at(1).get<double>());
  EXPECT_LE(std::stod(found[2]), bins.at(1).at("population").at("interval").at(0).get<double>());
}

}  // namespace
}  // namespace snapdp
