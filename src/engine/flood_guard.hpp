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
#include "pipeline/output/stage_counts.hpp"

namespace parshall {

/// Counts of a worker so far, for its flood filter.
struct FloodLoad {
  std::uint64_t time_ns = 0;  ///< time of the last packet
  std::uint64_t packets = 0;  ///< counted
  std::uint64_t begun = 0;    ///< flows that entered the table
  std::uint64_t evicted = 0;  ///< flows of an open window that were evicted
  std::uint64_t live = 0;     ///< flows in the table
};

/// Switches a worker's flood filter. The filter is on while too many new flows come, measured either by the time they
/// take or by their room in the table. The decision is made between batches, at the end of each window of 10 ms of
/// packet time, from the counts since the previous one.
class FloodGuard {
 public:
  static constexpr double kPacketNs = 50;  ///< rough cost to decode a packet and look up its flow

  FloodGuard(std::uint32_t bytes, double insert_ns) : filter_(bytes), switch_(insert_ns) {}
  /// Guards the room for this many flows, within windows of tasks.
  FloodGuard(std::uint32_t bytes, std::size_t flows, std::span<const WindowPlan> windows)
      : filter_(bytes), room_(flows) {
    for (const WindowPlan& plan : windows) windows_.push_back(plan.length);
  }

  FloodFilter& filter() noexcept { return filter_; }
  const FloodFilter& filter() const noexcept { return filter_; }
  bool is_on() const noexcept { return room_ ? room_->is_on() : switch_.is_on(); }

  /// Adds the packets kept out, the time the filter was on, and the time observed.
  void add_to(StageCounts& counts) const noexcept {
    counts.add_kept_out(filter_.kept());
    counts.add(Counter::flood_filter_ns, time_ns_);
    counts.add(Counter::flood_filter_on_ns, on_time_ns_);
  }

  /// Returns true at the end of a window; never if time went back.
  bool due(std::uint64_t time_ns) const noexcept {
    return time_ns > before_.time_ns && time_ns - before_.time_ns >= kWindowNs;
  }

  /// Ends a window and returns true if the filter is on from now on. `packet_ns`: cost of packets in flows, without
  /// inserting.
  bool end_window(const FloodLoad& now, double packet_ns) noexcept {
    const std::uint64_t kept = filter_.kept().packets, waiting = filter_.waiting_flows();
    if (before_.time_ns != 0 && now.time_ns > before_.time_ns) {
      const std::uint64_t window_ns = now.time_ns - before_.time_ns;
      time_ns_ += std::min(window_ns, kLongestNs);
      if (is_on()) on_time_ns_ += std::min(window_ns, kLongestNs);
      const auto kept_out = static_cast<double>(kept - kept_before_);
      const double in_flows = static_cast<double>(now.packets - before_.packets) - kept_out;
      // A flow that is admitted was already counted when it was kept out.
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
  static constexpr std::uint64_t kLongestNs = 3600'000'000'000;  ///< more is a clock that jumped

  /// Returns the share of the tasks' longest window.
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
  std::optional<RoomSwitch> room_;     ///< replaces switch_ if the filter guards room
  std::vector<WindowLength> windows_;  ///< windows of tasks, if the filter guards room
  FloodLoad before_;
  std::uint64_t kept_before_ = 0, waiting_before_ = 0;
  std::uint64_t time_ns_ = 0, on_time_ns_ = 0;  ///< packet time observed, and part of it with the filter on
};

}  // namespace parshall
