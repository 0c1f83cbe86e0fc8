// Every public constructor passes its neighbor tests, and has some: a list of the headers says so.
#include "statistics/neighbor_parts.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

namespace snapdp {
namespace {

TEST(NeighborParts, NoneIsFartherApartThanItClaims) {
  const NeighborParts parts = all_neighbor_parts();
  for (const auto& [constructor, searches] : parts.searches()) {
    for (const NeighborParts::Search& search : searches) {
      const std::optional<Counterexample> found = search();
      EXPECT_FALSE(found) << constructor << ": " << found->description();
    }
  }
}

// The names of functions make_... that the headers of a room declare.
std::set<std::string> constructors_of(const std::string& room) {
  std::set<std::string> names;
  // A return type of this project or of nothing at all, so that std::make_unique and calls do not count.
  const std::regex declaration(R"(^[^/]*[A-Za-z>&*] +(make_[a-z0-9_]+)\()");
  for (const auto& file : std::filesystem::directory_iterator(SNAPDP_SOURCE "/include/snapdp/" + room)) {
    std::ifstream header(file.path());
    std::smatch match;
    for (std::string line; std::getline(header, line);) {
      if (std::regex_search(line, match, declaration)) names.insert(match[1]);
    }
  }
  return names;
}

TEST(NeighborParts, EveryConstructorHasAProofAndANeighborTest) {
  std::set<std::string> constructors = constructors_of("framework");
  constructors.merge(constructors_of("statistics"));
  EXPECT_TRUE(constructors.contains("make_clamp"));
  EXPECT_TRUE(constructors.contains("make_grouped"));
  EXPECT_TRUE(constructors.contains("make_snapping"));
  const NeighborParts parts = all_neighbor_parts();
  for (const std::string& name : constructors) {
    EXPECT_TRUE(std::filesystem::exists(SNAPDP_SOURCE "/proofs/" + name + ".md"))
        << name << " has no proof: write proofs/" << name << ".md, see proofs/README.md for the shape";
    EXPECT_TRUE(parts.searches().contains(name) || parts.alone().contains(name))
        << name << " has no neighbor test: add it to tests/statistics/neighbor_parts.h";
  }
  for (const auto& [name, file] : parts.alone()) {
    std::ifstream test(SNAPDP_SOURCE "/tests/" + file);
    const std::string text{std::istreambuf_iterator<char>(test), {}};
    EXPECT_NE(text.find(name + "("), std::string::npos) << file << " does not test " << name;
  }
  for (const auto& [name, searches] : parts.searches()) {
    EXPECT_TRUE(constructors.contains(name)) << name << " is tested, but no header declares it";
  }
}

// A proof names what it is about, and headers point to proofs that are there.
TEST(NeighborParts, HeadersPointToProofsThatExist) {
  const std::regex pointer("proofs/(make_[a-z0-9_]+)\\.md");
  for (const std::string room : {"framework", "statistics"}) {
    for (const auto& file : std::filesystem::directory_iterator(SNAPDP_SOURCE "/include/snapdp/" + room)) {
      std::ifstream header(file.path());
      const std::string text{std::istreambuf_iterator<char>(header), {}};
      for (std::sregex_iterator match(text.begin(), text.end(), pointer), end; match != end; ++match) {
        EXPECT_TRUE(std::filesystem::exists(SNAPDP_SOURCE "/" + match->str()))
            << file.path() << " points to " << match->str();
      }
    }
  }
}

}  // namespace
}  // namespace snapdp
