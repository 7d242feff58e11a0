// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace parshall::tester {

/// A frame that came while one sent before it, at least, had not.
struct Jump {
  std::uint64_t sequence;
  std::uint64_t arrival;  ///< how many frames of the flow had come before it
};

/// How far back a late frame was overtaken first. See JumpHistory.
struct Extent {
  std::uint64_t frames = 0;
  enum class Says : std::uint8_t { exactly, at_least } says = Says::exactly;
};

/// The last jumps of a flow, for the extent of reordering: of a late frame the distance, in frames that came, to the
/// earliest that came before it and was sent after it. That one is always a jump: the frame before it by sequence
/// was not there.
///
/// Shape:  as many jumps as the span holds, a power of two; the state is in the owner's hands.
/// Cost:   a store a jump; a search by doubled steps from the last a late frame.
/// Full:   the oldest jump is forgotten. A frame that may have been overtaken by it has an extent of "at least".
/// Source: RFC 4737, section 4.2 (reordering extent).
class JumpHistory {
 public:
  void add(std::span<Jump> jumps, Jump jump) noexcept {
    Jump& place = jumps[count_ & (jumps.size() - 1)];
    if (count_ >= jumps.size()) forgotten_ = place.sequence;
    place = jump;
    ++count_;
  }

  /// Of a late frame, before which `arrivals` have come.
  Extent extent(std::span<const Jump> jumps, std::uint64_t sequence, std::uint64_t arrivals) const noexcept {
    const auto is_after = [&](std::uint64_t number) { return jumps[number & (jumps.size() - 1)].sequence > sequence; };
    const std::uint64_t oldest = count_ - std::min<std::uint64_t>(count_, jumps.size());
    std::uint64_t high = count_, step = 1;  // it is among the last ones, mostly
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
  std::uint64_t forgotten_ = 0;  ///< sequence of the last one forgotten
};

}  // namespace parshall::tester
