// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "control/flood_switch.hpp"
#include "pipeline/flow/flood_filter.hpp"
#include "pipeline/measure/windows/window_plan.hpp"
#include "pipeline/output/monitor_counts.hpp"

namespace parshall {

/// What came to a worker up to now, for its flood filter.
struct FloodLoad {
  std::uint64_t time_ns = 0;  ///< of the last packet
  std::uint64_t packets = 0;  ///< counted
  std::uint64_t begun = 0;    ///< flows that came into the table
  std::uint64_t evicted = 0;  ///< flows of an open window that left for want of room
  std::uint64_t live = 0;     ///< flows in the table
};

/// A worker's flood filter, which is on while packets begin too many flows, for the time that takes or for the room:
/// decided between batches, at the end of each window of 10 ms of packet time, which has all that came since the last
/// one.
class FloodGuard {
 public:
  static constexpr double kPacketNs = 50;  ///< to decode a packet and look for its flow: rough

  FloodGuard(std::uint32_t bytes, double insert_ns) : filter_(bytes), switch_(insert_ns) {}
  /// For the room of so many flows, within windows of tasks.
  FloodGuard(std::uint32_t bytes, std::size_t flows, std::span<const WindowPlan> windows)
      : filter_(bytes), room_(flows) {
    for (const WindowPlan& plan : windows) windows_.push_back(plan.length);
  }

  FloodFilter& filter() noexcept { return filter_; }
  const FloodFilter& filter() const noexcept { return filter_; }
  bool is_on() const noexcept { return room_ ? room_->is_on() : switch_.is_on(); }

  /// What it kept out, and for how long it was on, of the time that it watched.
  void add_to(MonitorCounts& counts) const noexcept {
    counts.add_kept_out(filter_.kept());
    counts.add(Counter::flood_filter_ns, time_ns_);
    counts.add(Counter::flood_filter_on_ns, on_time_ns_);
  }

  /// Where a window ends: never where time went back.
  bool due(std::uint64_t time_ns) const noexcept {
    return time_ns > before_.time_ns && time_ns - before_.time_ns >= kWindowNs;
  }

  /// Then: whether the filter is on from here. `packet_ns`: what packets in flows take, but for inserting.
  bool end_window(const FloodLoad& now, double packet_ns) noexcept {
    const std::uint64_t kept = filter_.kept().packets, waiting = filter_.waiting_flows();
    if (before_.time_ns != 0 && now.time_ns > before_.time_ns) {
      const std::uint64_t window_ns = now.time_ns - before_.time_ns;
      time_ns_ += std::min(window_ns, kLongestNs);
      if (is_on()) on_time_ns_ += std::min(window_ns, kLongestNs);
      const auto kept_out = static_cast<double>(kept - kept_before_);
      const double in_flows = static_cast<double>(now.packets - before_.packets) - kept_out;
      // A flow that is let in had been counted when it was kept out.
      const auto new_flows = static_cast<double>(now.begun + waiting - before_.begun - waiting_before_);
      if (room_)
        room_->end_window({share_of_window(window_ns, now.packets - before_.packets), new_flows,
                           static_cast<double>(now.evicted - before_.evicted), static_cast<double>(now.live)});
      else
        switch_.end_window({static_cast<double>(window_ns), new_flows, in_flows * packet_ns + kept_out * kPacketNs});
    }
    before_ = now;
    kept_before_ = kept;
    waiting_before_ = waiting;
    return is_on();
  }

 private:
  static constexpr std::uint64_t kWindowNs = 10'000'000;
  static constexpr std::uint64_t kLongestNs = 3600'000'000'000;  ///< more is a clock that leapt

  /// Of the longest of the tasks' windows.
  double share_of_window(std::uint64_t ns, std::uint64_t packets) const noexcept {
    double share = 1;
    for (const WindowLength& length : windows_) {
      const bool is_of_time = length.unit == WindowLength::Unit::ns;
      share = std::min(share, static_cast<double>(is_of_time ? ns : packets) / static_cast<double>(length.amount));
    }
    return share;
  }

  FloodFilter filter_;
  FloodSwitch switch_;
  std::optional<RoomSwitch> room_;     ///< in place of switch_, which is for time
  std::vector<WindowLength> windows_;  ///< of tasks, where it is for room
  FloodLoad before_;
  std::uint64_t kept_before_ = 0, waiting_before_ = 0;
  std::uint64_t time_ns_ = 0, on_time_ns_ = 0;  ///< of packet time, and of that, it was on
};

}  // namespace parshall
