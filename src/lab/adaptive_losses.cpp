// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive_losses.hpp"

#include <algorithm>
#include <vector>

namespace parshall::lab {
namespace {

constexpr std::uint64_t kNothing = 1000;  ///< of so many packets of a window, one that is lost is no loss

}  // namespace

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
  std::optional<double> begin;  // of the losses of the change at hand
  bool is_whole = false;        // that change: seen from its start
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
