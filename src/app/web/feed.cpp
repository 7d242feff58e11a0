// SPDX-License-Identifier: Apache-2.0
#include "app/web/feed.hpp"

#include <fmt/format.h>

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
constexpr std::chrono::milliseconds kTick{20}, kPoll{1};
constexpr std::chrono::seconds kPatience{30};  ///< flows are read for so long after the last client
constexpr std::size_t kMoments = 600;          ///< moments that a page starts with
constexpr std::size_t kMostShares = 6;         ///< of protocols, services, directions
constexpr std::string_view kAnswers[] = {kStatePath, kEventsPath};

}  // namespace

Feed::Feed(live::Watched& watched, Options options, Server& server)
    : watched_(watched),
      options_(std::move(options)),
      server_(server),
      groups_(options_.local, options_.seed, options_.rows.hosts),
      shared_groups_(options_.local, options_.seed, options_.rows.hosts),
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
      changed_.wait_until(lock, std::min(next_, Clock::now() + kTick), is_over);
    }
    try {
      const auto now = Clock::now();
      if (has_clients()) last_client_ = now;
      const bool waits_for_rates = table_.rows().summary.number != 0 && table_.rows().known_s == 0;
      if (last_client_ == now && common_.empty() && !moments_.empty() && !waits_for_rates)
        next_ = std::min(next_, std::max(now, retry_));
      if (now >= next_) {
        refresh();
      } else if (now >= next_answer_) {
        answer(/*all=*/false);
        next_answer_ = Clock::now() + (Clock::now() - now);
      }
    } catch (const std::bad_alloc&) {  // clients see that nothing new comes; the run goes on
      give_up();
      next_ = retry_ = Clock::now() + kPeriod;
    }
  }
}

/// Forgets the flows, and gives their memory back.
void Feed::give_up() {
  table_ = {};
  groups_.clear();
  shared_groups_.clear();
  common_.clear();
}

bool Feed::has_clients() {
  return std::ranges::any_of(kAnswers, [this](std::string_view path) { return !server_.queries(path).empty(); });
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
  retry_ = now + (now - began);
  next_ = std::max(next_, retry_);
}

/// Reads the flows, if there are clients or were lately, since rates need the reports before. Answers clients.
void Feed::load(const Report& report) {
  if (Clock::now() - last_client_ > kPatience) return give_up();
  common_.clear();
  table_.load(report, [] {});
  table_.commit();
  groups_.forget();
  shared_groups_.forget();
  if (table_.rows().known_s == 0) next_ = Clock::now() + kRates;
  if (table_.rows().known_s == 0 || !has_clients()) return;
  TaskResults tasks = options_.tasks();
  alarms_ = std::move(tasks.alarms);
  common_ = common_json(table_.rows(), moments_.back(), tasks, shares(), options_.rows);
  answer(/*all=*/true);
}

/// Adds up the protocols, services and directions of all flows.
std::vector<Shares> Feed::shares() {
  std::vector<Shares> all;
  const auto is_over = [this] { return stopping_.load(std::memory_order_relaxed); };
  for (const std::string_view name : {"protocol", "service", "direction"}) {
    const auto by = std::ranges::find(options_.rows.all, name, [](const Grouping* each) { return each->names.one; });
    if (by == options_.rows.all.end()) continue;
    const auto view = shared_groups_.arrange(table_.rows(), {.by = *by, .sort = live::kBps}, is_over);
    if (!view) break;
    Shares& shares = all.emplace_back(
        Shares{.of = std::string((*by)->names.many), .bps = table_.rows().mean_bps[live::kUsualWindow], .largest = {}});
    for (const live::Row& row : std::span(view->rows).first(std::min(view->rows.size(), kMostShares)))
      if (row.values[1] > 0) shares.largest.push_back({live::group_text(row, *view), row.values[1]});
  }
  return all;
}

/// Answers clients: all of them, or those that have had no answer yet. Those that want the same groups follow each
/// other, so that these are added up once.
void Feed::answer(bool all) {
  if (common_.empty()) return;
  struct Question {
    std::string_view path;
    std::string query;
    Result<live::Arrangement> wanted;
  };
  std::vector<Question> questions;
  for (const std::string_view path : kAnswers)
    for (std::string& query : server_.queries(path, all ? Queries::all : Queries::unanswered)) {
      auto wanted = parse_rows_query(query, options_.rows, table_.rows(), groups_);
      questions.push_back({path, std::move(query), std::move(wanted)});
    }
  const auto groups_of = [](const Question& one) {
    std::string groups;
    if (!one.wanted || one.wanted->by == nullptr) return groups;
    groups = fmt::format("{} {}", one.wanted->by->names.one, one.wanted->window);
    for (const live::Opened& each : one.wanted->within) groups += name_of(*each.by, each.key);
    return groups;
  };
  std::ranges::stable_sort(questions, {}, groups_of);
  const auto is_over = [this] { return stopping_.load(std::memory_order_relaxed); };
  for (const Question& one : questions) {
    std::string rows = one.wanted ? "" : rows_json(one.wanted.error());
    if (one.wanted) {
      const auto view = groups_.arrange(table_.rows(), *one.wanted, is_over);
      if (!view) return;
      rows = rows_json(*view);
    }
    const bool is_part = one.wanted && !one.wanted->within.empty();
    std::string state = "{" + common_ +
                        ",\"alarms\":" + alarms_json(is_part ? options_.alarms(one.wanted->within) : alarms_) +
                        ",\"rows\":" + rows + "}";
    server_.publish(one.path, one.path == kEventsPath ? "data: " + state + "\n\n" : std::move(state), one.query);
  }
}

}  // namespace parshall::web
