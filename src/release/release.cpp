#include "snapdp/release/release.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "framework/shared/memory_reserve.h"
#include "numeric/shared/float_environment.h"
#include "release/shared/columns.h"
#include "snapdp/error.h"

namespace snapdp {

using namespace numeric_internal;
using namespace framework_internal;
using namespace release_internal;

namespace {

// Of a pure run one a statistic; of others, where losses do not add up within one, one a measurement.
std::vector<LedgerCharge> charges(const Plan& plan) {
  const bool pure = plan.specification().budget.measure == PrivacyMeasure::pure;
  std::vector<LedgerCharge> charges;
  for (const PlannedKeys& keys : plan.private_keys())
    charges.push_back({"keys of " + keys.specification.column, keys.loss});
  for (const PlannedStatistic& statistic : plan.statistics()) {
    const std::string& name = statistic.specification.name;
    if (pure) {
      if (!statistic.loss.is_zero()) charges.push_back({name, statistic.loss});
      continue;
    }
    for (const PlannedMeasurement& part : statistic.measurements) charges.push_back({name, part.loss});
  }
  return charges;
}

// A run counts as its ledger does, so that both are told in one number; what is pure has a delta of 0.
void require_measure(const Plan& plan, const Ledger& ledger) {
  const PrivacyMeasure run = plan.specification().budget.measure;
  const PrivacyMeasure kept = ledger.budget().measure;
  if (run == kept || (run == PrivacyMeasure::pure && kept == PrivacyMeasure::approximate)) return;
  const auto keys = [](PrivacyMeasure measure) {
    return measure == PrivacyMeasure::pure   ? "epsilon"
           : measure == PrivacyMeasure::zcdp ? "rho and delta"
                                             : "epsilon and delta";
  };
  throw Error(ErrorCode::budget_refused, "budget",
              plan.specification().name + ": [budget] counts in " + keys(run) + ", the ledger " +
                  quoted_path(ledger.path().string()) + " in " + keys(kept) +
                  "; nothing was debited. Give [budget] " + keys(kept));
}

// What the ledger debits is at least what the code that runs can lose: refuses a plan whose certificates do not show it.
void check_certificates(const Plan& plan) {
  for (const PlannedStatistic& statistic : plan.statistics()) {
    for (const PlannedMeasurement& planned : statistic.measurements) {
      if (planned.certificate.covers(planned.epsilon)) continue;
      throw Error(ErrorCode::invalid_argument, "certificate",
                  plan.specification().place(statistic.specification) +
                      "the certificate of its mechanism does not show a privacy loss of at most " +
                      unit_of(plan.specification().budget.measure) + " = " + to_string(planned.epsilon) +
                      "; nothing is released without it: use mode = \"exact\"");
    }
  }
}

// The table with as many rows as the declaration says.
class DeclaredRows final : public Source {
 public:
  DeclaredRows(Source& source, const Specification& specification)
      : source_(source), specification_(specification) {}
  std::vector<SourceColumn> columns() override { return source_.columns(); }
  using Source::fold;
  FoldResult fold(const RowSelection& selection, std::span<const FoldRequest> requests,
                  const Progress& progress) override {
    return checked(source_.fold(selection, requests, progress));
  }
  FoldResult fold_by_keys(const RowSelection& selection, std::span<const KeyColumn> columns,
                          const RequestsOfKeys& requests, const Progress& progress) override {
    return checked(source_.fold_by_keys(selection, columns, requests, progress));
  }

 private:
  FoldResult checked(FoldResult result) const {
    const std::optional<std::uint64_t>& size = specification_.data.size;
    if (!size || result.rows == *size) return result;
    throw Error(ErrorCode::bad_data, "size",
                specification_.name + ": [data]: size = " + std::to_string(*size) +
                    ": the data do not have that many rows; under change-one the number of rows is public "
                    "and must be declared exactly");
  }

