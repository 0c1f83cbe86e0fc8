// What Python's plans and datasets hold.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "snapdp/release/plan.h"

namespace snapdp::python {

// A specification as text, so that it can be pickled, with the plan that follows from it.
struct HeldPlan {
  HeldPlan(const std::string& text, const std::string& name, const std::string& folder,
           const std::optional<std::string>& declaration)
      : plan(read(text, name, folder, declaration)) {}

  Plan plan;

 private:
  static Specification read(const std::string& text, const std::string& name, const std::string& folder,
                            const std::optional<std::string>& declaration) {
    std::optional<Declaration> declared;
    if (declaration) declared = Declaration::parse(*declaration, "declaration", folder);
    return Specification::parse(text, name, folder, declared);
  }
};

// The columns that a release reads, each once, in the order in which the plan names them.
std::vector<std::string> columns_of(const Plan& plan);
// Those of them that are read as texts.
std::vector<std::string> texts_of(const Plan& plan);

}  // namespace snapdp::python
