// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/target.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/host_name.hpp"
#include "base/parse.hpp"
#include "pipeline/output/target_options.hpp"

namespace parshall {
namespace {

constexpr std::string_view kPort = "4739", kTlsPort = "4740";  // IANA
constexpr std::string_view kNetflowPort = "2055";              // the usual port of collectors; none is registered
constexpr std::size_t kUdpBytes = 1400, kStreamBytes = 16384, kLeastMtu = 512, kMostMtu = 65535;
constexpr std::size_t kMostUdpBytes = 65507;  ///< maximum of an IPv4 datagram (RFC 768, RFC 791)

bool take_domain(const std::string& value, IpfixTarget& target) {
  const auto domain = parse_count(value);
  if (!domain || *domain > std::numeric_limits<std::uint32_t>::max()) return false;
  target.writer.domain = static_cast<std::uint32_t>(*domain);
  return true;
}

bool take_bytes(const std::string& value, IpfixTarget& target) {
  const auto bytes = parse_count(value);
  if (!bytes || *bytes < kLeastMtu || *bytes > kMostMtu) return false;
  target.writer.message_bytes = *bytes;
  return true;
}

bool take_rate(const std::string& value, IpfixTarget& target) {
  const auto bps = parse_count(value);
  if (!bps) return false;
  target.transport.rate_bps = static_cast<double>(*bps);
  return true;
}

bool take_resend(const std::string& value, IpfixTarget& target) {
  const auto ns = parse_duration_ns(value);
  constexpr std::uint64_t kLeastNs = 100'000'000, kMostNs = 86'400'000'000'000;
  if (!ns || *ns < kLeastNs || *ns > kMostNs) return false;
  target.writer.resend = std::chrono::milliseconds(*ns / 1'000'000);
  return true;
}

template <std::string Transport::*kText>
bool take_text(const std::string& value, IpfixTarget& target) {
  target.transport.*kText = value;
  return !value.empty();
}

bool take_times(const std::string& value, IpfixTarget& target) {
  if (value != "ms" && value != "ns") return false;
  target.times = value == "ns" ? IpfixTimes::ns : IpfixTimes::ms;
  return true;
}

constexpr TargetOption<IpfixTarget> kIpfixOptions[] = {
    {"domain", "observation domain, a number of 32 bits", take_domain},
    {"mtu", "bytes of a message, from 512 to 65535, or 65507 by UDP", take_bytes},
    {"rate", "bits a second at most, by UDP; 0: no limit", take_rate},
    {"templates", "time, such as 30s, after which templates are sent again, by UDP", take_resend},
    {"times", "ms or ns", take_times},
    {"probe", "a name for who exports, up to 255 bytes", take_probe<IpfixTarget>},
    {"ca", "file of certificates to believe, by TLS", take_text<&Transport::ca>},
    {"cert", "file of a certificate of ours, by TLS", take_text<&Transport::cert>},
    {"key", "file of its key", take_text<&Transport::key>},
    {"name", "of the collector in its certificate", take_text<&Transport::name>},
};

std::string_view usual_port(Transport::Kind kind, FlowProtocol protocol) {
  if (protocol == FlowProtocol::netflow9) return kNetflowPort;
  return kind == Transport::Kind::tls ? kTlsPort : kPort;
}

/// Accepts also a name of /etc/services, which is only looked up on connecting.
bool is_port(std::string_view text) {
  if (text.find_first_not_of("0123456789") != text.npos) return true;
  std::uint16_t port = 0;
  return std::from_chars(text.data(), text.data() + text.size(), port).ec == std::errc() && port != 0;
}

/// Parses HOST, HOST:PORT or [IPv6]:PORT.
std::optional<Error> take_host(const std::string& text, std::string_view usual_port, Transport& transport) {
  std::size_t colon = text.rfind(':');
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == text.npos || (end + 1 != text.size() && text[end + 1] != ':'))
      return Error{fmt::format("\"{}\": an IPv6 address is in [], and :PORT behind it", text)};
    transport.host = text.substr(1, end - 1);
    colon = end + 1 == text.size() ? text.npos : end + 1;
  } else {
    if (colon != text.npos && text.find(':') != colon)
      return Error{fmt::format("\"{}\": put an IPv6 address into []", text)};
    transport.host = text.substr(0, colon);
  }
  transport.port = colon != text.npos ? text.substr(colon + 1) : std::string(usual_port);
  if (transport.host.empty() || transport.port.empty())
    return Error{fmt::format("\"{}\": give HOST or HOST:PORT", text)};
  if (!is_port(transport.port)) return Error{fmt::format("\"{}\": a port is a number from 1 to 65535", text)};
  return std::nullopt;
}

}  // namespace

Result<IpfixTarget> IpfixTarget::parse(const std::string& text, FlowProtocol protocol) {
  using Kind = Transport::Kind;
  constexpr std::pair<std::string_view, Kind> kSchemes[] = {
      {"udp://", Kind::udp}, {"tcp://", Kind::tcp}, {"tls://", Kind::tls}};
  IpfixTarget target{.probe = host_name()};
  target.writer.protocol = protocol;
  std::string_view scheme;
  for (const auto& [name, kind] : kSchemes) {
    if (!text.starts_with(name)) continue;
    scheme = name;
    target.transport.kind = kind;
  }
  const bool is_udp = target.transport.kind == Kind::udp;
  target.writer.message_bytes = is_udp ? kUdpBytes : kStreamBytes;
  if (is_udp) target.writer.resend = std::chrono::seconds(30);
  const auto place = take_options<IpfixTarget>(text, kIpfixOptions, target);
  if (!place) return place.error();
  if (is_udp && target.writer.message_bytes > kMostUdpBytes)
    return Error{fmt::format("mtu={}: a datagram has room for {} bytes", target.writer.message_bytes, kMostUdpBytes)};
  if (protocol == FlowProtocol::netflow9) {
    if (!is_udp) return Error{"NetFlow goes by udp://HOST:PORT"};
    if (target.times == IpfixTimes::ns) return Error{"times=ns: times of NetFlow 9 are in ms"};
  }
  if (!scheme.empty()) {
    const std::string_view port = usual_port(target.transport.kind, protocol);
    if (auto error = take_host(place->substr(scheme.size()), port, target.transport)) return *error;
  } else if (const std::size_t other = place->find("://"); other != place->npos) {
    return Error{fmt::format("there is no {}://; give udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or a file",
                             place->substr(0, other))};
  }
  target.transport.path = *place;
  return target;
}

}  // namespace parshall
