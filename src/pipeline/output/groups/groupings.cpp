// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>

#include "base/keyed_hash.hpp"
#include "pipeline/flow/both_ways.hpp"
#include "pipeline/output/groups/grouping.hpp"
#include "pipeline/output/records/places.hpp"

namespace parshall {
namespace {

constexpr std::uint8_t kIpv4PrefixBits = 24, kIpv6PrefixBits = 48;

enum class End : std::uint8_t { source, destination };

std::span<const std::uint8_t> address_of(const FlowKey& key, End end) noexcept {
  return end == End::source ? key.src_address() : key.dst_address();
}

/// Copies an address, shortened to a prefix, into the place of `to` in `key`.
void put_address(FlowKey& key, End to, std::span<const std::uint8_t> address, unsigned bits = 128) noexcept {
  key.ip_version = address.size() == 16 ? 6 : 4;
  std::uint8_t* const out = key.address.data() + (to == End::source ? 0 : address.size());
  for (std::size_t i = 0; i < address.size(); ++i) {
    const unsigned kept = bits > 8 * i ? std::min<unsigned>(8, bits - 8 * static_cast<unsigned>(i)) : 0;
    out[i] = static_cast<std::uint8_t>(address[i] & 0xFF00u >> kept);
  }
}

/// Finds the groups of both ends, each an address shortened to a prefix.
std::size_t find_ends(const FlowKey& flow, unsigned ipv4_bits, unsigned ipv6_bits,
                      std::array<GroupOfFlow, 2>& out) noexcept {
  const unsigned bits = flow.ip_version == 6 ? ipv6_bits : ipv4_bits;
  for (const End end : {End::source, End::destination}) {
    GroupOfFlow& one = out[end == End::destination];
    one = {.group = {}, .pair = {}, .sends = end == End::source};
    put_address(one.group, End::source, address_of(flow, end), bits);
    one.pair = one.group;
    put_address(one.pair, End::destination, address_of(flow, end == End::source ? End::destination : End::source));
  }
  return 2;
}

std::size_t find_hosts(const FlowKey& flow, const Networks&, std::array<GroupOfFlow, 2>& out) noexcept {
  return find_ends(flow, 32, 128, out);
}

std::size_t find_prefixes(const FlowKey& flow, const Networks&, std::array<GroupOfFlow, 2>& out) noexcept {
  return find_ends(flow, kIpv4PrefixBits, kIpv6PrefixBits, out);
}

/// Returns the end with the service: the one with the lower port. Both directions of a connection give the same end.
End service_of(const FlowKey& flow) noexcept {
  if (flow.src_port() != flow.dst_port()) return flow.src_port() < flow.dst_port() ? End::source : End::destination;
  return both_ways(flow).second == 0 ? End::destination : End::source;
}

std::size_t find_service(const FlowKey& flow, const Networks&, std::array<GroupOfFlow, 2>& out) noexcept {
  const End service = service_of(flow);
  GroupOfFlow& one = out[0];
  one = {.group = {}, .pair = {}, .sends = service == End::source};
  one.group.ip_version = 4;  // one service for both versions of IP
  one.group.protocol = flow.protocol;
  one.group.src_port_bytes = service == End::source ? flow.src_port_bytes : flow.dst_port_bytes;
  one.pair = one.group;
  put_address(one.pair, End::destination, address_of(flow, service == End::source ? End::destination : End::source));
  return 1;
}

std::size_t find_conversation(const FlowKey& flow, const Networks&, std::array<GroupOfFlow, 2>& out) noexcept {
  const bool is_back = service_of(flow) == End::source;
  out[0] = {.group = is_back ? opposite(flow) : flow, .pair = {}, .sends = !is_back};
  out[0].group.reserved = 0;
  return 1;
}

std::size_t find_protocol(const FlowKey& flow, const Networks&, std::array<GroupOfFlow, 2>& out) noexcept {
  out[0] = {.group = group_of_value(Value::of_unsigned(flow.protocol)), .pair = {}, .sends = true};
  return 1;
}

enum Direction : std::uint8_t { kInside, kOutside, kIn, kOut };
constexpr std::string_view kDirections[] = {"inside", "outside", "in", "out"};

std::size_t find_direction(const FlowKey& flow, const Networks& local, std::array<GroupOfFlow, 2>& out) noexcept {
  const bool from_inside = local.contain(flow.src_address()), to_inside = local.contain(flow.dst_address());
  const Direction direction = from_inside == to_inside ? (to_inside ? kInside : kOutside) : to_inside ? kIn : kOut;
  out[0] = {.group = group_of_value(Value::of_unsigned(direction)), .pair = {}, .sends = direction != kIn};
  return 1;
}

Value source_address(const FlowKey& group) { return Value::of_address(group.src_address()); }
Value destination_address(const FlowKey& group) { return Value::of_address(group.dst_address()); }
Value source_port(const FlowKey& group) { return Value::of_unsigned(group.src_port()); }
Value destination_port(const FlowKey& group) { return Value::of_unsigned(group.dst_port()); }
Value protocol(const FlowKey& group) { return Value::of_unsigned(group.protocol); }
Value prefix_length(const FlowKey& group) {
  return Value::of_unsigned(group.ip_version == 6 ? kIpv6PrefixBits : kIpv4PrefixBits);
}

std::array<std::uint64_t, 2> hash_of(std::string_view text) noexcept {
  static const KeyedHash kLow(1), kHigh(2);
  std::array<std::uint64_t, 2> hash{text.size(), text.size()};
  for (std::size_t at = 0; at < text.size(); at += sizeof hash[0]) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, std::min(sizeof word, text.size() - at));
    hash = {kLow.portable(hash[0], word), kHigh.portable(hash[1], word)};
  }
  return hash;
}

