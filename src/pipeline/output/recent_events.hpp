// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "pipeline/output/exporter.hpp"

namespace parshall {

/// The latest of what tasks found, for a report. Any thread.
class RecentEvents final : public InnerExporter {
 public:
  static constexpr std::size_t kMost = 10'000;

  void event(const Event& event) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event);
    if (events_.size() <= kMost) return;
    events_.pop_front();
    ++left_out_;
  }

  struct Events {
    std::vector<Event> latest;
    std::uint64_t left_out = 0;  ///< for want of room
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

  /// They are in a report.
  void forget(const Events& reported) {
    const std::lock_guard lock(mutex_);
    // Of the reported, as many as later ones pushed out are gone already.
    const std::uint64_t pushed_out = std::min<std::uint64_t>(left_out_ - reported.left_out, reported.latest.size());
    const std::uint64_t stay = reported.latest.size() - pushed_out;
    events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(stay));
    left_out_ -= reported.left_out + pushed_out;
  }

 private:
  mutable std::mutex mutex_;
  std::deque<Event> events_;
  std::uint64_t left_out_ = 0;
};

}  // namespace parshall
