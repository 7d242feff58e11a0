// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/local_networks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/read_ip.hpp"

namespace parshall {
namespace {

std::optional<unsigned> parse_bits(const std::string& text, unsigned most) {
  unsigned bits = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), bits);
  if (problem != std::errc() || end != text.data() + text.size() || text.empty() || bits > most) return std::nullopt;
  return bits;
}

}  // namespace

Result<LocalNetworks> LocalNetworks::parse(std::span<const std::string> networks) {
  LocalNetworks parsed;
  for (const std::string& text : networks) {
    const std::size_t slash = text.find('/');
    const std::string host = text.substr(0, slash);
    Network network{};
    if (read_ip(AF_INET, host, network.address.data()))
      network.bytes = 4;
    else if (read_ip(AF_INET6, host, network.address.data()))
      network.bytes = 16;
    const auto most = static_cast<unsigned>(8 * network.bytes);
    const auto bits = slash == text.npos ? std::optional(most) : parse_bits(text.substr(slash + 1), most);
    if (network.bytes == 0 || !bits)
      return Error{fmt::format("--local {}: give networks such as 10.0.0.0/8,2001:db8::/32", text)};
    network.bits = *bits;
    parsed.networks_.push_back(network);
  }
  return parsed;
}

bool LocalNetworks::contain(std::span<const std::uint8_t> address) const noexcept {
  return std::ranges::any_of(networks_, [&](const Network& network) {
    if (network.bytes != address.size()) return false;
    const std::size_t whole = network.bits / 8;
    if (!std::equal(address.begin(), address.begin() + static_cast<std::ptrdiff_t>(whole), network.address.begin()))
      return false;
    const unsigned rest = network.bits % 8;
    return rest == 0 || ((address[whole] ^ network.address[whole]) & (0xFF00u >> rest) & 0xFFu) == 0;
  });
}

}  // namespace parshall
