// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "pipeline/decode/decode.hpp"

namespace parshall::testing {

using Bytes = std::vector<std::uint8_t>;

/// Bytes one after another.
inline Bytes join(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

inline Bytes be16(unsigned value) { return {static_cast<std::uint8_t>(value >> 8), static_cast<std::uint8_t>(value)}; }

inline Bytes ethernet(unsigned type, const Bytes& payload) {
  return join({{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, be16(type), payload});
}

/// 10.0.0.`host` -> 10.0.1.`host`; `fragment` is the flags and offset field.
inline Bytes ipv4(std::uint8_t protocol, const Bytes& payload, std::uint8_t host = 1, unsigned fragment = 0) {
  return join({{0x45, 0},
               be16(static_cast<unsigned>(20 + payload.size())),
               {0, 1},
               be16(fragment),
               {64, protocol, 0, 0, 10, 0, 0, host, 10, 0, 1, host},
               payload});
}

/// fd00::`host` -> fd01::`host`
inline Bytes ipv6(std::uint8_t next_header, const Bytes& payload, std::uint8_t host = 1) {
  Bytes bytes = join({{0x60, 0, 0, 0}, be16(static_cast<unsigned>(payload.size())), {next_header, 64}});
  for (const std::uint8_t net : {std::uint8_t{0}, std::uint8_t{1}}) {
    Bytes address(16);
    address[0] = 0xfd;
    address[1] = net;
    address[15] = host;
    bytes.insert(bytes.end(), address.begin(), address.end());
  }
  return bytes;
}

inline Bytes ipv6_packet(std::uint8_t next_header, const Bytes& payload, std::uint8_t host = 1) {
  return join({ipv6(next_header, payload, host), payload});
}

inline Bytes udp(unsigned from, unsigned to, const Bytes& payload = Bytes(8)) {
  return join({be16(from), be16(to), be16(static_cast<unsigned>(8 + payload.size())), {0, 0}, payload});
}

/// Data offset 5, `flags` with NS in bit 8.
inline Bytes tcp(unsigned from, unsigned to, unsigned flags) {
  return join({be16(from), be16(to), Bytes(8), be16(0x5000 | flags), Bytes(6)});
}

struct Decoded {
  Verdict verdict = Verdict::not_ip;
  PacketFacts facts{};
};

/// Decodes what was captured wholly, from memory of exactly that size.
Decoded decode(LinkType link_type, const Bytes& frame, IpHeader header = IpHeader::outermost);

/// The same with only the first bytes captured.
Decoded decode_cut(LinkType link_type, const Bytes& frame, std::size_t captured_bytes,
                   IpHeader header = IpHeader::outermost);

/// "UDP 10.0.0.1:1000 > 10.0.1.1:53" for what was counted, else the verdict's name.
std::string show(const Decoded& decoded);

}  // namespace parshall::testing
