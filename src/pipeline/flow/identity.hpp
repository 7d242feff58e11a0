// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/choices.hpp"
#include "base/keyed_hash.hpp"
#include "base/simd.hpp"
#include "pipeline/capture/packet.hpp"
#include "pipeline/decode/fast_group.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/hashes/hash_function.hpp"

namespace parshall {

/// Turns the decoded key into the flow's key and its hash.
class FlowIdentity {
 public:
  /// `other` replaces the keyed hash. Its word is hashed again under the secret, so that attackers cannot aim at homes
  /// or partitions. Keys with equal words still collide.
  FlowIdentity(KeyFields fields, Identity identity, std::uint64_t seed, const HashFunction* other = nullptr) noexcept
      : hash_(seed), fields_(fields), from_nic_(identity == Identity::nic_hash) {
    if (other != nullptr)
      other_ = other->batch(fields == KeyFields::five_tuple ? HashInput::five_tuple : HashInput::addresses);
    const std::uint64_t names = fields == KeyFields::five_tuple ? (1ull << 48) - 1 : 0xFFull << 40;
    const std::uint64_t pair = fields == KeyFields::src   ? 0xFFFF'FFFFull
                               : fields == KeyFields::dst ? 0xFFFF'FFFFull << 32
                                                          : ~0ull;
    head_mask_ = simd::words(names, pair);
  }

  /// Masks `facts.key` to the chosen fields and sets `facts.hash`.
  void operator()(const RawPacket& packet, PacketFacts& facts) const noexcept {
    if (facts.key.ip_version == 4) {
      ipv4(load_head(facts.key), facts);
    } else {
      choose_ipv6_fields(facts.key);
      facts.hash = hash_ipv6(facts.key);
    }
    take_nic_hash(packet, facts);
    if (other_ != nullptr) facts.hash = hash(facts.key);
  }

  /// Only masks `facts.key`.
  void choose_fields(PacketFacts& facts) const noexcept {
    if (facts.key.ip_version == 4)
      choose_fields(load_head(facts.key), facts);
    else
      choose_ipv6_fields(facts.key);
  }
  [[gnu::always_inline]] void choose_fields(simd::Bytes16 ipv4_key_head, PacketFacts& facts) const noexcept {
    simd::store(&facts.key, ipv4_key_head & head_mask_);
  }

  /// Sets the hash of packets whose fields are chosen. Requires by_batch().
  void hash_batch(std::span<PacketFacts> packets) const noexcept {
    std::array<std::uint64_t, 8> words;
    for (std::size_t first = 0; first < packets.size(); first += words.size()) {
      const auto some = packets.subspan(first, std::min(words.size(), packets.size() - first));
      other_(hash_, KeySpan(some), words);
      for (std::size_t i = 0; i < some.size(); ++i) some[i].hash = hash_word(words[i]);
    }
  }

  /// Does what operator() does for an IPv4 packet identified by its key, which is given in a register.
  [[gnu::always_inline]] void ipv4(simd::Bytes16 key_head, PacketFacts& facts) const noexcept {
    const simd::Bytes16 head = key_head & head_mask_;
    simd::store(&facts.key, head);
    facts.hash = hash_(head);
  }

  /// Does the same for eight such packets. Returns false, with `facts` unspecified, if they are not all common packets.
  [[gnu::always_inline]] bool ipv4_group([[maybe_unused]] const RawPacket* packets,
                                         [[maybe_unused]] PacketFacts* facts) const noexcept {
#ifdef PARSHALL_FAST_GROUP
    FastGroup group;
    if (!decode_fast_group(packets, group)) return false;
    const __m512i mask = _mm512_broadcast_i32x4(head_mask_);
    const __m512i time_counts[2] = {_mm512_unpacklo_epi64(group.time_ns, group.counts),
                                    _mm512_unpackhi_epi64(group.time_ns, group.counts)};
    const __m512i heads[2] = {_mm512_and_si512(group.key_heads[0], mask), _mm512_and_si512(group.key_heads[1], mask)};
    const __m512i hashes[2] = {hash_(heads[0]), hash_(heads[1])};
    for (const int half : {0, 1}) {
      PacketFacts* const to = facts + 4 * half;
      store_lanes(heads[half], &to[0].key, &to[1].key, &to[2].key, &to[3].key);
    }
    for (const int odd : {0, 1}) {
      PacketFacts* const to = facts + odd;
      store_lanes(time_counts[odd], &to[0].time_ns, &to[2].time_ns, &to[4].time_ns, &to[6].time_ns);
    }
    const __m512i first_words = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i eight = _mm512_permutex2var_epi64(hashes[0], first_words, hashes[1]);
    store_words(_mm512_extracti64x2_epi64(eight, 0), &facts[0].hash, &facts[1].hash);
    store_words(_mm512_extracti64x2_epi64(eight, 1), &facts[2].hash, &facts[3].hash);
    store_words(_mm512_extracti64x2_epi64(eight, 2), &facts[4].hash, &facts[5].hash);
    store_words(_mm512_extracti64x2_epi64(eight, 3), &facts[6].hash, &facts[7].hash);
    return true;
#elif defined(__aarch64__)
    for (std::size_t i = 0; i < kGroup; ++i) {
      FastHeader header;
      if (!decode_fast(packets[i], header)) [[unlikely]]
        return false;
      ipv4(header.key_head, facts[i]);
      facts[i].counts = header.counts;
      facts[i].time_ns = packets[i].time_ns;
    }
    return true;
#else
    return false;
#endif
  }

