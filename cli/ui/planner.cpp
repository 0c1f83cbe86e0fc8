#include "ui/planner.h"

#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "data_file.h"
#include "signals.h"
#include "snapdp/error.h"
#include "snapdp/release/plan.h"
#include "snapdp/release/release.h"
#include "snapdp/release/report.h"

namespace snapdp::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_files = 1000;

[[noreturn]] void refuse(const std::string& parameter, const std::string& message) {
  throw Error(ErrorCode::invalid_argument, parameter, parameter + ": " + message);
}

std::string text_of(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) refuse(key, "a text is missing");
  return found->get<std::string>();
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw Error(ErrorCode::io, "file", "file: " + quoted_path(path.string()) + " cannot be read");
  return text.str();
}

PageAnswer json_answer(const Json& json) {
  PageAnswer answer;
  answer.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return answer;
}

// ---- The files of a folder ---------------------------------------------------------------------------------------------

class Folder {
 public:
  explicit Folder(const std::filesystem::path& path) : path_(path) {}

  // The first ones in the order of their names. Hidden files are left out, and so are those whose names say that they
  // hold data: none of these is opened.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(path_, error)) {
      const std::string name = entry.path().filename().string();
      if (is_offered(name) && entry.is_regular_file(error)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    if (names.size() > most_files) names.resize(most_files);
    return names;
  }

  // Throws invalid_argument unless `name` is that of a file in the folder, so that no name leads out of it.
  std::filesystem::path path_of(const std::string& name) const {
    std::error_code error;
    const bool is_bare = name == std::filesystem::path(name).filename().string();
    if (!is_bare || !is_offered(name) || !std::filesystem::is_regular_file(path_ / name, error))
      refuse("file",
             quoted_text(name) + " is no declaration, specification or ledger of the planner's folder");
    return path_ / name;
  }

  bool is_ledger(const std::string& name) const { return Ledger::lies_at(path_of(name)); }

 private:
  static bool is_offered(const std::string& name) {
    constexpr std::array<std::string_view, 9> of_data = {".csv", ".tsv", ".tab",  ".txt", ".parquet",
                                                         ".pq",  ".gz",  ".xlsx", ".zip"};
    return !name.empty() && name.find('\0') == std::string::npos && !name.starts_with('.') &&
           std::none_of(of_data.begin(), of_data.end(),
                        [&](std::string_view end) { return name.ends_with(end); });
  }

  std::filesystem::path path_;
};

// What is in force of the data, by a declaration or a ledger.
struct DataFile {
  Declaration declaration;
  std::optional<Ledger> ledger;
};

DataFile open_data(const Folder& folder, const std::string& name) {
  const std::filesystem::path path = folder.path_of(name);
  if (!folder.is_ledger(name)) return {Declaration::read(path), std::nullopt};
  Ledger ledger = Ledger::open(path);
  std::optional<Declaration> declared = Declaration::of(ledger);
  if (!declared) refuse("file", "this ledger keeps no declaration, so the planner has nothing to start from");
  return {*std::move(declared), std::move(ledger)};
}

Json folder_json(const Folder& folder, const std::filesystem::path& path) {
  Json declarations = Json::array();
  Json specifications = Json::array();
  Json ledgers = Json::array();
  for (const std::string& name : folder.files()) {
    if (folder.is_ledger(name)) {
      ledgers.push_back(name);
      continue;
    }
    if (!name.ends_with(".toml")) continue;
    try {
      const toml::table file = toml::parse(read_file(folder.path_of(name)));
      if (file.contains("data")) declarations.push_back(name);
      if (file.contains("statistic")) specifications.push_back(name);
    } catch (const std::exception&) {
      // Whoever opens it is told what is wrong.
      declarations.push_back(name);
    }
  }
  return {{"folder", std::filesystem::absolute(path).filename().string()},
          {"declarations", std::move(declarations)},
          {"specifications", std::move(specifications)},
          {"ledgers", std::move(ledgers)}};
}

// ---- What is declared --------------------------------------------------------------------------------------------------

Json column_json(const std::string& name, const ColumnDeclaration& column) {
  Json values = Json::array();
  for (const Rational& number : column.values.numbers) values.push_back(short_number(number));
  for (const std::string& text : column.values.texts) values.push_back(text);
  Json json = {{"name", name},
               {"type", column.type ? to_string(*column.type) : "real"},
               {"description", column.description},
               {"values", std::move(values)}};
  if (column.bounds) {
    json["lower"] = short_number(column.bounds->lower);
    json["upper"] = short_number(column.bounds->upper);
  }
  return json;
}

Json ledger_json(const Ledger& ledger) {
  const LedgerBalance balance = ledger.balance();
  return {{"file", ledger.path().filename().string()},
          {"budget", to_double_nearest(balance.budget.limit().value)},
          {"spent", to_double_nearest(balance.spent.value)},
          {"releases", balance.releases}};
}

