// snapdp law, accuracy, bias and bound: what a release will be worth, known beforehand.
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "guesses.h"
#include "mechanism_options.h"
#include "output.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/bounds.h"
#include "snapdp/mechanism/law.h"

namespace snapdp::cli {

using namespace release_internal;
namespace {

using Json = nlohmann::ordered_json;

// Numbers that a double cannot hold are null.
Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}
Json number(const std::optional<double>& value) {
  return value ? number(*value) : Json();
}

// For people: 6 digits, rounded up, as bounds on errors and probabilities must be.
std::string shown(double value) {
  return std::isfinite(value) ? round_up_to_digits(Rational(value), 6) : "beyond the largest double";
}

std::string digits(double value, int count) {
  std::array<char, 40> text;
  const auto [end, status] =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, count);
  return std::string(text.data(), status == std::errc() ? end : text.data());
}

// 17 significant digits, which tell doubles apart.
std::string digits17(double value) {
  return digits(value, 17);
}

TextTable two_columns(const std::string& left, const std::string& right) {
  return TextTable({{left, TextTable::Align::left}, {right, TextTable::Align::left}});
}

void add_mechanism_rows(TextTable& table, const Mechanism& mechanism, const MechanismQuestion& question) {
  if (mechanism.kind() != NoiseKind::gaussian) table.add({"epsilon", short_number(mechanism.epsilon())});
  if (question.has_sensitivity) table.add({"sensitivity", short_number(mechanism.sensitivity().rational())});
  if (question.has_sensitivity && mechanism.rho())
    table.add({"rho", short_number(*mechanism.rho()) + "  of zero-concentrated privacy"});
  table.add({"noise scale", digits(mechanism.scale(), 6)});
  table.add({"grid", to_string(mechanism.grid())});
  if (mechanism.kind() == NoiseKind::notes)
    table.add({"precision", std::to_string(mechanism.noise().precision) + " bits"});
  const std::string clamps = clamp_text(mechanism.lower(), mechanism.upper());
  if (!clamps.empty()) table.add({"clamped to", clamps});
}

void print(const Json& json) {
  write_standard_output(json.dump(2) + "\n");
}
void print(const TextTable& table) {
  write_standard_output(table.to_string(style_of_standard_output()));
}

// --- accuracy

// The probability of an error larger than `at`: for the value, or else the largest over all values.
double miss_of(const Mechanism& mechanism, const MechanismQuestion& question, const Rational& at) {
  if (question.value) return ReleaseLaw(mechanism.noise(), *question.value).miss(at);
  const bool exact = mechanism.kind() == NoiseKind::exact || mechanism.kind() == NoiseKind::gaussian;
  return worst_miss(mechanism.noise(), at, exact ? question.values() : std::nullopt);
}

void accuracy(const MechanismArguments& arguments) {
  const MechanismQuestion question(arguments);
  std::optional<Rational> least;
  const bool gaussian = question.noise == NoiseKind::gaussian;
  if (question.target && !gaussian) least = question.epsilon_for(*question.target);
  const Mechanism mechanism =
      question.mechanism(least && !question.epsilon ? *least : question.chosen_epsilon());
  // The noise before it is rounded to the grid.
  const std::string continuous = gaussian ? "Gaussian" : "Laplace";
  const Accuracy accuracy = question.accuracy(mechanism);
  std::optional<double> for_value;
  if (question.value) for_value = ReleaseLaw(mechanism.noise(), *question.value).accuracy(question.alpha);
  std::optional<double> miss;
  if (question.at) miss = miss_of(mechanism, question, *question.at);
  if (arguments.json) {
    Json json = {{"conservative", number(accuracy.conservative)},
                 {"tight", number(accuracy.tight)},
                 {gaussian ? "gaussian" : "laplace", number(accuracy.laplace)},
                 {"for_value", number(for_value)},
                 {"epsilon", least ? number(to_double_up(*least)) : Json()}};
    if (miss) json["miss"] = number(*miss);
    print(json);
    return;
  }
  TextTable table = two_columns("accuracy", "P(error > accuracy) <= " + arguments.alpha);
  table.add({"tight", shown(accuracy.tight)});
  table.add({"conservative", shown(accuracy.conservative)});
  table.add({continuous, shown(accuracy.laplace) + "  (without rounding, for comparison)"});
  if (for_value) table.add({"for this value", shown(*for_value) + "  at " + to_string(*question.value)});
  add_mechanism_rows(table, mechanism, question);
  if (least) table.add({"least epsilon", shown(to_double_up(*least)) + "  for accuracy " + arguments.target});
  if (miss) {
    table.add(
        {"P(error > " + arguments.at + ")",
         shown(*miss) + (question.value ? "  at " + to_string(*question.value) : "  for the worst value")});
  }
  print(table);
}

