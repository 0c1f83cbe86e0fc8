// Words that people bring from other tools for what a specification calls otherwise.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapdp::release_internal {

// "; did you mean "mean"?" for a word that stands where one of `known` should: a synonym of one of them ("average"), one
// with more around it ("mean_age"), or else the nearest by spelling; "" when nothing is near.
std::string suggestion_for(std::string_view word, const std::vector<std::string>& known);

// "; that is noise = "laplace", a key of its own", for a value that belongs to another key of a statistic than `key`;
// "" for others.
std::string other_key_of(std::string_view word, std::string_view key);

}  // namespace snapdp::release_internal
