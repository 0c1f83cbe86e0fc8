// Sentences that the terminal, Markdown and HTML have in common. Names in them are as the specification has
// them.
#pragma once

#include <string>
#include <string_view>

#include "release/presentation.h"

namespace snapdp::release_internal {

// Of which data a planned accuracy is, when it rests on guesses: the rest of a sentence after the name.
std::string guess_note(const ShownStatistic& statistic);

// "Release 2", or "Statistics" where everything was public and nothing was paid.
std::string release_name(const Presentation& shown);

// What readers cannot find out: "whether a person is in the data at all (column X, at most 1 row each)".
std::string hidden_text(const Presentation& shown);

// What a statistic is: "mean of income by educ".
std::string description(const PresentedStatistic& statistic);

// What stands beside a list of numbers: "all intervals hold at once with probability 95%".
std::string list_note(const PresentedStatistic& statistic);

// The level of all intervals of single numbers; empty when they differ.
std::string common_level(const Presentation& shown);

// The statistics that a warning is about, at most six by their titles: "Mean age, Mean income and 3 more".
std::string titles(const Presentation& shown, const PresentedWarning& warning);

// Of a warning what comes after that: "2, 3, 4 and 5 more: the interval ...".
std::string warning_text(const PresentedWarning& warning);

// "28 November 2026" of "2026-11-28T09:30:00Z"; anything else as it is.
std::string date_text(std::string_view time);

// What intervals do not hold.
std::string interval_note(const Presentation& shown);

// What intervals of the population include and presume, as sentences.
std::string population_note();

}  // namespace snapdp::release_internal
