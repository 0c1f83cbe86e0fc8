// snapdp init: from a data file to a first declaration and a first specification.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

#include "argument_file.h"
#include "commands.h"
#include "output.h"
#include "release/shared/draft.h"
#include "release/shared/suggestion.h"
#include "snapdp/engines/duckdb/duckdb_source.h"
#include "snapdp/error.h"
#include "snapdp/release/plan.h"

namespace snapdp::cli {

using namespace release_internal;

namespace {

struct InitArguments {
  std::string data;
  std::string from;
  std::string declaration;
  std::string specification;
  bool yes = false;
};

// One question after the other, each until its answer makes sense. An empty answer leaves the question open.
class Interview {
 public:
  explicit Interview(Draft& draft) : draft_(draft) {}

  void run() {
    write_standard_error(
        "What you say is published with every release: answer from what is public, not from the rows.\n"
        "Enter leaves a question open, as a comment in the file.\n\n");
    const std::string dataset =
        ask_line("Name of the data, for the ledger [" + shown_text(draft_.dataset) + "]:");
    if (!dataset.empty()) draft_.dataset = dataset;
    ask_protection();
    for (const SourceColumn& column : draft_.header) {
      if (undeclarable(draft_.header, column).empty() && column.name != draft_.unit) ask_column(column);
    }
  }

 private:
  // Asks until `understood` throws nothing.
  static void until(const std::string& question, const std::function<void(const std::string&)>& understood) {
    while (true) {
      const std::string answer = ask_line(question);
      try {
        understood(answer);
        return;
      } catch (const Error& error) {
        write_standard_error("  " + std::string(error.what()) + "\n");
      }
    }
  }

  void ask_protection() {
    until("May a person have several rows? Then: the column that tells whose row it is:",
          [&](const auto& answer) {
            if (answer.empty()) return;
            const std::string problem = column_problem(draft_.header, answer);
            if (!problem.empty()) {
              std::vector<std::string> names;
              for (const SourceColumn& column : draft_.header) names.push_back(column.name);
              throw Error(ErrorCode::invalid_argument, "column",
                          quoted_text(answer) + " " + problem + did_you_mean(answer, names));
            }
            draft_.unit = answer;
          });
    if (draft_.unit) {
      until("How many rows of one person count, at most [1]:", [&](const auto& answer) {
        if (!answer.empty()) draft_.max_rows_per_unit = whole(answer);
      });
    } else {
      until("Is the number of rows public? Then: how many rows are there:", [&](const auto& answer) {
        if (!answer.empty()) draft_.size = whole(answer);
      });
    }
  }

  void ask_column(const SourceColumn& column) {
    until("\n" + quoted_text(column.name) +
              ": the least and the greatest value (0 100), or all categories (a, b, c):",
          [&](const auto& answer) {
            if (answer.empty()) return;
            DraftColumn said = understood(answer);
            // Whole numbers are worth saying: noise may then be whole too.
            if (said.bounds && column.type != AtomType::real && whole_ends(*said.bounds) &&
                ask("  Whole numbers only?"))
              said.type = AtomType::integer;
            draft_.columns[column.name] = std::move(said);
          });
  }

  static bool whole_ends(const DecimalBounds& bounds) {
    return bounds.lower.get_den() == 1 && bounds.upper.get_den() == 1;
  }

  static std::uint64_t whole(const std::string& answer) {
    const Rational number = parse_rational(answer, "number");
    if (number >= 1 && number.get_den() == 1 && number.get_num().fits_ulong_p())
      return number.get_num().get_ui();
    throw Error(ErrorCode::invalid_argument, "number",
                quoted_text(answer) + ": must be a whole number, at least 1");
  }

  // The parts between separators, without the blanks around them.
  static std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream rest(text + separator);
    for (std::string part; std::getline(rest, part, separator);) parts.emplace_back(trimmed(part));
    return parts;
  }

  // "a, b" are categories, numbers if all of them are; "0 100" are bounds.
  static DraftColumn understood(const std::string& answer) {
    DraftColumn said;
    if (answer.find(',') == std::string::npos) {
      const std::vector<std::string> ends = split(answer, ' ');
      if (ends.size() != 2) {
        throw Error(ErrorCode::invalid_argument, "answer",
                    "two numbers with a blank between them are bounds, values with commas between them are "
                    "categories; what is meant?");
      }
      said.bounds =
          DecimalBounds{parse_rational(ends[0], "least value"), parse_rational(ends[1], "greatest value")};
      if (said.bounds->lower > said.bounds->upper)
        throw Error(ErrorCode::invalid_argument, "bounds", "the least value comes first");
      return said;
    }
    const std::vector<std::string> values = split(answer, ',');
    if (std::set<std::string>(values.begin(), values.end()).size() != values.size() ||
        std::find(values.begin(), values.end(), "") != values.end())
      throw Error(ErrorCode::invalid_argument, "categories", "each category once, and none empty");
    try {
      for (const std::string& value : values)
        said.values.numbers.push_back(parse_rational(value, "category"));
    } catch (const Error&) {
      said.values = {{}, values};
      said.type = AtomType::text;
    }
    return said;
  }

