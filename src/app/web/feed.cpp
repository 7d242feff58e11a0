// SPDX-License-Identifier: Apache-2.0
#include "app/web/feed.hpp"

#include <algorithm>
#include <chrono>
#include <new>

#include "app/web/page.hpp"
#include "base/thread_name.hpp"

namespace parshall::web {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPeriod{1};
constexpr std::chrono::milliseconds kFirst{100}, kPoll{1};
constexpr std::size_t kMoments = 600;                      ///< moments that a page starts with
constexpr std::size_t kLeaders = 100, kGroupLeaders = 40;  ///< rows for each column
constexpr double kWindowS = 10;                            ///< time that rates are means over

}  // namespace

Feed::Feed(live::Watched& watched, std::function<TaskResults()> tasks, Server& server, bool groups, std::uint64_t seed)
    : watched_(watched), tasks_(std::move(tasks)), server_(server), seed_(seed) {
  for (const std::string_view name : kGroupings) {
    if (!groups) break;
    const Grouping& grouping = *find_grouping(name);
    std::vector<std::string> columns{"flows"};
    if (grouping.has_peers) columns.insert(columns.begin(), "peers");
    groups_.push_back({.schema = *GroupSchema::make(grouping, {}, Schema(), columns), .table = {}, .sums = {}});
  }
  thread_ = std::thread([this] { run(); });
}

Feed::~Feed() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_one();
  thread_.join();
}

/// Waits; returns false if the feed is to end.
bool Feed::wait_until(Clock::time_point time) {
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, time, [this] { return stopping_.load(std::memory_order_relaxed); });
}

void Feed::run() {
  name_this_thread("web feed");
  let_others_first();
  for (auto next = Clock::now() + kFirst; wait_until(next);) {
    const auto began = Clock::now();
    try {
      refresh();
    } catch (const std::bad_alloc&) {  // viewers see that nothing new comes; the run goes on
      table_ = {};
      for (Groups& each : groups_) each.table = {}, each.sums.reset();
    }
    const auto now = Clock::now();
    next = std::max(began + kPeriod, now + (now - began));
  }
}

/// Reads the flows once: for their own table, and for those of groups.
void Feed::load(const Report& report) {
  for (Groups& each : groups_) {
    if (!each.sums) each.sums.emplace(each.schema, report.summary.capacity, seed_);
    each.sums->clear();
  }
  table_.load(
      report, [] {}, kWindowS,
      [this](const ReportFlow& flow) {
        for (Groups& each : groups_) each.sums->add(flow);
      });
  table_.commit();
  for (Groups& each : groups_) {
    each.table.load(report_of(report.summary, each.schema, *each.sums), [] {});
    each.table.commit();
  }
}

void Feed::refresh() {
  if (watched_.finished()) return;
  watched_.begin_snapshot();
  std::optional<Report> report;
  while (!(report = watched_.poll_snapshot())) {
    if (watched_.finished() || stopping_.load(std::memory_order_relaxed)) return;
    std::this_thread::sleep_for(kPoll);
  }
  load(*report);
  const live::View view = table_.leaders(kLeaders, kWindowS);
  std::vector<live::View> groups;
  for (const Groups& each : groups_) groups.push_back(each.table.leaders(kGroupLeaders, kWindowS));
  const Accounting& total = view.summary.total;
  const double seconds = view.summary.elapsed_s - before_s_;
  if (seconds > 0) moments_.push_back(moment_of(view.summary.elapsed_s, seconds, before_, total));
  if (moments_.size() > kMoments) moments_.pop_front();
  before_ = total;
  before_s_ = view.summary.elapsed_s;
  if (moments_.empty()) return;
  std::string state = state_json(view, groups, moments_.back(), tasks_());
  server_.publish(kHistoryPath, history_json(moments_));
  server_.publish(kEventsPath, "data: " + state + "\n\n");
  server_.publish(kStatePath, std::move(state));
}

}  // namespace parshall::web
