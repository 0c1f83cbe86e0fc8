// What releases cost together at a delta, as the tool prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "release/shared/text_table.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp::cli {

class Accounting {
 public:
  Accounting(const std::vector<EqualReleases>& releases, const Rational& delta);

  // Adds the keys "delta" ... to an object.
  void add_to(nlohmann::ordered_json& object) const;
  // A row for each bound: its name, its epsilon and when it holds.
  release_internal::TextTable table() const;

 private:
  std::int64_t count_ = 0;
  Rational delta_;
  Rational basic_;
  CompositionBound optimal_;
  Rational rho_;
  std::optional<Rational> zcdp_;
};

}  // namespace snapdp::cli
