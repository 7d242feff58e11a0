// SPDX-License-Identifier: Apache-2.0
#include "pipeline/decode/application/dns.hpp"

#include <algorithm>

#include "pipeline/decode/application/cursor.hpp"
#include "pipeline/decode/application/dns_name.hpp"

namespace parshall {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kLeastMessageBytes = 12;  ///< the header
enum Opcode : unsigned { query = 0, notify = 4, update = 5 };

struct Header {
  bool is_response = false;
  std::uint8_t opcode = 0, rcode = 0;
  std::uint16_t questions = 0, answers = 0, authorities = 0, additionals = 0;
};

Header read_header(Cursor& in) noexcept {
  in.be16();  // ID
  const std::uint16_t flags = in.be16();
  Header header;
  header.is_response = (flags & 0x8000) != 0;
  header.opcode = static_cast<std::uint8_t>(flags >> 11 & 15);
  header.rcode = static_cast<std::uint8_t>(flags & 15);
  header.questions = in.be16();
  header.answers = in.be16();
  header.authorities = in.be16();
  header.additionals = in.be16();
  return header;
}

/// Returns whether the header is one that DNS implementations send.
bool is_credible(const Header& header, DnsKind kind) noexcept {
  constexpr std::uint16_t kMostQuestions = 64, kMostAdditionals = 8;
  if (header.opcode != query && header.opcode != notify && header.opcode != update) return false;
  if (kind == DnsKind::multicast)
    return header.opcode == query && header.questions <= kMostQuestions &&
           (header.questions != 0 || (header.is_response && header.answers != 0));
  if (header.questions != 1) {
    // A server that could not read the question says only why.
    return header.questions == 0 && header.is_response && header.rcode != 0 && header.answers == 0 &&
           header.authorities == 0 && header.additionals <= 1;
  }
  if (header.is_response || header.opcode != query) return true;
  // A query asks; beside its question it has EDNS, a signature, the serial number of IXFR.
  return header.rcode == 0 && header.answers == 0 && header.authorities <= 1 && header.additionals <= kMostAdditionals;
}

}  // namespace

Reading read_dns(Bytes message, ApplicationFacts& facts, DnsKind kind) noexcept {
  facts.clear();
  Cursor in(message);
  const Header header = read_header(in);
  if (in.failed()) return Reading::needs_more;
  if (!is_credible(header, kind)) return Reading::unknown;
  Reading reading = Reading::done;
  if (header.questions != 0 || header.answers != 0) {
    reading = take_dns_name(in, facts.dns_name);
    const bool is_question = header.questions != 0;
    in.take(is_question ? 4 : 10);  // type and class; of an answer also its time to live and length
    if (reading == Reading::done && in.failed()) reading = Reading::needs_more;
  }
  if (reading != Reading::done) {
    facts.clear();
    return reading;
  }
  facts.protocol = ApplicationProtocol::dns;
  facts.has_dns_rcode = header.is_response;
  if (header.is_response) facts.dns_rcode = header.rcode;
  return Reading::done;
}

Reading read_dns_stream(Bytes stream, ApplicationFacts& facts) noexcept {
  facts.clear();
  Cursor in(stream);
  const std::size_t bytes = in.be16();
  if (in.failed()) return Reading::needs_more;
  if (bytes < kLeastMessageBytes) return Reading::unknown;
  const bool is_whole = in.left() >= bytes;
  const Reading reading = read_dns(in.take(std::min(in.left(), bytes)), facts);
  return reading == Reading::needs_more && is_whole ? Reading::unknown : reading;
}

}  // namespace parshall