  Draft& draft_;
};

void require_new(const std::string& option, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return;
  throw Error(ErrorCode::invalid_argument, option,
              option + ": " + quoted_path(path) +
                  " is there already and stays as it is; name another file, " + option + " FILE");
}

std::string stem_of(const InitArguments& arguments) {
  return std::filesystem::path(arguments.from.empty() ? arguments.data : arguments.from).stem().string();
}

// Beside the declaration, so that neither names the other's folder.
std::string declaration_path(const InitArguments& arguments) {
  if (!arguments.declaration.empty()) return arguments.declaration;
  return stem_of(arguments) + ".toml";
}
std::string specification_path(const InitArguments& arguments) {
  return arguments.specification.empty() ? stem_of(arguments) + ".question.toml" : arguments.specification;
}

// The specification that goes to `path`. What is written can be read, and planned.
std::string question_of(const Declaration& declaration, const std::string& path,
                        const std::string& declared_in) {
  std::string question = specification_text(
      declaration, "snapdp plan " + shell_word(path) + " --declaration " + shell_word(declared_in));
  const Plan plan(Specification::parse(question, path, {}, declaration));
  return question;
}

void write_new(const std::string& path, const std::string& text, const std::string& what) {
  write_file(path, text, Readers::umask);
  write_standard_error("snapdp: wrote " + quoted_path(path) + what + "\n");
}

Draft draft_of(const InitArguments& arguments, const std::string& declaration) {
  Draft draft;
  draft.header = open_duckdb_source({.path = arguments.data})->columns();
  // Through links, as the path is read from the declaration's folder.
  draft.path = target_of(std::filesystem::absolute(arguments.data))
                   .lexically_proximate(target_of(std::filesystem::absolute(declaration).parent_path()))
                   .string();
  draft.dataset = stem_of(arguments);
  return draft;
}

void init(const InitArguments& arguments) {
  const std::string question_path = specification_path(arguments);
  require_new("--specification", question_path);
  if (!arguments.from.empty()) {
    write_new(question_path, question_of(Declaration::read(arguments.from), question_path, arguments.from),
              "");
    return;
  }
  const std::string path = declaration_path(arguments);
  require_new("--declaration", path);
  if (!arguments.yes && !can_ask()) {
    throw Error(
        ErrorCode::invalid_argument, "--yes",
        "--yes: is required where nobody can be asked (no terminal); the questions are then comments in the "
        "file");
  }
  Draft draft = draft_of(arguments, path);
  if (!arguments.yes) Interview(draft).run();
  const std::string text = declaration_text(draft);
  const Declaration declaration = Declaration::parse(text, path, std::filesystem::path(path).parent_path());
  const std::string question = question_of(declaration, question_path, path);
  write_new(path, text, ", from the header of " + quoted_path(arguments.data) + " alone");
  write_new(question_path, question, "");
  const std::string ledger = shell_word(draft.dataset + ".ledger");
  write_standard_error("Edit both, and then:\n  snapdp plan " + shell_word(question_path) +
                       " --declaration " + shell_word(path) + "\n  snapdp ledger create " + ledger + " " +
                       shell_word(path) + " --epsilon 2\n  snapdp release " + shell_word(question_path) +
                       " --ledger " + ledger + "\n");
}

}  // namespace

void add_init(CLI::App& tool, Commands& commands) {
  const auto arguments = std::make_shared<InitArguments>();
  CLI::App* command =
      tool.add_subcommand("init", "Write a first declaration and a first specification for a data file.");
  CLI::Option* data =
      command->add_option("DATA", arguments->data, "The data: CSV or Parquet, of which the header is read");
  command
      ->add_option("--from", arguments->from,
                   "Instead: write a specification for what this declaration declares")
      ->type_name("DECLARATION")
      ->excludes(data);
  command
      ->add_option("--declaration", arguments->declaration, "Where the declaration goes [DATA's name .toml]")
      ->type_name("FILE");
  command
      ->add_option("--specification", arguments->specification,
                   "Where the specification goes [DATA's name .question.toml]")
      ->type_name("FILE");
  command->add_flag("--yes", arguments->yes, "Ask nothing: every question becomes a comment");
  commands[command] = {[arguments] {
                         if (arguments->data.empty() && arguments->from.empty()) {
                           throw Error(ErrorCode::invalid_argument, "DATA",
                                       "DATA: is missing; name the data file, or --from DECLARATION");
                         }
                         init(*arguments);
                       },
                       "  snapdp init people.csv\n"
                       "  snapdp init people.csv --yes && $EDITOR people.toml\n"
                       "  snapdp init --from people.toml --specification monthly.toml\n",
                       [arguments] {
                         const bool both = arguments->from.empty();
                         return Files{.read = {{"DATA", arguments->data}, {"--from", arguments->from}},
                                      .written = {{"--declaration", both ? declaration_path(*arguments) : ""},
                                                  {"--specification", specification_path(*arguments)}}};
                       }};
  command->footer(
      "Only the header or schema of DATA is read: nothing that is written comes from the rows. A CSV file "
      "without a\n"
      "header has rows for names; give it one. Existing files are never replaced.");
}

}  // namespace snapdp::cli
