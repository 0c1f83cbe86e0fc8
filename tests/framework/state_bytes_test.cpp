#include "framework/state_bytes.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <random>

#include "snapdp/error.h"

namespace snapdp {

using namespace framework_internal;

namespace {

// A hostile author computes a right checksum.
std::string sealed(std::string body) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  EVP_Digest(body.data(), body.size(), digest, &length, EVP_sha256(), nullptr);
  return body.append(reinterpret_cast<const char*>(digest), length);
}

const Totals example{
    3, {Dyadic(0.75), Dyadic(-5), Dyadic(0), Dyadic(Integer("123456789012345678901234567890"), -2000)}};

TEST(StateBytes, RoundTrip) {
  EXPECT_EQ(read_state(write_state("sum", example), "sum"), example);
  EXPECT_THROW(read_state(write_state("sum", example), "mean"), Error);
}

TEST(StateBytes, HostileBodiesWithRightChecksumsAreReadOrRefused) {
  const std::string bytes = write_state("sum", example);
  const std::string body = bytes.substr(0, bytes.size() - 32);
  std::mt19937_64 engine(3);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string altered = body;
    for (std::uint64_t changes = 1 + engine() % 3; changes > 0; --changes) {
      altered[engine() % altered.size()] = static_cast<char>(engine());
    }
    if (engine() % 4 == 0) altered.resize(engine() % altered.size());
    try {
      const Totals totals = read_state(sealed(altered), "sum");
      // What is accepted has one byte form only.
      ASSERT_EQ(write_state("sum", totals), sealed(altered));
      ++accepted;
    } catch (const Error& error) {
      ASSERT_TRUE(error.code() == ErrorCode::bad_data || error.code() == ErrorCode::mismatch);
    }
  }
  EXPECT_GT(accepted, 0);
}

}  // namespace
}  // namespace snapdp