// --- law

constexpr std::size_t most_rows_of_a_table = 100;
// Of a list. More are cut: towards a far bound, or on a fine grid, there may be millions.
constexpr std::size_t most_rows_of_a_list = 100'000;

// The tails that lie beyond the rows: none where these reach a bound.
bool has_below(const Mechanism& mechanism, const OutputLaw::Table& table) {
  return !mechanism.lower() || table.outputs.front().output != *mechanism.lower();
}
bool has_above(const Mechanism& mechanism, const OutputLaw::Table& table) {
  return !mechanism.upper() || table.outputs.back().output != *mechanism.upper();
}

std::string cut_text(const OutputLaw::Table& rows) {
  return to_string(Rational(rows.cut)) + " more outputs, farther from the value than these " +
         std::to_string(rows.outputs.size()) + ", are summed up as below and above";
}

void law(const MechanismArguments& arguments, bool csv) {
  if (csv && arguments.json) {
    throw Error(ErrorCode::invalid_argument, "--csv", "--csv: cannot be combined with --json; choose one");
  }
  const MechanismQuestion question(arguments);
  const Mechanism mechanism = question.mechanism(question.chosen_epsilon());
  const double value = question.value ? *question.value : middle_value(mechanism.noise());
  const ReleaseLaw law(mechanism.noise(), value);
  const OutputLaw::Table rows =
      law.table(csv || arguments.json ? most_rows_of_a_list : most_rows_of_a_table + 1);
  const bool below = has_below(mechanism, rows);
  const bool above = has_above(mechanism, rows);
  if (csv) {
    std::string text = "output,probability\n";
    for (const OutputProbability& row : rows.outputs) {
      text += digits17(row.output) + "," + digits17(row.probability) + "\n";
    }
    if (below) text += "below," + digits17(rows.below) + "\n";
    if (above) text += "above," + digits17(rows.above) + "\n";
    write_standard_output(text);
    if (rows.cut > 0) write_standard_error("snapdp: note: " + cut_text(rows) + "\n");
    return;
  }
  const double mean = law.mean();
  const double variance = law.centered().variance();
  if (arguments.json) {
    const bool gaussian = mechanism.kind() == NoiseKind::gaussian;
    Json json = {
        {"epsilon", gaussian ? Json() : Json(to_string(mechanism.epsilon()))},
        {"sensitivity", question.has_sensitivity ? number(mechanism.sensitivity().to_double_up()) : Json()},
        {"mode", mode_name(mechanism.kind())},
        {"noise", noise_name(mechanism.kind())},
        {"scale", number(mechanism.scale())},
        {"grid", number(mechanism.grid().spacing().to_double_up())},
        {"lower", number(mechanism.lower())},
        {"upper", number(mechanism.upper())},
        {"value", number(law.value())},
        {"mean", number(mean)},
        {"variance", number(variance)}};
    if (question.at) json["miss"] = number(law.miss(*question.at));
    json["outputs"] = Json::array();
    for (const OutputProbability& row : rows.outputs) {
      json["outputs"].push_back({{"output", row.output}, {"probability", row.probability}});
    }
    json["below"] = below ? number(rows.below) : Json(0);
    json["above"] = above ? number(rows.above) : Json(0);
    json["cut"] = number(rows.cut);
    print(json);
    return;
  }
  TextTable summary = two_columns("law", "of the output for the value " + to_string(law.value()));
  add_mechanism_rows(summary, mechanism, question);
  summary.add({"mean", to_string(mean)});
  summary.add({"standard deviation", shown(std::sqrt(variance))});
  if (question.at) summary.add({"P(error > " + arguments.at + ")", shown(law.miss(*question.at))});
  std::string text = summary.to_string(style_of_standard_output()) + "\n";
  const double outputs = static_cast<double>(rows.outputs.size()) + rows.cut;
  if (outputs <= most_rows_of_a_table) {
    TextTable table({{"output", TextTable::Align::right}, {"probability", TextTable::Align::left}});
    if (below) table.add({"below", digits17(rows.below)});
    for (const OutputProbability& row : rows.outputs) {
      table.add({to_string(row.output), digits17(row.probability)});
    }
    if (above) table.add({"above", digits17(rows.above)});
    text += table.to_string(style_of_standard_output());
  } else {
    TextTable table({{"P(out <= x)", TextTable::Align::right}, {"x", TextTable::Align::left}});
    for (const char* p :
         {"0.001", "0.01", "0.025", "0.05", "0.25", "0.5", "0.75", "0.95", "0.975", "0.99", "0.999"}) {
      table.add({p, to_string(law.output(law.centered().quantile(parse_rational(p, "p"))))});
    }
    text += table.to_string(style_of_standard_output()) + "\n" + to_string(Rational(outputs)) +
            " outputs have a probability worth a row; --csv lists " +
            (outputs <= most_rows_of_a_list ? "them"
                                            : "the " + std::to_string(most_rows_of_a_list) +
                                                  " nearest to the value and sums up the rest") +
            ".\n";
  }
  write_standard_output(text);
}

