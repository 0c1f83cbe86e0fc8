#include "snapdp/release/release.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <utility>

#include "framework/shared/memory_reserve.h"
#include "numeric/shared/float_environment.h"
#include "release/shared/suggestion.h"
#include "snapdp/error.h"
#include "snapdp/random/system_generator.h"

namespace snapdp {

using namespace numeric_internal;
using namespace framework_internal;
using namespace release_internal;

namespace {

std::vector<LedgerCharge> charges(const Plan& plan) {
  std::vector<LedgerCharge> charges;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    if (statistic.epsilon > 0) charges.push_back({statistic.specification.name, statistic.epsilon});
  }
  return charges;
}

void check_ledger(const Plan& plan, const Ledger& ledger, std::size_t report_bytes) {
  const LedgerIdentity identity = plan.specification().identity();
  if (plan.epsilon() > 0) {
    ledger.check(identity, charges(plan), plan.specification().text, report_bytes);
  } else if (ledger.identity() != identity) {
    throw Error(ErrorCode::budget_refused, "ledger",
                quoted_path(ledger.path().string()) + ": the ledger is for dataset " +
                    quoted_text(ledger.identity().dataset) + " with " + ledger.identity().neighbors +
                    " neighbors, not for " + quoted_text(identity.dataset) + " with " + identity.neighbors +
                    " neighbors; use the ledger of this dataset");
  }
}

[[noreturn]] void refuse_column(const std::string& place, const std::string& name,
                                const std::string& problem) {
  throw Error(ErrorCode::bad_data, "column", place + "column " + name + " " + problem);
}

bool has_name(const std::vector<SourceColumn>& header, const std::string& name) {
  return std::any_of(header.begin(), header.end(),
                     [&](const SourceColumn& column) { return column.name == name; });
}

// What to try when a text file has none of the columns that are asked for.
std::string about_delimiter(const std::vector<SourceColumn>& header) {
  const bool is_text = !header.empty() && !header.front().type && header.front().unusable.empty();
  if (!is_text) return "";
  return std::string("; ") +
         (header.size() == 1 ? "the header is read as a single column"
                             : "none of the columns that are asked for is there") +
         ", so the cells may be separated otherwise: declare it in [data], delimiter = \";\" for example. "
         "Spaces are no delimiter: write such a file anew with commas or tabs";
}

// Every column of the specification is in the header, to the letter, and can be used. Only names of the specification are
// suggested: without a header the file's first line is a row.
void check_header(const Specification& specification, const std::vector<SourceColumn>& header) {
  std::vector<std::pair<std::string, std::string>>
      columns;  // the place in the specification, and the name there
  const auto check = [&](const std::string& place, const std::string& name) {
    columns.emplace_back(place, name);
  };
  if (specification.data.privacy_unit)
    check(specification.name + ": [data]: privacy_unit: ", *specification.data.privacy_unit);
  if (specification.data.where) {
    for (const std::string& name : specification.data.where->columns())
      check(specification.name + ": [data]: where: ", name);
  }
  for (const StatisticSpecification& statistic : specification.statistics) {
    if (statistic.group_by) check(specification.place(statistic) + "group_by: ", *statistic.group_by);
    for (const std::string& name : statistic.columns) check(specification.place(statistic), name);
  }
  std::vector<std::string> found;
  bool none_there = true;
  for (const auto& [place, name] : columns) {
    if (column_problem(header, name).empty()) found.push_back(name);
    none_there = none_there && !has_name(header, name);
  }
  for (const auto& [place, name] : columns) {
    const std::string problem = column_problem(header, name);
    if (problem.empty()) continue;
    refuse_column(place, quoted_text(name),
                  problem + (none_there ? about_delimiter(header) : did_you_mean(name, found)));
  }
}

// What the ledger debits is at least what the code that runs can lose: refuses a plan whose certificates do not show it.
void check_certificates(const Plan& plan) {
  for (const PlannedStatistic& statistic : plan.statistics()) {
    for (const PlannedMeasurement& planned : statistic.measurements) {
      if (planned.certificate.covers(planned.epsilon)) continue;
      throw Error(ErrorCode::invalid_argument, "certificate",
                  plan.specification().place(statistic.specification) +
                      "the certificate of its mechanism does not show a privacy loss of at most epsilon = " +
                      to_string(planned.epsilon) + "; nothing is released without it: use mode = \"exact\"");
    }
  }
}

// The exact statistics of every measurement of the plan, from one pass over the rows.
std::vector<std::vector<std::vector<Dyadic>>> fold(const Plan& plan, Source& source,
                                                   const Progress& progress) {
  std::vector<FoldRequest> requests;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    for (const PlannedMeasurement& planned : statistic.measurements) {
      FoldRequest& request = requests.emplace_back();
      request.columns = planned.columns;
      request.aggregation = &planned.measurement.aggregation();
      const StatisticSpecification& asked = statistic.specification;
      if (const std::optional<GroupLimit>& limit = asked.groups_per_unit)
        request.groups = FoldRequest::GroupLimit{*asked.group_by, limit->max_groups, limit->max_rows};
    }
  }
  const FoldResult result = source.fold(plan.selection(), requests, progress);
  const std::optional<std::uint64_t>& size = plan.specification().data.size;
  if (size && result.rows != *size) {
    throw Error(ErrorCode::bad_data, "size",
                plan.specification().name + ": [data]: size = " + std::to_string(*size) +
                    ": the data do not have that many rows; under change-one the number of rows is public "
                    "and must be declared exactly");
  }
  std::vector<std::vector<std::vector<Dyadic>>> exact;
  std::size_t next = 0;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    exact.emplace_back();
    for (const PlannedMeasurement& planned : statistic.measurements) {
      exact.back().push_back(planned.measurement.aggregation().finish(result.states[next++]));
      planned.measurement.check(exact.back().back());
    }
  }
  return exact;
}

