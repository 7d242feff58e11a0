// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include <cstdint>
#include <cstring>

#include "base/keyed_hash.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Which fields of the five-tuple make a flow.
enum class KeyFields : std::uint8_t { five_tuple, src_dst, src, dst };

/// What tells two flows apart.
enum class Identity : std::uint8_t {
  exact,        ///< the whole key is compared
  fingerprint,  ///< a tag and the bucket's bits of a keyed 64-bit hash of the key
  nic_hash,     ///< the 32-bit RSS hash of the device alone, as FloWatcher-DPDK does
};

/// Turns the decoded key into the flow's key and its hash.
class FlowIdentity {
 public:
  FlowIdentity(KeyFields fields, Identity identity, std::uint64_t seed) noexcept
      : hash_(seed), fields_(fields), from_nic_(identity == Identity::nic_hash) {
    const std::uint64_t names = fields == KeyFields::five_tuple ? (1ull << 48) - 1 : 0xFFull << 40;
    const std::uint64_t pair = fields == KeyFields::src   ? 0xFFFF'FFFFull
                               : fields == KeyFields::dst ? 0xFFFF'FFFFull << 32
                                                          : ~0ull;
    head_mask_ = _mm_set_epi64x(static_cast<long long>(pair), static_cast<long long>(names));
  }

  /// Masks `facts.key` to the chosen fields and sets `facts.hash`.
  void operator()(const RawPacket& packet, PacketFacts& facts) const noexcept {
    if (facts.key.ip_version == 4)
      ipv4(facts);
    else
      ipv6(facts);
    if (from_nic_) facts.hash = hash_(_mm_cvtsi64_si128(packet.nic_hash));
  }

  /// The same for an IPv4 packet whose identity is its key.
  [[gnu::always_inline]] void ipv4(PacketFacts& facts) const noexcept {
    const __m128i head = _mm_and_si128(load_head(facts.key), head_mask_);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&facts.key), head);
    facts.hash = hash_(head);
  }

  /// Of a key whose fields were chosen already; not the hash of its packets where that comes from the NIC.
  std::uint64_t hash(const FlowKey& key) const noexcept {
    return key.ip_version == 4 ? hash_(load_head(key)) : hash_ipv6(key);
  }

  bool from_nic() const noexcept { return from_nic_; }

  static __m128i load_head(const FlowKey& key) noexcept {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(&key));
  }

 private:
  void ipv6(PacketFacts& facts) const noexcept {
    FlowKey& key = facts.key;
    key.reserved = 0;
    if (fields_ != KeyFields::five_tuple) key.src_port_bytes = key.dst_port_bytes = {}, key.protocol = 0;
    if (fields_ == KeyFields::src) std::memset(key.address.data() + 16, 0, 16);
    if (fields_ == KeyFields::dst) std::memset(key.address.data(), 0, 16);
    facts.hash = hash_ipv6(key);
  }

  std::uint64_t hash_ipv6(const FlowKey& key) const noexcept {
    const auto load = [bytes = reinterpret_cast<const char*>(&key)](std::size_t at) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + at));
    };
    return hash_(load(0), load(16), load(24));
  }

  KeyedHash hash_;
  __m128i head_mask_;
  KeyFields fields_;
  bool from_nic_;
};

}  // namespace parshall
