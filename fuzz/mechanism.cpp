// Mechanisms from options as people type them, one a line: epsilon, sensitivity, bounds, grid, value. The first byte
// chooses mode, noise and type.
#include "snapdp/mechanism/mechanism.h"

#include <cmath>
#include <optional>

#include "fuzz/fuzz.h"
#include "snapdp/mechanism/accuracy.h"
#include "snapdp/random/system_generator.h"

namespace snapdp {
namespace {

std::optional<double> bound(std::string_view text, double (*round)(const Rational&)) {
  if (text.empty()) return std::nullopt;
  return round(parse_rational(text, "bound"));
}

// Outputs lie on the grid and between the bounds.
void check_output(const Mechanism& mechanism, const Dyadic& output, bool integer) {
  if (mechanism.lower()) SNAPDP_FUZZ_CHECK(output >= Dyadic(*mechanism.lower()));
  if (mechanism.upper()) SNAPDP_FUZZ_CHECK(output <= Dyadic(*mechanism.upper()));
  SNAPDP_FUZZ_CHECK(!integer || output.is_integer());
}

void run(fuzz::Input input) {
  const auto flags = input.value<std::uint8_t>();
  const std::string_view epsilon = input.line();
  const std::string_view sensitivity = input.line();
  const std::string_view lower = input.line();
  const std::string_view upper = input.line();
  const std::string_view grid = input.line();
  const std::string_view value = input.line();
  const std::string_view target = input.line();
  fuzz::refuses([&] {
    MechanismOptions options;
    options.epsilon = parse_rational(epsilon, "epsilon");
    options.sensitivity = to_dyadic(parse_rational(sensitivity, "sensitivity"), "sensitivity");
    options.lower = bound(lower, to_double_down);
    options.upper = bound(upper, to_double_up);
    if (!grid.empty()) options.grid = GridChoice::parse(grid);
    options.integer = (flags & 1U) != 0;
    if ((flags & 2U) != 0) options.noise = NoiseKind::notes;
    if ((flags & 4U) != 0) options.noise = NoiseKind::geometric;
    if ((flags & 8U) != 0) options.precision = 60 + flags;
    if ((flags & 16U) != 0) {
      options.noise = NoiseKind::gaussian;
      options.scale = to_double_up(options.epsilon);
    }
    const Mechanism mechanism(options);

    if (mechanism.kind() == NoiseKind::gaussian) {
      SNAPDP_FUZZ_CHECK(mechanism.rho() > 0);
    } else {
      SNAPDP_FUZZ_CHECK(mechanism.stated_loss() <= options.epsilon);
      SNAPDP_FUZZ_CHECK(!mechanism.loss_is_proved() ||
                        mechanism.loss_bound(mechanism.sensitivity().rational()) <= options.epsilon);
    }
    SNAPDP_FUZZ_CHECK(mechanism.sensitivity() >= options.sensitivity);
    const Accuracy accuracy = accuracy_of({mechanism.noise(), Rational(1, 20)});
    SNAPDP_FUZZ_CHECK(accuracy.tight >= 0 && accuracy.tight <= accuracy.conservative);

    const Dyadic exact = to_dyadic(parse_rational(value, "value"), "value");
    check_output(mechanism, mechanism.release(exact, thread_generator()), options.integer);
    if (target.empty()) return;
    if (mechanism.kind() == NoiseKind::gaussian) {
      SNAPDP_FUZZ_CHECK(scale_for_accuracy({.sensitivity = options.sensitivity.rational(),
                                            .accuracy = parse_rational(target, "accuracy"),
                                            .alpha = Rational(1, 20),
                                            .grid = options.grid,
                                            .integer = options.integer,
                                            .noise = NoiseKind::gaussian}) > 0);
      return;
    }
    EpsilonQuery query{.sensitivity = options.sensitivity.rational(),
                       .accuracy = parse_rational(target, "accuracy"),
                       .alpha = Rational(1, 20)};
    query.grid = options.grid;
    query.integer = options.integer;
    query.noise = options.noise;
    const Rational least = epsilon_for_accuracy(query);
    SNAPDP_FUZZ_CHECK(least > 0);
  });
}

}  // namespace
}  // namespace snapdp

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  snapdp::run({data, size});
  return 0;
}
