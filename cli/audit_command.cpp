// snapdp audit.
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "commands.h"
#include "foreign_sampler.h"
#include "mechanism_options.h"
#include "output.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"
#include "snapdp/privacy/audit.h"
#include "snapdp/text.h"

namespace snapdp::cli {

using namespace release_internal;
namespace {

using Json = nlohmann::ordered_json;

struct AuditArguments {
  MechanismArguments mechanism;
  std::string values;
  std::string command;
  std::string samples = "100000";
  std::string confidence = "0.999";
  std::string timeout = "60";
};

// A whole number in the range.
long whole_number(const std::string& text, const std::string& option, long least, long most) {
  const Rational value = parse_rational(text, option);
  if (value.get_den() != 1 || value < least || value > most) {
    refuse(option, " = " + text + ": must be a whole number from " + std::to_string(least) + " to " +
                       std::to_string(most));
  }
  return value.get_num().get_si();
}

std::pair<Rational, Rational> pair_of(const std::string& text) {
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos || text.find(',', comma + 1) != std::string::npos) {
    refuse("--values", " = " + quoted_text(text) + ": must be two numbers with a comma between, such as 0,1");
  }
  return {parse_rational(text.substr(0, comma), "--values"),
          parse_rational(text.substr(comma + 1), "--values")};
}

double nearest_double(const Rational& value) {
  const double result = to_double_nearest(value);
  if (!std::isfinite(result)) refuse("--values", ": a value is beyond the largest double, 1.8e308");
  return result == 0 ? 0.0 : result;
}

struct Samples {
  std::vector<double> first;
  std::vector<double> second;
};

Samples of_command(const AuditArguments& arguments, double first, double second, std::size_t count) {
  std::vector<double> questions(2 * count);
  for (std::size_t i = 0; i < count; ++i) {
    questions[2 * i] = first;
    questions[2 * i + 1] = second;
  }
  const long seconds = whole_number(arguments.timeout, "--timeout", 1, 86'400);
  const std::vector<double> answers =
      foreign_answers(arguments.command, questions, std::chrono::seconds(seconds));
  Samples samples;
  for (std::size_t i = 0; i < count; ++i) {
    samples.first.push_back(answers[2 * i]);
    samples.second.push_back(answers[2 * i + 1]);
  }
  return samples;
}

// Where the grid is far finer than the noise every sample is computed in multiple precision, in about `bits` / 8 + `bits`^2
// / 8000 microseconds for scale / grid of so many bits. The fast path is for fewer than 28.
void check_work(const Mechanism& mechanism, long count) {
  constexpr long bits_of_fast_path = 28;
  constexpr double most_microseconds = 2e7;
  const long bits = Grid::at_least(Rational(mechanism.scale())).exponent() - mechanism.grid().exponent();
  if (bits <= bits_of_fast_path) return;
  const auto size = static_cast<double>(bits);
  const double each = 2 * (size / 8 + size * size / 8000);
  if (static_cast<double>(count) * each <= most_microseconds) return;
  refuse("--samples",
         " = " + std::to_string(count) + ": the noise scale is 2^" + std::to_string(bits) +
             " steps of the grid " + to_string(mechanism.grid()) +
             ", and every sample takes multiple precision; choose a coarser --grid, or at most " +
             std::to_string(static_cast<long>(most_microseconds / each)) + " samples");
}

// One release at a time, as specifications are released.
Samples of_mechanism(const Mechanism& mechanism, double first, double second, std::size_t count) {
  const auto draw = [&](const Dyadic& value) {
    std::vector<double> out(count);
    for (double& x : out) x = mechanism.release(value, thread_generator()).to_double_nearest();
    return out;
  };
  return {draw(first), draw(second)};
}

// The options that describe SnapDP's own mechanism say nothing of a command.
void check_no_mechanism(const CLI::App& command) {
  for (const char* option : {"--lower", "--upper", "--grid", "--mode", "--precision", "--noise"}) {
    if (command.count(option) > 0) {
      refuse(option, ": describes SnapDP's own mechanism; leave it out with --command");
    }
  }
}

Json end_of(double end) {
  return std::isfinite(end) ? Json(end) : Json();
}

Json json_of(const AuditEvent& event) {
  Json intervals = Json::array();
  for (const auto& [from, to] : event.intervals) intervals.push_back({end_of(from), end_of(to)});
  return {{"description", event.description()},
          {"feature", event.feature == AuditEvent::Feature::value ? "value" : "last_bit"},
          {"intervals", intervals}};
}

std::string seen(const EventCount& count) {
  return std::to_string(count.hits) + " of " + std::to_string(count.trials);
}

void audit_claim(const AuditArguments& arguments, const CLI::App& command) {
  if (arguments.mechanism.noise == "gaussian")
    refuse("--noise",
           " = \"gaussian\": no epsilon holds at delta 0, which is what is audited; choose laplace or "
           "geometric");
  const MechanismQuestion question(arguments.mechanism);
  const Rational epsilon = *question.epsilon;
  const auto [first, second] = pair_of(arguments.values);
  const double values[] = {nearest_double(first), nearest_double(second)};
  if (values[0] == values[1]) refuse("--values", " = " + arguments.values + ": must be two different values");
  if (abs(first - second) > parse_rational(arguments.mechanism.sensitivity, "--sensitivity")) {
    refuse("--values", " = " + arguments.values + ": must be at most --sensitivity = " +
                           arguments.mechanism.sensitivity + " apart, as the values of neighbors are");
  }
  if (question.noise == NoiseKind::geometric && (first.get_den() != 1 || second.get_den() != 1)) {
    refuse("--values", " = " + arguments.values + ": must be whole numbers, because --noise is geometric");
  }
  const long count = whole_number(arguments.samples, "--samples", 100, 10'000'000);
  const Rational confidence = parse_rational(arguments.confidence, "--confidence");
  const Rational alpha = 1 - confidence;
  if (confidence <= 0 || alpha < parse_rational("1e-300", "")) {
    refuse("--confidence", " = " + arguments.confidence + ": must be greater than 0 and at most 1 - 1e-300");
  }
  const auto drawn = static_cast<std::size_t>(count);
  Samples samples;
  if (arguments.command.empty()) {
    const Mechanism audited = question.mechanism(epsilon);
    check_work(audited, count);
    samples = of_mechanism(audited, values[0], values[1], drawn);
  } else {
    check_no_mechanism(command);
    samples = of_command(arguments, values[0], values[1], drawn);
  }
  const AuditResult result = audit(samples.first, samples.second, alpha);
  const bool refuted = result.refutes(epsilon);
  const double likelier = values[result.likelier_is_first ? 0 : 1];
  const double rarer = values[result.likelier_is_first ? 1 : 0];
  if (arguments.mechanism.json) {
    const auto side = [](double value, const EventCount& seen) {
      return Json{{"value", value}, {"hits", seen.hits}, {"trials", seen.trials}};
    };
    const Json json = {{"epsilon", to_string(epsilon)},
                       {"samples", count},
                       {"confidence", to_string(confidence)},
                       {"loss_lower_bound", result.loss_lower_bound},
                       {"refuted", refuted},
                       {"event", json_of(result.event)},
                       {"likelier", side(likelier, result.likelier)},
                       {"rarer", side(rarer, result.rarer)}};
    write_standard_output(json.dump(2) + "\n");
  } else {
    TextTable table({{"audit", TextTable::Align::left},
                     {std::to_string(count) + " outputs of each value", TextTable::Align::left}});
    table.add({"claimed loss", "at most " + short_number(epsilon)});
    table.add({"found loss", "at least " + to_string(std::floor(result.loss_lower_bound * 1e6) / 1e6) +
                                 "  with confidence " + short_number_down(confidence)});
    table.add({"verdict", refuted ? "REFUTED" : "not refuted"});
    table.add({"event", result.event.description()});
    table.add({"  seen for " + to_string(likelier), seen(result.likelier)});
    table.add({"  seen for " + to_string(rarer), seen(result.rarer)});
    write_standard_output(table.to_string(style_of_standard_output()));
  }
  if (refuted) throw ExitWith{1};
}

}  // namespace

void add_audit(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<AuditArguments>();
  CLI::App* command = tool.add_subcommand(
      "audit", "Test a claimed privacy loss from outputs alone: SnapDP's own, or any program's.");
  MechanismArguments& mechanism = arguments->mechanism;
  const auto add = [&](const char* name, std::string& value, const std::string& text, const char* type) {
    return command->add_option(name, value, text)->type_name(type);
  };
  add("--epsilon", mechanism.epsilon, "The claimed privacy loss", "E")->required();
  add("--sensitivity", mechanism.sensitivity, "The most that neighboring values differ", "D")->required();
  add("--values", arguments->values, "Two neighboring values", "A,B")->required();
  add("--command", arguments->command,
      "Audit this shell command: it reads a value a line and answers each with one number a line", "CMD");
  add("--samples", arguments->samples, "Outputs to draw for each value (100000)", "N");
  add("--confidence", arguments->confidence, "Of the lower bound on the loss (0.999)", "C");
  add("--timeout", arguments->timeout, "Give a command up when it is silent for so many seconds (60)", "S");
  add("--lower", mechanism.lower, "SnapDP's own: the lower end of the range", "L");
  add("--upper", mechanism.upper, "SnapDP's own: the upper end; either may be left out", "U");
  add("--grid", mechanism.grid, "SnapDP's own: auto, notes or a power of two (auto)", "G");
  add("--mode", mechanism.mode, "SnapDP's own: exact or precision (exact)", "M");
  add("--precision", mechanism.precision, "SnapDP's own: bits of precision mode", "P");
  add("--noise", mechanism.noise, "SnapDP's own: laplace or geometric (laplace)", "N");
  command->add_flag("--json", mechanism.json, "Print JSON instead of a table");
  command->footer(
      "Half of the outputs choose the event, the other half test it. Not refuted is no proof: docs/audit.md "
      "says "
      "what an\naudit can find. Exit code 1: refuted. Nothing here looks at data: the values are made up.");
  commands[command] = {
      [arguments, command] { audit_claim(*arguments, *command); },
      "  snapdp audit --epsilon 1 --sensitivity 1 --values 0,1\n"
      "  snapdp audit --epsilon 1 --sensitivity 1 --values 0,1 --command './my_sampler --epsilon 1'\n"
      "  snapdp audit --epsilon 1/2 --sensitivity 1 --values 3,4 --noise geometric --samples 1e6 "
      "--json\n"};
}

}  // namespace snapdp::cli
