// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/outputs.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "pipeline/output/groups/grouped_exporter.hpp"

namespace parshall {

using Put = ExportQueue::Put;
using Clock = std::chrono::steady_clock;

ExportQueue& Outputs::add(std::unique_ptr<Exporter> exporter, ExportOptions options) {
  if (grouping_.groups != nullptr && options.takes.records && options.takes.groups)
    exporter =
        std::make_unique<GroupedExporter>(std::move(exporter), *grouping_.groups, grouping_.most, grouping_.seed);
  auto queue = std::make_shared<ExportQueue>(std::move(exporter), schema_, std::move(options));
  if (begun_.load(std::memory_order_relaxed)) {
    queue->note_part_of_run();
    queue->note_run_began();
  }
  Queues more = *queues();
  more.push_back(queue);
  publish(std::move(more));
  return *queue;
}

OutputSummary Outputs::remove(const ExportQueue& queue, const Counters& counters, std::chrono::milliseconds most) {
  constexpr std::chrono::milliseconds kNap{1};
  const auto until = Clock::now() + most;
  Queues others = *queues();
  const auto at = std::ranges::find(others, &queue, [](const auto& each) { return each.get(); });
  const std::shared_ptr<ExportQueue> leaving = *at;
  others.erase(at);
  leaving->note_part_of_run();
  publish(std::move(others));
  // Otherwise the thread that hands over is waiting for an output, or has ended.
  const auto has_come_round = [&] {
    return round_of_.load(std::memory_order_acquire) == version_.load(std::memory_order_relaxed);
  };
  while (!has_come_round() && Clock::now() < until) std::this_thread::sleep_for(kNap);
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now());
  if (has_come_round() && leaving->finished_within(std::max(left, std::chrono::milliseconds(0)))) {
    leaving->finish_live();
    ReportSummary summary;
    summary.total = Accounting(counters);
    if (leaving->takes().records && !leaving->failed()) {
      summary.outputs = {leaving->summary()};
      leaving->exporter().accounting(summary, summary.outputs.front());
      leaving->flush_live();
    }
  } else {
    leaving->abandon();
  }
  OutputSummary account = leaving->summary();
  account.dropped += account.waiting();
  keep_account(account);
  return account;
}

/// Keeps the account of a removed output. The earliest ones share one account, as outputs may come and go for months.
void Outputs::keep_account(const OutputSummary& account) {
  constexpr std::size_t kMost = 32;
  const std::lock_guard lock(mutex_);
  removed_.push_back(account);
  if (removed_.size() <= kMost) return;
  OutputSummary& all = removed_[0];
  const OutputSummary& next = removed_[1];
  all.name = "earlier outputs";
  all.takes_records |= next.takes_records;
  all.whole_run = false;
  all.offered += next.offered;
  all.written += next.written;
  all.unconfirmed += next.unconfirmed;
  all.dropped += next.dropped;
  removed_.erase(removed_.begin() + 1);
}

void Outputs::publish(Queues queues) {
  auto published = std::make_shared<const Queues>(std::move(queues));
  const std::lock_guard lock(mutex_);
  queues_.swap(published);
  version_.fetch_add(1, std::memory_order_release);
}

void Outputs::note_run_began() {
  begun_.store(true, std::memory_order_relaxed);
  for (const auto& queue : *queues()) queue->note_run_began();
}

void Outputs::come_round() {
  begun_.store(true, std::memory_order_relaxed);
  if (alarms_) alarms_->pass_time(Clock::now(), [this](const Alarm& alarm) { put_alarm(alarm); });
  if (round_of_.load(std::memory_order_relaxed) == version_.load(std::memory_order_acquire)) return;
  std::shared_ptr<const Queues> before = handed_to_;  // outputs released with it end without holding the mutex
  const std::lock_guard lock(mutex_);
  handed_to_ = queues_;
  round_of_.store(version_.load(std::memory_order_relaxed), std::memory_order_release);
}

std::shared_ptr<const Outputs::Queues> Outputs::queues() const {
  const std::lock_guard lock(mutex_);
  return queues_;
}

