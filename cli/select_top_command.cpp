// snapdp select-top: which candidates a private choice takes, and how often, for scores that are guessed.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "commands.h"
#include "enclosure_text.h"
#include "mechanism_options.h"
#include "output.h"
#include "release/shared/text_table.h"
#include "snapdp/error.h"
#include "snapdp/mechanism/choice.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

using Json = nlohmann::ordered_json;

struct TopArguments {
  std::string epsilon;
  std::string sensitivity = "1";
  std::string scores;
  std::string count = "1";
  std::string alpha = "0.05";
  bool monotone = false;
  bool json = false;
};

std::vector<Rational> parse_scores(const std::string& text) {
  std::vector<Rational> scores;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::string part = text.substr(begin, end - begin);
    part.erase(0, part.find_first_not_of(' '));
    part.erase(part.find_last_not_of(' ') + 1);
    if (part.empty()) refuse("--scores", ": has an empty entry; separate numbers by commas, as in 3,1,2");
    scores.push_back(parse_rational(part, "--scores"));
    begin = end + 1;
  }
  return scores;
}

std::size_t count_of(const std::string& text, std::size_t candidates) {
  const Rational count = parse_rational(text, "--k");
  if (count.get_den() != 1 || count < 1 ||
      count > Rational(Integer(static_cast<unsigned long>(candidates)))) {
    refuse("--k", " = " + text + ": must be a whole number from 1 to " + std::to_string(candidates) +
                      ", the number of --scores");
  }
  return count.get_num().get_ui();
}

Choice choice_of(const TopArguments& arguments, std::size_t candidates) {
  const ChoiceOptions options{.epsilon = parse_rational(arguments.epsilon, "--epsilon"),
                              .sensitivity = parse_rational(arguments.sensitivity, "--sensitivity"),
                              .monotone = arguments.monotone,
                              .count = count_of(arguments.count, candidates)};
  return naming_option("epsilon", "--epsilon", [&] {
    return naming_option("sensitivity", "--sensitivity", [&] { return Choice(options); });
  });
}

// That each candidate is in the list, by adding up the lists it is in.
std::vector<ProbabilityBounds> chosen_of(const std::vector<ChosenList>& lists, std::size_t candidates) {
  std::vector<ProbabilityBounds> chosen(candidates, ProbabilityBounds::exactly(0));
  for (const ChosenList& list : lists) {
    for (const std::size_t i : list.order) {
      chosen[i].low += list.probability.low;
      chosen[i].high += list.probability.high;
    }
  }
  for (ProbabilityBounds& bounds : chosen) bounds.high = std::min(bounds.high, Rational(1));
  return chosen;
}

Json enclosures(const std::vector<ProbabilityBounds>& all) {
  Json json = Json::array();
  for (const ProbabilityBounds& bounds : all) json.push_back(enclosure_json(bounds));
  return json;
}

void tell_top(const TopArguments& arguments) {
  const std::vector<Rational> scores = parse_scores(arguments.scores);
  const Choice choice = choice_of(arguments, scores.size());
  const FailureRate alpha(parse_rational(arguments.alpha, "--alpha"), "--alpha");
  const ChoiceLaw law = naming_option("scores", "--scores", [&] { return ChoiceLaw(choice, scores); });
  const bool several = choice.count() > 1;
  std::optional<std::vector<ChosenList>> lists;
  if (several && law.list_count() <= Integer(static_cast<unsigned long>(ChoiceLaw::most_lists)))
    lists = law.lists();
  std::optional<std::vector<ProbabilityBounds>> chosen;
  if (!several) chosen = law.first();
  if (lists) chosen = chosen_of(*lists, scores.size());
  const std::string why_none = "There are " + law.list_count().get_str() + " lists, more than the " +
                               std::to_string(ChoiceLaw::most_lists) +
                               " that are told one by one: only the first place is.";
  const double accuracy = choice.accuracy(scores.size(), alpha);
  if (arguments.json) {
    Json json = {{"epsilon", to_string(choice.epsilon())},
                 {"sensitivity", to_string(choice.sensitivity())},
                 {"monotone", choice.monotone()},
                 {"k", choice.count()},
                 {"probabilities", enclosures(law.first())}};
    json["chosen"] = chosen ? enclosures(*chosen) : Json();
    json["lists"] = Json();
    if (lists) {
      json["lists"] = Json::array();
      for (const ChosenList& list : *lists)
        json["lists"].push_back({{"order", list.order}, {"probability", enclosure_json(list.probability)}});
    }
    json["why_no_lists"] = several && !lists ? Json(why_none) : Json();
    json["alpha"] = to_string(alpha.value());
    json["accuracy"] = accuracy;
    write_standard_output(json.dump(2) + "\n");
    return;
  }
  std::vector<TextTable::Column> columns = {{"candidate", TextTable::Align::right},
                                            {"score", TextTable::Align::right},
                                            {several ? "is first" : "is chosen", TextTable::Align::left}};
  if (several && chosen) columns.push_back({"is chosen", TextTable::Align::left});
  TextTable table(columns);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    std::vector<std::string> row = {std::to_string(i), short_number(scores[i]),
                                    enclosure_text(law.first()[i])};
    if (several && chosen) row.push_back(enclosure_text((*chosen)[i]));
    table.add(row);
  }
  std::string text = table.to_string(style_of_standard_output());
  if (several && !lists) text += why_none + "\n";
  text += "Except with probability " + short_number(alpha.value()) + " what is chosen is at most " +
          round_up_to_digits(Rational(accuracy), 6) + " below the highest score" +
          (several ? " that is left" : "") + ", whatever the scores.\n";
  write_standard_output(text);
}

}  // namespace

void add_select_top(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<TopArguments>();
  CLI::App* command = tool.add_subcommand(
      "select-top", "Which candidates a private choice takes, and how likely, for guessed scores.");
  command->add_option("--epsilon", arguments->epsilon, "The privacy loss of the whole choice: > 0")
      ->type_name("E")
      ->required();
  command
      ->add_option("--sensitivity", arguments->sensitivity,
                   "The most by which a score differs between neighbors (1)")
      ->type_name("D");
  command
      ->add_option("--scores", arguments->scores,
                   "A guess at the scores, separated by commas: higher is better")
      ->type_name("Q,...")
      ->required();
  command->add_flag("--monotone", arguments->monotone,
                    "Between neighbors no score rises while another falls, as of counts when a row is added");
  command->add_option("--k", arguments->count, "How many to choose, the best first (1)")->type_name("K");
  command->add_option("--alpha", arguments->alpha, "The probability that the accuracy is missed (0.05)")
      ->type_name("A");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  commands[command] = {[arguments] { tell_top(*arguments); },
                       "  snapdp select-top --epsilon 1 --scores 3,1,2\n"
                       "  snapdp select-top --epsilon 1 --scores 30,10,20,5 --monotone --k 2 --json\n"};
  command->footer(
      "Permute-and-flip: pure epsilon-differential privacy, never worse than the exponential mechanism. With "
      "--k\n"
      "the candidates are chosen one after the other with epsilon/K each. Probabilities are enclosed: the "
      "lower\n"
      "end is rounded down, the upper end up; JSON has decimal strings of 32 digits. Nothing here looks at "
      "data.");
}

}  // namespace snapdp::cli
