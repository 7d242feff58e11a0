// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "fuzzing.hpp"
#include "pipeline/decode/application/facts.hpp"

namespace parshall::fuzz {

inline bool same_facts(const ApplicationFacts& a, const ApplicationFacts& b) {
  return a.protocol == b.protocol && a.tls_version == b.tls_version && a.has_dns_rcode == b.has_dns_rcode &&
         a.dns_rcode == b.dns_rcode && a.server_name == b.server_name && a.http_host == b.http_host &&
         a.http_user_agent == b.http_user_agent && a.dns_name == b.dns_name && a.alpn == b.alpn && a.ja4 == b.ja4;
}

struct Read {
  Reading reading = Reading::unknown;
  ApplicationFacts facts = {};
};

/// Calls `parser(bytes, facts)` for bytes in a block of their own, with facts of another flow in its hands.
template <class Parser>
Read read_with(Parser parser, Bytes bytes) {
  const Block block(bytes);
  Read read;
  read.facts.server_name.assign("of another flow");
  read.facts.ja4.assign("of another flow");
  read.facts.dns_rcode = 99;
  read.reading = parser(block.bytes(), read.facts);
  if (read.reading == Reading::unknown) require(same_facts(read.facts, {}));
  if (read.reading == Reading::done) require(read.facts.protocol != ApplicationProtocol::none);
  return read;
}

/// Requires that more bytes never change what fewer have decided: the first `cut` of them, and all.
template <class Parser>
Read check_cut(Parser parser, Bytes bytes, std::size_t cut) {
  const Read whole = read_with(parser, bytes);
  const Read part = read_with(parser, bytes.first(std::min(cut, bytes.size())));
  if (part.reading != Reading::needs_more) {
    require(whole.reading == part.reading);
    require(same_facts(whole.facts, part.facts));
  }
  return whole;
}

}  // namespace parshall::fuzz
