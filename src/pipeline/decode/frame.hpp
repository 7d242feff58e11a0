// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall {

/// Captured bytes of one frame, with its length on the wire. Positions count from the link header.
///
/// The reading functions require has(at, bytes they read).
class Frame {
 public:
  Frame(const std::uint8_t* data, std::size_t captured_bytes, std::size_t wire_bytes) noexcept
      : data_(data), captured_bytes_(captured_bytes), wire_bytes_(wire_bytes) {}

  bool has(std::size_t at, std::size_t bytes) const noexcept {
    return at <= captured_bytes_ && bytes <= captured_bytes_ - at;
  }
  std::uint8_t u8(std::size_t at) const noexcept { return data_[at]; }
  std::uint16_t be16(std::size_t at) const noexcept { return static_cast<std::uint16_t>(u8(at) << 8 | u8(at + 1)); }
  std::uint16_t le16(std::size_t at) const noexcept { return static_cast<std::uint16_t>(u8(at + 1) << 8 | u8(at)); }
  std::uint32_t be32(std::size_t at) const noexcept { return std::uint32_t{be16(at)} << 16 | be16(at + 2); }
  std::uint32_t le32(std::size_t at) const noexcept { return std::uint32_t{le16(at + 2)} << 16 | le16(at); }
  const std::uint8_t* at(std::size_t at) const noexcept { return data_ + at; }

  /// Returns the captured bytes from `at` on.
  std::span<const std::uint8_t> from(std::size_t at) const noexcept {
    return {data_ + std::min(at, captured_bytes_), data_ + captured_bytes_};
  }

  /// Returns the length on the wire from `at` on; never less than the captured bytes there.
  std::size_t bytes_from(std::size_t at) const noexcept {
    const std::size_t end = std::max(wire_bytes_, captured_bytes_);
    return at < end ? end - at : 0;
  }

  /// Returns the same frame as if it ended at `end`.
  Frame until(std::size_t end) const noexcept {
    return {data_, std::min(captured_bytes_, end), std::min(wire_bytes_, end)};
  }

 private:
  const std::uint8_t* data_;
  std::size_t captured_bytes_;
  std::size_t wire_bytes_;
};

}  // namespace parshall