  Source& source_;
  const Specification& specification_;
};

// The name that the release is to have, or "".
std::string label_of(const Specification& specification, const ReleaseOptions& options) {
  if (options.label.empty() || specification.label.empty() || options.label == specification.label)
    return options.label.empty() ? specification.label : options.label;
  throw Error(ErrorCode::invalid_argument, "label",
              "label = " + quoted_text(options.label) + ": " + specification.name +
                  " says label = " + quoted_text(specification.label) + "; remove one of them");
}

// What the ledger keeps of the release of this label, if there was one. Throws unless it was of this specification.
std::optional<Released> released_before(const Specification& specification, const std::string& label,
                                        const Ledger& ledger) {
  const std::optional<std::int64_t> release = label.empty() ? std::nullopt : ledger.find(label);
  if (!release) return std::nullopt;
  const std::string named = "label = " + quoted_text(label) + ": release " + std::to_string(*release) +
                            " of " + quoted_path(ledger.path().string());
  if (ledger.specification(*release) != specification.text) {
    throw Error(ErrorCode::budget_refused, "label",
                named + " bears it and was of another specification than " + specification.name +
                    " is now; nothing was debited. Choose another label for another question");
  }
  const std::optional<std::string> report = ledger.report(*release);
  if (!report) {
    throw Error(ErrorCode::budget_refused, "label",
                named +
                    " bears it and has no report: it is still being made, or the program ended before it had "
                    "one. Try "
                    "again in a moment; if there is none then, nothing was shown, the debit stands, and "
                    "another label "
                    "pays for another try");
  }
  return Released{Report::from_json(*report), release, "", true};
}

// Pays for a plan: the ledger keeps what each statistic costs, and the specification's text.
class PlanAccountant final : public BudgetAccountant {
 public:
  PlanAccountant(const Plan& plan, Ledger& ledger, const Report::Rehearsal& report,
                 const ReleaseOptions& options)
      : plan_(plan), ledger_(ledger), report_(report), options_(options) {}

  // What is debited is the plan's epsilon, which the certificates cover (check_certificates): only in precision mode, and
  // only by what separates the notes' claim from the proof, may the composition's own price be higher.
  void debit(const Debit&) override {
    check_ledger(plan_, ledger_, report_.length);
    const MemoryReserve reserve(report_.memory);
    if (options_.before_debit) options_.before_debit();
    receipt_ = ledger_.debit(plan_.specification().identity(), charges(plan_), plan_.specification().text,
                             label_of(plan_.specification(), options_));
  }
  const std::optional<LedgerReceipt>& receipt() const { return receipt_; }

