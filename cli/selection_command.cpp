// snapdp selection: how likely a group of so many privacy units is shown when groups come from the data.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "commands.h"
#include "enclosure_text.h"
#include "mechanism_options.h"
#include "output.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/selection.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

using Json = nlohmann::ordered_json;

struct SelectionArguments {
  std::string epsilon;
  std::string delta;
  std::string units;
  std::string groups = "1";
  bool json = false;
};

Integer whole_number(const std::string& text, const std::string& option, int least) {
  const Rational value = parse_rational(text, option);
  if (value.get_den() != 1 || value < least) {
    refuse(option, " = " + text + ": must be a whole number of at least " + std::to_string(least));
  }
  return value.get_num();
}

SelectionLaw law_of(const SelectionArguments& arguments) {
  const Rational epsilon = parse_rational(arguments.epsilon, "--epsilon");
  const Rational delta = parse_rational(arguments.delta, "--delta");
  const Integer groups = whole_number(arguments.groups, "--groups", 1);
  if (!groups.fits_ulong_p()) refuse("--groups", " = " + arguments.groups + ": is beyond 2^64");
  return naming_option("epsilon", "--epsilon", [&] {
    return naming_option("delta", "--delta", [&] { return per_group(epsilon, delta, groups.get_ui()); });
  });
}

void tell_selection(const SelectionArguments& arguments) {
  const SelectionLaw law = law_of(arguments);
  const Integer units = whole_number(arguments.units, "--units", 0);
  const ProbabilityBounds probability = law.probability(units);
  const ProbabilityBounds hidden = law.hidden(units);
  if (arguments.json) {
    const Json json = {{"epsilon", to_string(law.epsilon())},
                       {"delta", to_string(law.delta())},
                       {"units", units.get_str()},
                       {"probability", enclosure_json(probability)},
                       {"hidden", enclosure_json(hidden)},
                       {"turn", law.turn().get_str()},
                       {"certain_from", law.first_certain().get_str()}};
    write_standard_output(json.dump(2) + "\n");
    return;
  }
  TextTable table(
      {{"a group of " + units.get_str() + (units == 1 ? " unit" : " units"), TextTable::Align::left},
       {"probability", TextTable::Align::left}});
  table.add({"is shown", enclosure_text(probability)});
  table.add({"is hidden", enclosure_text(hidden)});
  table.add({"certain from", law.first_certain().get_str() + " units"});
  table.add(
      {"each group", "epsilon " + short_number(law.epsilon()) + ", delta " + short_number(law.delta())});
  write_standard_output(table.to_string(style_of_standard_output()));
}

}  // namespace

void add_selection(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<SelectionArguments>();
  CLI::App* command = tool.add_subcommand(
      "selection", "How likely a group is shown whose name comes from the data, by its number of units.");
  command->add_option("--epsilon", arguments->epsilon, "The privacy loss: > 0")->type_name("E")->required();
  command->add_option("--delta", arguments->delta, "How likely a group of one unit is shown: 0 < delta <= 1")
      ->type_name("D")
      ->required();
  command->add_option("--units", arguments->units, "How many privacy units the group has: a guess")
      ->type_name("N")
      ->required();
  command->add_option("--groups", arguments->groups, "How many groups one privacy unit may be in (1)")
      ->type_name("G");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  commands[command] = {[arguments] { tell_selection(*arguments); },
                       "  snapdp selection --epsilon 1 --delta 1e-5 --units 11\n"
                       "  snapdp selection --epsilon 1 --delta 1e-6 --groups 3 --units 40 --json\n"};
  command->footer(
      "Optimal partition selection: no rule that is (epsilon, delta)-private shows any group more often. "
      "With\n"
      "--groups G every group takes epsilon/G and delta/G. Probabilities are enclosed: the lower end is "
      "rounded\n"
      "down, the upper end up; JSON has decimal strings of 32 digits. Nothing here looks at data.");
}

}  // namespace snapdp::cli
