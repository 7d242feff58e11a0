// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// Latest findings of tasks, for a report. Any thread.
class RecentEvents final : public Exporter {
 public:
  static constexpr std::size_t kMost = 10'000, kBytes = std::size_t{8} << 20;

  /// Returns the memory, including the events of a report.
  static constexpr std::uint64_t memory_bytes() noexcept { return 2 * kBytes; }

  /// Keeps `most` events. Without `findings`, only those about all traffic.
  explicit RecentEvents(std::size_t most = kMost, bool findings = true)
      : has_findings_(findings), events_{most, kBytes} {}

  void event(const Event& event) override {
    if (!has_findings_ && event.kind == EventKind::finding) return;
    const std::lock_guard lock(mutex_);
    for (; !events_.has_room_for(event); ++left_out_) events_.pop();
    events_.push(Event(event));
  }

  struct Events {
    std::vector<Event> latest;
    std::uint64_t left_out = 0;  ///< events dropped for lack of room
  };
  Events all() const {
    const std::lock_guard lock(mutex_);
    return {{events_.begin(), events_.end()}, left_out_};
  }
  std::vector<Event> latest(std::size_t most) const {
    const std::lock_guard lock(mutex_);
    const std::size_t count = std::min(most, events_.size());
    return {events_.end() - static_cast<std::ptrdiff_t>(count), events_.end()};
  }

  /// Removes events that are in a report.
  void forget(const Events& reported) {
    const std::lock_guard lock(mutex_);
    // Later events have already pushed out some of the reported ones.
    const std::uint64_t pushed_out = std::min<std::uint64_t>(left_out_ - reported.left_out, reported.latest.size());
    const std::uint64_t stay = reported.latest.size() - pushed_out;
    for (std::uint64_t i = 0; i < stay; ++i) events_.pop();
    left_out_ -= reported.left_out + pushed_out;
  }

 private:
  const bool has_findings_;
  mutable std::mutex mutex_;
  FindingList<Event> events_;
  std::uint64_t left_out_ = 0;
};

}  // namespace parshall
