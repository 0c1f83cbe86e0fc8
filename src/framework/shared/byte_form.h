// Byte forms of states: integers are little-endian.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace snapdp::framework_internal {

template <typename Number>
void append_number(std::string& bytes, Number value) {
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i) & 0xffU);
}

// Takes bytes off the front of what it was given, which must outlive what it gives. `refuse` is called where there are too
// few, and throws.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, void (*refuse)()) : rest_(bytes), refuse_(refuse) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) refuse_();
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  template <typename Number>
  Number number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(sizeof(Number));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return static_cast<Number>(value);
  }
  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
  void (*refuse_)();
};

}  // namespace snapdp::framework_internal
