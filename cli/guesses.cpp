#include "guesses.h"

#include <algorithm>
#include <string_view>

#include "argument_file.h"
#include "arguments.h"
#include "release/shared/suggestion.h"
#include "snapdp/error.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

constexpr std::size_t most_guesses = 100'000;

void add_guess(std::string_view part, const std::string& option, Guesses& guesses) {
  part = trimmed(part);
  if (part.empty()) refuse(option, ": an entry is empty; write VALUE or VALUE:WEIGHT, separated by commas");
  if (guesses.values.size() == most_guesses)
    refuse(option, ": more than " + std::to_string(most_guesses) + " guesses; give fewer, with weights");
  const std::size_t colon = part.find(':');
  guesses.values.push_back(parse_rational(trimmed(part.substr(0, colon)), option));
  guesses.weights.emplace_back(1);
  if (colon == std::string_view::npos) return;
  guesses.weights.back() = parse_rational(trimmed(part.substr(colon + 1)), option);
  if (guesses.weights.back() <= 0)
    refuse(option, ": " + quoted_text(part) + " must have a weight greater than 0");
}

void add_guesses(std::string_view line, const std::string& option, Guesses& guesses) {
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    add_guess(line.substr(begin, end - begin), option, guesses);
    begin = end + 1;
  }
}

}  // namespace

Guesses parse_guesses(const std::string& argument, const std::string& option) {
  Guesses guesses;
  if (!argument.starts_with('@')) {
    add_guesses(argument, option, guesses);
    return guesses;
  }
  for (const std::string& line : lines_of_file(option, argument, "guesses")) {
    if (!trimmed(line).starts_with('#')) add_guesses(line, option, guesses);
  }
  if (guesses.values.empty())
    refuse(option, ": " + argument + " has no guess; write VALUE or VALUE:WEIGHT there, one a line");
  return guesses;
}

}  // namespace snapdp::cli