 private:
  const Plan& plan_;
  Ledger& ledger_;
  const Report::Rehearsal& report_;
  const ReleaseOptions& options_;
  std::optional<LedgerReceipt> receipt_;
};

// By statistic and part.
std::vector<std::vector<std::vector<Dyadic>>> by_part(const Plan& plan, std::vector<Dyadic> values) {
  std::vector<std::vector<std::vector<Dyadic>>> parts;
  auto next = std::make_move_iterator(values.begin());
  for (const PlannedStatistic& statistic : plan.statistics()) {
    parts.emplace_back();
    for (const PlannedMeasurement& planned : statistic.measurements) {
      const auto end = next + static_cast<std::ptrdiff_t>(planned.measurement.released_count());
      parts.back().emplace_back(next, end);
      next = end;
    }
  }
  return parts;
}

// Empty, or why the report is not in the ledger: it is still there to be shown.
std::string keep(const Report& report, std::int64_t release, Ledger& ledger) {
  try {
    ledger.store_report(release, report.json());
    return "";
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  }
}

// What is released, and the plan that its report is made by.
struct Drawn {
  Plan plan;
  std::vector<Dyadic> values;
};

Drawn draw(const Plan& plan, Source& rows, BudgetAccountant& accountant, const Progress& progress) {
  if (plan.private_keys().empty())
    return {plan, plan.composition().release(rows, accountant, progress).values};
  GroupsRelease release = plan.private_groups().release(rows, accountant, progress);
  std::vector<Dyadic> values;
  for (std::vector<Dyadic>& part : release.values)
    std::move(part.begin(), part.end(), std::back_inserter(values));
  return {plan.with_keys(release.shown, release.cut), std::move(values)};
}

// Keys that take as much room in a report as any that may be shown, and as many.
std::vector<KeyValues> longest_keys(const Plan& plan) {
  std::vector<KeyValues> all;
  for (const PlannedKeys& planned : plan.private_keys()) {
    KeyValues& keys = all.emplace_back();
    keys.type = planned.specification.type;
    for (std::size_t i = 0; i < planned.specification.most; ++i) {
      if (keys.type == AtomType::integer) {
        keys.integers.push_back(std::numeric_limits<std::int64_t>::min() + static_cast<std::int64_t>(i));
      } else {
        // A quotation mark is written as two characters, and nothing that a key may have as more.
        const std::string number = std::to_string(i);
        keys.texts.push_back(std::string(KeyValues::longest - number.size(), '"') + number);
      }
    }
  }
  return all;
}

// What the words for groups may take in a report, of which the stand-ins have none.
std::size_t longest_words(const Plan& plan) {
  std::size_t bytes = 0;
  for (const PlannedKeys& planned : plan.private_keys()) {
    std::size_t longest = 0;
    for (const auto& [key, words] : plan.specification().data.column(planned.specification.column).labels)
      longest = std::max(longest, words.size());
    // Escaped, as characters of two bytes for one; with the name of the line.
    constexpr std::size_t of_line = 64;
    if (longest > 0)
      bytes += planned.specification.most * planned.statistics.size() * (2 * longest + of_line);
  }
  return bytes;
}

Report::Rehearsal rehearse(const Plan& plan) {
  if (plan.private_keys().empty()) return Report::rehearse(plan);
  const std::vector<bool> all_cut(plan.private_keys().size(), true);
  const Plan longest = plan.with_keys(longest_keys(plan), all_cut);
  Report::Rehearsal rehearsal = Report::rehearse(longest);
  const std::size_t words = longest_words(plan);
  rehearsal.length += words;
  rehearsal.memory += 8 * words;
  if (rehearsal.length > Ledger::max_text_bytes) {
    throw Error(ErrorCode::invalid_argument, "most",
                plan.specification().place(plan.private_keys().front().specification) +
                    "most: with the labels of so many groups the report could have more than " +
                    std::to_string(Ledger::max_text_bytes >> 20) +
                    " MiB, the most that a ledger keeps; give fewer, most = 100, or split the specification");
  }
  // The plan that the report is made by is made after the debit: of each group a key in every statistic and its parts, in
  // lists, in an index and in descriptions.
  constexpr std::size_t of_group = 16 * KeyValues::longest;
  for (const PlannedStatistic& statistic : longest.statistics())
    rehearsal.memory += statistic.groups * of_group * (1 + statistic.measurements.size());
  return rehearsal;
}

Released release_plan(const Plan& plan, const Report::Rehearsal& needed, Source& rows, Ledger& ledger,
                      const ReleaseOptions& options) {
  PlanAccountant accountant(plan, ledger, needed, options);
  const auto failed = [&](const std::string& why) {
    return Error(ErrorCode::io, "release",
                 why + "; release " + std::to_string(accountant.receipt()->release) +
                     " is paid for, shows nothing and is not refunded");
  };
  try {
    Drawn drawn = draw(plan, rows, accountant, options.progress);
    const LedgerReceipt& paid = *accountant.receipt();
    Released released{Report(drawn.plan, by_part(drawn.plan, std::move(drawn.values)), paid.release,
                             paid.spent, paid.remaining),
                      paid.release, ""};
    released.not_stored = keep(released.report, paid.release, ledger);
    return released;
  } catch (const Error& error) {
    if (!accountant.receipt()) throw;
    throw failed(error.what());
  } catch (const std::bad_alloc&) {
    if (!accountant.receipt()) throw;
    throw failed("out of memory");
  } catch (const std::exception&) {
    if (!accountant.receipt()) throw;
    throw failed("an unexpected failure inside the program");
  }
}

// Public constants alone: nothing is paid. The rows are read all the same, whose number must be the declared one.
Released show_constants(const Plan& plan, Source& rows, const Ledger& ledger, const Progress& progress) {
  rows.fold(plan.selection(), {}, progress);
  const LedgerBalance balance = ledger.balance();
  const std::vector<std::vector<std::vector<Dyadic>>> none(plan.statistics().size());
  return {Report(plan, none, std::nullopt, balance.spent, balance.remaining), std::nullopt, ""};
}

// What must be so before any row is read: the ledger agrees, the report can be kept, the columns are there.
struct Ready {
  Ready(const Plan& plan, const Ledger& ledger, const OpenSource& open_source) {
    plan.require_affordable();
    check_ledger(plan, ledger, 0);
    check_certificates(plan);
    if (plan.epsilon() > 0) report = rehearse(plan);
    source = open_source(plan.specification().data);
    require_columns(plan.specification(), source->columns());
  }
  Report::Rehearsal report;
  std::unique_ptr<Source> source;
};

// The specification under the ledger's declaration. Where the ledger has none, the specification is its own
// declaration, but does not say how a file is read.
Specification in_force(const Specification& specification, const Ledger& ledger) {
  const std::optional<Declaration> declared = Declaration::of(ledger);
  if (declared) return specification.under(*declared);
  const auto data = specification.data.entries.find("data");
  for (const char* key : {"format", "delimiter"}) {
    if (data == specification.data.entries.end() || !data->second.contains(key)) continue;
    throw Error(
        ErrorCode::budget_refused, key,
        specification.name + ": [data]: " + key + " = " + data->second.at(key) + ": the ledger " +
            quoted_path(ledger.path().string()) +
            " keeps no declaration, and how a file is read is not for a specification to say; remove the "
            "line, or make the ledger from a declaration");
  }
  return specification;
}

}  // namespace

void check_ledger(const Plan& plan, const Ledger& ledger, std::size_t report_bytes) {
  require_measure(plan, ledger);
  const LedgerIdentity identity = plan.specification().identity();
  if (plan.epsilon() > 0) {
    ledger.check(identity, charges(plan), plan.specification().text, report_bytes);
  } else if (ledger.identity() != identity) {
    throw Error(ErrorCode::budget_refused, "ledger",
                quoted_path(ledger.path().string()) + ": the ledger is for dataset " +
                    quoted_text(ledger.identity().dataset) + " with " +
                    to_string(ledger.identity().neighbors) + " neighbors, not for " +
                    quoted_text(identity.dataset) + " with " + to_string(identity.neighbors) +
                    " neighbors; use the ledger of this dataset");
  }
}

std::filesystem::path declared_path(const Specification& specification, const Ledger& ledger) {
  const std::optional<Declaration> declared = Declaration::of(ledger);
  std::filesystem::path path = declared ? declared->path : "";
  const auto full = [](const std::filesystem::path& name) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(name, ignored), ignored);
  };
  const std::filesystem::path& stated = specification.stated_path;
  if (stated.empty() || (!path.empty() && full(stated) == full(path))) return path;
  throw Error(ErrorCode::budget_refused, "path",
              specification.name + ": [data]: path = " + quoted_path(stated.string()) + ": the ledger " +
                  quoted_path(ledger.path().string()) +
                  (path.empty() ? " does not say where its data lie"
                                : " is for the data in " + quoted_path(path.string())) +
                  "; remove the line, or name the file on the command line, --data FILE");
}

