// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/format.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <chrono>

namespace parshall {
namespace {

/// Digits of each octet, with their number in the last element.
constexpr auto kOctets = [] {
  std::array<std::array<char, 4>, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned digits = i < 10 ? 1 : i < 100 ? 2 : 3;
    for (unsigned at = digits, rest = i; at-- > 0; rest /= 10) table[i][at] = static_cast<char>('0' + rest % 10);
    table[i][3] = static_cast<char>(digits);
  }
  return table;
}();

char* put_octet(char* out, std::uint8_t value) noexcept {
  std::memcpy(out, kOctets[value].data(), 4);
  return out + kOctets[value][3];
}

}  // namespace

char* put_iso_time(char* out, std::uint64_t ns) noexcept {
  using namespace std::chrono;
  constexpr std::uint64_t kNsPerS = 1'000'000'000;
  const sys_seconds at{seconds(ns / kNsPerS)};
  const auto day = floor<days>(at);
  const year_month_day date{day};
  const hh_mm_ss time{at - day};
  const auto digits = [&out](std::uint64_t value, unsigned count, char behind) {
    for (unsigned i = count; i-- > 0; value /= 10) out[i] = static_cast<char>('0' + value % 10);
    out[count] = behind;
    out += count + 1;
  };
  digits(static_cast<std::uint64_t>(int{date.year()}), 4, '-');
  digits(unsigned{date.month()}, 2, '-');
  digits(unsigned{date.day()}, 2, 'T');
  digits(static_cast<std::uint64_t>(time.hours().count()), 2, ':');
  digits(static_cast<std::uint64_t>(time.minutes().count()), 2, ':');
  digits(static_cast<std::uint64_t>(time.seconds().count()), 2, '.');
  digits(ns % kNsPerS, 9, 'Z');
  return out;
}

char* put_address(char* out, std::span<const std::uint8_t> address) noexcept {
  if (address.size() == 16) {
    ::inet_ntop(AF_INET6, address.data(), out, kMaxAddressChars);
    return out + std::strlen(out);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    out = put_octet(out, address[i]);
    *out++ = '.';
  }
  return out - 1;
}

std::string address_text(std::span<const std::uint8_t> address) {
  char text[kMaxAddressChars];
  return {text, put_address(text, address)};
}

std::string protocol_text(std::uint8_t protocol) {
  switch (protocol) {
    case 1:
      return "ICMP";
    case 2:
      return "IGMP";
    case 4:
      return "IPIP";
    case 6:
      return "TCP";
    case 17:
      return "UDP";
    case 33:
      return "DCCP";
    case 41:
      return "6in4";
    case 47:
      return "GRE";
    case 50:
      return "ESP";
    case 51:
      return "AH";
    case 58:
      return "ICMPv6";
    case 89:
      return "OSPF";
    case 103:
      return "PIM";
    case 112:
      return "VRRP";
    case 132:
      return "SCTP";
    case 136:
      return "UDP-Lite";
    default:
      return fmt::to_string(protocol);
  }
}

std::string tcp_flags_text(std::uint32_t flags) {
  constexpr char kNames[] = "FSRPAUECN";
  std::string text;
  for (int bit = 8; bit >= 0; --bit)
    if (flags >> bit & 1) text += kNames[bit];
  return text;
}

std::string scaled_text(double value, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t prefix = 0;
  // Compares as rounded: 9999.9 becomes 10.0 k, and 999.99 k becomes 1.00 M.
  while (std::fabs(value) >= (prefix == 0 ? 999.995 : 999.5) && prefix < 6) value /= 1000, ++prefix;
  const double size = std::fabs(value);
  const int decimals = prefix == 0 ? (value == std::floor(value) ? 0 : 2) : size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
  const bool spaced = prefix != 0 || *unit != 0;
  return fmt::format("{:.{}f}{}{}{}", value, decimals, spaced ? " " : "", kPrefixes[prefix], unit);
}

}  // namespace parshall
