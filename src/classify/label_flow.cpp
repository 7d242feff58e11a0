// SPDX-License-Identifier: Apache-2.0
#include "classify/label_flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/read_ip.hpp"

namespace parshall {
namespace {

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<std::uint8_t> protocol_of(const std::string& text) {
  if (const auto number = whole_number<std::uint8_t>(text)) return number;
  constexpr std::pair<std::string_view, std::uint8_t> kProtocols[] = {
      {"icmp", 1}, {"tcp", 6}, {"udp", 17}, {"gre", 47}, {"esp", 50}, {"icmpv6", 58}, {"sctp", 132}};
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c; });
  const auto known = std::ranges::find(kProtocols, lower, &std::pair<std::string_view, std::uint8_t>::first);
  return known == std::end(kProtocols) ? std::nullopt : std::optional(known->second);
}

/// Parses an address into `to` (16 bytes). Returns the address family, 4 or 6; 0 if the text is not an address.
std::uint8_t read_address(const std::string& text, std::uint8_t* to) {
  if (read_ip(AF_INET, text, to)) return 4;
  return read_ip(AF_INET6, text, to) ? 6 : 0;
}

}  // namespace

Result<FlowKey> flow_of(const FlowText& text) {
  FlowKey key;
  const auto protocol = protocol_of(text.protocol);
  if (!protocol)
    return Error{fmt::format("protocol \"{}\" is neither a number from 0 to 255, nor tcp or udp", text.protocol)};
  key.protocol = *protocol;
  std::array<std::array<std::uint8_t, 16>, 2> addresses{};
  const std::uint8_t from = read_address(text.src_ip, addresses[0].data());
  const std::uint8_t to = read_address(text.dst_ip, addresses[1].data());
  if (from == 0 || from != to)
    return Error{fmt::format("\"{}\" and \"{}\" must be two addresses of the same family", text.src_ip, text.dst_ip)};
  key.ip_version = from;
  for (std::size_t end = 0; end < 2; ++end)
    std::memcpy(key.address.data() + end * key.address_bytes(), addresses[end].data(), key.address_bytes());
  struct Port {
    std::string_view name;
    const std::string& text;
    std::array<std::uint8_t, 2>& bytes;
  };
  for (const Port& port :
       {Port{"src_port", text.src_port, key.src_port_bytes}, Port{"dst_port", text.dst_port, key.dst_port_bytes}}) {
    const auto number = whole_number<std::uint16_t>(port.text);
    if (!number) return Error{fmt::format("{} \"{}\" is not a number from 0 to 65535", port.name, port.text)};
    port.bytes = {static_cast<std::uint8_t>(*number >> 8), static_cast<std::uint8_t>(*number)};
  }
  return key;
}

}  // namespace parshall
