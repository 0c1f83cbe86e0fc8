// The tool's commands that open no data, as people type them: a command on the first line, then NAME=VALUE for each of its
// options. For trace, what follows a line "---" is its file. Options that name files or shell commands are set here.
#include "cli/commands.h"

#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "fuzz/fuzz.h"
#include "snapdp/numeric/rational.h"

namespace snapdp {
namespace {

using Json = nlohmann::json;
using Options = std::map<std::string, std::string>;  // by name, without dashes

// A folder for the files of the commands, removed at the end.
const std::filesystem::path& folder() {
  static const std::filesystem::path path = [] {
    std::string pattern = (std::filesystem::temp_directory_path() / "snapdp_fuzz_XXXXXX").string();
    SNAPDP_FUZZ_CHECK(::mkdtemp(pattern.data()) != nullptr);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return std::filesystem::path(pattern);
  }();
  return path;
}
std::string picture() {
  return (folder() / "picture.svg").string();
}
std::string vectors() {
  return (folder() / "vectors.csv").string();
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Standard output, kept in memory.
class Output {
 public:
  static std::string run(const std::function<void()>& action) {
    static const int kept = [] {
      const int file = ::memfd_create("output", 0);
      SNAPDP_FUZZ_CHECK(file >= 0 && ::dup2(file, STDOUT_FILENO) == STDOUT_FILENO);
      return file;
    }();
    SNAPDP_FUZZ_CHECK(::ftruncate(kept, 0) == 0 && ::lseek(STDOUT_FILENO, 0, SEEK_SET) == 0);
    action();
    std::string text(static_cast<std::size_t>(::lseek(STDOUT_FILENO, 0, SEEK_END)), '\0');
    SNAPDP_FUZZ_CHECK(::pread(kept, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    return text;
  }
};

const CLI::App* subcommand(const CLI::App* app, std::string_view name) {
  for (const CLI::App* command : app->get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == name) return command;
  }
  return nullptr;
}

class Tool {
 public:
  Tool() {
    app_.require_subcommand(1);
    for (const auto add :
         {cli::add_compose, cli::add_accuracy, cli::add_law, cli::add_bias, cli::add_bound, cli::add_certify,
          cli::add_plot, cli::add_trace, cli::add_audit, cli::add_selection, cli::add_select_top}) {
      add(app_, commands_);
    }
  }

  // "law" or "plot law"; null when there is none.
  const CLI::App* find(std::string_view name) const {
    const std::size_t space = std::min(name.find(' '), name.size());
    const CLI::App* const found = subcommand(&app_, name.substr(0, space));
    return found == nullptr || space == name.size() ? found : subcommand(found, name.substr(space + 1));
  }

  // Nothing when the options are refused.
  std::optional<std::string> run(const CLI::App* command, const Options& options) {
    std::vector<std::string> words;
    for (const auto& [name, value] : options) {
      const CLI::Option* const option = command->get_option("--" + name);
      words.push_back("--" + name + (option->get_expected_max() > 0 ? "=" + value : ""));
    }
    for (const CLI::App* app = command; app->get_parent() != nullptr; app = app->get_parent())
      words.insert(words.begin(), app->get_name());
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    try {
      app_.parse(std::move(words));
    } catch (const CLI::ParseError&) {
      return std::nullopt;
    }
    std::optional<std::string> text;
    fuzz::refuses([&] {
      text = Output::run([&] {
        try {
          commands_.at(command).run();
        } catch (const cli::ExitWith&) {
        }
      });
    });
    return text;
  }

 private:
  CLI::App app_{"", "snapdp"};
  cli::Commands commands_;
};

// ---- What the answers promise

double number(const Json& json, double absent) {
  return json.is_number() ? json.get<double>() : absent;
}

void check_probability(const Json& json) {
  if (!json.is_null()) SNAPDP_FUZZ_CHECK(json.get<double>() >= 0 && json.get<double>() <= 1);
}

void check_accuracy(const Json& json) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double tight = number(json.at("tight"), infinity);
  SNAPDP_FUZZ_CHECK(tight >= 0 && tight <= number(json.at("conservative"), infinity));
  SNAPDP_FUZZ_CHECK(number(json.at("laplace"), 0) >= 0 && number(json.at("for_value"), 0) >= 0);
  if (json.contains("miss")) check_probability(json.at("miss"));
  if (!json.at("epsilon").is_null()) SNAPDP_FUZZ_CHECK(json.at("epsilon").get<double>() > 0);
}

void check_law(const Json& json) {
  double sum = json.at("below").get<double>() + json.at("above").get<double>();
  double before = -std::numeric_limits<double>::infinity();
  SNAPDP_FUZZ_CHECK(!json.at("outputs").empty() && json.at("outputs").size() <= 100'000);
  for (const Json& row : json.at("outputs")) {
    const double output = row.at("output");
    SNAPDP_FUZZ_CHECK(output > before);
    before = output;
    check_probability(row.at("probability"));
    sum += row.at("probability").get<double>();
  }
  SNAPDP_FUZZ_CHECK(std::fabs(sum - 1) < 1e-9);
  SNAPDP_FUZZ_CHECK(json.at("cut").get<double>() >= 0);
  if (json.contains("miss")) check_probability(json.at("miss"));
}

void check_bias(const Json& json) {
  SNAPDP_FUZZ_CHECK(number(json.at("worst"), 0) >= 0);
}

void check_bound(const Json& json) {
  check_probability(json.at("binding_probability"));
  const Json& bounds = json.at("minimal_bounds");
  if (bounds[0].is_number() && bounds[1].is_number())
    SNAPDP_FUZZ_CHECK(bounds[0].get<double>() <= bounds[1].get<double>());
}

void check_dilation(const Json& json) {
  SNAPDP_FUZZ_CHECK(json.at("delta")[0].get<double>() <= json.at("delta")[1].get<double>());
  for (const Json& check : json.at("checks"))
    SNAPDP_FUZZ_CHECK(check.at("delta")[0].get<double>() <= check.at("delta")[1].get<double>());
}

void check_certificate(const Json& json) {
  if (json.contains("by")) return check_dilation(json);
  constexpr std::size_t most_digits = 90;  // that parse_rational reads
  const std::string witness = json.at("witness");
  const std::string bound = json.at("bound");
  if (witness.size() > most_digits || bound.size() > most_digits) return;
  fuzz::refuses([&] {  // an exponent beyond 400
    SNAPDP_FUZZ_CHECK(parse_rational(witness, "witness") <= parse_rational(bound, "bound"));
  });
}

void check_composition(const Json& json) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const double optimal = number(json.at("optimal"), infinity);
  SNAPDP_FUZZ_CHECK(json.at("optimal_at_least").get<double>() <= optimal);
  SNAPDP_FUZZ_CHECK(optimal <= number(json.at("basic"), infinity) && optimal >= 0);
}

void check_audit(const Json& json) {
  SNAPDP_FUZZ_CHECK(json.at("loss_lower_bound").get<double>() >= 0);
}

void check_enclosure(const Json& enclosure) {
  const Rational low = parse_exact(enclosure.at(0).get<std::string>(), "low");
  const Rational high = parse_exact(enclosure.at(1).get<std::string>(), "high");
  SNAPDP_FUZZ_CHECK(low >= 0 && low <= high && high <= 1);
}

void check_selection(const Json& json) {
  check_enclosure(json.at("probability"));
  check_enclosure(json.at("hidden"));
}

// The probabilities of all candidates sum to 1.
void check_choice(const Json& json) {
  Rational low = 0;
  Rational high = 0;
  for (const Json& enclosure : json.at("probabilities")) {
    check_enclosure(enclosure);
    low += parse_exact(enclosure.at(0).get<std::string>(), "low");
    high += parse_exact(enclosure.at(1).get<std::string>(), "high");
  }
  SNAPDP_FUZZ_CHECK(low <= 1 && high >= 1);
}

const std::map<std::string, void (*)(const Json&), std::less<>> checks = {
    {"accuracy", check_accuracy},   {"law", check_law},
    {"bias", check_bias},           {"bound", check_bound},
    {"certify", check_certificate}, {"compose", check_composition},
    {"audit", check_audit},         {"selection", check_selection},
    {"select-top", check_choice}};

// Twice the epsilon is not less accurate.
void check_monotone(const CLI::App* command, Options options, const Json& json) {
  const auto epsilon = options.find("epsilon");
  const bool exact = !options.contains("mode") || options.at("mode") == "exact";
  if (epsilon == options.end() || !exact) return;
  epsilon->second = to_string(Rational(2 * parse_rational(epsilon->second, "epsilon")));
  options.erase("target-accuracy");
  Tool tool;
  const std::optional<std::string> text = tool.run(tool.find(command->get_name()), options);
  if (!text) return;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const char* kind : {"conservative", "tight", "laplace"})
    SNAPDP_FUZZ_CHECK(number(Json::parse(*text).at(kind), infinity) <= number(json.at(kind), infinity));
}

// ---- The input

bool names_a_file(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.starts_with("FILE") || type.starts_with("CMD");
}

Options options_of(const CLI::App* command, fuzz::Input& input) {
  Options options;
  while (!input.empty()) {
    const std::string line(input.line());
    if (line == "---") break;
    const std::size_t equals = line.find('=');
    const std::string name = line.substr(0, equals);
    const CLI::Option* option = command->get_option_no_throw("--" + name);
    if (name == "help" || option == nullptr || names_a_file(*option)) continue;
    // No argument of a program holds a zero; and "@..." is a file too.
    const std::string value = equals == std::string::npos ? "" : line.substr(equals + 1);
    if (value.starts_with('@')) continue;
    options[name] = value.substr(0, value.find('\0'));
  }
  return options;
}

// Few samples: the work is theirs, and what they show is the business of other tests.
bool is_short(const Options& options) {
  const auto samples = options.find("samples");
  if (samples == options.end()) return true;
  bool few = true;
  fuzz::refuses([&] { few = parse_rational(samples->second, "samples") <= 300; });
  return few;
}

void run(fuzz::Input input) {
  const std::string_view name = input.line();
  Tool tool;
  const CLI::App* const command = tool.find(name);
  if (command == nullptr || !command->get_subcommands([](const CLI::App*) { return true; }).empty()) return;
  Options options = options_of(command, input);
  if (name == "audit") {
    if (!is_short(options)) return;
    options.try_emplace("samples", "100");
  } else if (name == "trace") {
    std::ofstream(vectors(), std::ios::binary) << input.rest();
    options["vectors"] = vectors();
  } else if (name.starts_with("plot")) {
    options["output"] = picture();
  }
  const std::optional<std::string> text = tool.run(command, options);
  if (!text) return;
  if (name.starts_with("plot")) {
    const std::string svg = text_of_file(picture());
    SNAPDP_FUZZ_CHECK(svg.ends_with("</svg>\n"));
    SNAPDP_FUZZ_CHECK(svg.find("=\"nan") == std::string::npos && svg.find("inf ") == std::string::npos);
  }
  const auto check = checks.find(name);
  if (check == checks.end() || !options.contains("json")) return;
  check->second(Json::parse(*text));
  if (name == "accuracy") check_monotone(command, options, Json::parse(*text));
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
