#include "snapdp/mechanism/mechanism.h"

#include <gtest/gtest.h>

#include "snapdp/error.h"

namespace snapdp {
namespace {

// Its outputs lie on a grid about the middle of the bounds, which need not be one of integers.
TEST(Mechanism, PrecisionModeReleasesNoIntegers) {
  MechanismOptions options{
      .epsilon = 1, .sensitivity = 1, .lower = 0, .upper = 100, .noise = NoiseKind::notes};
  EXPECT_EQ(Mechanism(options).kind(), NoiseKind::notes);
  options.integer = true;
  try {
    const Mechanism mechanism(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_EQ(error.parameter(), "integer");
  }
}

}  // namespace
}  // namespace snapdp
