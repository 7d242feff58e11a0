// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace parshall {

/// Reads fields in network order from the front of a span. A read beyond the end fails: it returns 0 or nothing, and so
/// do all later reads.
class Cursor {
 public:
  explicit Cursor(std::span<const std::uint8_t> bytes) noexcept
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool failed() const noexcept { return failed_; }
  bool empty() const noexcept { return at_ == end_; }
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  std::span<const std::uint8_t> rest() const noexcept { return {at_, end_}; }

  std::uint8_t u8() noexcept { return has(1) ? *at_++ : std::uint8_t{0}; }
  std::uint16_t be16() noexcept { return static_cast<std::uint16_t>(number<2>()); }
  std::uint32_t be24() noexcept { return static_cast<std::uint32_t>(number<3>()); }
  std::uint32_t be32() noexcept { return static_cast<std::uint32_t>(number<4>()); }

  /// Reads a variable-length integer (RFC 9000, 16).
  std::uint64_t varint() noexcept {
    const std::uint8_t first = u8();
    const std::size_t more = (std::size_t{1} << (first >> 6)) - 1;
    if (!has(more)) return 0;
    std::uint64_t value = first & 0x3f;
    for (std::size_t i = 0; i < more; ++i) value = value << 8 | *at_++;
    return value;
  }

  std::span<const std::uint8_t> take(std::uint64_t bytes) noexcept {
    if (!has(bytes)) return {};
    const std::span<const std::uint8_t> taken(at_, static_cast<std::size_t>(bytes));
    at_ += bytes;
    return taken;
  }
  /// Skips a field with a length in front of it.
  void skip8() noexcept { take(u8()); }

 private:
  bool has(std::uint64_t bytes) noexcept {
    if (bytes <= left() && !failed_) [[likely]]
      return true;
    failed_ = true;
    at_ = end_;
    return false;
  }
  template <std::size_t kBytes>
  std::uint64_t number() noexcept {
    if (!has(kBytes)) return 0;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < kBytes; ++i) value = value << 8 | *at_++;
    return value;
  }

  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool failed_ = false;
};

inline std::string_view text_of(std::span<const std::uint8_t> bytes) noexcept {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace parshall
