#include "snapdp/release/release.h"

#include <algorithm>
#include <new>

#include "snapdp/error.h"
#include "snapdp/numeric/float_environment.h"
#include "snapdp/random/system_generator.h"
#include "snapdp/release/suggestion.h"

namespace snapdp {
namespace {

void check_ledger(const Plan& plan, const Ledger& ledger) {
  const LedgerIdentity identity = plan.specification().identity();
  if (plan.epsilon() > 0) {
    ledger.check(identity, plan.epsilon());
  } else if (ledger.identity() != identity) {
    throw Error(ErrorCode::budget_refused, "ledger",
                ledger.path().string() + ": the ledger is for dataset " +
                    quoted_text(ledger.identity().dataset) + " with " + ledger.identity().neighbors +
                    " neighbors, not for " + quoted_text(identity.dataset) + " with " + identity.neighbors +
                    " neighbors; use the ledger of this dataset");
  }
}

// Every column of the specification is in the header, to the letter, and can be used. Only names of the specification are
// suggested: without a header the file's first line is a row.
void check_header(const Specification& specification, const std::vector<SourceColumn>& header) {
  std::vector<std::pair<std::string, std::string>>
      columns;  // the place in the specification, and the name there
  const auto check = [&](const std::string& place, const std::string& name) {
    columns.emplace_back(place, name);
  };
  if (specification.privacy_unit)
    check(specification.name + ": [data]: privacy_unit: ", *specification.privacy_unit);
  if (specification.where) {
    for (const std::string& name : specification.where->columns())
      check(specification.name + ": [data]: where: ", name);
  }
  for (const StatisticSpecification& statistic : specification.statistics) {
    if (statistic.group_by) check(specification.place(statistic) + "group_by: ", *statistic.group_by);
    for (const std::string& name : statistic.columns) check(specification.place(statistic), name);
  }
  std::vector<std::string> found;
  for (const auto& [place, name] : columns) {
    if (column_problem(header, name).empty()) found.push_back(name);
  }
  for (const auto& [place, name] : columns) {
    const std::string problem = column_problem(header, name);
    if (problem.empty()) continue;
    throw Error(ErrorCode::bad_data, "column",
                place + "column " + quoted_text(name) + " " + problem + did_you_mean(name, found));
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
      if (asked.max_groups_per_unit)
        request.groups = FoldRequest::GroupLimit{*asked.group_by, *asked.max_groups_per_unit};
    }
  }
  const FoldResult result = source.fold(plan.selection(), requests, progress);
  const std::optional<std::uint64_t>& size = plan.specification().size;
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
    }
  }
  return exact;
}

std::vector<LedgerCharge> charges(const Plan& plan) {
  std::vector<LedgerCharge> charges;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    if (statistic.epsilon > 0) charges.push_back({statistic.specification.name, statistic.epsilon});
  }
  return charges;
}

// Everything below here has been paid for.
Released draw(const Plan& plan, const LedgerReceipt& receipt,
              std::vector<std::vector<std::vector<Dyadic>>> values, Ledger& ledger) {
  const auto lost = [&](const std::string& why) {
    return Error(ErrorCode::io, "release",
                 why + "; release " + std::to_string(receipt.release) +
                     " is paid for, shows nothing and is not refunded");
  };
  try {
    SystemGenerator& generator = thread_generator();
    for (std::size_t i = 0; i < values.size(); ++i) {
      for (std::size_t j = 0; j < values[i].size(); ++j) {
        values[i][j] = plan.statistics()[i].measurements[j].measurement.release_paid(values[i][j], generator);
      }
    }
    Released released{Report(plan, values, receipt.release, receipt.spent, receipt.remaining),
                      receipt.release, ""};
    try {
      ledger.store_report(receipt.release, released.report.json());
    } catch (const Error& error) {
      released.not_stored = error.what();
    }
    return released;
  } catch (const Error& error) {
    throw lost(error.what());
  } catch (const std::bad_alloc&) {
    throw lost("out of memory");
  }
}

}  // namespace

Released release(const Specification& specification, Ledger& ledger, const OpenSource& open_source,
                 const ReleaseOptions& options) {
  const FloatEnvironment environment;
  check_ledger(Plan(specification), ledger);
  const std::unique_ptr<Source> source = open_source();
  const std::vector<SourceColumn> header = source->columns();
  check_header(specification, header);
  // Types that the file declares may change the noise, so the plan that is shown, checked and carried out is
  // made anew.
  const Plan plan(specification, header);
  check_certificates(plan);
  check_ledger(plan, ledger);
  if (options.confirm && !options.confirm(plan)) {
    throw Error(ErrorCode::invalid_argument, "confirm", "nothing was released and nothing was debited");
  }
  std::vector<std::vector<std::vector<Dyadic>>> exact = fold(plan, *source, options.progress);
  if (plan.epsilon() == 0) {
    const LedgerBalance balance = ledger.balance();
    return {Report(plan, exact, std::nullopt, balance.spent, balance.remaining), std::nullopt, ""};
  }
  const LedgerReceipt receipt = ledger.debit(specification.identity(), charges(plan), specification.text);
  return draw(plan, receipt, std::move(exact), ledger);
}

}  // namespace snapdp
