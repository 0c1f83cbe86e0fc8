// What releases cost together at a delta, as the tool prints it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "release/shared/text_table.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/privacy/composition_bounds.h"

namespace snapdp::cli {

class Accounting {
 public:
  Accounting(std::span<const ComposedLoss> losses, const Rational& delta);

  // Adds the keys "delta" ... to an object.
  void add_to(nlohmann::ordered_json& object) const;
  // A row for each bound: its name, its epsilon and when it holds.
  release_internal::TextTable table() const;

 private:
  std::int64_t count_ = 0;
  bool is_pure_ = true;
  Rational delta_;
  std::optional<Rational> basic_;  // nothing where Gaussian noise, or a delta, needs more delta than there is
  std::optional<CompositionBound> optimal_;
  Rational rho_;
  std::optional<Rational> zcdp_;
};

}  // namespace snapdp::cli
