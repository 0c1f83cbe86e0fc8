// Parts that the pages of plans and of reports have in common.
#pragma once

#include <string>

#include "release/html.h"
#include "snapdp/numeric/rational.h"

namespace snapdp::release_internal {

// A table of what a reader may be sure of before and after: what a loss of epsilon does to 1, 10 and 50
// percent. `of_what`: "that a certain person is in the data"; `by_what`: "this release".
Html belief_table(const Rational& epsilon, const std::string& of_what, const std::string& by_what);

// A budget as a bar, with what was spent before, what is spent or planned now, and what is left, and its
// legend. `now` names the middle part, which is hatched when it is only planned.
Html budget_bar(const Rational& before, const Rational& now, const Rational& left, const std::string& now_is,
                bool planned);

// The head of a column: its text, and " class=\"n\"" or nothing.
Html column_head(const char* text, const char* style);

}  // namespace snapdp::release_internal
