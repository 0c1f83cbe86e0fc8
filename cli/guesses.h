// A distribution of guesses at a statistic, as snapdp bias --values has it.
#pragma once

#include <string>
#include <vector>

#include "snapdp/numeric/rational.h"

namespace snapdp::cli {

struct Guesses {
  std::vector<Rational> values;
  std::vector<Rational> weights;  // > 0; 1 where none is given
};

// "V[:W],...", or the same in the lines of "@FILE", where those that begin with # are comments. At most 100,000 guesses.
// Throws io when the file cannot be read, otherwise invalid_argument naming `option`.
Guesses parse_guesses(const std::string& argument, const std::string& option);

}  // namespace snapdp::cli
