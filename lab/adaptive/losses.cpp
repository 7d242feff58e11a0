// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/losses.hpp"

#include <algorithm>
#include <vector>

#include "lab/adaptive/stretches.hpp"

namespace parshall::lab {
namespace {

constexpr std::uint64_t kNothing = 1000;  ///< a window that loses less than one packet in this many counts as lossless

}  // namespace

std::vector<WindowLoss> losses_by_window(std::span<const std::uint64_t> lost, Pace pace, std::size_t count) {
  const auto came_by = [&](std::size_t window) {
    return static_cast<std::uint64_t>(pace.packets_by(static_cast<double>(window * kWindowNs) * 1e-9));
  };
  std::vector<WindowLoss> windows(count);
  for (std::size_t i = 0; i < count; ++i) windows[i] = {came_by(i + 1) - came_by(i), i < lost.size() ? lost[i] : 0};
  return windows;
}

std::uint64_t lossy_windows(std::span<const std::uint64_t> lost) noexcept {
  return lost.size() - static_cast<std::uint64_t>(std::ranges::count(lost, 0u));
}

std::uint64_t longest_loss(std::span<const std::uint64_t> lost) noexcept {
  std::uint64_t longest = 0, in_a_row = 0;
  for (const std::uint64_t packets : lost) {
    in_a_row = packets == 0 ? 0 : in_a_row + 1;
    longest = std::max(longest, in_a_row);
  }
  return longest;
}

double lost_share(std::span<const WindowLoss> windows) noexcept {
  std::uint64_t came = 0, lost = 0;
  for (const WindowLoss& window : windows) came += window.came, lost += window.lost;
  return came == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(came);
}

double ChangingSkew::after(std::uint64_t came) const noexcept {
  return first + (last - first) * static_cast<double>(came % packets) / static_cast<double>(packets);
}

std::optional<double> skew_at_loss(std::span<const WindowLoss> windows, std::size_t from, ChangingSkew skew) {
  std::vector<double> begins;
  std::optional<double> begin;  // start of the losses in the current pass
  bool is_whole = false;        // the current pass was seen from its start
  std::uint64_t came = 0;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::uint64_t before = came / skew.packets;
    if (!begin && windows[i].lost * kNothing > windows[i].came) begin = skew.after(came);
    came += windows[i].came;
    if (came / skew.packets == before) continue;
    if (is_whole) begins.push_back(begin.value_or(skew.last));
    begin.reset();
    is_whole = i >= from;
  }
  if (begins.empty()) return std::nullopt;
  std::ranges::sort(begins);
  return (begins[(begins.size() - 1) / 2] + begins[begins.size() / 2]) / 2;
}

}  // namespace parshall::lab
