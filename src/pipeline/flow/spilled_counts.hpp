// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Counts carried over from a flow's CountWord. Roughly one in some hundred packets of a flow touches it, short flows
/// never do.
///
/// Shape: 24 bytes per slot, in its own array, committed only where a flow spilled.
struct SpilledCounts {
  std::uint64_t packets;
  std::uint64_t ip_bytes;
  std::int64_t extra_bytes;  ///< wire_bytes - ip_bytes; negative if IP lengths exceed the frame

  void add(CountWord word) noexcept {
    packets += word.packets();
    ip_bytes += word.ip_bytes();
    extra_bytes += word.extra_bytes();
  }
};
static_assert(sizeof(SpilledCounts) == 24);

}  // namespace parshall
