// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// The part of a flow that only its first packet, a carry, a late packet or a report touches.
///
/// Shape: 32 bytes per slot, in an array of its own.
struct ColdFlow {
  std::uint64_t first_ns;
  std::uint64_t packets : 56;      ///< spilled from the flow's CountWord; add the word's own
  std::uint64_t displacement : 8;  ///< the slot's line is the flow's home line ^ displacement
  std::uint64_t ip_bytes;          ///< likewise spilled
  std::int64_t extra_bytes;        ///< wire_bytes - ip_bytes; negative when IP lengths exceed the frame

  void add(CountWord word) noexcept {
    packets = (packets + word.packets()) & ((1ull << 56) - 1);
    ip_bytes += word.ip_bytes();
    extra_bytes += word.extra_bytes();
  }
};
static_assert(sizeof(ColdFlow) == 32);

}  // namespace parshall