constexpr GroupKeyColumn kHost[] = {{"host", kAddress, {0, 8, 27}, "address of the host", source_address}};
constexpr GroupKeyColumn kPrefix[] = {
    {"prefix", kAddress, {0, 44, 170}, "first address of the prefix", source_address},
    {"prefix_length", kUint8, {0, 9}, "bits of the prefix: 24 for IPv4, 48 for IPv6", prefix_length}};
constexpr GroupKeyColumn kService[] = {
    {"protocol", kUint8, {0, 4}, "IANA number of the protocol", protocol},
    {"port", kUint16, {0, 7}, "port of the service: the lower one of a flow's two ports", source_port}};
constexpr GroupKeyColumn kConversation[] = {
    {"protocol", kUint8, {0, 4}, "IANA number of the protocol", protocol},
    {"client", kAddress, {0, 8, 27}, "address of the end with the higher port", source_address},
    {"client_port", kUint16, {0, 7}, "its port", source_port},
    {"server", kAddress, {0, 12, 28}, "address of the end with the lower port", destination_address},
    {"server_port", kUint16, {0, 11}, "its port", destination_port}};
constexpr GroupKeyColumn kProtocol[] = {{"protocol", kUint8, {0, 4}, "IANA number of the protocol", nullptr}};
constexpr GroupKeyColumn kDirection[] = {
    {"direction",
     kEnum8,
     {kOwnPen, 84},
     "way across the border of --local: in, out, or between two ends that are both "
     "inside or outside",
     nullptr,
     kDirections}};
constexpr GroupKeyColumn kVlan[] = {
    {"vlan", kUint16, {0, 58}, "outermost VLAN identifier of the flow's first packet", nullptr}};
constexpr GroupKeyColumn kInterface[] = {
    {"interface", kEnum8, {0, 82}, "name of the interface on which the flow was first seen", nullptr}};

Value country_of_group(const FlowKey& group) {
  const Value number = value_of_group(group, ValueType::unsigned_integer);
  return number.present() ? Value::of_text(country_text(number.as_unsigned())) : Value();
}

constexpr GroupKeyColumn kAsNumber[] = {{"asn", kUint32, {0, 16}, "number of the autonomous system (--geo)", nullptr}};
constexpr GroupKeyColumn kCountry[] = {
    {"country", kText, {kOwnPen, 32}, "two letters of the country (--geo)", country_of_group}};
constexpr GroupKeyColumn kServerName[] = {
    {"server_name", kText, {kCesnetPen, 808}, "name of the server by TLS or QUIC (SNI)", nullptr}};
constexpr GroupKeyColumn kApplication[] = {
    {"application", kText, {kOwnPen, 34}, "application of the connection (--label)", nullptr}};
constexpr GroupKeyColumn kHttpHost[] = {{"http_host", kText, {0, 460}, "host of the first HTTP/1 request", nullptr}};
constexpr GroupKeyColumn kDnsName[] = {
    {"dns_name", kText, {kCesnetPen, 2}, "name that the first DNS query asks for", nullptr}};

