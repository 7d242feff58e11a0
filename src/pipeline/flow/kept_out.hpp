// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Sum of packets that were counted without reaching a flow: a flood filter kept them out.
struct KeptOut {
  std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;
  std::uint64_t first_ns = ~std::uint64_t{0}, last_ns = 0;  ///< earliest and latest of them

  void add(const PacketFacts& facts) noexcept {
    ++packets;
    ip_bytes += facts.ip_bytes();
    wire_bytes += facts.wire_bytes();
    first_ns = std::min(first_ns, facts.time_ns);
    last_ns = std::max(last_ns, facts.time_ns);
  }
};

}  // namespace parshall
