// SPDX-License-Identifier: Apache-2.0
#include "lab/hashes/quality.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/random.hpp"

namespace parshall::lab {
namespace {

std::array<std::uint8_t, 2> port_bytes(std::uint64_t port) noexcept {
  return {static_cast<std::uint8_t>(port >> 8), static_cast<std::uint8_t>(port)};
}

double chi_square(std::span<const std::uint64_t> words, unsigned shift, unsigned bits) {
  std::vector<std::uint64_t> seen(std::size_t{1} << bits);
  for (const std::uint64_t word : words) ++seen[word >> shift & (seen.size() - 1)];
  const double expected = static_cast<double>(words.size()) / static_cast<double>(seen.size());
  double sum = 0;
  for (const std::uint64_t count : seen) {
    const double off = static_cast<double>(count) - expected;
    sum += off * off / expected;
  }
  return sum / static_cast<double>(seen.size() - 1);
}

double overflow_share(std::span<const std::uint64_t> words) {
  constexpr unsigned kPlaces = 2;
  std::vector<std::uint32_t> keys(std::bit_ceil(words.size()));
  std::size_t without_place = 0;
  for (const std::uint64_t word : words) without_place += keys[word & (keys.size() - 1)]++ >= kPlaces;
  return static_cast<double>(without_place) / static_cast<double>(words.size());
}

}  // namespace

std::vector<FlowKey> random_keys(std::size_t keys, bool ipv6, std::uint64_t seed) {
  std::vector<FlowKey> made(keys);
  const std::uint64_t first = SplitMix64::mix(seed);
  SplitMix64 random(~seed);
  for (std::size_t i = 0; i < keys; ++i) {
    FlowKey& key = made[i];
    key.ip_version = ipv6 ? 6 : 4;
    key.protocol = random.below(4) == 0 ? 17 : 6;
    key.src_port_bytes = port_bytes(random());
    key.dst_port_bytes = port_bytes(random());
    if (ipv6)
      for (std::size_t at = 8; at < key.address.size(); at += 8) {
        const std::uint64_t word = random();
        std::memcpy(key.address.data() + at, &word, sizeof word);
      }
    const std::uint64_t different = SplitMix64::mix(first + i);
    std::memcpy(key.address.data(), &different, sizeof different);
  }
  return made;
}

std::vector<FlowKey> consecutive_keys(std::size_t keys, bool ipv6) {
  const auto servers = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(keys))));
  const auto write = [](std::uint8_t* address_end, std::uint32_t number) {
    const std::uint32_t bytes = __builtin_bswap32(number);
    std::memcpy(address_end - sizeof bytes, &bytes, sizeof bytes);
  };
  std::vector<FlowKey> made(keys);
  for (std::uint32_t i = 0; i < keys; ++i) {
    FlowKey& key = made[i];
    key.ip_version = ipv6 ? 6 : 4;
    key.protocol = 6;
    key.src_port_bytes = port_bytes(40'000);
    key.dst_port_bytes = port_bytes(443);
    write(key.address.data() + key.address_bytes(), (10u << 24) + i / servers);
    write(key.address.data() + 2 * key.address_bytes(), (192u << 24) + (168u << 16) + i % servers);
  }
  return made;
}

unsigned bucket_bits(std::size_t keys) noexcept {
  return std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(keys / 8)), 2, 13) - 1;
}

HashQuality quality_of(std::span<const std::uint64_t> words, unsigned bits) {
  if (words.size() < 2) return {};
  std::vector<std::uint64_t> sorted(words.begin(), words.end());
  std::ranges::sort(sorted);
  std::size_t collided = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i)
    collided += (i != 0 && sorted[i - 1] == sorted[i]) || (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]);
  const unsigned buckets = bucket_bits(words.size());
  return {.collided_share = static_cast<double>(collided) / static_cast<double>(words.size()),
          .low_chi_square = chi_square(words, 0, buckets),
          .high_chi_square = chi_square(words, bits - buckets, buckets),
          .overflow_share = overflow_share(words)};
}

double ideal_collided_share(std::size_t keys, unsigned bits) noexcept {
  return -std::expm1(static_cast<double>(keys - 1) * std::log1p(-std::ldexp(1.0, -static_cast<int>(bits))));
}

bool collides_too_often(const HashQuality& quality, std::size_t keys, unsigned bits) noexcept {
  // Keys collide in pairs, so one pair more or less is two keys.
  const double pairs = ideal_collided_share(keys, bits) * static_cast<double>(keys) / 2;
  return quality.collided_share * static_cast<double>(keys) / 2 > pairs + 5 * std::sqrt(pairs) + 1;
}

}  // namespace parshall::lab