constexpr Grouping kGroupings[] = {
    {.names = {"conversation", "conversations"},
     .help = "both directions of a connection in one row",
     .opens = {},
     .columns = kConversation,
     .find = find_conversation},
    {.names = {"host", "hosts"},
     .help = "addresses",
     .opens = "conversation",
     .columns = kHost,
     .find = find_hosts,
     .place_bits = {32, 128},
     .has_peers = true},
    {.names = {"service", "services"},
     .help = "protocols and ports of servers",
     .opens = "host",
     .columns = kService,
     .find = find_service,
     .has_peers = true},
    {.names = {"prefix", "prefixes"},
     .help = "networks: /24 of IPv4, /48 of IPv6",
     .opens = "host",
     .columns = kPrefix,
     .find = find_prefixes,
     .place_bits = {kIpv4PrefixBits, kIpv6PrefixBits},
     .has_peers = true},
    {.names = {"protocol", "protocols"},
     .help = "protocols above IP",
     .opens = "service",
     .columns = kProtocol,
     .find = find_protocol},
    {.names = {"direction", "directions"},
     .help = "into, out of, inside and outside the networks of --local",
     .opens = "host",
     .columns = kDirection,
     .find = find_direction,
     .needs_local = true},
    {.names = {"vlan", "vlans"},
     .help = "VLANs",
     .opens = "host",
     .columns = kVlan,
     .find = nullptr,
     .of_column = "vlan"},
    {.names = {"interface", "interfaces"},
     .help = "interfaces, if there are several",
     .opens = "host",
     .columns = kInterface,
     .find = nullptr,
     .of_column = "interface"},
    {.names = {"asn", "asns"},
     .help = "autonomous systems (--geo)",
     .opens = "host",
     .columns = kAsNumber,
     .find = nullptr,
     .of_ends = {"src_asn", "dst_asn"}},
    {.names = {"country", "countries"},
     .help = "countries (--geo)",
     .opens = "host",
     .columns = kCountry,
     .find = nullptr,
     .of_ends = {"src_country", "dst_country"}},
    {.names = {"application", "applications"},
     .help = "applications by inspection of packets (--label)",
     .opens = "host",
     .columns = kApplication,
     .find = nullptr,
     .of_column = "application"},
    {.names = {"server_name", "server_names"},
     .help = "names of servers, by TLS and QUIC",
     .opens = "host",
     .columns = kServerName,
     .find = nullptr,
     .of_column = "server_name"},
    {.names = {"http_host", "http_hosts"},
     .help = "hosts that HTTP requests name",
     .opens = "host",
     .columns = kHttpHost,
     .find = nullptr,
     .of_column = "http_host"},
    {.names = {"dns_name", "dns_names"},
     .help = "names that DNS queries ask for",
     .opens = "host",
     .columns = kDnsName,
     .find = nullptr,
     .of_column = "dns_name"},
};

}  // namespace

std::span<const Grouping> groupings() noexcept { return kGroupings; }

const Grouping* find_grouping(std::string_view name) noexcept {
  const auto found = std::ranges::find_if(kGroupings, [&](const Grouping& each) { return each.names.one == name; });
  return found == std::end(kGroupings) ? nullptr : found;
}

bool is_from_service(const FlowKey& flow) noexcept { return service_of(flow) == End::source; }

FlowKey group_of_value(const Value& value) noexcept {
  FlowKey group;
  if (value.present() && value.type() == ValueType::text) {
    const std::array<std::uint64_t, 2> hash = hash_of(value.as_text());
    group.ip_version = 6;  // all bytes of the addresses count
    group.protocol = 1;
    std::memcpy(group.address.data(), hash.data(), sizeof hash);
    return group;
  }
  group.ip_version = 4;
  group.protocol = value.present() ? 1 : 0;
  const std::uint64_t number = __builtin_bswap64(value.present() ? value.as_unsigned() : 0);  // so that keys sort by it
  std::memcpy(group.address.data(), &number, sizeof number);
  return group;
}

Value value_of_group(const FlowKey& group, ValueType type) noexcept {
  if (group.protocol == 0) return {};
  std::uint64_t number;
  std::memcpy(&number, group.address.data(), sizeof number);
  number = __builtin_bswap64(number);
  return type == ValueType::enumeration ? Value::of_enumeration(number) : Value::of_unsigned(number);
}

}  // namespace parshall
