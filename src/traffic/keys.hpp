// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/keyed_hash.hpp"
#include "base/random.hpp"
#include "base/simd.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall::lab {

/// Key of a flow in the first `Bytes` bytes of a FlowKey: 8 for an IPv4 source address, 16 for an IPv4 5-tuple, 40 for
/// an IPv6 5-tuple.
template <std::size_t Bytes>
struct LabKey {
  static constexpr std::size_t kWords = Bytes / 8;
  std::array<std::uint64_t, kWords> words{};

  bool present() const noexcept { return (words[0] >> kVersionShift & 0xFF) != 0; }
  simd::Bytes16 block(std::size_t word) const noexcept {
    return simd::words(words[word], word + 1 < kWords ? words[word + 1] : 0);
  }

  friend bool operator==(const LabKey& a, const LabKey& b) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return ((a.words[I] ^ b.words[I]) | ...) == 0; }
    (std::make_index_sequence<kWords>());
  }

  static constexpr unsigned kVersionShift = 8 * offsetof(FlowKey, ip_version);
};
inline constexpr std::size_t kKeySizes[] = {8, 16, 40};
static_assert(sizeof(LabKey<16>) == FlowKey::kHeadBytes && sizeof(LabKey<40>) == sizeof(FlowKey));

/// Returns pseudo-random ports and addresses, different for every flow, computed by arithmetic alone.
template <std::size_t Bytes>
[[gnu::always_inline]] inline LabKey<Bytes> key_of(std::uint32_t flow) noexcept {
  constexpr std::uint64_t kIpVersion = std::uint64_t{Bytes == 40 ? 6 : 4} << LabKey<Bytes>::kVersionShift;
  if constexpr (Bytes == 8) {
    return {{std::uint64_t{flow * 0x9E3779B1u} | kIpVersion}};
  } else {
    const std::uint64_t addresses = SplitMix64::mix(flow + 0x9E3779B97F4A7C15ull);
    LabKey<Bytes> key{{(addresses * 0xD1B54A32D192ED03ull & 0xFFFF'FFFF) | 6ull << 32 | kIpVersion, addresses}};
    for (std::size_t word = 2; word < key.kWords; ++word) key.words[word] = addresses * (2 * word + 1);
    return key;
  }
}

/// Inverts key_of().
template <std::size_t Bytes>
std::uint32_t flow_of(const LabKey<Bytes>& key) noexcept {
  if constexpr (Bytes == 8) {
    return static_cast<std::uint32_t>(key.words[0]) * 0x0E8B2F51u;  // the inverse of the factor, modulo 2^32
  } else {
    std::uint64_t z = key.words[1];
    z = (z ^ z >> 31 ^ z >> 62) * 0x319642B2D24D8EC3ull;
    z = (z ^ z >> 27 ^ z >> 54) * 0x96DE1B173F119089ull;
    return static_cast<std::uint32_t>((z ^ z >> 30 ^ z >> 60) - 0x9E3779B97F4A7C15ull);
  }
}

/// Writes the key in the monitor's format. An address alone is a key without ports, protocol and destination.
template <std::size_t Bytes>
[[gnu::always_inline]] inline void write_flow_key(const LabKey<Bytes>& key, FlowKey& to) noexcept {
  if constexpr (Bytes == 8) {
    constexpr std::uint64_t kVersionMask = 0xFFull << LabKey<8>::kVersionShift;
    const LabKey<16> head{{key.words[0] & kVersionMask, key.words[0] & 0xFFFF'FFFF}};
    simd::store(&to, head.block(0));
  } else {
    for (std::size_t word = 0; word < key.kWords; word += 2) {
      char* const at = reinterpret_cast<char*>(&to) + 8 * word;
      word + 1 < key.kWords ? simd::store(at, key.block(word)) : simd::store_low(at, key.block(word));
    }
  }
}
template <std::size_t Bytes>
LabKey<Bytes> read_flow_key(const FlowKey& from) noexcept {
  LabKey<Bytes> key;
  if constexpr (Bytes == 8) {
    std::uint32_t address;
    std::memcpy(&address, from.address.data(), sizeof address);
    key.words[0] = address | std::uint64_t{from.ip_version} << LabKey<8>::kVersionShift;
  } else {
    std::memcpy(static_cast<void*>(&key), &from, sizeof key);
  }
  return key;
}

struct LabHasher {
  KeyedHash hash;

  template <std::size_t Bytes>
  std::uint64_t operator()(const LabKey<Bytes>& key) const noexcept {
    if constexpr (Bytes <= 16)
      return hash(key.block(0));
    else
      return hash(key.block(0), key.block(2), key.block(4));
  }
};

}  // namespace parshall::lab