// Everything below here has been paid for.

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

Released draw(const Plan& plan, const LedgerReceipt& receipt,
              std::vector<std::vector<std::vector<Dyadic>>> values, SystemGenerator& generator,
              Ledger& ledger) {
  const auto lost = [&](const std::string& why) {
    return Error(ErrorCode::io, "release",
                 why + "; release " + std::to_string(receipt.release) +
                     " is paid for, shows nothing and is not refunded");
  };
  try {
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < values[i].size(); ++j) {
        const Measurement& measurement = plan.statistics()[i].measurements[j].measurement;
        values[i][j] = measurement.release_paid(std::move(values[i][j]), generator);
      }
    }
    Released released{Report(plan, values, receipt.release, receipt.spent, receipt.remaining),
                      receipt.release, ""};
    released.not_stored = keep(released.report, receipt.release, ledger);
    return released;
  } catch (const Error& error) {
    throw lost(error.what());
  } catch (const std::bad_alloc&) {
    throw lost("out of memory");
  } catch (const std::exception&) {
    throw lost("an unexpected failure inside the program");
  }
}

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
  check_ledger(plan, ledger, 0);
  check_certificates(plan);
  const Report::Rehearsal needed = plan.epsilon() > 0 ? Report::rehearse(plan) : Report::Rehearsal{};
  const std::unique_ptr<Source> source = open_source(plan.specification().data);
  check_header(plan.specification(), source->columns());
  if (options.confirm && !options.confirm(plan)) {
    throw Error(ErrorCode::invalid_argument, "confirm", "nothing was released and nothing was debited");
  }
  std::vector<std::vector<std::vector<Dyadic>>> exact = fold(plan, *source, options.progress);
  if (plan.epsilon() == 0) {
    const LedgerBalance balance = ledger.balance();
    return {Report(plan, exact, std::nullopt, balance.spent, balance.remaining), std::nullopt, ""};
  }
  // Whatever can fail is tried before the debit, now that the rows have been read.
  check_ledger(plan, ledger, needed.length);
  SystemGenerator& generator = thread_generator();
  generator.prepare();
  MemoryReserve reserve(needed.memory);
  if (options.before_debit) options.before_debit();
  const LedgerReceipt receipt =
      ledger.debit(plan.specification().identity(), charges(plan), plan.specification().text);
  reserve.release();
  return draw(plan, receipt, std::move(exact), generator, ledger);
}

}  // namespace snapdp
