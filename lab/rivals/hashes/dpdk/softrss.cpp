// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/hashes/dpdk/softrss.hpp"

#include <rte_thash.h>

#include "lab/rivals/hashes/rss_key.hpp"

namespace parshall {
namespace {

using RssTuple = std::array<std::uint32_t, kRssBytes / sizeof(std::uint32_t)>;

/// Converts to CPU byte order, as DPDK requires; returns the number of words.
std::uint32_t to_tuple(std::span<const std::uint8_t> bytes, RssTuple& tuple) noexcept {
  const std::size_t words = bytes.size() / sizeof(std::uint32_t);
  for (std::size_t i = 0; i < words; ++i)
    tuple[i] = __builtin_bswap32(load_word<std::uint32_t>(bytes.data() + i * sizeof(std::uint32_t)));
  return static_cast<std::uint32_t>(words);
}

struct Softrss {
  static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    RssTuple tuple;
    const std::uint32_t words = to_tuple(bytes, tuple);
    return rte_softrss(tuple.data(), words, kKey.data());
  }
  alignas(4) static constexpr auto kKey = kRssKey;  // DPDK reads it as words
};

struct SoftrssBe {
  static std::uint64_t of(std::span<const std::uint8_t> bytes) noexcept {
    RssTuple tuple;
    const std::uint32_t words = to_tuple(bytes, tuple);
    return rte_softrss_be(tuple.data(), words, reinterpret_cast<const std::uint8_t*>(kKey.data()));
  }
  static constexpr auto kKey = [] {  // same result as rte_convert_rss_key()
    std::array<std::uint32_t, kRssKey.size() / 4> key{};
    for (std::size_t i = 0; i < kRssKey.size(); ++i) key[i / 4] |= std::uint32_t{kRssKey[i]} << (24 - 8 * (i % 4));
    return key;
  }();
};

}  // namespace

HashBatches softrss_batches() noexcept { return kBytewiseWithoutProtocol<Softrss>; }
HashBatches softrss_be_batches() noexcept { return kBytewiseWithoutProtocol<SoftrssBe>; }

}  // namespace parshall
