// snapdp accuracy and snapdp trace.
#include <cmath>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "output.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/trace.h"

namespace snapdp::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AccuracyArguments {
  std::string epsilon;
  std::string sensitivity;
  std::string alpha = "0.05";
  std::string grid = "auto";
  std::string target;
  bool json = false;
};

struct TraceArguments {
  std::string vectors;
  std::string kernel = "best";
  bool slow = false;
};

Rational positive(const std::string& text, const std::string& option) {
  Rational value = parse_rational(text, option);
  if (value <= 0)
    throw Error(ErrorCode::invalid_argument, option, option + " = " + text + ": must be greater than 0");
  return value;
}

// Numbers that a double cannot hold are null.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

std::string shown(double value) {
  return std::isfinite(value) ? round_up_to_digits(Rational(value), 6) : "beyond the largest double";
}

void accuracy(const AccuracyArguments& arguments) {
  if (arguments.epsilon.empty() && arguments.target.empty()) {
    throw Error(ErrorCode::invalid_argument, "--epsilon",
                "--epsilon: is missing; give it, or --target-accuracy, or both");
  }
  const Rational sensitivity = positive(arguments.sensitivity, "--sensitivity");
  const FailureRate alpha(parse_rational(arguments.alpha, "--alpha"), "--alpha");
  const GridChoice choice = GridChoice::parse(arguments.grid, "--grid");
  std::optional<Rational> least;
  if (!arguments.target.empty()) {
    EpsilonQuery query{.sensitivity = sensitivity,
                       .accuracy = positive(arguments.target, "--target-accuracy"),
                       .alpha = alpha};
    query.grid = choice;
    least = epsilon_for_accuracy(query);
  }
  const Rational epsilon = arguments.epsilon.empty() ? *least : positive(arguments.epsilon, "--epsilon");
  const double scale = to_double_up(sensitivity / epsilon);
  if (!std::isnormal(scale)) {
    throw Error(ErrorCode::invalid_argument, "--epsilon",
                "--epsilon = " + arguments.epsilon +
                    ": the noise scale sensitivity / epsilon is not a normal double");
  }
  const AccuracyQuery query{.scale = scale, .grid = choice.resolve(Rational(scale), false), .alpha = alpha};
  const double conservative = conservative_accuracy(query);
  const double tight = tight_accuracy(query);
  const double laplace = laplace_accuracy(query);
  if (arguments.json) {
    const Json json = {{"conservative", number(conservative)},
                       {"tight", number(tight)},
                       {"laplace", number(laplace)},
                       {"epsilon", least ? number(to_double_up(*least)) : Json()}};
    write_standard_output(json.dump(2) + "\n");
    return;
  }
  TextTable table({{"accuracy", TextTable::Align::left},
                   {"P(error > accuracy) <= " + arguments.alpha, TextTable::Align::left}});
  table.add({"tight", shown(tight)});
  table.add({"conservative", shown(conservative)});
  table.add({"Laplace", shown(laplace) + "  (without rounding, for comparison)"});
  table.add({"epsilon", short_number(epsilon)});
  table.add({"noise scale", shown(scale)});
  table.add({"grid", to_string(query.grid)});
  if (least) table.add({"least epsilon", shown(to_double_up(*least)) + "  for accuracy " + arguments.target});
  write_standard_output(table.to_string(style_of_standard_output()));
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorCode::io, "--vectors", "--vectors = " + path + ": cannot be read; check the path");
  }
  return text;
}

}  // namespace

void add_accuracy(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<AccuracyArguments>();
  CLI::App* command = tool.add_subcommand("accuracy", "How near the exact statistic a release will be.");
  command->add_option("--epsilon", arguments->epsilon, "The privacy loss")->type_name("E");
  command->add_option("--sensitivity", arguments->sensitivity, "The sensitivity of the statistic")
      ->type_name("D")
      ->required();
  command->add_option("--alpha", arguments->alpha, "The probability of a larger error (0.05)")
      ->type_name("A");
  command->add_option("--grid", arguments->grid, "auto, notes or a power of two such as 2^-10 (auto)")
      ->type_name("G");
  command
      ->add_option("--target-accuracy", arguments->target,
                   "Also find the least epsilon that is this accurate")
      ->type_name("A");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  commands[command] = {[arguments] { accuracy(*arguments); },
                       "  snapdp accuracy --epsilon 0.5 --sensitivity 1\n"
                       "  snapdp accuracy --sensitivity 1 --target-accuracy 10 --alpha 0.01\n"};
  command->footer("Numbers are decimals, fractions such as 1/3 or hex floats such as 0x1p-2, all exact.");
}

void add_trace(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<TraceArguments>();
  CLI::App* command = tool.add_subcommand("trace", "Recompute released values from recorded random bits.");
  command->add_option("--vectors", arguments->vectors, "CSV with the columns of tests/data/snap_exact.csv")
      ->type_name("FILE")
      ->required();
  command->add_flag("--slow", arguments->slow, "Take the multiple-precision path for every sample");
  command->add_option("--kernel", arguments->kernel, "portable, avx2, avx512 or best (best)")->type_name("K");
  commands[command] = {[arguments] {
                         ReplayOptions options{.kernel = parse_kernel(arguments->kernel, "--kernel")};
                         options.slow_only = arguments->slow;
                         write_standard_output(trace(read_file(arguments->vectors), options));
                       },
                       "  snapdp trace --vectors snap_exact.csv > recomputed.csv\n"
                       "  snapdp trace --vectors snap_exact.csv --slow | diff - recomputed.csv\n"};
  command->footer("Prints the same rows with `output` recomputed, the same on every machine and kernel.");
}

}  // namespace snapdp::cli