  /// Hashes a key whose fields are chosen. If the hash comes from the NIC, packets of the flow have another one.
  std::uint64_t hash(const FlowKey& key) const noexcept {
    if (other_ != nullptr) {
      std::uint64_t word;
      other_(hash_, KeySpan({&key, 1}), {&word, 1});
      return hash_word(word);
    }
    return key.ip_version == 4 ? hash_(load_head(key)) : hash_ipv6(key);
  }

  /// Replaces the key by the one that both directions of the flow share, whose source is the lower end, and sets its
  /// hash. The fields must be chosen. Returns whether the packet came from the other end.
  [[gnu::noinline]] bool join_directions(PacketFacts& facts) const noexcept {
    if (facts.key.ip_version != 4) {
      const auto [key, is_back] = both_ways(facts.key);
      facts.key = key;
      facts.hash = hash(key);
      return is_back != 0;
    }
    const simd::Bytes16 head = load_head(facts.key);
    constexpr simd::Order kOtherWay = {2, 3, 0, 1, 4, 5, 6, 7, 12, 13, 14, 15, 8, 9, 10, 11};
    const simd::Bytes16 other_way = simd::shuffled(head, kOtherWay);
    // Returns an end's address and port as one number, in network order.
    const auto end_of = [](simd::Bytes16 from) {
      const std::uint64_t address = __builtin_bswap32(simd::element<std::uint32_t>(from, 2));
      return address << 16 | __builtin_bswap16(simd::element<std::uint16_t>(from, 0));
    };
    const bool is_back = end_of(head) > end_of(other_way);
    // Without a branch, which would be mispredicted for every second packet.
    const simd::Bytes16 joined = head ^ ((head ^ other_way) & simd::all(-std::uint64_t{is_back}));
    simd::store(&facts.key, joined);
    facts.hash = other_ != nullptr ? hash(facts.key) : hash_(joined);
    return is_back;
  }

  bool from_nic() const noexcept { return from_nic_; }
  bool by_batch() const noexcept {
    return other_ != nullptr;
  }  ///< true if hash_batch() has to be used, which costs only that hash
  /// Uses the device's hash, if requested and present. Other packets keep the hash of their key.
  [[gnu::always_inline]] void take_nic_hash(const RawPacket& packet, PacketFacts& facts) const noexcept {
    if (from_nic_ && packet.has_nic_hash) facts.hash = hash_word(packet.nic_hash);
  }

  static simd::Bytes16 load_head(const FlowKey& key) noexcept { return simd::load(&key); }

 private:
#ifdef PARSHALL_FAST_GROUP
  [[gnu::always_inline]] static void store_lanes(__m512i lanes, void* a, void* b, void* c, void* d) noexcept {
    _mm_storeu_si128(static_cast<__m128i*>(a), _mm512_extracti64x2_epi64(lanes, 0));
    _mm_storeu_si128(static_cast<__m128i*>(b), _mm512_extracti64x2_epi64(lanes, 1));
    _mm_storeu_si128(static_cast<__m128i*>(c), _mm512_extracti64x2_epi64(lanes, 2));
    _mm_storeu_si128(static_cast<__m128i*>(d), _mm512_extracti64x2_epi64(lanes, 3));
  }
  [[gnu::always_inline]] static void store_words(__m128i words, std::uint64_t* a, std::uint64_t* b) noexcept {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(a), words);
    _mm_storeh_pd(reinterpret_cast<double*>(b), _mm_castsi128_pd(words));
  }
#endif

  void choose_ipv6_fields(FlowKey& key) const noexcept {
    if (key.reserved != 0) key.reserved = 0;  // conditional, as the hash would wait for the store
    if (fields_ != KeyFields::five_tuple) key.src_port_bytes = key.dst_port_bytes = {}, key.protocol = 0;
    if (fields_ == KeyFields::src) std::memset(key.address.data() + 16, 0, 16);
    if (fields_ == KeyFields::dst) std::memset(key.address.data(), 0, 16);
  }

  std::uint64_t hash_word(std::uint64_t word) const noexcept { return hash_(simd::words(word, 0)); }

  std::uint64_t hash_ipv6(const FlowKey& key) const noexcept {
    const auto* const bytes = reinterpret_cast<const char*>(&key);
    return hash_(simd::load(bytes), simd::load(bytes + 16), simd::load_low(bytes + 32));
  }

  KeyedHash hash_;
  simd::Bytes16 head_mask_;
  KeyFields fields_;
  bool from_nic_;
  HashBatch other_ = nullptr;
};

}  // namespace parshall
