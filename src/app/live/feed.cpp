// SPDX-License-Identifier: Apache-2.0
#include "app/live/feed.hpp"

#include <algorithm>
#include <new>

#include "base/thread_name.hpp"

namespace parshall::live {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr std::chrono::milliseconds kFirst{100};   ///< delay until the first snapshot, also after a new choice
constexpr std::chrono::milliseconds kSecond{400};  ///< delay from the first, which has no rates yet, to the second
constexpr std::chrono::milliseconds kPoll{1};

std::vector<std::string> names_of(const Schema& schema) {
  std::vector<std::string> names;
  for (const ColumnInfo& column : schema.asked()) names.push_back(column.name);
  return names;
}

}  // namespace

Feed::Feed(Watched& watched, Options options, const Wish& initial)
    : watched_(watched),
      options_(std::move(options)),
      groups_(options_.local, options_.statistics.seed, options_.own.hosts()),
      used_(initial.choice),
      next_refresh_(Clock::now() + kFirst) {
  wish_ = initial;
  served_ = initial.arrangement;  // nothing is shown before the first report
  columns_ = first_columns_ = names_of(options_.own);
  thread_ = std::thread([this] { run(); });
}

void Feed::wish(const Wish& wish) {
  {
    const std::lock_guard lock(mutex_);
    if (wish == wish_) return;
    wish_ = wish;
    pending_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_one();
}

std::shared_ptr<const View> Feed::latest() const {
  const std::lock_guard lock(mutex_);
  return latest_;
}

void Feed::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_.store(true, std::memory_order_relaxed);
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

Wish Feed::wanted() {
  const std::lock_guard lock(mutex_);
  pending_.store(false, std::memory_order_relaxed);
  return wish_;
}

void Feed::run() {
  name_this_thread("live feed");
  let_others_first();
  while (!stopping_.load(std::memory_order_relaxed)) {
    bool idle;  // true: only the user can change what is shown
    {
      std::unique_lock lock(mutex_);
      idle = wish_.paused || ended_;
      const auto woken = [&] {
        return stopping_.load(std::memory_order_relaxed) || wish_.arrangement != served_ ||
               (wish_.choice != used_ && !ended_) || (idle && !wish_.paused && !ended_);
      };
      if (idle)
        changed_.wait(lock, woken);
      else
        changed_.wait_until(lock, next_refresh_, woken);
    }
    try {
      serve();
      use(wanted().choice);
      if (!idle && Clock::now() >= next_refresh_) refresh();
    } catch (const std::bad_alloc&) {  // the view stays as it was; the run goes on
      flows_ = {};
      groups_.clear();
      next_refresh_ = Clock::now() + kPeriod;
    }
  }
}

/// Publishes the current flows in the arrangement that is wanted now.
void Feed::serve() {
  while (!stopping_.load(std::memory_order_relaxed) && wanted().arrangement != served_) publish();
}

/// Arranges and publishes; returns false if another arrangement was wanted in the meantime.
bool Feed::publish() {
  const Arrangement arrangement = wanted().arrangement;
  if (flows_.rows().summary.number == 0) return publish_none(arrangement);
  const auto superseded = [this] {
    return pending_.load(std::memory_order_relaxed) || stopping_.load(std::memory_order_relaxed);
  };
  const auto abandoned = [&] {
    if (!superseded()) return false;
    const std::lock_guard lock(mutex_);
    return stopping_.load(std::memory_order_relaxed) || wish_.arrangement.by != arrangement.by ||
           wish_.arrangement.within != arrangement.within || wish_.arrangement.window != arrangement.window;
  };
  auto view = groups_.arrange(flows_.rows(), arrangement, superseded, abandoned);
  if (!view) return false;
  served_ = arrangement;
  const auto shared = std::make_shared<const View>(*std::move(view));
  const std::lock_guard lock(mutex_);
  latest_ = shared;
  return true;
}

/// Publishes no rows: there was no memory for them. Before the first report, publishes nothing.
bool Feed::publish_none(const Arrangement& arrangement) {
  served_ = arrangement;
  const auto before = latest();
  if (before == nullptr) return true;
  View view = *before;
  view.by = arrangement.by;
  view.arrangement = arrangement;
  view.matched = view.idle = view.first = 0;
  view.rows.clear();
  const auto shared = std::make_shared<const View>(std::move(view));
  const std::lock_guard lock(mutex_);
  latest_ = shared;
  return true;
}

void Feed::use(const Choice& choice) {
  if (choice == used_ || ended_) return;
  used_ = choice;
  if (watched_.finished()) return;  // nothing more can be computed
  // The same columns stay, since a change begins their statistics anew.
  if (auto schema = schema_of(choice); schema && names_of(*schema) != columns_) {
    columns_ = names_of(*schema);
    watched_.change_columns(*std::move(schema));
  }
  next_refresh_ = Clock::now() + kFirst;
}

std::optional<Schema> Feed::schema_of(const Choice& choice) const {
  if (options_.keeps_columns || (choice.own && choice.level == Level::flow)) return options_.own;
  std::vector<std::string> names;
  if (choice.level == Level::flow) names = column_names(choice.of, choice.what).value_or(names);
  if (options_.statistics.classifier && (options_.marks || choice.level == Level::flow))
    names.emplace_back(FlowClass::kName);
  for (const Grouping* const grouping : groupings_of(options_.own.columns()))
    if (!grouping->of_column.empty()) names.emplace_back(grouping->of_column);  // so that rows can go on to be these
  for (const ColumnInfo& column : options_.own.asked())
    if (column.type == kText || std::ranges::find(kNameColumnNames, column.name) != std::end(kNameColumnNames))
      names.push_back(column.name);  // flows keep the names that they have
  auto schema = Schema::make(names, options_.statistics);
  if (!schema) return std::nullopt;
  schema->set_hosts(options_.own.hosts());
  return *std::move(schema);
}

/// Returns the run's next report, or nullopt if the view is closed in the meantime.
std::optional<Report> Feed::next_report() {
  if (!watched_.finished()) watched_.begin_snapshot();
  while (!stopping_.load(std::memory_order_relaxed)) {
    const bool finished = watched_.finished();  // read before the poll, since a later snapshot is not the last one
    if (finished) {
      final_ = watched_.final_report();
      ended_ = true;
      return final_;
    }
    if (auto report = watched_.poll_snapshot()) return report;
    serve();
    std::this_thread::sleep_for(kPoll);
  }
  return std::nullopt;
}

void Feed::refresh() {
  const auto began = Clock::now();
  const auto report = next_report();
  if (!report) return;
  flows_.load(*report, [this] { serve(); });
  {
    const std::lock_guard lock(mutex_);
    if (wish_.paused && !ended_) return;
  }
  const bool first = latest() == nullptr;
  flows_.commit();
  groups_.forget();
  while (!publish() && !stopping_.load(std::memory_order_relaxed)) {
  }
  const auto now = Clock::now();
  next_refresh_ = first ? now + kSecond : std::max(began + kPeriod, now + (now - began));
}

}  // namespace parshall::live
