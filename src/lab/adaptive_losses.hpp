// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "generate/pace.hpp"

namespace parshall::lab {

/// What came in a window, and what of it was lost.
struct WindowLoss {
  std::uint64_t came = 0, lost = 0;
};

/// Of the first `count` windows of a pace, by kWindowNs from its begin; `lost` ends with the last that lost any.
std::vector<WindowLoss> losses_by_window(std::span<const std::uint64_t> lost, Pace pace, std::size_t count);

/// Windows that lost any, and the most of these in a row.
std::uint64_t lossy_windows(std::span<const std::uint64_t> lost) noexcept;
std::uint64_t longest_loss(std::span<const std::uint64_t> lost) noexcept;

/// Of all that came in these windows.
double lost_share(std::span<const WindowLoss> windows) noexcept;

/// Zipf's exponent of traffic in which it changes evenly from packet to packet, and begins anew once all have come.
struct ChangingSkew {
  double first, last;
  std::uint64_t packets;  ///< from the first to the last

  double after(std::uint64_t came) const noexcept;
};

/// The skew at which losses begin: of each time that it goes from first to last, that of the first window that loses
/// more than a thousandth of what comes, or the last skew where none does; their median. The first time, and those that
/// begin before window `from` or are not over with the windows, are left out. Nothing: there is no other.
std::optional<double> skew_at_loss(std::span<const WindowLoss> windows, std::size_t from, ChangingSkew skew);

}  // namespace parshall::lab