Json data_json(const std::string& file, const DataFile& data) {
  const Declaration& declared = data.declaration;
  Json json = {{"file", file}, {"dataset", declared.dataset}, {"neighbors", to_string(declared.neighbors)}};
  json["size"] = declared.size ? Json(*declared.size) : Json();
  json["expected_size"] = declared.expected_size ? Json(*declared.expected_size) : Json();
  json["privacy_unit"] = declared.privacy_unit ? Json(*declared.privacy_unit) : Json();
  json["max_rows_per_unit"] = declared.max_rows_per_unit;
  json["where"] = declared.where ? Json(declared.where->text()) : Json();
  json["columns"] = Json::array();
  for (const auto& [name, column] : declared.columns) {
    if (name != declared.privacy_unit) json["columns"].push_back(column_json(name, column));
  }
  json["ledger"] = data.ledger ? ledger_json(*data.ledger) : Json();
  return json;
}

// Whole numbers that the page's own numbers cannot hold become texts, which a specification takes for the same.
void keep_exact(Json& json) {
  constexpr std::int64_t largest = std::int64_t{1} << 53;
  if (json.is_number_integer() &&
      (json.get<std::int64_t>() > largest || json.get<std::int64_t>() < -largest)) {
    json = std::to_string(json.get<std::int64_t>());
  } else if (json.is_structured()) {
    for (Json& part : json) keep_exact(part);
  }
}

// The statistics of a specification as they stand in the file: the page asks for them again, each with its keys.
Json question_json(const std::filesystem::path& path) {
  std::ostringstream json;
  try {
    const toml::table file = toml::parse(read_file(path));
    json << toml::json_formatter{file};
  } catch (const toml::parse_error&) {
    refuse("file", quoted_text(path.filename().string()) + " is not TOML");
  }
  Json whole = Json::parse(json.str());
  keep_exact(whole);
  return {{"statistics", whole.value("statistic", Json::array())},
          {"budget", whole.value("budget", Json::object())},
          {"label", whole.value("label", "")},
          {"headline", whole.value("headline", "")}};
}

// ---- Plans and releases ------------------------------------------------------------------------------------------------

// A question of the page: a specification without [data], under what a file declares.
struct Question {
  DataFile data;
  Specification specification;
};

Question question_of(const Folder& folder, const std::string& body) {
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) refuse("body", "must be a JSON object");
  DataFile data = open_data(folder, text_of(json, "file"));
  Specification specification =
      Specification::parse(text_of(json, "specification"), "plan", {}, data.declaration);
  return {std::move(data), std::move(specification)};
}

Json number_or_null(double number) {
  return std::isfinite(number) ? Json(number) : Json();
}

Json statistic_json(const PlannedStatistic& planned) {
  Json json = {{"name", planned.specification.name},
               {"kind", to_string(planned.specification.kind)},
               {"epsilon", to_double_nearest(planned.cost.value)},
               {"constant", planned.measurements.empty()},
               {"bins", planned.bins.size()},
               {"groups", planned.groups}};
  json["accuracy"] = planned.accuracy ? number_or_null(planned.accuracy->tight) : Json();
  json["together"] = planned.accuracy && planned.accuracy->simultaneous
                         ? number_or_null(*planned.accuracy->simultaneous)
                         : Json();
  json["guessed"] = planned.expected_rows.has_value();
  json["lower"] = planned.least ? Json(to_double_nearest(*planned.least)) : Json();
  json["upper"] = planned.greatest ? Json(to_double_nearest(*planned.greatest)) : Json();
  json["rank_error"] = planned.hierarchy ? number_or_null(planned.rank_error) : Json();
  return json;
}

Json plan_numbers(const Question& question) {
  const Plan plan(question.specification);
  Json statistics = Json::array();
  for (const PlannedStatistic& planned : plan.statistics()) statistics.push_back(statistic_json(planned));
  const Rational allowed = question.data.ledger ? std::min(question.specification.budget.amount.value,
                                                           question.data.ledger->balance().remaining.value)
                                                : question.specification.budget.amount.value;
  return {{"statistics", std::move(statistics)},
          {"epsilon", to_double_nearest(plan.epsilon())},
          {"price", to_string(plan.epsilon())},
          {"unpaid", plan.unpaid()},
          {"fits", plan.is_affordable() && plan.epsilon() <= allowed}};
}

Json savings_json(const Question& question) {
  Json savings = Json::array();
  for (const Saving& saving : Plan(question.specification).savings()) {
    savings.push_back({{"statistic", saving.statistic},
                       {"change", saving.change},
                       {"accuracy", number_or_null(saving.accuracy)},
                       {"epsilon", to_double_nearest(saving.epsilon)}});
  }
  return {{"savings", std::move(savings)}};
}

