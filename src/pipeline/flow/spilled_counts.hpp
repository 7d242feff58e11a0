// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// What a flow's CountWord has carried over: touched by every some hundredth packet of a flow, never by a short one.
///
/// Shape: 24 bytes per slot, in an array of its own, committed only where a flow spilled.
struct SpilledCounts {
  std::uint64_t packets;
  std::uint64_t ip_bytes;
  std::int64_t extra_bytes;  ///< wire_bytes - ip_bytes; negative when IP lengths exceed the frame

  void add(CountWord word) noexcept {
    packets += word.packets();
    ip_bytes += word.ip_bytes();
    extra_bytes += word.extra_bytes();
  }
};
static_assert(sizeof(SpilledCounts) == 24);

}  // namespace parshall
