// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/libcrypto_functions.hpp"
#include "pipeline/output/records/community_id.hpp"

namespace parshall {
namespace {

/// Numbers of protocols (IANA).
enum Protocol : std::uint8_t { icmp = 1, tcp = 6, udp = 17, icmp6 = 58, sctp = 132 };

struct End {
  std::span<const std::uint8_t> address, port;
};

bool is_less(const End& a, const End& b) noexcept {
  if (const auto order = std::lexicographical_compare_three_way(a.address.begin(), a.address.end(), b.address.begin(),
                                                                b.address.end());
      order != 0)
    return order < 0;
  return std::ranges::lexicographical_compare(a.port, b.port);
}

}  // namespace

std::optional<std::array<std::uint8_t, 20>> community_id(const FlowKey& key) {
  if (crypto_problem()) return std::nullopt;
  if (key.protocol == icmp || key.protocol == icmp6) return std::nullopt;
  End first{key.src_address(), key.src_port_bytes}, second{key.dst_address(), key.dst_port_bytes};
  if (is_less(second, first)) std::swap(first, second);
  std::array<std::uint8_t, 2 + 2 * 16 + 2 + 2 * 2> text{};  // begins with a seed of 0
  auto at = text.begin() + 2;
  const auto put = [&](std::span<const std::uint8_t> bytes) { at = std::ranges::copy(bytes, at).out; };
  put(first.address);
  put(second.address);
  put(std::array<std::uint8_t, 2>{key.protocol, 0});
  if (key.protocol == tcp || key.protocol == udp || key.protocol == sctp) {
    put(first.port);
    put(second.port);
  }
  static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> kSha1(libcrypto().md_fetch(nullptr, "SHA1", nullptr),
                                                                     libcrypto().md_free);
  std::array<std::uint8_t, 20> digest;
  const auto length = static_cast<std::size_t>(at - text.begin());
  if (kSha1 == nullptr || libcrypto().digest(text.data(), length, digest.data(), nullptr, kSha1.get(), nullptr) != 1)
    return std::nullopt;
  return digest;
}

}  // namespace parshall
