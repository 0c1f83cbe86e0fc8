// Specifications: read, planned and printed.
#include "snapdp/release/specification.h"

#include <nlohmann/json.hpp>

#include "fuzz/fuzz.h"
#include "snapdp/release/plan.h"

namespace snapdp {
namespace {

void check_plan(const Plan& plan) {
  const Specification& specification = plan.specification();
  // A plan beyond its budget can be looked at, and is refused where it would be paid for.
  const bool fits = specification.budget.exceeded_by(plan.cost()).empty() && plan.unpaid().empty();
  SNAPDP_FUZZ_CHECK(plan.epsilon() >= 0 && plan.is_affordable() == fits);
  SNAPDP_FUZZ_CHECK(fuzz::refuses([&] { plan.require_affordable(); }) == !fits);
  SNAPDP_FUZZ_CHECK(plan.statistics().size() + plan.unpaid().size() == specification.statistics.size());
  Rational total = 0;
  for (const PlannedStatistic& statistic : plan.statistics()) {
    total += statistic.cost.value;
    SNAPDP_FUZZ_CHECK(statistic.loss_bound <= statistic.cost.value && statistic.loss_bound >= 0);
    SNAPDP_FUZZ_CHECK(statistic.constant.has_value() == statistic.measurements.empty());
    for (const PlannedMeasurement& measurement : statistic.measurements)
      SNAPDP_FUZZ_CHECK(measurement.epsilon > 0);
  }
  SNAPDP_FUZZ_CHECK(total == plan.epsilon());
  SNAPDP_FUZZ_CHECK(nlohmann::json::accept(plan.to_json()));
  SNAPDP_FUZZ_CHECK(!plan.to_table({.utility = true}).empty() && !plan.explanation().empty());
  SNAPDP_FUZZ_CHECK(!plan.to_html().empty());
}

void run(std::string_view text) {
  Specification specification;
  if (fuzz::refuses([&] { specification = Specification::parse(text, "fuzz.toml", "/nowhere"); })) return;
  SNAPDP_FUZZ_CHECK(!specification.statistics.empty());
  SNAPDP_FUZZ_CHECK(specification.statistics.size() <= Specification::max_statistics);
  SNAPDP_FUZZ_CHECK(is_budget(specification.budget));
  // What a ledger would keep reads back as the same, and the specification agrees with it.
  const std::string kept = specification.data.canonical_text();
  const Declaration again = Declaration::parse(kept, "ledger", "/nowhere");
  SNAPDP_FUZZ_CHECK(again.canonical_text() == kept && again.identity() == specification.identity());
  SNAPDP_FUZZ_CHECK(specification.under(again).data.canonical_text() == kept);
  fuzz::refuses([&] { check_plan(Plan(specification)); });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run(snapdp::fuzz::text_of(data, size));
  return 0;
}
