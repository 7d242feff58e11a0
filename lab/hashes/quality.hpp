// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/decode/facts.hpp"

namespace parshall::lab {

/// Returns 5-tuples with random addresses and ports; the addresses alone are distinct.
std::vector<FlowKey> random_keys(std::size_t keys, bool ipv6, std::uint64_t seed);

/// Returns 5-tuples of equally many clients and servers with consecutive addresses, and of one pair of ports.
std::vector<FlowKey> consecutive_keys(std::size_t keys, bool ipv6);

/// Deviation of hash words from a random function.
struct HashQuality {
  double collided_share = 0;   ///< share of keys whose word another key has too
  double low_chi_square = 0;   ///< per degree of freedom, over buckets given by the lowest bits; about 1 if random
  double high_chi_square = 0;  ///< the same for the highest bits
  /// Share of keys without a place in a double hash. It has a bucket of two places for each key (rounded up to a power
  /// of two), found by the lowest bits. 0.104 if random with as many keys as buckets. Source: Zhang et al.,
  /// "FloWatcher-DPDK", IEEE TNSM 2019, section V-B ("flow miscounting").
  double overflow_share = 0;
};
HashQuality quality_of(std::span<const std::uint64_t> words, unsigned bits);

/// Returns the bits that select a bucket for chi-square: at least eight keys per bucket, at most 4096 buckets.
unsigned bucket_bits(std::size_t keys) noexcept;

/// Returns the share of keys that collide under a random function of this many bits.
double ideal_collided_share(std::size_t keys, unsigned bits) noexcept;

/// Returns true if there are significantly more collisions than random: five standard deviations.
bool collides_too_often(const HashQuality& quality, std::size_t keys, unsigned bits) noexcept;

}  // namespace parshall::lab
