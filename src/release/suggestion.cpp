#include "release/shared/suggestion.h"

#include <algorithm>
#include <cctype>

namespace snapdp::release_internal {
namespace {

// Longer names are nobody's typing mistake, and the distance takes time proportional to the product of
// lengths.
constexpr std::size_t longest_compared = 256;

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

// In halves: 2 for an edit, 1 for a letter in another case and at most 1 where only case differs. Optimal string alignment distance (Damerau 1964,
// restricted).
std::size_t distance(std::string_view a, std::string_view b) {
  const auto cost = [&](std::size_t i, std::size_t j) -> std::size_t {
    return a[i] == b[j] ? 0 : lower(a[i]) == lower(b[j]) ? 1 : 2;
  };
  if (std::equal(a.begin(), a.end(), b.begin(), b.end(),
                 [](char x, char y) { return lower(x) == lower(y); })) {
    return a == b ? 0 : 1;
  }
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = 2 * j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = 2 * i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 2, row[j - 1] + 2, above[j - 1] + cost(i - 1, j - 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 2);
    }
    before.swap(above);
    above.swap(row);
  }
  return above[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view given, const std::vector<std::string>& known) {
  if (given.size() > longest_compared) return "";
  const std::string* nearest = nullptr;
  // At most a third of the letters may be wrong, but one always may.
  std::size_t least = std::max<std::size_t>(2, 2 * given.size() / 3) + 1;
  for (const std::string& name : known) {
    if (name.size() > longest_compared) continue;
    const std::size_t d = distance(given, name);
    if (d < least) {
      least = d;
      nearest = &name;
    }
  }
  return nearest == nullptr ? "" : *nearest;
}

std::string did_you_mean(std::string_view given, const std::vector<std::string>& known) {
  const std::string name = nearest_name(given, known);
  return name.empty() ? "" : "; did you mean " + quoted_text(name) + "?";
}

std::string either_of(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace snapdp::release_internal