// --- bias

// What is said of guesses is about --values here.
double expected_bias(const Mechanism& mechanism, const Guesses& guesses) {
  try {
    return snapdp::expected_bias(mechanism.noise(), guesses.values, guesses.weights);
  } catch (const Error& error) {
    throw Error(error.code(), "--values", "--values: " + std::string(error.what()));
  }
}

void bias(const MechanismArguments& arguments, const std::optional<std::string>& values) {
  const MechanismQuestion question(arguments);
  const Mechanism mechanism = question.mechanism(question.chosen_epsilon());
  std::optional<Guesses> guesses;
  if (values) guesses = parse_guesses(*values, "--values");
  const Noise noise = mechanism.noise().centered();
  std::optional<double> of_value;
  if (question.value) of_value = snapdp::bias(noise, mechanism.noise().centered(*question.value));
  std::optional<double> expected;
  if (guesses) expected = expected_bias(mechanism, *guesses);
  const WorstBias worst =
      worst_bias(noise, question.integer ? std::optional(mechanism.noise().centered(Grid(0))) : std::nullopt);
  const double worst_value = (Dyadic(worst.guess) + mechanism.noise().origin()).to_double_nearest();
  if (arguments.json) {
    print({{"bias", number(of_value)},
           {"worst", number(std::abs(worst.bias))},
           {"worst_value", number(worst_value)},
           {"expected", number(expected)}});
    return;
  }
  TextTable table = two_columns("bias", "E[out] - value");
  if (of_value) table.add({"at " + to_string(*question.value), to_string(*of_value)});
  if (expected) {
    const std::string many = std::to_string(guesses->values.size());
    table.add({"expected", to_string(*expected) + "  on average over the " + many + " of --values"});
  }
  table.add({"worst", to_string(worst.bias) + "  at " + to_string(worst_value)});
  const bool on_integers = question.integer && mechanism.kind() != NoiseKind::geometric;
  if (question.has_range() && mechanism.kind() != NoiseKind::notes && !on_integers) {
    table.add({"uniform values", to_string(expected_bias_uniform(noise)) + "  on average over the range"});
  }
  add_mechanism_rows(table, mechanism, question);
  print(table);
}

// --- bound

struct Widened {
  double half_width;
  double lower;
  double upper;
};

Widened around(const Rational& middle, double half_width) {
  if (!std::isfinite(half_width)) {
    throw Error(ErrorCode::invalid_argument, "--epsilon",
                "--epsilon: is too small: bounds that rarely bind lie beyond the largest double; raise it");
  }
  return {half_width, to_double_down(middle - Rational(half_width)),
          to_double_up(middle + Rational(half_width))};
}

// The notes' half width; none where their analysis does not apply.
std::optional<Widened> notes_bounds(const MechanismQuestion& question, const Rational& middle,
                                    const Rational& half_range) {
  NotesBoundQuery query{
      .sensitivity = question.sensitivity.rational(), .half_range = half_range, .gamma = question.gamma};
  if (question.precision) query.precision = *question.precision;
  constexpr long least_precision = 118;
  if (query.precision < least_precision || question.noise == NoiseKind::gaussian) return std::nullopt;
  return around(middle, question.epsilon
                            ? notes_half_width(query, *question.epsilon)
                            : notes_half_width_for_accuracy(query, *question.target, question.alpha));
}

