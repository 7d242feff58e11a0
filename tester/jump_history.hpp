// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall::tester {

/// Arrival of a frame while at least one frame sent before it was missing.
struct Jump {
  std::uint64_t sequence;
  std::uint64_t arrival;  ///< number of frames of the flow that came before it
};

/// Distance from a late frame back to the first that overtook it. See JumpHistory.
struct Extent {
  std::uint64_t frames = 0;
  enum class Says : std::uint8_t { exactly, at_least } says = Says::exactly;
};

/// Keeps the last jumps of a flow, for the extent of reordering. The extent of a late frame is the distance, in
/// arrivals, to the earliest frame that came before it and was sent after it. That one is always a jump: the frame
/// before it by sequence was missing.
///
/// Shape:  as many jumps as the span holds, a power of two; the owner holds the memory.
/// Cost:   a store for each jump; for each late frame an exponential search from the last jump.
/// Full:   the oldest jump is forgotten. A frame that it may have overtaken has an extent of "at least".
/// Source: RFC 4737, section 4.2 (reordering extent).
class JumpHistory {
 public:
  void add(std::span<Jump> jumps, Jump jump) noexcept {
    Jump& place = jumps[count_ & (jumps.size() - 1)];
    if (count_ >= jumps.size()) forgotten_ = place.sequence;
    place = jump;
    ++count_;
  }

  /// Returns the extent of a late frame that came after `arrivals` others.
  Extent extent(std::span<const Jump> jumps, std::uint64_t sequence, std::uint64_t arrivals) const noexcept {
    const auto is_after = [&](std::uint64_t number) { return jumps[number & (jumps.size() - 1)].sequence > sequence; };
    const std::uint64_t oldest = count_ - std::min<std::uint64_t>(count_, jumps.size());
    std::uint64_t high = count_, step = 1;  // usually among the last ones
    for (; high - oldest > step && is_after(high - step); step *= 2) high -= step;
    std::uint64_t low = high - oldest > step ? high - step + 1 : oldest;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (is_after(middle))
        high = middle;
      else
        low = middle + 1;
    }
    const bool is_exact = oldest == 0 || forgotten_ < sequence;
    return {arrivals - jumps[low & (jumps.size() - 1)].arrival,
            is_exact ? Extent::Says::exactly : Extent::Says::at_least};
  }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t forgotten_ = 0;  ///< sequence of the last forgotten jump
};

}  // namespace parshall::tester
