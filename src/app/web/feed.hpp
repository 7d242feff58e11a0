// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/live/row_groups.hpp"
#include "app/live/table.hpp"
#include "app/live/watched.hpp"
#include "app/web/state_json.hpp"
#include "web/server.hpp"

namespace parshall::web {

/// Takes a snapshot of a run each second, in a thread of its own, and publishes it on the server. It calls the run's
/// snapshot functions; nothing else may call them while it exists.
///
/// Cost:   one snapshot a second, fewer if one takes more than half a second. Flows are read only while there are
///         clients and for some time after, and added up for shares and for each different kind of rows that clients
///         ask for.
class Feed {
 public:
  struct Options {
    std::function<TaskResults()> tasks;
    std::function<std::optional<AlarmList>(const std::vector<live::Opened>&)> alarms;  ///< of opened rows
    live::RowChoice rows;
    Networks local;
    std::uint64_t seed;
  };

  Feed(live::Watched& watched, Options options, Server& server);
  ~Feed();

  /// Returns the most memory that it takes for this many flows, with `columns` besides those of every record.
  static std::uint64_t memory_bytes(std::uint64_t flows, std::span<const ColumnInfo> columns) noexcept {
    const auto texts =
        std::ranges::count_if(columns, [](const ColumnInfo& each) { return each.type.value == ValueType::text; });
    return live::Table::memory_bytes(flows, columns.size(), static_cast<std::size_t>(texts)) +
           2 * live::RowGroups::memory_bytes(flows, texts != 0);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void refresh();
  void load(const Report& report);
  std::vector<Shares> shares();
  bool has_clients();
  void answer(bool all);
  void give_up();

  live::Watched& watched_;
  const Options options_;
  Server& server_;
  live::Table table_;
  live::RowGroups groups_, shared_groups_;  ///< for queries; for shares
  std::string common_;                      ///< what all clients get; empty: nothing to answer with
  std::optional<AlarmList> alarms_;         ///< of all rows
  std::deque<Moment> moments_;
  Accounting before_;
  double before_s_ = 0;
  Clock::time_point next_, next_answer_, last_client_;
  Clock::time_point retry_;  ///< earliest next snapshot, whoever comes

  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace parshall::web
