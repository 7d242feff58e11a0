// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/alarms/alarm_book.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/fnv.hpp"
#include "pipeline/output/json/event_json.hpp"

namespace parshall {
namespace {

/// Returns for how long an alarm goes on without a finding.
std::uint64_t held_ns(const Alarm& alarm, const AlarmRules& rules) noexcept {
  return std::max(rules.hold_off_ns, alarm.latest.holds_ns);
}

double number_of(const EventValue& value) noexcept {
  return std::visit([](auto number) { return static_cast<double>(number); }, value.value);
}

/// Returns the value that the task is about.
double main_value(const Event& event) noexcept { return event.values.empty() ? 0 : number_of(event.values.front()); }

/// Returns the begin and the end of its window, in packet time.
std::pair<std::uint64_t, std::uint64_t> times_of(const EventWindow& window) noexcept {
  if (window.length.unit == WindowLength::Unit::packets) return {window.totals.first_ns, window.totals.last_ns};
  return {window.length.begin_of(window.number), window.length.end_of(window.number)};
}

/// Returns the largest value of the event whose name begins so, or nullopt. An event about no key counts all traffic.
std::optional<double> largest(const Event& event, std::string_view name, std::uint64_t all) noexcept {
  std::optional<double> largest;
  for (const EventValue& value : event.values)
    if (value.name.starts_with(name)) largest = std::max(largest.value_or(0), number_of(value));
  return event.part == nullptr && !largest ? static_cast<double>(all) : largest;
}

/// Returns whether the key had enough traffic in the window. What is not counted is not judged.
bool reaches_floors(const Event& event, const AlarmRules& rules) noexcept {
  const WindowTotals& totals = event.window.totals;
  const auto packets = largest(event, "packets", totals.packets),
             bytes = largest(event, "wire_bytes", totals.wire_bytes);
  const auto [begin, end] = times_of(event.window);
  const double seconds = static_cast<double>(end - begin) / 1e9;
  return (!packets || *packets >= static_cast<double>(rules.min_packets)) &&
         (!bytes || 8 * *bytes >= static_cast<double>(rules.min_bps) * seconds);
}

bool is_muted_network(const Event& event, const AlarmRules& rules) noexcept {
  if (event.part == nullptr || rules.muted.empty()) return false;
  const auto has = [&](std::span<const std::uint8_t> address) {
    return rules.muted.contain(address, event.part->bits(event.key.ip_version)).value_or(false);
  };
  return (event.part->src() && has(event.key.src_address())) || (event.part->dst() && has(event.key.dst_address()));
}

Alarm::Muted muted_by(const AlarmRules& rules, const Event& event, std::uint64_t now_ns) {
  if (is_muted_network(event, rules)) return Alarm::Muted::network;
  const bool is_quiet = rules.severity != Severity::critical && rules.quiet && rules.quiet->has(now_ns);
  return is_quiet ? Alarm::Muted::quiet_hours : Alarm::Muted::no;
}

std::uint64_t id_of(const Event& event, std::uint64_t begin_ns) {
  return fnv1a(event.task + " " + event_key_text(event) + " " + std::to_string(begin_ns));
}

auto order(const Alarm& alarm) noexcept { return std::tuple(alarm.begin_ns, alarm.end_ns, alarm.id); }

std::size_t bytes_of(const Alarm& alarm) noexcept { return sizeof(Alarm) + heap_bytes(alarm); }

}  // namespace

bool AlarmBook::Of::operator<(const Of& other) const noexcept {
  if (task != other.task) return task < other.task;
  if (part != other.part) return std::less<>()(part, other.part);
  return order_of(key, other.key) < 0;
}

AlarmBook::AlarmBook(const TaskSets& tasks, bool by_clock) : by_clock_(by_clock) {
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members())
      tasks_.push_back({.name = task.name, .rules = task.alarms, .length = set.window()});
}

std::uint64_t AlarmBook::memory_bytes() const noexcept { return tasks_.size() * kOpenBytes + kEndedBytes; }

