// snapdp ledger create, show, anchor and verify.
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "accounting.h"
#include "argument_file.h"
#include "commands.h"
#include "output.h"
#include "release/shared/text_table.h"
#include "report_files.h"
#include "snapdp/error.h"
#include "snapdp/privacy/ledger.h"
#include "snapdp/release/declaration.h"
#include "snapdp/release/report.h"
#include "snapdp/text.h"

namespace snapdp::cli {

using namespace release_internal;
namespace {

using Json = nlohmann::ordered_json;

struct CreateArguments {
  std::string file;
  std::string declaration;
  std::string epsilon;
  std::string rho;
  std::string delta;

  PrivacyBudget budget() const;
};

struct ShowArguments {
  std::string file;
  std::int64_t release = 0;
  std::string delta;
  bool declaration = false;
  bool json = false;
  std::string digits = "rounded";
};

struct VerifyArguments {
  std::string file;
  std::string anchor;
  bool json = false;
};

// Every ledger command may write to its ledger: opening it rolls back what a crash left behind.
Files ledger_file(const std::string& path) {
  return {.ledgers = {{"FILE", path}}};
}

std::string to_text(const Json& json) {
  return escape_json(json.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

PrivacyBudget CreateArguments::budget() const {
  const Rational failing = delta.empty() ? Rational(0) : parse_rational(delta, "--delta");
  if (!rho.empty()) {
    if (delta.empty()) {
      throw Error(
          ErrorCode::invalid_argument, "--delta",
          "--delta is missing: a budget of rho is read as an epsilon at a delta, such as 1e-6; give it");
    }
    return {PrivacyMeasure::zcdp, {parse_rational(rho, "--rho"), failing}};
  }
  if (epsilon.empty()) {
    throw Error(ErrorCode::invalid_argument, "--epsilon",
                "--epsilon is missing: it is all that may ever be spent; give it, or --rho with --delta");
  }
  const PrivacyMeasure measure = delta.empty() ? PrivacyMeasure::pure : PrivacyMeasure::approximate;
  return {measure, {parse_rational(epsilon, "--epsilon"), failing}};
}

// What all releases together come to at most, of a budget of rho.
std::string read_as_epsilon(const PrivacyBudget& budget, const PrivacyAmount& spent) {
  const std::optional<Rational> epsilon = zcdp_to_epsilon(spent.value, budget.amount.delta - spent.delta);
  return epsilon ? "epsilon " + short_number(*epsilon) + " at delta " + short_number(budget.amount.delta)
                 : "";
}

void create(const CreateArguments& arguments) {
  const std::filesystem::path file = arguments.file;
  // The ledger keeps where the data lie as seen from its own folder.
  const Declaration declaration = Declaration::read(arguments.declaration).moved_to(file.parent_path());
  const Ledger ledger =
      Ledger::create(file, declaration.identity(), arguments.budget(), declaration.canonical_text());
  write_standard_error("snapdp: created " + quoted_path(ledger.path().string()) + ", a ledger of " +
                       in_words_down(ledger.budget().measure, ledger.budget().amount) + " for " +
                       shown_text(ledger.identity().dataset) + "\n");
  if (ledger.budget().measure != PrivacyMeasure::zcdp) return;
  write_standard_error("snapdp: all releases together come to " +
                       read_as_epsilon(ledger.budget(), ledger.budget().limit()) + " at most\n");
}

// A number of a pure budget, else an object of the measure's amount and its delta.
Json amount_json(PrivacyMeasure measure, const PrivacyAmount& amount) {
  if (measure == PrivacyMeasure::pure) return to_string(amount.value);
  return {{unit_of(measure), to_string(amount.value)}, {"delta", to_string(amount.delta)}};
}

Json balance_json(const Ledger& ledger, const LedgerBalance& balance) {
  return {{"dataset", ledger.identity().dataset},
          {"neighbors", to_string(ledger.identity().neighbors)},
          {"privacy_unit",
           ledger.identity().privacy_unit.empty() ? Json() : Json(ledger.identity().privacy_unit)},
          {"declaration", ledger.declaration().empty() ? Json() : Json(ledger.declaration())},
          {"measure", to_string(balance.budget.measure)},
          {"budget", amount_json(balance.budget.measure, balance.budget.amount)},
          {"spent", amount_json(balance.budget.measure, balance.spent)},
          {"remaining", amount_json(balance.budget.measure, balance.remaining)},
          {"anchor", {{"records", balance.anchor.records}, {"hash", balance.anchor.hash}}}};
}

std::string balance_lines(const Ledger& ledger, const LedgerBalance& balance) {
  const LedgerIdentity& identity = ledger.identity();
  TextTable table(
      {{"ledger", TextTable::Align::left}, {ledger.path().filename().string(), TextTable::Align::left}});
  table.add({"dataset", identity.dataset});
  table.add({"neighbors", to_string(identity.neighbors)});
  table.add({"privacy unit", identity.privacy_unit.empty() ? "one row" : identity.privacy_unit});
  const PrivacyBudget& budget = balance.budget;
  table.add({"budget", in_words_down(budget.measure, budget.amount)});
  table.add({"spent", in_words(budget.measure, balance.spent)});
  table.add({"remaining", in_words_down(budget.measure, balance.remaining)});
  if (budget.measure == PrivacyMeasure::zcdp) {
    table.add({"spent so far is", read_as_epsilon(budget, balance.spent)});
    table.add({"all of it is", read_as_epsilon(budget, budget.limit())});
  }
  table.add({"anchor", to_string(balance.anchor)});
  return table.to_string(style_of_standard_output());
}

std::string names(const LedgerEntry& entry) {
  constexpr std::size_t longest = 60;
  std::string text;
  std::string last;  // the parts of one statistic have its name
  for (const LedgerCharge& charge : entry.charges) {
    if (std::exchange(last, charge.name) == charge.name) continue;
    const std::string next = (text.empty() ? "" : ", ") + charge.name;
    if (!text.empty() && text.size() + next.size() > longest) return text + ", ...";
    text += next;
  }
  return text;
}

// Every charge is a release of its own: a mechanism with its own loss.
std::vector<ComposedLoss> losses_of(const std::vector<LedgerEntry>& entries) {
  std::vector<ComposedLoss> losses;
  for (const LedgerEntry& entry : entries) {
    for (const LedgerCharge& charge : entry.charges) losses.push_back({charge.loss, 1});
  }
  return losses;
}

// What it loses, by the parts that there are.
Json charge_json(const LedgerCharge& charge) {
  Json json = {{"name", charge.name}};
  const PrivacyLoss& loss = charge.loss;
  if (loss.epsilon != 0) json["epsilon"] = to_string(loss.epsilon);
  if (loss.delta != 0) json["delta"] = to_string(loss.delta);
  if (loss.rho != 0) json["rho"] = to_string(loss.rho);
  if (loss.gaussian_cost)
    json["gaussian_cost"] = amount_json(PrivacyMeasure::approximate, *loss.gaussian_cost);
  return json;
}

void show_all(const Ledger& ledger, const std::string& delta, bool json) {
  const LedgerBalance balance = ledger.balance();
  const std::vector<LedgerEntry> entries = ledger.entries();
  const PrivacyMeasure measure = balance.budget.measure;
  const bool pure = measure == PrivacyMeasure::pure;
  std::optional<Accounting> accounting;
  if (!delta.empty()) accounting.emplace(losses_of(entries), parse_rational(delta, "--delta"));
  if (json) {
    Json all = balance_json(ledger, balance);
    if (accounting) accounting->add_to(all);
    all["releases"] = Json::array();
    for (const LedgerEntry& entry : entries) {
      Json charges = Json::array();
      for (const LedgerCharge& charge : entry.charges) {
        charges.push_back(charge_json(charge));
      }
      all["releases"].push_back({{"release", entry.release},
                                 {"time", entry.time},
                                 {pure ? "epsilon" : "cost", amount_json(measure, entry.cost)},
                                 {"spent", amount_json(measure, entry.spent)},
                                 {"charges", std::move(charges)},
                                 {"label", entry.label.empty() ? Json() : Json(entry.label)},
                                 {"reported", entry.reported}});
    }
    write_standard_output(to_text(all));
    return;
  }
  std::string text = balance_lines(ledger, balance);
  if (accounting) text += "\n" + accounting->table().to_string(style_of_standard_output());
  if (!entries.empty()) {
    TextTable table({{"release", TextTable::Align::right},
                     {"time", TextTable::Align::left},
                     {pure ? "epsilon" : "cost", TextTable::Align::right},
                     {"spent", TextTable::Align::right},
                     {"label", TextTable::Align::left},
                     {"statistics", TextTable::Align::left},
                     {"report", TextTable::Align::left}});
    for (const LedgerEntry& entry : entries) {
      const auto shown = [&](const PrivacyAmount& amount) {
        return pure ? short_number(amount.value) : in_words(measure, amount);
      };
      table.add({std::to_string(entry.release), entry.time, shown(entry.cost), shown(entry.spent),
                 entry.label, names(entry), entry.reported ? "kept" : "none"});
    }
    text += "\n" + table.to_string(style_of_standard_output());
  }
  write_standard_output(text);
}

void show_release(const Ledger& ledger, std::int64_t release, bool json, const std::string& digits) {
  const std::optional<std::string> text = ledger.report(release);
  if (!text) {
    throw Error(ErrorCode::bad_data, "--release",
                "--release " + std::to_string(release) +
                    ": was debited, but the program ended before it had a report; nothing was shown, and the "
                    "debit stands");
  }
  std::string shown = escape_json(*text);
  if (!json) {
    // What the ledger keeps is always shown: as it is when another program, or a later version of this one, wrote it.
    try {
      shown = table_of(Report::from_json(*text), provenance_of(ledger, release), digits);
    } catch (const Error&) {
      write_standard_error("snapdp: this text has no table; it is printed as it is kept\n");
      if (!shown.ends_with('\n')) shown += '\n';
    }
  }
  write_standard_output(shown);
}

// --anchor @FILE instead of a line.
bool is_anchor_file(const std::string& argument) {
  return argument.starts_with('@');
}
std::filesystem::path anchor_path(const std::string& argument) {
  return argument.substr(1);
}

void show_declaration(const Ledger& ledger) {
  if (!Declaration::of(ledger)) {
    throw Error(
        ErrorCode::bad_data, "--declaration",
        "--declaration: " + quoted_path(ledger.path().string()) +
            " was made without a declaration; specifications say themselves what is public, except how a "
            "file is read");
  }
  write_standard_output(escape_json(ledger.declaration()));  // its strings have JSON's escapes
}

// From "N HASH", or from the lines of @FILE: anchors that were noted one after the other.
std::vector<LedgerAnchor> parse_anchors(const std::string& argument) {
  if (!is_anchor_file(argument)) return {parse_anchor(argument, "--anchor")};
  std::vector<LedgerAnchor> anchors;
  for (const std::string& line : lines_of_file("--anchor", argument, "anchors"))
    anchors.push_back(parse_anchor(line, "--anchor"));
  if (anchors.empty()) {
    throw Error(ErrorCode::invalid_argument, "--anchor",
                "--anchor " + quoted_path(argument) +
                    ": has no anchor; write one there with: snapdp ledger anchor FILE");
  }
  return anchors;
}

void verify(const VerifyArguments& arguments) {
  std::vector<LedgerAnchor> anchors;
  if (!arguments.anchor.empty()) anchors = parse_anchors(arguments.anchor);
  const Ledger ledger = Ledger::open(arguments.file);
  const LedgerBalance balance = ledger.verify(anchors);
  static_cast<void>(Declaration::of(ledger));  // throws unless it can be read and is of this dataset
  if (arguments.json) {
    write_standard_output(to_text(balance_json(ledger, balance)));
    return;
  }
  write_standard_output(balance_lines(ledger, balance));
  write_standard_error("snapdp: every number and every link of the hash chain is right" +
                       std::string(anchors.empty() ? "" : ", and the chain goes on from the anchor") + "\n");
}

void add_create(CLI::App& ledger, Commands& commands) {
  const auto arguments = std::make_shared<CreateArguments>();
  CLI::App* command = ledger.add_subcommand("create", "Make a new ledger with a budget.");
  command->add_option("FILE", arguments->file, "Where the ledger will be; must not exist")->required();
  command
      ->add_option("DECLARATION", arguments->declaration,
                   "What is public about the data: a TOML file with [data] and [columns]; kept in the ledger")
      ->required();
  CLI::Option* epsilon =
      command->add_option("--epsilon", arguments->epsilon, "The budget: all that may ever be spent")
          ->type_name("E");
  command
      ->add_option("--rho", arguments->rho,
                   "Instead of an epsilon: a budget of zero-concentrated differential privacy, for Gaussian "
                   "noise")
      ->type_name("R")
      ->excludes(epsilon);
  command
      ->add_option(
          "--delta", arguments->delta,
          "With --epsilon: a delta, of which releases may spend too; with --rho: where rho is read as "
          "an epsilon")
      ->type_name("D");
  commands[command] = {[arguments] { create(*arguments); },
                       "  snapdp ledger create people.ledger people.toml --epsilon 2\n"
                       "  snapdp ledger create people.ledger people.toml --rho 1/8 --delta 1e-6\n",
                       [arguments] {
                         Files files = ledger_file(arguments->file);
                         files.read.push_back({"DECLARATION", arguments->declaration});
                         return files;
                       }};
  command->footer(
      "The ledger keeps the declaration: how rows are read, who is protected, types, bounds and categories "
      "are "
      "from then on\n"
      "what it says, and specifications need no [data]. A whole specification may serve as the declaration.");
}

void add_show(CLI::App& ledger, Commands& commands) {
  const auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command =
      ledger.add_subcommand("show", "Show the balance and the releases, or print a release again.");
  command->add_option("FILE", arguments->file, "The ledger")->required();
  const CLI::Option* release =
      command->add_option("--release", arguments->release, "Print the report of this release, free of charge")
          ->type_name("ID");
  command
      ->add_option("--delta", arguments->delta,
                   "Also what all releases cost together at this delta: 0 <= delta < 1")
      ->type_name("D")
      ->excludes("--release");
  command
      ->add_flag("--declaration", arguments->declaration,
                 "Print what the custodian declared of the data, as TOML")
      ->excludes("--release")
      ->excludes("--delta");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  add_digits(*command, arguments->digits);
  commands[command] = {[arguments, release] {
                         const Ledger opened = Ledger::open(arguments->file);
                         if (arguments->declaration) {
                           show_declaration(opened);
                         } else if (release->count() > 0) {
                           show_release(opened, arguments->release, arguments->json, arguments->digits);
                         } else {
                           show_all(opened, arguments->delta, arguments->json);
                         }
                       },
                       "  snapdp ledger show people.ledger\n"
                       "  snapdp ledger show people.ledger --declaration\n"
                       "  snapdp ledger show people.ledger --release 1 --json\n"
                       "  snapdp ledger show people.ledger --delta 1e-6\n",
                       [arguments] { return ledger_file(arguments->file); }};
  command->footer(
      "The budget is always debited by the sum. With --delta, \"optimal\" says what the charges so far "
      "amount to\n"
      "if their epsilons were fixed in advance; otherwise only the sum is proved. See docs/accounting.md.");
}

void add_anchor(CLI::App& ledger, Commands& commands) {
  const auto file = std::make_shared<std::string>();
  CLI::App* command = ledger.add_subcommand(
      "anchor", "Print one line to keep elsewhere, which shows later that nothing was rolled back.");
  command->add_option("FILE", *file, "The ledger")->required();
  commands[command] = {
      [file] { write_standard_output(to_string(Ledger::open(*file).balance().anchor) + "\n"); },
      "  snapdp ledger anchor people.ledger >> /media/usb/people.anchors\n"
      "  snapdp ledger verify people.ledger --anchor @/media/usb/people.anchors\n",
      [file] { return ledger_file(*file); }};
  command->footer(
      "The number of records and the hash of the last one, which covers all before it. Note it after each "
      "release,\n"
      "where whoever can write the ledger cannot write.");
}

void add_verify(CLI::App& ledger, Commands& commands) {
  const auto arguments = std::make_shared<VerifyArguments>();
  CLI::App* command = ledger.add_subcommand("verify", "Read and recompute everything in a ledger.");
  command->add_option("FILE", arguments->file, "The ledger")->required();
  command
      ->add_option("--anchor", arguments->anchor,
                   "A line from snapdp ledger anchor, or @FILE with several: the ledger must go on from it")
      ->type_name("LINE|@FILE");
  command->add_flag("--json", arguments->json, "Print JSON instead of a table");
  commands[command] = {[arguments] { verify(*arguments); },
                       "  snapdp ledger verify people.ledger\n"
                       "  snapdp ledger verify people.ledger --anchor @/media/usb/people.anchors\n",
                       [arguments] {
                         Files files = ledger_file(arguments->file);
                         if (is_anchor_file(arguments->anchor))
                           files.read.push_back({"--anchor", anchor_path(arguments->anchor)});
                         return files;
                       }};
  command->footer(
      "Exit code 3 when anything is wrong. Without an anchor that was noted elsewhere, a ledger that was "
      "rolled\n"
      "back to an older copy looks right.");
}

}  // namespace

void add_ledger(CLI::App& tool, Commands& commands) {
  CLI::App* ledger = tool.add_subcommand("ledger", "Create, show, anchor and verify ledgers.");
  ledger->require_subcommand(1);
  commands[ledger].examples =
      "  snapdp ledger create people.ledger people.toml --epsilon 2\n"
      "  snapdp ledger show people.ledger --release 1\n"
      "  snapdp ledger verify people.ledger\n";
  add_create(*ledger, commands);
  add_show(*ledger, commands);
  add_anchor(*ledger, commands);
  add_verify(*ledger, commands);
}

}  // namespace snapdp::cli