MinimalMechanism minimal_of(const MechanismQuestion& question, const Rational& epsilon) {
  return naming_option("epsilon", "--epsilon", [&] {
    return naming_option("precision", "--precision", [&] {
      return minimal_mechanism(question.free_options(epsilon), {*question.lower, *question.upper},
                               question.gamma);
    });
  });
}

void bound(const MechanismArguments& arguments) {
  const MechanismQuestion question(arguments);
  question.require_range(
      "bounds are chosen around the statistic's own public range, so give both --lower and --upper");
  const Rational middle = (Rational(*question.lower) + Rational(*question.upper)) / 2;
  const Rational half_range = (Rational(*question.upper) - Rational(*question.lower)) / 2;
  // Wider bounds than the range serve accuracies that the range cannot.
  Rational epsilon;
  if (question.epsilon || question.noise == NoiseKind::gaussian) {
    epsilon = question.chosen_epsilon();
  } else if (question.noise != NoiseKind::notes) {
    MechanismQuestion free = question;
    free.lower.reset();
    free.upper.reset();
    epsilon = free.epsilon_for(*question.target);
  } else {
    const std::optional<Rational> least = least_epsilon([&](const Rational& loss) {
      const Mechanism mechanism = minimal_of(question, loss).mechanism;
      return question.accuracy(mechanism).tight <= *question.target;
    });
    if (!least) {
      throw Error(ErrorCode::invalid_argument, "--target-accuracy",
                  "--target-accuracy = " + arguments.target +
                      ": no epsilon reaches it in precision mode; ask for less or choose --mode exact");
    }
    epsilon = *least;
  }
  const std::optional<Widened> notes = notes_bounds(question, middle, half_range);
  const MinimalMechanism minimal = minimal_of(question, epsilon);
  const Widened least_bounds{minimal.half_width, minimal.bounds.lower, minimal.bounds.upper};
  const auto interval = [](const Widened& bounds) {
    return Json::array({number(bounds.lower), number(bounds.upper)});
  };
  if (arguments.json) {
    print({{"notes", notes ? number(notes->half_width) : Json()},
           {"minimal", number(minimal.half_width)},
           {"binding_probability", number(minimal.bounds.binding_probability)},
           {"notes_bounds", notes ? interval(*notes) : Json()},
           {"minimal_bounds", interval(least_bounds)}});
    return;
  }
  const auto row = [](const Widened& bounds) {
    return "half width " + shown(bounds.half_width) + "  [" + to_string(bounds.lower) + ", " +
           to_string(bounds.upper) + "]";
  };
  TextTable table = two_columns("bounds", "P(output is clamped) <= " + arguments.gamma);
  table.add({"minimal", row(least_bounds)});
  table.add({"notes", notes ? row(*notes)
                      : question.noise == NoiseKind::gaussian
                          ? "their formula is of Laplace noise"
                          : "their formula needs a precision of 118 bits or more"});
  table.add({"binding probability", shown(minimal.bounds.binding_probability) + "  at the minimal bounds"});
  add_mechanism_rows(table, minimal.mechanism, question);
  print(table);
}

CLI::App* add_command(CLI::App& tool, Commands& commands, const char* name, const char* description,
                      void (*action)(const MechanismArguments&), const char* examples,
                      const char* bounds = "values and outputs are clamped to it") {
  const auto arguments = std::make_shared<MechanismArguments>();
  CLI::App* command = tool.add_subcommand(name, description);
  add_mechanism_options(*command, *arguments, bounds);
  commands[command] = {[arguments, action] { action(*arguments); }, examples};
  return command;
}

}  // namespace

