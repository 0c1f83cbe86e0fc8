// The faults of one text, collected so that its author sees them together and not one after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "snapdp/error.h"

namespace snapdp::release_internal {

class Faults {
 public:
  // Whether `check` throws no invalid_argument; one that it throws is kept. Other errors pass.
  template <typename Check>
  bool hold(const Check& check) {
    try {
      check();
      return true;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::invalid_argument) throw;
      add(error);
      return false;
    }
  }

  void add(const Error& fault);
  std::size_t size() const { return faults_.size(); }

  // Throws one Error when anything was collected: with the parameter of the first fault, and a line for each, of which
  // at most `most_lines` are shown.
  void refuse_any() const;

  static constexpr std::size_t most_lines = 20;

 private:
  std::vector<Error> faults_;
};

}  // namespace snapdp::release_internal
