// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/target.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/host_name.hpp"
#include "base/parse.hpp"
#include "pipeline/output/target_options.hpp"
#include "pipeline/output/transport/address.hpp"

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
    {"ca", "file of certificates to believe, by TLS", take_transport_text<IpfixTarget, &Transport::ca>},
    {"cert", "file of a certificate of ours, by TLS", take_transport_text<IpfixTarget, &Transport::cert>},
    {"key", "file of its key", take_transport_text<IpfixTarget, &Transport::key>},
    {"name", "of the collector in its certificate", take_transport_text<IpfixTarget, &Transport::name>},
};

std::string_view usual_port(Transport::Kind kind, FlowProtocol protocol) {
  if (protocol == FlowProtocol::netflow9) return kNetflowPort;
  return kind == Transport::Kind::tls ? kTlsPort : kPort;
}

}  // namespace

Result<IpfixTarget> IpfixTarget::parse(const std::string& text, FlowProtocol protocol) {
  IpfixTarget target{.probe = host_name()};
  target.writer.protocol = protocol;
  std::string_view after_scheme = text;
  const bool has_scheme = take_scheme(after_scheme, target.transport);
  const bool is_udp = target.transport.kind == Transport::Kind::udp;
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
  if (has_scheme) {
    const std::string_view port = usual_port(target.transport.kind, protocol);
    if (auto error = take_address(place->substr(text.size() - after_scheme.size()), port, target.transport))
      return *error;
  } else if (const std::size_t other = place->find("://"); other != place->npos) {
    return Error{fmt::format("there is no {}://; give udp://HOST:PORT, tcp://HOST:PORT, tls://HOST:PORT or a file",
                             place->substr(0, other))};
  }
  target.transport.path = *place;
  return target;
}

}  // namespace parshall
