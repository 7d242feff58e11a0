// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/key_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

namespace parshall {
namespace {

/// Parses text such as "24/48"; nullopt for anything else.
std::optional<std::vector<unsigned>> numbers(std::string_view text) {
  std::vector<unsigned> all;
  for (const char *at = text.data(), *const end = at + text.size();;) {
    unsigned number = 0;
    const auto [rest, problem] = std::from_chars(at, end, number);
    if (problem != std::errc() || (rest != end && *rest != '/')) return std::nullopt;
    all.push_back(number);
    if (rest == end) return all;
    at = rest + 1;
  }
}

void keep_bits(std::uint8_t* address, std::size_t bytes, unsigned bits) noexcept {
  for (std::size_t i = 0; i < bytes; ++i, bits -= std::min(bits, 8u))
    if (bits < 8) address[i] = static_cast<std::uint8_t>(address[i] & ~(0xFFu >> bits));
}

}  // namespace

Result<KeyPart> KeyPart::parse(const std::string& text) {
  const Error wrong{fmt::format("key {}: there is {}", text, kSpellings)};
  const std::size_t slash = text.find('/');
  const std::string fields = text.substr(0, slash);
  KeyPart part;
  part.name_ = text;
  const bool is_flow = fields == "5tuple", is_service = fields == "src-dst-port";
  part.src_ = is_flow || is_service || fields == "src-dst" || fields == "src";
  part.dst_ = is_flow || is_service || fields == "src-dst" || fields == "dst";
  part.src_port_ = is_flow || fields == "src-port";
  part.dst_port_ = is_flow || is_service || fields == "dst-port";
  part.protocol_ = part.src_port_ || part.dst_port_ || fields == "protocol";
  if (!part.src_ && !part.dst_ && !part.protocol_) return wrong;
  if (slash == std::string::npos) return part;
  const auto bits = numbers(std::string_view(text).substr(slash + 1));
  if (!bits || bits->size() > 2 || part.protocol_) return wrong;
  const unsigned ipv4 = bits->front(), ipv6 = bits->size() == 2 ? bits->back() : 2 * ipv4;
  if (ipv4 > 32 || ipv6 > 128) return wrong;
  part.bits_ = {static_cast<std::uint8_t>(ipv4), static_cast<std::uint8_t>(ipv6)};
  return part;
}

KeyPart KeyPart::with_prefix(std::uint8_t ipv4_bits, std::uint8_t ipv6_bits) const {
  KeyPart part = *this;
  part.bits_ = {ipv4_bits, ipv6_bits};
  part.name_ = fmt::format("{}/{}/{}", name_.substr(0, name_.find('/')), ipv4_bits, ipv6_bits);
  return part;
}

FlowKey KeyPart::of(const FlowKey& key) const noexcept {
  FlowKey part;
  part.ip_version = src_ || dst_ ? key.ip_version : std::uint8_t{4};
  if (protocol_) part.protocol = key.protocol;
  if (src_port_) part.src_port_bytes = key.src_port_bytes;
  if (dst_port_) part.dst_port_bytes = key.dst_port_bytes;
  const std::size_t bytes = key.address_bytes();
  const unsigned kept = bits(key.ip_version);
  for (const auto& [wanted, offset] : {std::pair{src_, std::size_t{0}}, std::pair{dst_, bytes}}) {
    if (!wanted) continue;
    std::copy_n(key.address.data() + offset, bytes, part.address.data() + offset);
    keep_bits(part.address.data() + offset, bytes, kept);
  }
  return part;
}

int order_of(const FlowKey& a, const FlowKey& b) noexcept {
  if (a.ip_version != b.ip_version) return a.ip_version - b.ip_version;
  const std::size_t bytes = 2 * a.address_bytes();
  if (const int order = std::memcmp(a.address.data(), b.address.data(), bytes)) return order;
  return std::memcmp(&a, &b, offsetof(FlowKey, address));
}

bool KeyPart::within(KeyFields fields) const noexcept {
  const bool has_src = fields != KeyFields::dst, has_dst = fields != KeyFields::src;
  return fields == KeyFields::five_tuple || (!protocol_ && (!src_ || has_src) && (!dst_ || has_dst));
}

}  // namespace parshall
