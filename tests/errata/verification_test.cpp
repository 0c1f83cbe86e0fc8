// docs/verification.md and docs/threat-model.md name files that show what they claim; all of them exist.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

const std::filesystem::path docs = SNAPDP_SOURCE "/docs";

// Words of a text that begin with a folder of the repository.
std::set<std::string> paths_in(const std::filesystem::path& document) {
  std::ifstream file(document);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  std::set<std::string> paths;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.' || c == '/' || c == '*';
  };
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && is_part(text[end])) ++end;
    std::string word = text.substr(begin, end - begin);
    while (!word.empty() && word.back() == '.') word.pop_back();
    for (const char* folder :
         {"proofs/", "include/", "src/", "tests/", "tools/", "docs/", "fuzz/", "cmake/"}) {
      if (word.starts_with(folder) && word.find('*') == std::string::npos) paths.insert(word);
    }
    begin = end + 1;
  }
  return paths;
}

TEST(Verification, EveryFileItNamesExists) {
  const std::set<std::string> paths = paths_in(docs / "verification.md");
  EXPECT_GT(paths.size(), 40U);
  for (const std::string& path : paths)
    EXPECT_TRUE(std::filesystem::exists(docs.parent_path() / path)) << path;
  for (const std::string& path : paths_in(docs / "threat-model.md"))
    EXPECT_TRUE(std::filesystem::exists(docs.parent_path() / path)) << path;
}

}  // namespace
