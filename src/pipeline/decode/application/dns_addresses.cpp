// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/dns_addresses.hpp"

#include <algorithm>
#include <array>

#include "pipeline/decode/application/cursor.hpp"
#include "pipeline/decode/application/dns_name.hpp"

namespace parshall {
namespace {

using Bytes = std::span<const std::uint8_t>;

enum RecordType : std::uint16_t { kA = 1, kAaaa = 28 };
constexpr std::uint16_t kInternet = 1, kClassBits = 0x7fff;  ///< the first bit has another meaning in mDNS
constexpr unsigned kMostRecords = 64;

void to_lower(ShortText<255>& name) noexcept {
  ShortText<255> lower;
  for (const char each : name.view()) lower.append(each >= 'A' && each <= 'Z' ? static_cast<char>(each + 32) : each);
  name = lower;
}

/// Returns whether an address can be that of another host: blocking resolvers answer with such as cannot.
bool is_of_a_host(const MappedAddress& address) noexcept {
  constexpr std::uint8_t kLoopback = 127;
  const MappedAddress none4 = mapped(std::array<std::uint8_t, 4>{}), none6{};
  MappedAddress loopback6{};
  loopback6.back() = 1;
  const bool is_loopback4 = std::equal(none4.begin(), none4.begin() + 12, address.begin()) && address[12] == kLoopback;
  return address != none4 && address != none6 && address != loopback6 && !is_loopback4;
}

}  // namespace

std::size_t read_dns_addresses(Bytes message, DnsKind kind, std::span<DnsAddress, kMostDnsAddresses> out) noexcept {
  ApplicationFacts facts;
  if (read_dns(message, facts, kind) != Reading::done || !facts.has_dns_rcode || facts.dns_rcode != 0) return 0;
  Cursor in(message);
  in.take(4);  // ID and flags
  const unsigned questions = in.be16(), answers = in.be16(), others = in.be16() + in.be16();
  // mDNS tells addresses beside the answers as well. In DNS, those belong to servers.
  const unsigned records = answers + (kind == DnsKind::multicast ? others : 0);
  for (unsigned i = 0; i < questions && !in.failed(); ++i) {
    skip_dns_name(in);
    in.take(4);  // type and class
  }
  to_lower(facts.dns_name);
  std::size_t count = 0;
  for (unsigned i = 0; i < std::min(records, kMostRecords) && count < out.size(); ++i) {
    const std::size_t name_at = message.size() - in.left();
    skip_dns_name(in);
    const std::uint16_t type = in.be16(), name_class = in.be16();
    in.be32();  // time to live
    const Bytes content = in.take(in.be16());
    if (in.failed()) break;
    const bool is_address = (type == kA && content.size() == 4) || (type == kAaaa && content.size() == 16);
    if (!is_address || (name_class & kClassBits) != kInternet) continue;
    DnsAddress& found = out[count];
    found.name = facts.dns_name;
    if (kind == DnsKind::multicast) {
      if (!read_dns_name(message, name_at, found.name)) continue;
      to_lower(found.name);
    }
    if (found.name.view() == ".") continue;
    found.address = mapped(content);
    if (is_of_a_host(found.address)) ++count;
  }
  return count;
}

}  // namespace parshall
