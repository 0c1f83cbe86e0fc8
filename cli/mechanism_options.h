// The options that describe a mechanism, the same for law, accuracy, bias, bound, plot and certify; and the mechanism
// they describe.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "arguments.h"
#include "release/shared/mechanism_picture.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/mechanism/mechanism.h"

namespace snapdp::cli {

// As typed; empty when not given.
struct MechanismArguments {
  std::string epsilon;
  std::string scale;  // of Gaussian noise; and for certify
  std::string sensitivity;
  std::string lower;
  std::string upper;
  std::string value;
  std::string grid = "auto";
  std::string mode = "exact";
  std::string precision;
  std::string noise = "laplace";
  std::string alpha = "0.05";
  std::string target;
  std::string at;
  std::string gamma = "0.05";
  bool integer = false;
  bool json = false;
};

// Declares the options of the noise and its bounds; `bounds` says what --lower and --upper mean to this command, and
// `epsilon` what else may be given.
void add_noise_options(CLI::App& command, MechanismArguments& arguments, const std::string& epsilon,
                       const std::string& bounds);
// The same and those of the questions about them.
void add_mechanism_options(CLI::App& command, MechanismArguments& arguments,
                           const std::string& bounds = "values and outputs are clamped to it");
// The footer of the commands' help: how numbers are written.
extern const char* const numbers_footer;
// Why precision mode refuses a missing bound.
extern const char* const precision_needs_range;

// What was typed, checked. Throws invalid_argument naming the option.
struct MechanismQuestion {
  explicit MechanismQuestion(const MechanismArguments& arguments);

  // Whether both bounds are given. One alone clamps on its side.
  bool has_range() const { return lower && upper; }
  // Refuses when a bound is missing; `why` says what needs both, and what else may be done.
  void require_range(const std::string& why) const;

  // The mechanism with this privacy loss, between the bounds.
  MechanismOptions options(const Rational& loss) const;
  // Without the bounds.
  MechanismOptions free_options(const Rational& loss) const;
  Mechanism mechanism(const Rational& loss) const { return Mechanism(options(loss)); }
  // How near it comes, at --alpha, for every value there is.
  Accuracy accuracy(const Mechanism& mechanism) const {
    return accuracy_of({mechanism.noise(), alpha, 0, values()});
  }
  // The grid of the statistic's values, where it is known.
  std::optional<Grid> values() const { return integer ? std::optional(Grid(0)) : std::nullopt; }
  // The least epsilon whose tight accuracy is `accuracy` or better. Throws when there is none.
  Rational epsilon_for(const Rational& accuracy) const;
  // --epsilon, or else the least that reaches --target-accuracy.
  Rational chosen_epsilon() const;

  std::optional<Rational> epsilon;
  std::optional<Rational> scale;
  Dyadic sensitivity;
  bool has_sensitivity;         // it was given: Gaussian noise does without
  std::optional<double> lower;  // either may be absent
  std::optional<double> upper;
  std::optional<double> value;
  GridChoice grid;
  NoiseKind noise;  // as --mode and --noise say
  std::optional<long> precision;
  bool integer;  // as --integer says, or geometric noise needs
  FailureRate alpha;
  std::optional<Rational> target;
  std::optional<Rational> at;
  FailureRate gamma;
};

using release_internal::chart::clamp_text;

}  // namespace snapdp::cli
