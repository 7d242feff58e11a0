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
#include "pipeline/output/groups/group_table.hpp"
#include "web/server.hpp"

namespace parshall::web {

/// Takes a snapshot of a run each second, in a thread of its own, and publishes it on the server. It calls the run's
/// snapshot functions; nothing else may call them while it exists.
///
/// Cost:   one snapshot a second, fewer if one takes more than half a second, however many clients read them.
class Feed {
 public:
  /// With `groups`, states also have the groupings of kGroupings. Flows must have whole keys then.
  Feed(live::Watched& watched, std::function<TaskResults()> tasks, Server& server, bool groups, std::uint64_t seed);
  ~Feed();

  /// Returns the most memory that it takes for this many flows, with `columns` besides those of every record.
  static std::uint64_t memory_bytes(std::uint64_t flows, std::size_t columns) noexcept {
    constexpr std::size_t kGroupColumns = 2;
    return live::Table::memory_bytes(flows, columns) +
           std::size(kGroupings) * (live::Table::memory_bytes(flows, kGroupColumns) + GroupTable::memory_bytes(flows));
  }

 private:
  void run();
  bool wait_until(std::chrono::steady_clock::time_point time);
  void refresh();
  void load(const Report& report);

  static constexpr std::string_view kGroupings[] = {"conversation", "host", "service"};
  struct Groups {
    GroupSchema schema;
    live::Table table;
    std::optional<GroupTable> sums;  ///< of the report that is being read; made with the first one
  };

  live::Watched& watched_;
  const std::function<TaskResults()> tasks_;
  Server& server_;
  const std::uint64_t seed_;
  live::Table table_;
  std::vector<Groups> groups_;
  std::deque<Moment> moments_;
  Accounting before_;
  double before_s_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parshall::web
