// Uses an installed SnapDP the way its README says: exact numbers, and one value snapped with the system's
// randomness.
#include <cstdio>
#include <string>

#include "snapdp/error.h"
#include "snapdp/mechanism/snapping.h"
#include "snapdp/numeric/rational.h"
#include "snapdp/random/system_generator.h"
#include "snapdp/version.h"

#ifdef CONSUMER_HAS_ARROW
#include "snapdp/engines/arrow/arrow_source.h"

// A stream without batches, to be read to its end.
static bool reads_arrow() {
  ArrowArrayStream stream{};
  stream.get_schema = [](ArrowArrayStream*, ArrowSchema* out) {
    *out = ArrowSchema{};
    out->format = "g";
    out->name = "age";
    out->release = [](ArrowSchema* schema) { schema->release = nullptr; };
    return 0;
  };
  stream.get_next = [](ArrowArrayStream*, ArrowArray* out) {
    *out = ArrowArray{};
    return 0;
  };
  stream.release = [](ArrowArrayStream* released) { released->release = nullptr; };
  snapdp::ArrowSource people(&stream);
  return people.columns().at(0).name == "age" && people.fold({}, {}, {}).rows == 0;
}
#else
static bool reads_arrow() {
  return true;
}
#endif

int main() {
  if (!reads_arrow()) return 1;
  const snapdp::Rational tenth = snapdp::parse_rational("0.1", "epsilon");
  const snapdp::Rational epsilon = tenth + tenth + tenth;
  std::printf("snapdp %s: three tenths are %s\n", std::string(snapdp::version()).c_str(),
              snapdp::to_string(epsilon).c_str());

  const snapdp::Snapping mechanism(
      {.epsilon = epsilon, .sensitivity = snapdp::Dyadic(1), .lower = 0, .upper = 100});
  const snapdp::Rational noisy = mechanism.release(snapdp::Dyadic(42), snapdp::thread_generator()).rational();
  std::printf("a noisy 42: %s\n", snapdp::to_string(noisy).c_str());
  if (noisy < 0 || noisy > 100 || mechanism.loss_bound() > epsilon) return 1;

  try {
    snapdp::parse_rational("one", "epsilon");
  } catch (const snapdp::Error& error) {
    return error.parameter() == "epsilon" ? 0 : 1;
  }
  return 1;
}
