// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <immintrin.h>

#include <algorithm>
#include <cstdint>

#include "base/keyed_hash.hpp"
#include "base/random.hpp"
#include "pipeline/decode/facts.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/flow/identity.hpp"

namespace parshall {

/// Selects the flows to monitor under overload: those of one connection in n, by its own keyed hash that both
/// directions share. A smaller sample is part of every larger one.
///
/// Cost: two keyed hashes, some 2 ns for IPv4.
class FlowSample {
 public:
  explicit FlowSample(std::uint64_t seed) noexcept
      : hash_(SplitMix64::mix(seed ^ kOwn)), ipv6_hash_(KeyFields::five_tuple, Identity::exact, seed ^ kOwn) {}

  void set_one_in(std::uint32_t connections) noexcept {
    one_in_ = std::max(connections, std::uint32_t{1});
    limit_ = limit(one_in_);
  }
  std::uint32_t one_in() const noexcept { return one_in_; }

  bool takes(const FlowKey& flow) const noexcept { return hash(flow) < limit_; }
  /// Returns whether a sample of one in `one_in` connections would contain the flow.
  bool takes(const FlowKey& flow, std::uint32_t one_in) const noexcept { return hash(flow) < limit(one_in); }

 private:
  static constexpr std::uint64_t kOwn = 0x5A3B'1E5D'0F7C'9A21;  ///< separates this hash from others of the seed

  static std::uint64_t limit(std::uint32_t one_in) noexcept { return (std::uint64_t{1} << 32) / one_in; }

  [[gnu::always_inline]] std::uint64_t hash(const FlowKey& flow) const noexcept {
    if (flow.ip_version != 4) return (ipv6_hash_.hash(flow) + ipv6_hash_.hash(opposite(flow))) >> 32;
    const __m128i head = FlowIdentity::load_head(flow);
    const __m128i back = _mm_shuffle_epi8(head, _mm_setr_epi8(2, 3, 0, 1, 4, 5, 6, 7, 12, 13, 14, 15, 8, 9, 10, 11));
    return (hash_(head) + hash_(back)) >> 32;
  }

  KeyedHash hash_;
  FlowIdentity ipv6_hash_;
  std::uint32_t one_in_ = 1;
  std::uint64_t limit_ = limit(1);
};

}  // namespace parshall
