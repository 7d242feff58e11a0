// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall {

using Bytes = std::span<const std::uint8_t>;

/// Reads consecutive numbers. Beyond the end it reads zeros, and ok() becomes false.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}

  bool ok() const noexcept { return ok_; }
  std::size_t left() const noexcept { return bytes_.size(); }

  std::uint8_t byte() noexcept { return static_cast<std::uint8_t>(big(1)); }

  /// Reads a number, the highest byte first. With more than eight bytes, the last ones remain.
  std::uint64_t big(std::size_t bytes) noexcept {
    std::uint64_t value = 0;
    for (const std::uint8_t each : take(bytes)) value = value << 8 | each;
    return value;
  }

  /// Reads a number of 7 bits a byte, the lowest first.
  std::uint64_t varint() noexcept {
    constexpr unsigned kBits = 7, kMost = 64;
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < kMost; shift += kBits) {
      const std::uint8_t next = byte();
      value |= std::uint64_t{next & 0x7fu} << shift;
      if (next < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }
  std::int64_t zigzag() noexcept {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>(value >> 1 ^ (0 - (value & 1)));
  }

  std::span<const std::uint8_t> take(std::size_t bytes) noexcept {
    if (bytes > bytes_.size()) ok_ = false;
    const auto taken = bytes_.first(std::min(bytes, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  bool ok_ = true;
};

}  // namespace parshall
