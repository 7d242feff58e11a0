// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "monitor/live/table.hpp"
#include "monitor/live/watched.hpp"

namespace parshall::live {

/// What the feed works for.
struct Wish {
  Arrangement arrangement;
  Choice choice;
  bool paused = false;

  friend bool operator==(const Wish&, const Wish&) = default;
};

/// Takes snapshots and arranges their flows on a thread of its own, so that neither a million flows nor a filter
/// keeps the keyboard waiting. Calls the run's snapshot functions; nobody else may while it lives.
///
/// Cost: one snapshot a second, fewer when one takes more than half a second; none while paused.
class Feed {
 public:
  /// `own`: columns of a choice that says so. `marks`: flows are classified whatever is chosen, as packets go by it.
  Feed(Watched& watched, Schema own, const StatisticOptions& statistics, const Choice& initial, bool marks = false);
  ~Feed() { stop(); }

  void wish(const Wish& wish);
  std::shared_ptr<const View> latest() const;

  /// Ends the thread. Then the run's final report, where the run ended before.
  void stop();
  std::optional<Report> take_final() { return std::move(final_); }

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void refresh();
  std::optional<Report> next_report();
  void serve();
  bool publish();
  void use(const Choice& choice);
  Wish wanted();

  Watched& watched_;
  const Schema own_;
  const StatisticOptions statistics_;
  const bool marks_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Wish wish_;
  std::shared_ptr<const View> latest_;
  std::atomic<bool> pending_{false}, stopping_{false};

  Table table_;
  Choice used_;
  Arrangement served_;
  bool ended_ = false;
  std::optional<Report> final_;
  Clock::time_point next_refresh_;
  std::thread thread_;
};

}  // namespace parshall::live
