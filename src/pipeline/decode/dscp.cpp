// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/dscp.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "pipeline/decode/layers.hpp"

namespace parshall {
namespace {

struct CodePoint {
  std::string_view name;
  Dscp dscp;
};

/// Source: IANA, Differentiated Services Field Codepoints.
constexpr CodePoint kCodePoints[] = {
    {"CS0", 0},   {"CS1", 8},   {"CS2", 16},         {"CS3", 24},  {"CS4", 32},  {"CS5", 40},
    {"CS6", 48},  {"CS7", 56},  {"AF11", 10},        {"AF12", 12}, {"AF13", 14}, {"AF21", 18},
    {"AF22", 20}, {"AF23", 22}, {"AF31", 26},        {"AF32", 28}, {"AF33", 30}, {"AF41", 34},
    {"AF42", 36}, {"AF43", 38}, {"VOICE-ADMIT", 44}, {"EF", 46},   {"LE", 1},    {"DF", 0},
};

bool same_but_for_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) {
    return std::toupper(static_cast<unsigned char>(x)) == std::toupper(static_cast<unsigned char>(y));
  });
}

void write_be16(std::uint8_t* at, std::uint32_t word) noexcept {
  at[0] = static_cast<std::uint8_t>(word >> 8);
  at[1] = static_cast<std::uint8_t>(word);
}

/// Updates a checksum: HC' = ~(~HC + ~m + m').
std::uint32_t updated_checksum(std::uint32_t checksum, std::uint32_t word, std::uint32_t changed) noexcept {
  std::uint32_t sum = (~checksum & 0xffff) + (~word & 0xffff) + changed;
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return ~sum & 0xffff;
}

}  // namespace

bool write_dscp(std::uint8_t* bytes, std::size_t captured_bytes, LinkType link_type, Dscp dscp) noexcept {
  const Frame frame(bytes, captured_bytes, captured_bytes);
  const Step step = walk_to_ip(frame, enter_link(frame, link_type, 0));
  if (!step.at_ip() || step.is_signed || !frame.has(step.at, 1)) return false;
  const unsigned version = frame.u8(step.at) >> 4;
  constexpr std::size_t kIpv4Bytes = 20, kIpv6Bytes = 40, kChecksumAt = 10;
  const bool is_ipv4 = version == 4 && step.layer != Layer::ipv6;
  if (!is_ipv4 && (version != 6 || step.layer == Layer::ipv4)) return false;
  if (!frame.has(step.at, is_ipv4 ? kIpv4Bytes : kIpv6Bytes)) return false;
  const std::uint32_t word = frame.be16(step.at);
  std::uint8_t* const header = bytes + step.at;
  if (!is_ipv4) {
    write_be16(header, (word & 0xf03fu) | (dscp & 63u) << 6);
    return true;
  }
  const std::uint32_t changed = (word & 0xff03u) | (dscp & 63u) << 2;
  if (changed == word) return true;  // the equation would turn a checksum of ffff into 0, which is equivalent
  write_be16(header + kChecksumAt, updated_checksum(frame.be16(step.at + kChecksumAt), word, changed));
  write_be16(header, changed);
  return true;
}

std::optional<Dscp> parse_dscp(std::string_view text) noexcept {
  const auto* const named =
      std::ranges::find_if(kCodePoints, [&](const CodePoint& point) { return same_but_for_case(point.name, text); });
  if (named != std::end(kCodePoints)) return named->dscp;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number >= kDscps) return std::nullopt;
  return static_cast<Dscp>(number);
}

std::string dscp_name(Dscp dscp) {
  const auto* const named = std::ranges::find(kCodePoints, dscp, &CodePoint::dscp);
  return named != std::end(kCodePoints) ? std::string(named->name) : std::to_string(dscp);
}

}  // namespace parshall
