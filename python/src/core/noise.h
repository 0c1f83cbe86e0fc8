// The options that describe a mechanism, the same for accuracy, law, bias, bound and certify.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/bindings.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp::python {

// `mode` is "exact" or "precision", `noise` "laplace" or "geometric".
NoiseKind noise_kind(const std::string& mode, const std::string& noise);
// E[output] - value: at the value, on average over guesses with weights, and at its worst.
Facts bias_facts(const Noise& noise, bool integer, const std::optional<double>& value,
                 const std::vector<Rational>& guesses, const std::vector<Rational>& weights);

// Of Python's texts, checked; throws invalid_argument naming the parameter.
struct NoiseQuestion {
  NoiseQuestion(const std::optional<std::string>& loss, const std::string& distance,
                const std::optional<std::string>& from, const std::optional<std::string>& to,
                const std::string& spacing, const std::string& mode, const std::optional<long>& bits,
                const std::string& noise_name, bool whole);

  bool has_range() const { return lower && upper; }
  // Refuses when a bound is missing; `why` says what needs both.
  void require_range(const std::string& why) const;
  // Refuses one that an integer statistic cannot have.
  void check_value(const std::optional<double>& value) const;
  const Rational& required_epsilon() const;

  // Without the bounds.
  MechanismOptions free_options(const Rational& loss) const;
  Mechanism mechanism(const Rational& loss) const { return Mechanism(options(loss)); }
  // The grid of the statistic's values, where it is known.
  std::optional<Grid> values() const { return integer ? std::optional(Grid(0)) : std::nullopt; }
  // The least epsilon whose tight accuracy is `accuracy` or better. Throws when there is none.
  Rational epsilon_for(const Rational& accuracy, const FailureRate& alpha) const;

  MechanismOptions options(const Rational& loss) const;

  std::optional<Rational> epsilon;
  Dyadic sensitivity;
  std::optional<double> lower;
  std::optional<double> upper;
  GridChoice grid;
  NoiseKind noise;
  std::optional<long> precision;
  bool integer;  // as stated, or as geometric noise needs
};

}  // namespace snapdp::python
