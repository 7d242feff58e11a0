// SPDX-License-Identifier: Apache-2.0
#include "base/networks.hpp"

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

Result<Networks> Networks::parse(std::span<const std::string> networks) {
  Networks parsed;
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
      return Error{fmt::format("{}: give networks such as 10.0.0.0/8 or 2001:db8::/32", text)};
    network.bits = *bits;
    parsed.networks_.push_back(network);
  }
  return parsed;
}

/// Returns whether the first `other_bits` bits of an address, at most `bits`, are those of this network.
bool Networks::Network::contains(std::span<const std::uint8_t> other, unsigned other_bits) const noexcept {
  if (bytes != other.size()) return false;
  const unsigned compared = std::min(bits, other_bits), rest = compared % 8;
  const std::size_t whole = compared / 8;
  if (!std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(whole), address.begin())) return false;
  return rest == 0 || ((other[whole] ^ address[whole]) & (0xFF00u >> rest) & 0xFFu) == 0;
}

bool Networks::contain(std::span<const std::uint8_t> address) const noexcept {
  return contain(address, static_cast<unsigned>(8 * address.size())).value_or(false);
}

std::optional<bool> Networks::contain(std::span<const std::uint8_t> address, unsigned bits) const noexcept {
  std::optional<bool> found = false;
  for (const Network& network : networks_) {
    if (!network.contains(address, bits)) continue;
    if (network.bits <= bits) return true;
    found = std::nullopt;
  }
  return found;
}

}  // namespace parshall