bool AlarmBook::is_over(const Alarm& alarm, const AlarmRules& rules, std::uint64_t reached_ns) noexcept {
  return reached_ns > alarm.end_ns && reached_ns - alarm.end_ns >= held_ns(alarm, rules);
}

/// Ends open alarms for which is_over(task, open) holds.
template <class IsOver>
void AlarmBook::end_some(const IsOver& is_over, std::vector<Alarm>& changes) {
  const auto first = changes.size();
  for (auto at = open_.begin(); at != open_.end();) {
    TaskAlarms& task = tasks_[at->first.task];
    if (!is_over(task, at->second)) {
      ++at;
      continue;
    }
    --task.open;
    task.bytes -= std::min(task.bytes, bytes_of(at->second.alarm));
    at->second.alarm.state = Alarm::State::ended;
    changes.push_back(std::move(at->second.alarm));
    at = open_.erase(at);
  }
  std::sort(changes.begin() + static_cast<std::ptrdiff_t>(first), changes.end(),
            [](const Alarm& a, const Alarm& b) { return order(a) < order(b); });
  for (auto ended = first; ended < changes.size(); ++ended) {
    while (!ended_.has_room_for(changes[ended])) ended_.pop();
    ended_.push(Alarm(changes[ended]));
  }
}

void AlarmBook::take(const Event& event, const Tell& tell) {
  std::vector<Alarm> changes;
  {
    const std::lock_guard lock(mutex_);
    const std::uint64_t reached_ns = times_of(event.window).first;
    if (is_new_window(event.window))
      end_some(
          [&](const TaskAlarms& task, const Open& open) {
            return task.length == event.window.length && is_over(open.alarm, task.rules, reached_ns);
          },
          changes);
    if (event.kind == EventKind::finding) find(event, changes);
  }
  for (const Alarm& alarm : changes) tell(alarm);
}

bool AlarmBook::is_new_window(const EventWindow& window) {
  auto latest = std::ranges::find(latest_windows_, window.length, &std::pair<WindowLength, std::uint64_t>::first);
  if (latest == latest_windows_.end()) latest = latest_windows_.insert(latest, {window.length, window.number});
  return std::exchange(latest->second, window.number) != window.number;
}

void AlarmBook::find(const Event& event, std::vector<Alarm>& changes) {
  const auto task = std::ranges::find(tasks_, event.task, &TaskAlarms::name);
  if (task == tasks_.end() || !reaches_floors(event, task->rules)) return;
  const Of of{static_cast<std::size_t>(task - tasks_.begin()), event.part.get(), event.key};
  const auto known = open_.find(of);
  if (known == open_.end()) {
    if (begin(of, event)) changes.push_back(open_.find(of)->second.alarm);
    return;
  }
  Alarm& alarm = known->second.alarm;
  task->bytes -= std::min(task->bytes, bytes_of(alarm));
  go_on(known->second, event);
  task->bytes += bytes_of(alarm);
  if (alarm.muted != Alarm::Muted::quiet_hours || muted_by(task->rules, event, alarm.end_ns) != Alarm::Muted::no)
    return;
  alarm.muted = Alarm::Muted::no;
  changes.push_back(alarm);
  changes.back().state = Alarm::State::unmuted;
}

/// Returns false if the task has no room for another alarm.
bool AlarmBook::begin(const Of& of, const Event& event) {
  TaskAlarms& task = tasks_[of.task];
  if (task.open == kMostOpen || task.bytes + sizeof(Alarm) + heap_bytes(event) > kOpenBytes) {
    ++left_out_;
    return false;
  }
  const std::uint64_t begin_ns = times_of(event.window).first;
  Open open{.alarm = {.id = id_of(event, begin_ns),
                      .severity = task.rules.severity,
                      .muted = muted_by(task.rules, event, begin_ns),
                      .begin_ns = begin_ns,
                      .latest = {}},
            .first_window = event.window.number,
            .last_window = ~std::uint64_t{0},
            .seen = {}};
  go_on(open, event);
  ++task.begun;
  ++task.open;
  task.bytes += bytes_of(open.alarm);
  open_.emplace(of, std::move(open));
  return true;
}

