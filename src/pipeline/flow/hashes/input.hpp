// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/simd.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Says which fields of a key are hashed.
enum class HashInput : std::uint8_t { addresses, with_ports, five_tuple };
inline constexpr std::size_t kHashInputs = 3;

/// Keys at equal distances in memory: one after the other, or each in its packet's facts. They need not be aligned.
class KeySpan {
 public:
  KeySpan(const void* first, std::size_t keys, std::size_t stride_bytes) noexcept
      : first_(static_cast<const std::uint8_t*>(first)), keys_(keys), stride_bytes_(stride_bytes) {}
  explicit KeySpan(std::span<const FlowKey> keys) noexcept : KeySpan(keys.data(), keys.size(), sizeof(FlowKey)) {}
  explicit KeySpan(std::span<const PacketFacts> packets) noexcept
      : KeySpan(packets.data(), packets.size(), sizeof(PacketFacts)) {
    static_assert(offsetof(PacketFacts, key) == 0);
  }

  std::size_t size() const noexcept { return keys_; }

  /// Returns the bytes of key i. All bytes of a FlowKey may be read, whatever its version.
  const std::uint8_t* operator[](std::size_t i) const noexcept { return first_ + i * stride_bytes_; }
  static bool is_ipv6(const std::uint8_t* key) noexcept { return key[offsetof(FlowKey, ip_version)] == 6; }

 private:
  const std::uint8_t* first_;
  std::size_t keys_, stride_bytes_;
};

/// Input of byte-wise hashes: source address, destination address, source port, destination port, protocol, as far as
/// `kInput` goes, without gaps, in network order. RSS uses the same order.
template <HashInput kInput, bool kIpv6>
class HashedBytes {
 public:
  static constexpr std::size_t kBytes = (kIpv6 ? 32 : 8) + (kInput == HashInput::addresses    ? 0
                                                            : kInput == HashInput::with_ports ? 4
                                                                                              : 5);

  HashedBytes() = default;
  explicit HashedBytes(const std::uint8_t* key) noexcept {
    const simd::Bytes16 head = simd::load(key);
    if constexpr (kIpv6) {
      std::memcpy(bytes_.data(), key + offsetof(FlowKey, address), 32);
      simd::store_low(bytes_.data() + 32, head);
    } else {
      const simd::Order order = {8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, simd::kZero, simd::kZero, simd::kZero};
      simd::store(bytes_.data(), simd::shuffled(head, order));
    }
  }

  std::span<const std::uint8_t> bytes() const noexcept { return {bytes_.data(), kBytes}; }

 private:
  alignas(16) std::array<std::uint8_t, kIpv6 ? 48 : 16> bytes_;
};

template <class T>
[[gnu::always_inline]] inline T load_word(const std::uint8_t* at) noexcept {
  T word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace parshall
