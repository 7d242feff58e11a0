// SPDX-License-Identifier: Apache-2.0
#include "control/flood_switch.hpp"

#include <cmath>

namespace parshall {
namespace {

constexpr double kOnShare = 0.5, kOffShare = 0.25;      ///< shares of the time that packets take
constexpr double kLeastBusy = 0.01, kOverBusy = 0.005;  ///< shares of all time

constexpr double kOnEvicted = 0.5, kOffRoom = 0.5, kNearlyFull = 0.875;
constexpr double kSmoothing = 4, kAhead = 2;  ///< in windows

}  // namespace

bool FloodSwitch::end_window(const FloodWindow& window) noexcept {
  const double insert_ns = window.new_flows * insert_ns_, all_ns = insert_ns + window.other_ns;
  if (!(window.window_ns > 0) || !std::isfinite(all_ns) || insert_ns < 0 || window.other_ns < 0) return is_on_;
  const double share = is_on_ ? kOffShare : kOnShare, busy = is_on_ ? kOverBusy : kLeastBusy;
  return is_on_ = insert_ns > share * all_ns && insert_ns > busy * window.window_ns;
}

bool RoomSwitch::end_window(const TableLoad& load) noexcept {
  if (!(load.share > 0)) return is_on_;
  in_a_window_ += (load.new_flows / load.share - in_a_window_) / kSmoothing;
  const double soon = load.live + kAhead * load.new_flows;
  const bool is_full = soon > kNearlyFull * flows_ && in_a_window_ > flows_;
  return is_on_ = is_on_ ? in_a_window_ > kOffRoom * flows_ : is_full || load.evicted > kOnEvicted * load.new_flows;
}

}  // namespace parshall