void AlarmBook::go_on(Open& open, const Event& event) const {
  Alarm& alarm = open.alarm;
  alarm.end_ns = std::max(alarm.end_ns, times_of(event.window).second);
  alarm.windows += open.last_window != event.window.number;
  ++alarm.findings;
  const double value = main_value(event);
  alarm.peak = alarm.findings == 1 ? value : std::max(alarm.peak, value);
  alarm.history.add(event.window.number - open.first_window, value);
  alarm.latest = event;
  open.last_window = event.window.number;
  if (by_clock_) open.seen = Clock::now();
}

void AlarmBook::pass_time(Clock::time_point now, const Tell& tell) {
  constexpr std::chrono::milliseconds kEvery{100};
  if (!by_clock_ || now - looked_ < kEvery) return;
  looked_ = now;
  std::vector<Alarm> changes;
  {
    const std::lock_guard lock(mutex_);
    end_some(
        [&](const TaskAlarms& task, const Open& open) {
          constexpr std::chrono::seconds kLate{1};                            // until the workers have told of a window
          if (task.length.unit == WindowLength::Unit::packets) return false;  // it may take any time
          return now - open.seen > std::chrono::nanoseconds(held_ns(open.alarm, task.rules)) + kLate +
                                       std::chrono::nanoseconds(task.length.amount);
        },
        changes);
  }
  for (const Alarm& alarm : changes) tell(alarm);
}

void AlarmBook::end_run(std::uint64_t last_ns, const Tell& tell) {
  std::vector<Alarm> changes;
  {
    const std::lock_guard lock(mutex_);
    end_some([&](const TaskAlarms& task, const Open& open) { return is_over(open.alarm, task.rules, last_ns); },
             changes);
    const auto first = changes.size();
    for (auto& [of, open] : open_) {
      open.alarm.state = Alarm::State::open;
      changes.push_back(open.alarm);
    }
    std::sort(changes.begin() + static_cast<std::ptrdiff_t>(first), changes.end(),
              [](const Alarm& a, const Alarm& b) { return order(a) < order(b); });
  }
  for (const Alarm& alarm : changes) tell(alarm);
}

std::vector<AlarmCount> AlarmBook::counts() const {
  std::vector<AlarmCount> counts;
  const std::lock_guard lock(mutex_);
  for (const TaskAlarms& task : tasks_) counts.push_back({.task = task.name, .open = task.open, .begun = task.begun});
  return counts;
}

AlarmList AlarmBook::list(std::size_t most, const std::function<bool(const Alarm&)>& wanted) const {
  AlarmList list;
  std::vector<const Alarm*> chosen;
  const std::lock_guard lock(mutex_);
  for (const TaskAlarms& task : tasks_) list.begun += task.begun;
  list.open = open_.size();
  list.left_out = left_out_;
  for (const auto& [of, open] : open_)
    if (wanted(open.alarm)) chosen.push_back(&open.alarm);
  for (const Alarm& ended : ended_)
    if (wanted(ended)) chosen.push_back(&ended);
  most = std::min(most, chosen.size());
  const auto end = chosen.begin() + static_cast<std::ptrdiff_t>(most);
  const auto weight = [](const Alarm* alarm) {  // the latest of the most severe open ones first
    return std::tuple(alarm->is_over(), -static_cast<int>(alarm->severity), ~alarm->begin_ns, alarm->id);
  };
  std::ranges::partial_sort(chosen, end, {}, weight);
  chosen.erase(end, chosen.end());
  std::ranges::sort(chosen, {}, [](const Alarm* alarm) { return order(*alarm); });
  for (const Alarm* const alarm : chosen) list.alarms.push_back(*alarm);
  return list;
}

}  // namespace parshall
