// What the fuzz targets share. Each target reads bytes that nobody vouches for and checks what the headers promise:
// that snapdp::Error is the only exception, that what was read is sound, and that it can be written and read again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <string_view>
#include <type_traits>

#include "snapdp/error.h"

// Aborts with the place when a property does not hold; libFuzzer keeps the input.
#define SNAPDP_FUZZ_CHECK(property)                                                      \
  do {                                                                                   \
    if (!(property)) {                                                                   \
      std::cerr << __FILE__ << ":" << __LINE__ << ": does not hold: " #property << '\n'; \
      std::abort();                                                                      \
    }                                                                                    \
  } while (false)

namespace snapdp::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// An Error says what is wrong in one piece of text that no terminal obeys.
inline void check_error(const Error& error) {
  const std::string_view message = error.what();
  SNAPDP_FUZZ_CHECK(!message.empty());
  SNAPDP_FUZZ_CHECK(!error.parameter().empty());
  SNAPDP_FUZZ_CHECK(shown_lines(message) == message);
}

// Whether `action` throws an Error; any other exception is a finding.
template <typename Action>
bool refuses(const Action& action) {
  try {
    action();
    return false;
  } catch (const Error& error) {
    check_error(error);
    return true;
  }
}

// Values from the front of the bytes; zeros when there are none left.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(text_of(data, size)) {}

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  std::string_view take(std::size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  template <typename Value>
  Value value() {
    static_assert(std::is_trivially_copyable_v<Value> && !std::is_same_v<Value, bool>);
    Value value{};
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  // A number below `end`, from one byte.
  std::size_t below(std::size_t end) { return value<std::uint8_t>() % end; }
  // Up to the next line feed, which is taken too.
  std::string_view line() {
    const std::string_view line = take(std::min(rest_.find('\n'), rest_.size()));
    take(1);
    return line;
  }

 private:
  std::string_view rest_;
};

}  // namespace snapdp::fuzz
