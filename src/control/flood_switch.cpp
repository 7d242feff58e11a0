// SPDX-License-Identifier: Apache-2.0
#include "control/flood_switch.hpp"

#include <cmath>

namespace parshall {
namespace {

constexpr double kOnShare = 0.5, kOffShare = 0.25;      ///< of the time that packets take
constexpr double kLeastBusy = 0.01, kOverBusy = 0.005;  ///< of all time

}  // namespace

bool FloodSwitch::end_window(const FloodWindow& window) noexcept {
  const double insert_ns = window.new_flows * insert_ns_, all_ns = insert_ns + window.other_ns;
  if (!(window.window_ns > 0) || !std::isfinite(all_ns) || insert_ns < 0 || window.other_ns < 0) return is_on_;
  const double share = is_on_ ? kOffShare : kOnShare, busy = is_on_ ? kOverBusy : kLeastBusy;
  return is_on_ = insert_ns > share * all_ns && insert_ns > busy * window.window_ns;
}

}  // namespace parshall
