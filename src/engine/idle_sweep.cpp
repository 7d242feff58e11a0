// SPDX-License-Identifier: Apache-2.0
#include "engine/idle_sweep.hpp"

#include <algorithm>

namespace parshall {

std::uint32_t IdleSweep::lines_due(std::uint64_t now_ns, std::size_t table_lines) noexcept {
  constexpr double kLeast = 64;
  is_behind_ = false;
  if (idle_ns_ == 0) return 0;
  if (now_ns < swept_ns_) swept_ns_ = now_ns;  // otherwise one packet from the future would end all sweeping
  const double line_ns = static_cast<double>(idle_ns_) / static_cast<double>(table_lines);
  const double due = static_cast<double>(now_ns - swept_ns_) / line_ns;
  if (due < std::min(kLeast, static_cast<double>(table_lines))) return 0;
  is_behind_ = due > most_;
  const auto lines = static_cast<std::uint32_t>(std::min<double>(most_, due));
  swept_ns_ += static_cast<std::uint64_t>(lines * line_ns);
  swept_ns_ = std::max(swept_ns_, now_ns - std::min(now_ns, idle_ns_));
  return lines;
}

}  // namespace parshall
