// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/transport/address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/parse.hpp"
#include "base/read_ip.hpp"
#include "pipeline/output/transport/connection.hpp"

namespace parshall {
namespace {

/// Accepts also a name of /etc/services, which is only looked up on connecting.
bool is_port(std::string_view text) {
  if (text.find_first_not_of("0123456789") != text.npos) return true;
  std::uint16_t port = 0;
  return std::from_chars(text.data(), text.data() + text.size(), port).ec == std::errc() && port != 0;
}

}  // namespace

std::optional<Error> take_address(const std::string& text, std::string_view usual_port, Transport& transport) {
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
  return transport.kind == Transport::Kind::tls ? tls_problem() : std::nullopt;
}

bool take_scheme(std::string_view& place, Transport& transport) {
  using Kind = Transport::Kind;
  constexpr std::pair<std::string_view, Kind> kSchemes[] = {
      {"udp://", Kind::udp}, {"tcp://", Kind::tcp}, {"tls://", Kind::tls}};
  for (const auto& [name, kind] : kSchemes) {
    if (!place.starts_with(name)) continue;
    place.remove_prefix(name.size());
    transport.kind = kind;
    return true;
  }
  return false;
}

OutputNeeds needs_of(const Transport& transport) {
  if (transport.kind == Transport::Kind::file) return OutputNeeds{.files = {transport.path}};
  OutputNeeds needs{.uses_network = true, .asks_for_names = !is_ip(transport.host)};
  if (transport.kind == Transport::Kind::udp) return needs;
  const servent* const service = ::getservbyname(transport.port.c_str(), "tcp");
  const auto port = service != nullptr ? ::ntohs(static_cast<std::uint16_t>(service->s_port))
                                       : parse_count(transport.port).value_or(0);
  needs.connects = {static_cast<std::uint16_t>(port)};
  for (const std::string& file : {transport.ca, transport.cert, transport.key})
    if (!file.empty()) needs.reads.push_back(file);
  if (transport.kind == Transport::Kind::tls && transport.ca.empty())
    std::ranges::copy(certificates_of_system(), std::back_inserter(needs.reads));
  return needs;
}

}  // namespace parshall
