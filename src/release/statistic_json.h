// The JSON of plans and reports, in one place so that both have the same keys.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "snapdp/release/plan.h"

namespace snapdp {

using Json = nlohmann::ordered_json;

// The statistic as planned; with `released` (one vector a measurement) also its values.
Json statistic_json(const PlannedStatistic& statistic, const std::vector<std::vector<Dyadic>>* released);

// How large the privacy loss of what runs may be, and how large it is for some datasets: decimals.
Json certificate_json(const Certificate& certificate);

// The keys that open a plan and a report.
Json data_json(const Specification& specification);

std::string to_text(const Json& json);

// Tables of plans and reports: how an accuracy with its probability is written.
std::string confidence(const Rational& alpha);

}  // namespace snapdp
