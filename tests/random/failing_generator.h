// A system whose random generator fails.
#pragma once

// A table of OpenSSL 1.1, which OpenSSL 3 still honors.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/rand.h>

#include <algorithm>

namespace snapdp {

// Delivers ones so many times and then fails, installed for the life of the object.
class FailingGenerator {
 public:
  explicit FailingGenerator(int good_calls) {
    calls_left = good_calls;
    static const RAND_METHOD method = {nullptr, bytes, nullptr, nullptr, bytes, status};
    RAND_set_rand_method(&method);
  }
  ~FailingGenerator() { RAND_set_rand_method(RAND_OpenSSL()); }
  FailingGenerator(const FailingGenerator&) = delete;
  FailingGenerator& operator=(const FailingGenerator&) = delete;

 private:
  static int bytes(unsigned char* out, int size) {
    // A failing read may leave anything behind.
    std::fill_n(out, size, static_cast<unsigned char>(0xff));
    return calls_left-- > 0 ? 1 : 0;
  }
  static int status() { return 1; }
  inline static int calls_left = 0;
};

}  // namespace snapdp
