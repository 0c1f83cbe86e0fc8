#include "snapdp/numeric/instruction_set.h"

#include <gtest/gtest.h>

namespace snapdp {
namespace {

#if defined(__x86_64__)
TEST(InstructionSet, IsWhatTheCompilersLibraryFinds) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  EXPECT_EQ(is_supported(InstructionSet::avx2), avx2);
  EXPECT_EQ(is_supported(InstructionSet::avx512), avx512);
}
#endif

TEST(InstructionSet, PortableIsEverywhere) {
  EXPECT_TRUE(is_supported(InstructionSet::portable));
  EXPECT_NO_THROW(require_supported(InstructionSet::portable));
}

}  // namespace
}  // namespace snapdp
