// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "traffic/pace.hpp"

namespace parshall::lab {

/// Packets that came in a window, and how many were lost.
struct WindowLoss {
  std::uint64_t came = 0, lost = 0;
};

/// Returns the losses in the first `count` windows of a pace, each kWindowNs long; `lost` ends with the last window
/// that lost any.
std::vector<WindowLoss> losses_by_window(std::span<const std::uint64_t> lost, Pace pace, std::size_t count);

/// Counts the windows that lost any; longest_loss() returns the most of these in succession.
std::uint64_t lossy_windows(std::span<const std::uint64_t> lost) noexcept;
std::uint64_t longest_loss(std::span<const std::uint64_t> lost) noexcept;

/// Returns the share of all packets in these windows that was lost.
double lost_share(std::span<const WindowLoss> windows) noexcept;

/// Zipf exponent of traffic that changes evenly from packet to packet, and restarts once all packets have come.
struct ChangingSkew {
  double first, last;
  std::uint64_t packets;  ///< packets from the first exponent to the last

  double after(std::uint64_t came) const noexcept;
};

/// Returns the skew at which losses begin: the median over all passes from first to last. For each pass it is that of
/// the first window that loses more than a thousandth of its packets, or the last skew if none does. Leaves out the
/// first pass, and those that begin before window `from` or are incomplete. Returns nullopt if no pass is left.
std::optional<double> skew_at_loss(std::span<const WindowLoss> windows, std::size_t from, ChangingSkew skew);

}  // namespace parshall::lab
