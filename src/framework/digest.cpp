#include "framework/shared/digest.h"

#include <openssl/evp.h>

#include "snapdp/error.h"

namespace snapdp::framework_internal {

std::string sha256(std::string_view bytes, const char* parameter) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr) != 1 ||
      length != digest_bytes) {
    throw Error(ErrorCode::io, parameter, std::string(parameter) + ": OpenSSL could not compute SHA-256");
  }
  return std::string(reinterpret_cast<const char*>(digest), length);
}

}  // namespace snapdp::framework_internal
