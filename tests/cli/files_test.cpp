// Nothing is written over what a command reads or keeps, under whatever name.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "cli/tool_commands.h"

namespace snapdp {
namespace {

using testing::HasSubstr;

class FilesTest : public AllCommandsTest {
 protected:
  FilesTest() {
    std::filesystem::create_directory(path("sub"));
    std::filesystem::create_directory_symlink(path(""), path("sub/back"));
    succeed({"ledger", "create", "other.ledger", "people.toml", "--epsilon", "1"});
  }

  void expect_refused(const std::vector<std::string>& words, const std::string& message) const {
    std::string line;
    for (const std::string& word : words) line += " '" + word + "'";
    SCOPED_TRACE("snapdp" + line);
    const auto before = files();
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error, HasSubstr(message));
    EXPECT_TRUE(files() == before);
  }
  void expect_output_refused(const std::string& output, const std::string& message = "--output = ") const {
    expect_refused({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--output", output},
                   message);
  }
  // As a shell appends.
  int code_of(const std::string& line) const {
    const int status = std::system(("cd '" + path("").string() + "' && " + line).c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

TEST_F(FilesTest, AnOutputIsNoOtherFileOfItsRun) {
  for (const char* name : {"people.ledger", "people.ledger-journal", "people.ledger-wal", "people.ledger-shm",
                           "people.csv", "people.toml"}) {
    const std::string file = name;
    expect_output_refused(file);
    expect_output_refused("./" + file);
    expect_output_refused("sub/../" + file);
    expect_output_refused("sub/back/" + file);
    expect_output_refused(path(file).string());
    expect_output_refused("/proc/self/cwd/" + file);
    if (!std::filesystem::exists(path(file))) continue;
    std::filesystem::create_symlink(file, path("symbolic"));
    expect_output_refused("symbolic");
    std::filesystem::remove(path("symbolic"));
    std::filesystem::create_hard_link(path(file), path("hard"));
    expect_output_refused("hard");
    std::filesystem::remove(path("hard"));
  }
  EXPECT_EQ(run({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--output", "report"}).code,
            0);
}

TEST_F(FilesTest, DataOfTheOptionAreProtectedToo) {
  write("more.csv", read_text(path("people.csv")));
  std::filesystem::create_symlink("more.csv", path("link.csv"));
  for (const char* output : {"more.csv", "link.csv"}) {
    expect_refused({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--data", "more.csv",
                    "--output", output},
                   "is the file --data = \"more.csv\" too");
  }
}

TEST_F(FilesTest, ALedgerIsNoOtherFileOfItsRun) {
  expect_refused({"release", "people.toml", "--ledger", "people.toml", "--yes"}, "--ledger = ");
  expect_refused({"release", "people.ledger", "--ledger", "people.ledger", "--yes"}, "--ledger = ");
  expect_refused({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--data", "people.ledger"},
                 "--ledger = ");
  expect_refused({"release", "people.toml", "--ledger", "people.csv", "--yes"}, "--ledger = ");
  expect_refused({"ledger", "verify", "people.ledger", "--anchor", "@people.ledger"}, "--anchor");
  expect_refused({"ledger", "create", "people.toml", "people.toml", "--epsilon", "1"}, "DECLARATION = ");
  expect_refused({"plan", "people.toml", "--ledger", "people.toml"}, "--ledger = ");
  for (const char* file : {"people.ledger", "people.csv"}) {
    expect_refused({"ledger", "create", file, "people.toml", "--epsilon", "1"},
                   "exists already and is left as it is");
  }
}

// Also one that the run has nothing to do with: losing it would let its budget be spent again.
TEST_F(FilesTest, NoOutputReplacesAnyLedger) {
  expect_output_refused("other.ledger", "is a ledger");
  expect_output_refused("other.ledger-journal", "a ledger's journal");
  std::filesystem::create_symlink("other.ledger", path("picture.svg"));
  const std::vector<std::string> plot = {"plot", "law", "--epsilon", "1", "--sensitivity", "1", "-o"};
  const auto plot_to = [&](const char* output) {
    std::vector<std::string> words = plot;
    words.emplace_back(output);
    return words;
  };
  expect_refused(plot_to("picture.svg"), "is a ledger");
  expect_refused(plot_to("people.ledger"), "is a ledger");
  // A picture's name says what it is; so what has another name is never replaced.
  for (const char* output : {"picture.png", "picture", "people.csv", "people.toml", ".svg"})
    expect_refused(plot_to(output), "must end in .svg");
  std::filesystem::create_symlink("people.csv", path("people.svg"));
  expect_refused(plot_to("people.svg"), "must end in .svg");
  EXPECT_EQ(run(plot_to("Picture.SVG")).code, 0);
  EXPECT_EQ(run(plot_to("/dev/null")).code, 0);
  EXPECT_EQ(run(plot_to("/dev/stdout"), "/dev/null").code, 0);
}

TEST_F(FilesTest, StandardOutputDoesNotGoIntoWhatIsRead) {
  const std::string tool = SNAPDP_TOOL;
  const auto before = files();
  for (const std::string& line :
       {tool + " plan people.toml >> people.toml", tool + " explain people.toml >> people.toml",
        tool + " ledger show people.ledger >> people.ledger",
        tool + " ledger anchor people.ledger >> people.ledger",
        tool + " release people.toml --ledger people.ledger --yes >> people.ledger",
        tool + " release people.toml --ledger people.ledger --yes >> people.csv",
        tool + " release people.toml --ledger people.ledger --yes --data people.csv >> people.csv",
        tool + " trace --vectors vectors.csv >> vectors.csv"}) {
    EXPECT_EQ(code_of(line + " 2> error"), 2) << line;
    EXPECT_THAT(read_text(path("error")), HasSubstr("standard output: goes into the file"));
  }
  EXPECT_TRUE(files() == before);
}

// Devices and pipes are no files that could be lost, and both streams may go to one file.
TEST_F(FilesTest, WhatIsNoConflictIsNotRefused) {
  const std::string tool = SNAPDP_TOOL;
  EXPECT_EQ(code_of(tool + " plan /dev/stdin < people.toml > out 2>&1"), 0);
  EXPECT_EQ(code_of(tool + " release people.toml --ledger people.ledger --yes --output /dev/stdout > report"),
            0);
  EXPECT_THAT(read_text(path("report")), HasSubstr("Release 2 of people"));
  EXPECT_EQ(code_of(tool + " release people.toml --ledger people.ledger --yes --output /dev/stderr 2> error"),
            0);
  EXPECT_EQ(code_of("cat people.toml | " + tool + " plan /dev/stdin | cat > out"), 0);
}

TEST_F(FilesTest, PicturesAreNotPrivateAndReportsAre) {
  const auto mode = [&](const char* name) {
    struct stat status = {};
    EXPECT_EQ(::stat(path(name).c_str(), &status), 0);
    return status.st_mode & 07777;
  };
  for (const auto& [mask, expected] : {std::pair(mode_t{022}, 0644U), std::pair(mode_t{027}, 0640U)}) {
    const mode_t before = ::umask(mask);
    succeed({"plot", "law", "--epsilon", "1", "--sensitivity", "1", "-o", "law.svg"});
    succeed({"release", "people.toml", "--ledger", "people.ledger", "--yes", "--output", "report"});
    ::umask(before);
    EXPECT_EQ(mode("law.svg"), expected);
    EXPECT_EQ(mode("report"), 0600U);
  }
}

}  // namespace
}  // namespace snapdp
