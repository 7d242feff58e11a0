// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include <cstring>

#include "base/keyed_hash.hpp"
#include "base/random.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall::lab {

/// An IPv4 five-tuple: the first 16 bytes of a FlowKey.
struct LabKey {
  std::uint64_t low = 0, high = 0;

  bool present() const noexcept { return (low >> kVersionShift & 0xFF) != 0; }
  __m128i block() const noexcept { return _mm_set_epi64x(static_cast<long long>(high), static_cast<long long>(low)); }
  friend bool operator==(const LabKey&, const LabKey&) = default;

  static constexpr unsigned kVersionShift = 8 * offsetof(FlowKey, ip_version);
};
static_assert(sizeof(LabKey) == FlowKey::kHeadBytes);

/// Random ports and addresses, different for every flow, by arithmetic alone.
inline LabKey key_of(std::uint32_t flow) noexcept {
  const std::uint64_t addresses = SplitMix64::mix(flow + 0x9E3779B97F4A7C15ull);
  return {(addresses * 0xD1B54A32D192ED03ull & 0xFFFF'FFFF) | 6ull << 32 | 4ull << LabKey::kVersionShift, addresses};
}

/// The other way.
inline std::uint32_t flow_of(const LabKey& key) noexcept {
  std::uint64_t z = key.high;
  z = (z ^ z >> 31 ^ z >> 62) * 0x319642B2D24D8EC3ull;
  z = (z ^ z >> 27 ^ z >> 54) * 0x96DE1B173F119089ull;
  return static_cast<std::uint32_t>((z ^ z >> 30 ^ z >> 60) - 0x9E3779B97F4A7C15ull);
}

struct LabHasher {
  KeyedHash hash;

  std::uint64_t operator()(const LabKey& key) const noexcept { return hash(key.block()); }
};

/// What a map keeps for a flow: a packet count, and room up to `Bytes`.
template <std::size_t Bytes>
struct LabValue {
  std::uint64_t packets = 0;
  std::byte rest[Bytes - 8] = {};
};
template <>
struct LabValue<8> {
  std::uint64_t packets = 0;
};
template <>
struct LabValue<4> {
  std::uint32_t packets = 0;
};

}  // namespace parshall::lab
