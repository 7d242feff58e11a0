// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include "application_reading.hpp"
#include "pipeline/decode/application/dns_addresses.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

void check_name(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    require(name[i] > ' ' && name[i] < 0x7f);
    if (name[i] != '\\' || i + 3 >= name.size()) continue;  // an escape may be cut at the end
    for (std::size_t j = i + 1; j <= i + 3; ++j) require(name[j] >= '0' && name[j] <= '9');
  }
}

/// With its length before it, the message says the same over TCP, unless it is cut.
void check_stream(Bytes message, const Read& over_udp) {
  if (message.size() < 12 || message.size() > 0xffff) return;
  std::vector<std::uint8_t> stream = {static_cast<std::uint8_t>(message.size() >> 8),
                                      static_cast<std::uint8_t>(message.size())};
  stream.insert(stream.end(), message.begin(), message.end());
  const Read read = read_with(read_dns_stream, stream);
  require(read.reading == (over_udp.reading == Reading::needs_more ? Reading::unknown : over_udp.reading));
  require(same_facts(read.facts, over_udp.facts));
}

/// Addresses of a message are there for any cut of it, from the first on.
void check_addresses(Bytes message, std::size_t cut, DnsKind kind) {
  std::array<DnsAddress, kMostDnsAddresses> all, some;
  const std::vector<std::uint8_t> exact(message.begin(), message.end());
  const std::size_t count = read_dns_addresses(exact, kind, all);
  require(count <= kMostDnsAddresses);
  for (std::size_t i = 0; i < count; ++i) check_name(all[i].name.view());
  const std::vector<std::uint8_t> part(exact.begin(),
                                       exact.begin() + static_cast<std::ptrdiff_t>(cut % (exact.size() + 1)));
  const std::size_t in_part = read_dns_addresses(part, kind, some);
  require(in_part <= count);
  for (std::size_t i = 0; i < in_part; ++i) require(some[i].address == all[i].address && some[i].name == all[i].name);
}

}  // namespace

/// Input: what is read (0: DNS, 1: mDNS, 2: a stream), where it is cut (2 bytes), it.
void fuzz_dns(Bytes input) {
  Input in(input);
  const std::uint8_t what = in.byte() % 3;
  const std::size_t cut = in.number(2);
  const Bytes bytes = in.rest();
  if (what == 2) {
    check_name(check_cut(read_dns_stream, bytes, cut).facts.dns_name.view());
    return;
  }
  const DnsKind kind = what == 1 ? DnsKind::multicast : DnsKind::unicast;
  const Read read =
      check_cut([&](Bytes some, ApplicationFacts& facts) { return read_dns(some, facts, kind); }, bytes, cut);
  check_name(read.facts.dns_name.view());
  if (kind == DnsKind::unicast) check_stream(bytes, read);
  check_addresses(bytes, cut, kind);
}

}  // namespace parshall::fuzz
