// SPDX-License-Identifier: Apache-2.0
#include "app/web/feed.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

#include "app/live/row_key.hpp"
#include "app/web/page.hpp"
#include "app/web/rows_query.hpp"
#include "base/thread_name.hpp"

namespace parshall::web {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr std::chrono::milliseconds kFirst{100};  ///< delay until the first snapshot
constexpr std::chrono::milliseconds kRates{400};  ///< delay from the first with flows, which gives no rates yet
constexpr std::chrono::milliseconds kLook{20}, kPoll{1};
constexpr std::size_t kMoments = 600;   ///< moments that a page starts with
constexpr std::size_t kMostShares = 6;  ///< of protocols, services, directions
constexpr const char* const kAnswers[] = {kStatePath, kEventsPath};

}  // namespace

Feed::Feed(live::Watched& watched, Options options, Server& server)
    : watched_(watched),
      options_(std::move(options)),
      server_(server),
      groups_(options_.local, options_.seed),
      shared_groups_(options_.local, options_.seed),
      next_(Clock::now() + kFirst) {
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

void Feed::run() {
  name_this_thread("web feed");
  let_others_first();
  const auto is_over = [this] { return stopping_.load(std::memory_order_relaxed); };
  while (!is_over()) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait_until(lock, std::min(next_, Clock::now() + kLook), is_over);
    }
    try {
      const bool has_flows = table_.rows().summary.number != 0;
      if (!has_flows && !moments_.empty() && is_looked_at()) next_ = std::min(next_, Clock::now());
      if (Clock::now() >= next_)
        refresh();
      else
        answer(/*all=*/false);
    } catch (const std::bad_alloc&) {  // viewers see that nothing new comes; the run goes on
      table_ = {};
      common_.clear();
      next_ = Clock::now() + kPeriod;
    }
  }
}

bool Feed::is_looked_at() {
  return std::ranges::any_of(kAnswers, [this](const char* path) { return !server_.queries(path).empty(); });
}

void Feed::refresh() {
  const auto began = Clock::now();
  next_ = began + kPeriod;
  if (watched_.finished()) return;
  watched_.begin_snapshot();
  std::optional<Report> report;
  while (!(report = watched_.poll_snapshot())) {
    if (watched_.finished() || stopping_.load(std::memory_order_relaxed)) return;
    std::this_thread::sleep_for(kPoll);
  }
  const ReportSummary& summary = report->summary;
  const double seconds = summary.elapsed_s - before_s_;
  if (seconds > 0) moments_.push_back(moment_of(summary.elapsed_s, seconds, before_, summary.total));
  if (moments_.size() > kMoments) moments_.pop_front();
  before_ = summary.total;
  before_s_ = summary.elapsed_s;
  if (moments_.empty()) return;
  server_.publish(kHistoryPath, history_json(moments_));
  load(*report);
  const auto now = Clock::now();
  next_ = std::max(next_, now + (now - began));
}

/// Reads the flows, and answers, if anybody looks.
void Feed::load(const Report& report) {
  if (!is_looked_at()) {
    table_ = {};
    common_.clear();
    return;
  }
  const bool is_first = table_.rows().summary.number == 0;
  table_.load(
      report, [] {}, kWindowS);
  table_.commit();
  groups_.forget();
  shared_groups_.forget();
  if (is_first) {
    next_ = Clock::now() + kRates;
    return;
  }
  common_ = common_json(table_.rows(), moments_.back(), options_.tasks(), shares(), options_.rows);
  answer(/*all=*/true);
}

/// Adds up the protocols, services and directions of all flows.
std::vector<Shares> Feed::shares() {
  std::vector<Shares> all;
  double bps = 0;
  for (std::size_t i = 0; i < table_.rows().entries.size(); ++i) {
    const float rate = table_.rows().values_of(i)[1];
    if (!std::isnan(rate)) bps += rate;
  }
  for (const std::string_view name : {"protocol", "service", "direction"}) {
    const auto by = std::ranges::find(options_.rows.all, name, [](const Grouping* each) { return each->names.one; });
    if (by == options_.rows.all.end()) continue;
    const auto view = shared_groups_.arrange(table_.rows(), {.by = *by, .within = {}, .sort = live::kBps, .filter = {}},
                                             [this] { return stopping_.load(); });
    if (!view) break;
    Shares& shares = all.emplace_back(Shares{.of = std::string((*by)->names.many), .bps = bps, .largest = {}});
    for (const live::Row& row : std::span(view->rows).first(std::min(view->rows.size(), kMostShares)))
      if (row.values[1] > 0) shares.largest.push_back({live::group_text(row, *view), row.values[1]});
  }
  return all;
}

/// Answers clients: all of them, or those that have had no answer yet.
void Feed::answer(bool all) {
  if (common_.empty()) return;
  std::string state;
  for (const char* const path : kAnswers)
    for (const std::string& query : all ? server_.queries(path) : server_.new_queries(path)) {
      if (stopping_.load(std::memory_order_relaxed)) return;
      state = answer_to(query);
      const bool is_event = path == kEventsPath;
      server_.publish(path, is_event ? "data: " + state + "\n\n" : state, query);
    }
}

std::string Feed::answer_to(const std::string& query) {
  std::string rows;
  const auto wanted = parse_rows_query(query, options_.rows, table_.rows(), groups_);
  if (!wanted) {
    rows = rows_json(wanted.error());
  } else if (const auto view = groups_.arrange(table_.rows(), *wanted, [this] { return stopping_.load(); })) {
    rows = rows_json(*view);
  } else {
    rows = "null";
  }
  return "{" + common_ + ",\"rows\":" + rows + "}";
}

}  // namespace parshall::web
