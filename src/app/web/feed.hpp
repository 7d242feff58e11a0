// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "app/live/recall_tail.hpp"
#include "app/live/table.hpp"
#include "app/live/watched.hpp"
#include "app/web/state_json.hpp"
#include "web/server.hpp"

namespace parshall::web {

/// Task results to show beside the reports.
struct Findings {
  std::function<std::vector<Event>()> events;  ///< returns the latest, newest last
  std::function<std::vector<live::TaskRecall>()> recalls;
};

/// Takes a snapshot of a run each second, in a thread of its own, and publishes it on the server. It calls the run's
/// snapshot functions; nothing else may call them while it exists.
///
/// Cost:   one snapshot a second, fewer if one takes more than half a second, however many clients read them.
class Feed {
 public:
  Feed(live::Watched& watched, Findings findings, Server& server);
  ~Feed();

 private:
  void run();
  bool wait_until(std::chrono::steady_clock::time_point time);
  void refresh();

  live::Watched& watched_;
  const Findings findings_;
  Server& server_;
  live::Table table_;
  std::deque<Moment> moments_;
  Accounting before_;
  double before_s_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parshall::web
