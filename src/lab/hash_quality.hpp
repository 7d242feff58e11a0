// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/decode/facts.hpp"

namespace parshall::lab {

/// Five-tuples, different in their addresses already: of random addresses and ports.
std::vector<FlowKey> random_keys(std::size_t keys, bool ipv6, std::uint64_t seed);

/// Of as many clients as servers, whose addresses stand in a row, and of one pair of ports.
std::vector<FlowKey> consecutive_keys(std::size_t keys, bool ipv6);

/// How far words are from those of a random function.
struct HashQuality {
  double collided_share = 0;   ///< of the keys: another one has the same word
  double low_chi_square = 0;   ///< per degree of freedom, over the buckets that the lowest bits name; about 1 if random
  double high_chi_square = 0;  ///< likewise of the highest bits
  /// Of the keys: without a place in a double hash, which has a bucket of two places for each key (rounded up to a
  /// power of two) and finds it by the lowest bits. 0.104 if random, and as many keys as buckets. Source: Zhang et al.,
  /// "FloWatcher-DPDK", IEEE TNSM 2019, section V-B ("flow miscounting").
  double overflow_share = 0;
};
HashQuality quality_of(std::span<const std::uint64_t> words, unsigned bits);

/// Buckets that chi-square is taken over: at least eight keys each, and at most 4096.
unsigned bucket_bits(std::size_t keys) noexcept;

/// The share of keys that collide under a random function of so many bits.
double ideal_collided_share(std::size_t keys, unsigned bits) noexcept;

/// Whether so many collisions are more than chance: five standard deviations.
bool collides_too_often(const HashQuality& quality, std::size_t keys, unsigned bits) noexcept;

}  // namespace parshall::lab