// What a release gives the page. It is paid for by now: nothing here throws for want of the ledger, and what the ledger could
// not keep goes along.
Json released_json(const Released& released, const Ledger& ledger) {
  Json json = {{"release", released.release ? Json(*released.release) : Json()},
               {"reprinted", released.reprinted},
               {"not_stored", released.not_stored},
               {"ledger", Json()}};
  if (!released.release || !released.not_stored.empty()) {
    json["report"] = released.report.json();
    json["page"] = released.report.to_html();
  }
  try {
    json["ledger"] = ledger_json(ledger);
  } catch (const Error&) {
    // The page asks again.
  }
  return json;
}

PageAnswer release_answer(Question& question, const std::string& body) {
  if (!question.data.ledger)
    refuse("file", "a release needs a ledger; choose one, or make it: snapdp ledger create");
  Ledger& ledger = *question.data.ledger;
  const Json json = Json::parse(body);
  const std::string name = ledger.path().filename().string();
  if (text_of(json, "typed") != name)
    refuse("typed", "type the name of the ledger, " + quoted_text(name) + ", to spend from it");
  if (text_of(json, "price") != to_string(Plan(question.specification).epsilon()))
    refuse("price", "the plan is no longer the one that was shown; look at it again");
  const std::filesystem::path data = declared_path(question.specification, ledger);
  if (data.empty())
    refuse("path",
           "the declaration does not say where the data lie; release with snapdp release --data FILE");
  std::optional<SignalHold> hold;
  ReleaseOptions options;
  options.before_debit = [&] { hold.emplace(); };
  return json_answer(
      released_json(release(question.specification, ledger, open_declared(data), options), ledger));
}

PageAnswer report_answer(const Folder& folder, const PageRequest& request) {
  const std::string file = request.parameter("file");
  if (!folder.is_ledger(file)) refuse("file", "is no ledger");
  const std::string number = request.parameter("release");
  if (number.empty() || number.size() > 18 || number.find_first_not_of("0123456789") != std::string::npos)
    refuse("release", "must be the number of a release");
  const Ledger ledger = Ledger::open(folder.path_of(file));
  const LedgerEntry entry = ledger.entry(std::stoll(number));
  const std::optional<std::string> text = ledger.report(entry.release);
  if (!text) throw Error(ErrorCode::bad_data, "release", "release: it has no report");
  const Report report = Report::from_json(*text);
  const ReportProvenance provenance{entry.time, to_string(ledger.balance().anchor), file};
  PageAnswer answer;
  const std::string form = request.parameter("as");
  if (form == "csv") {
    answer.type = "text/csv; charset=utf-8";
    answer.body = report.to_csv();
    answer.file_name = "report.csv";
  } else if (form == "markdown") {
    answer.type = "text/markdown; charset=utf-8";
    answer.body = report.to_markdown();
    answer.file_name = "report.md";
  } else if (form == "json") {
    answer.body = report.json();
    answer.file_name = "report.json";
  } else {
    answer.type = "text/html; charset=utf-8";
    answer.body = report.to_html(provenance);
    answer.policy =
        "sandbox; frame-ancestors 'none'";  // the page states its own beside it: no script, no request
  }
  return answer;
}

}  // namespace

PageAnswer Planner::answer(const PageRequest& request) const {
  const Folder folder(folder_);
  try {
    if (!request.is_post) {
      if (request.path == "/api/folder") return json_answer(folder_json(folder, folder_));
      const std::string file = request.parameter("file");
      if (request.path == "/api/data") return json_answer(data_json(file, open_data(folder, file)));
      if (request.path == "/api/question") return json_answer(question_json(folder.path_of(file)));
      if (request.path == "/report") return report_answer(folder, request);
    } else {
      Question question = question_of(folder, request.body);
      if (request.path == "/api/plan") return json_answer(plan_numbers(question));
      if (request.path == "/api/savings") return json_answer(savings_json(question));
      if (request.path == "/api/release") return release_answer(question, request.body);
      if (request.path == "/api/page") {
        PageAnswer page;
        page.type = "text/html; charset=utf-8";
        page.body = Plan(question.specification)
                        .to_html(question.data.ledger ? std::optional(question.data.ledger->balance())
                                                      : std::nullopt);
        page.file_name = "plan.html";
        return page;
      }
    }
  } catch (const Error& error) {
    PageAnswer answer = json_answer(
        {{"code", to_string(error.code())}, {"parameter", error.parameter()}, {"message", error.what()}});
    answer.status = 422;
    return answer;
  }
  PageAnswer missing;
  missing.status = 404;
  missing.body = "{}\n";
  return missing;
}

}  // namespace snapdp::cli
