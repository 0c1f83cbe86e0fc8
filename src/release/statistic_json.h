// The JSON of plans and reports, in one place so that both have the same keys.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "snapdp/release/plan.h"

namespace snapdp::release_internal {

using Json = nlohmann::ordered_json;

// The values that a statistic is shown with.
class ShownValues {
 public:
  // A plan has none.
  static ShownValues none() { return ShownValues(Kind::none, nullptr); }
  // Of a report: one vector a measurement, which must outlive this.
  static ShownValues of(const std::vector<std::vector<Dyadic>>& released) {
    return ShownValues(Kind::released, &released);
  }
  // Stand-ins that are at least as long as whatever may be drawn, to know before paying how long a report can become.
  static ShownValues longest() { return ShownValues(Kind::longest, nullptr); }

  bool any() const { return kind_ != Kind::none; }
  // Nothing for stand-ins.
  const std::vector<std::vector<Dyadic>>* released() const { return released_; }

 private:
  enum class Kind { none, released, longest };
  ShownValues(Kind kind, const std::vector<std::vector<Dyadic>>* released)
      : kind_(kind), released_(released) {}

  Kind kind_;
  const std::vector<std::vector<Dyadic>>* released_;
};

// The statistic as planned, with `values` when there are any.
Json statistic_json(const PlannedStatistic& statistic, const ShownValues& values);

// Value `index` of a statistic that is released itself, or the stand-in for it.
Json single_json(const PlannedStatistic& statistic, const ShownValues& values, std::size_t index);
// The stand-in for a double: one of the most characters that a double takes.
constexpr double longest_double = std::numeric_limits<double>::lowest();

// How large the privacy loss of what runs may be, and how large it is for some datasets: decimals.
Json certificate_json(const Certificate& certificate);

// The keys that open a plan and a report.
Json data_json(const Specification& specification);

std::string to_text(const Json& json);

// Tables of plans and reports: how an accuracy with its probability is written.
std::string confidence(const Rational& alpha);

}  // namespace snapdp::release_internal