bool Outputs::take_records() const noexcept {
  return std::ranges::any_of(*handed_to_, [](const auto& queue) { return queue->takes().records; });
}

bool Outputs::have_report() const noexcept {
  return std::ranges::any_of(*handed_to_, [](const auto& queue) { return queue->name() == kReportOutput; });
}

std::uint64_t Outputs::memory_bytes() const {
  std::uint64_t bytes = other_bytes_ + (alarms_ ? alarms_->memory_bytes() : 0);
  for (const auto& queue : *queues()) bytes += queue->memory_bytes();
  return bytes;
}

Put Outputs::put(std::span<const std::byte> record) {
  bool is_taken = false, is_given_back = false;
  for (const auto& queue : *handed_to_) {
    if (!queue->takes().records) continue;
    const Put put = queue->put(record);
    is_taken |= put == Put::taken;
    is_given_back |= put == Put::given_back;
  }
  if (is_given_back) return Put::given_back;
  return is_taken ? Put::taken : Put::dropped;
}

void Outputs::put(const Event& event) {
  put_finding(event);
  if (alarms_) alarms_->take(event, [this](const Alarm& alarm) { put_alarm(alarm); });
}

void Outputs::put_alarm(const Alarm& alarm) {
  for (const auto& queue : *handed_to_)
    if (queue->takes().takes(alarm)) queue->put(alarm);
}

/// Tells the outputs of alarms that end with the run. Their own threads have ended.
void Outputs::end_alarms(std::uint64_t last_ns) {
  if (!alarms_) return;
  const auto all = queues();
  alarms_->end_run(last_ns, [&](const Alarm& alarm) {
    for (const auto& queue : *all)
      if (queue->takes().takes(alarm)) queue->write_last(alarm);
  });
}

template <class Finding>
void Outputs::put_finding(const Finding& finding) {
  for (const auto& queue : *handed_to_)
    if (queue->takes().findings) queue->put(finding);
  for (Exporter* const exporter : direct_) {
    if constexpr (std::is_same_v<Finding, Event>)
      exporter->event(finding);
    else
      exporter->recall(finding);
  }
}
template void Outputs::put_finding(const WindowRecall& told);

std::vector<const ExportQueue*> Outputs::unfinished_after(std::chrono::milliseconds most) {
  const auto until = Clock::now() + most;
  std::vector<const ExportQueue*> unfinished;
  for (const auto& queue : *queues()) {
    const auto left = std::max(Clock::duration(), until - Clock::now());
    if (!queue->finished_within(std::chrono::duration_cast<std::chrono::milliseconds>(left)))
      unfinished.push_back(queue.get());
  }
  return unfinished;
}

void Outputs::write_last(const Report& report) {
  const auto all = queues();
  const auto each_of_records = [&](const auto& use) {
    for (const auto& queue : *all)
      if (queue->takes().records) use(*queue);
  };
  const bool take_records = std::ranges::any_of(*all, [](const auto& queue) { return queue->takes().records; });
  if (take_records)
    report.live([&](const ReportFlow& flow) { each_of_records([&](ExportQueue& queue) { queue.write_live(flow); }); });
  end_alarms(report.summary.last_ns());
  for (const auto& queue : *all) queue->finish_live();
  if (!take_records) return;
  ReportSummary summary = report.summary;
  summary.outputs = summaries();
  if (alarms_) summary.alarms = alarms_->list();
  each_of_records([&](ExportQueue& queue) {
    if (queue.failed()) return;
    queue.exporter().accounting(summary, queue.summary());
    queue.flush_live();
  });
}

void Outputs::abandon() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& queue : *queues_) queue->abandon();
}

std::vector<OutputSummary> Outputs::summaries() const {
  std::vector<OutputSummary> summaries;
  const std::lock_guard lock(mutex_);
  for (const auto& queue : *queues_) summaries.push_back(queue->summary());
  summaries.insert(summaries.end(), removed_.begin(), removed_.end());
  return summaries;
}

}  // namespace parshall
