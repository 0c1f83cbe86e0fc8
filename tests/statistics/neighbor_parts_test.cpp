// Every public constructor passes its neighbor tests, and has some: a list of the headers says so.
#include "statistics/neighbor_parts.h"

#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

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

constexpr const char* name_characters = "abcdefghijklmnopqrstuvwxyz0123456789_";

// The functions make_... that a line of a header declares: behind a return type of this project or of nothing at all, so
// that std::make_unique and comments do not count.
std::set<std::string> declared_in(const std::string& line) {
  std::set<std::string> names;
  for (std::size_t at = line.find("make_"); at != std::string::npos; at = line.find("make_", at + 1)) {
    const std::size_t end = line.find_first_not_of(name_characters, at);
    const std::string before = line.substr(0, at);
    if (end == std::string::npos || line[end] != '(' || before.find('/') != std::string::npos) continue;
    const std::size_t type = before.find_last_not_of(' ');
    if (type == std::string::npos || type + 1 == before.size()) continue;
    if (std::isalpha(static_cast<unsigned char>(before[type])) != 0 ||
        std::string(">&*").find(before[type]) != std::string::npos)
      names.insert(line.substr(at, end - at));
  }
  return names;
}

// Those of a room's headers.
std::set<std::string> constructors_of(const std::string& room) {
  std::set<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator(SNAPDP_SOURCE "/include/snapdp/" + room)) {
    std::ifstream header(file.path());
    for (std::string line; std::getline(header, line);) names.merge(declared_in(line));
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
  int pointers = 0;
  for (const std::string room : {"framework", "statistics"}) {
    for (const auto& file : std::filesystem::directory_iterator(SNAPDP_SOURCE "/include/snapdp/" + room)) {
      std::ifstream header(file.path());
      const std::string text{std::istreambuf_iterator<char>(header), {}};
      for (std::size_t at = text.find("proofs/make_"); at != std::string::npos;
           at = text.find("proofs/make_", at + 1)) {
        const std::size_t end = text.find_first_not_of(name_characters, at + std::string("proofs/").size());
        const std::string proof = text.substr(at, end - at) + ".md";
        EXPECT_TRUE(std::filesystem::exists(SNAPDP_SOURCE "/" + proof))
            << file.path() << " points to " << proof;
        ++pointers;
      }
    }
  }
  EXPECT_GT(pointers, 20);
}

}  // namespace
}  // namespace snapdp