Released release(const Specification& specification, Ledger& ledger, const OpenSource& open_source,
                 const ReleaseOptions& options) {
  const FloatEnvironment environment;
  const Plan plan(in_force(specification, ledger));
  if (std::optional<Released> before =
          released_before(plan.specification(), label_of(plan.specification(), options), ledger))
    return *std::move(before);
  const Ready ready(plan, ledger, open_source);
  if (options.confirm && !options.confirm(plan)) {
    throw Error(ErrorCode::invalid_argument, "confirm", "nothing was released and nothing was debited");
  }
  DeclaredRows rows(*ready.source, plan.specification());
  if (plan.epsilon() == 0) return show_constants(plan, rows, ledger, options.progress);
  return release_plan(plan, ready.report, rows, ledger, options);
}

Plan dry_run(const Specification& specification, const Ledger& ledger, const OpenSource& open_source,
             const ReleaseOptions& options) {
  const FloatEnvironment environment;
  Plan plan(in_force(specification, ledger));
  if (released_before(plan.specification(), label_of(plan.specification(), options), ledger)) return plan;
  const Ready ready(plan, ledger, open_source);
  DeclaredRows rows(*ready.source, plan.specification());
  if (!plan.private_keys().empty()) {
    static_cast<void>(plan.private_groups().exact(rows, options.progress));
  } else {
    // What was folded elsewhere answers the plan's question, and no other.
    rows.fold(plan.selection(), plan.requests(), options.progress);
  }
  if (plan.epsilon() > 0) check_ledger(plan, ledger, ready.report.length);
  return plan;
}

}  // namespace snapdp