void add_accuracy(CLI::App& tool, Commands& commands) {
  CLI::App* command =
      add_command(tool, commands, "accuracy", "How near the exact statistic a release will be.", accuracy,
                  "  snapdp accuracy --epsilon 0.5 --sensitivity 1\n"
                  "  snapdp accuracy --sensitivity 1 --integer --target-accuracy 10 --alpha 0.01\n"
                  "  snapdp accuracy --epsilon 1 --sensitivity 1 --grid notes --value 0.25 --at 3 --json\n"
                  "  snapdp accuracy --noise gaussian --scale 4 --integer\n");
  command->footer(
      "tight: the least half width that holds for every real value, or with --integer for every integer. "
      "conservative:\n"
      "the notes' formula. JSON: conservative,\n"
      "tight, laplace (gaussian for that noise), for_value (with --value), epsilon (with --target-accuracy), "
      "miss (with --at: the "
      "probability of a\n"
      "larger error at --value, or for the worst value); what was not asked is null.\n\n" +
      std::string(numbers_footer));
}

void add_law(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<MechanismArguments>();
  const auto csv = std::make_shared<bool>(false);
  CLI::App* command = tool.add_subcommand("law", "The probability of everything a release may print.");
  add_mechanism_options(*command, *arguments);
  command->add_flag("--csv", *csv, "Print rows output,probability with 17 digits");
  commands[command] = {
      [arguments, csv] { law(*arguments, *csv); },
      "  snapdp law --epsilon 1 --sensitivity 1 --grid notes --lower -8 --upper 8 --value 0\n"
      "  snapdp law --epsilon 1 --sensitivity 1 --noise geometric --value 3 --csv\n"
      "  snapdp law --epsilon 1 --sensitivity 1 --lower 0 --upper 100 --mode precision --json\n"};
  command->footer(
      "--value is the exact statistic; without it, the middle of the range, or the value nearest to 0 that "
      "is not clamped.\n"
      "On a side without a bound the rows go down to probability 1e-15, and a last row, `below,P` or "
      "`above,P`, holds what\n"
      "is beyond them. Towards a bound every output is listed whose probability a double can hold; the row "
      "appears only\n"
      "where the list does not reach the bound. Of more than 100000 outputs those nearest to the value are "
      "listed: `cut`\n"
      "in JSON says how many more there were, and below and above hold their probability.\n\n" +
      std::string(numbers_footer));
}

void add_bias(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<MechanismArguments>();
  const auto values = std::make_shared<std::optional<std::string>>();
  CLI::App* command = tool.add_subcommand(
      "bias", "The bias of a release for a guess at the statistic, over many guesses, and the worst.");
  add_mechanism_options(*command, *arguments);
  command
      ->add_option("--values", *values,
                   "Guesses, with weights if you like, or a file of them: the mean of the bias over them")
      ->type_name("V[:W],...|@FILE");
  commands[command] = {
      [arguments, values] { bias(*arguments, *values); },
      "  snapdp bias --epsilon 1 --sensitivity 1 --grid notes --lower -5 --upper 5 --value 4\n"
      "  snapdp bias --epsilon 1 --sensitivity 1 --lower 0 --upper 20 --values 15:1,18:2,20:1\n"
      "  snapdp bias --epsilon 1 --sensitivity 1 --lower 0 --upper 20 --values @guesses.txt\n"
      "  snapdp bias --epsilon 1 --sensitivity 1 --grid 2^3 --json\n"};
  command->footer(
      "--values: guesses V, or V:W with a weight W > 0 (1 unless given), separated by commas; @FILE has them "
      "in its lines,\n"
      "and comments in those that begin with #. JSON: bias (at --value, else null), worst (the largest "
      "magnitude over all\n"
      "values between the bounds), worst_value, where that is, and expected (the mean over --values, else "
      "null).\n\n" +
      std::string(numbers_footer));
}

void add_bound(CLI::App& tool, Commands& commands) {
  CLI::App* command =
      add_command(tool, commands, "bound", "Bounds wide enough that clamping rarely binds.", bound,
                  "  snapdp bound --epsilon 0.5 --sensitivity 1 --lower 0 --upper 100 --gamma 0.01\n"
                  "  snapdp bound --target-accuracy 10 --sensitivity 1 --lower 0 --upper 100 --json\n",
                  "here the statistic's own; this command needs both ends");
  command->footer(
      "JSON: notes and minimal are half widths about the middle of the range, notes_bounds and "
      "minimal_bounds "
      "the same as\n"
      "[lower, upper], binding_probability that of the minimal bounds for the worst value. notes: the notes' "
      "formula, for\n"
      "precision mode. minimal: the least whole steps of the grid around the range.\n\n" +
      std::string(numbers_footer));
}

}  // namespace snapdp::cli
