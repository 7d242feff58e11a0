// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/live/choice.hpp"
#include "app/live/row_groups.hpp"
#include "app/live/table.hpp"
#include "app/live/watched.hpp"

namespace parshall::live {

/// Rows and columns that the view wants from the feed.
struct Wish {
  Arrangement arrangement;
  Choice choice;
  bool paused = false;

  friend bool operator==(const Wish&, const Wish&) = default;
};

/// Takes snapshots and arranges their flows in a thread of its own, so that neither a million flows nor a filter block
/// the keyboard. It calls the run's snapshot functions; nothing else may call them while it exists.
///
/// Cost:   one snapshot a second, fewer if one takes more than half a second; none while paused.
class Feed {
 public:
  struct Options {
    Schema own;  ///< columns for Choice::own
    StatisticOptions statistics;
    Networks local;
    bool marks = false;          ///< flows are always classified, because forwarded packets are marked by class
    bool keeps_columns = false;  ///< the columns of flows never change
  };

  /// The run has the columns of `initial` already.
  Feed(Watched& watched, Options options, const Wish& initial);
  ~Feed() { stop(); }

  void wish(const Wish& wish);
  std::shared_ptr<const View> latest() const;

  /// Ends the thread. take_final() then returns the final report, if the run has ended.
  void stop();
  std::optional<Report> take_final() { return std::move(final_); }
  /// Returns whether the run has other columns than at the start. After stop().
  bool has_other_columns() const { return columns_ != first_columns_; }

 private:
  using Clock = std::chrono::steady_clock;

  void run();
  void refresh();
  std::optional<Report> next_report();
  void serve();
  bool publish();
  bool publish_none(const Arrangement& arrangement);
  void use(const Choice& choice);
  std::optional<Schema> schema_of(const Choice& choice) const;
  Wish wanted();

  Watched& watched_;
  const Options options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Wish wish_;
  std::shared_ptr<const View> latest_;
  std::atomic<bool> pending_{false}, stopping_{false};

  Table flows_;
  RowGroups groups_;
  Choice used_;
  std::vector<std::string> first_columns_, columns_;  ///< at the start, and now
  Arrangement served_;
  bool ended_ = false;
  std::optional<Report> final_;
  Clock::time_point next_refresh_;
  std::thread thread_;
};

}  // namespace parshall::live
