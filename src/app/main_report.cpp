// SPDX-License-Identifier: Apache-2.0
#include "app/main_report.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "cli/messages.hpp"
#include "pipeline/output/text/summary_text.hpp"

namespace parshall::cli {

MainReport::MainReport(Run& run, const WatchOptions& options, const WatchPlan& plan, RecentEvents& events,
                       std::unique_ptr<Output> output)
    : options_(options),
      plan_(plan),
      wiring_(run.wiring()),
      alarms_(run.outputs().alarms()),
      events_(events),
      name_(output->name()),
      sort_(plan.sort) {
  const Schema& schema = wiring_.schema;
  const SessionOptions& wired = wiring_.session;
  run.outputs().count_memory(sorting_bytes(wiring_.columns(), sort_, plan_.top) + sink_entry().memory_bytes);
  const bool is_one_report = plan_.every_ns == 0 && !options_.live && !schema.needs_interval();
  const bool has_ended = is_one_report && wired.keeps_ended && wired.table != nullptr;
  const ExporterEntry* const streams = find_exporter(options_.format);
  if (has_ended && streams != nullptr && sort_.empty() && plan_.top == 0 && !wiring_.groups) {
    add_stream(run, *streams, std::move(output));
  } else if (has_ended && wiring_.groups) {
    add_groups(run, std::move(output));
  } else if (has_ended && TopFlows::fits(plan_.top, schema.asked().size())) {
    add_top(run, std::move(output));
  } else {
    output_ = std::move(output);
    sink_ = sink_entry().make({.several = plan_.every_ns != 0});
    if (wiring_.groups) {
      groups_.emplace(*wiring_.groups, run.most_groups(), wired.seed);
      run.outputs().count_memory(GroupTable::memory_bytes(run.most_groups(), wiring_.groups->is_of_texts()));
    }
  }
}

void MainReport::add_stream(Run& run, const ExporterEntry& format, std::unique_ptr<Output> output) {
  queue_ = &run.outputs().add(format.make(std::move(output)), {.name = std::string(kReportOutput),
                                                               .takes = format.takes,
                                                               .waits = run.waits(),
                                                               .give_back = [&run](std::span<const std::byte> record) {
                                                                 run.session().keep_ended(record);
                                                               }});
}

void MainReport::add_top(Run& run, std::unique_ptr<Output> output) {
  const std::size_t most = plan_.top != 0 ? plan_.top : std::numeric_limits<std::size_t>::max();
  auto top =
      std::make_unique<TopReport>(std::move(output), sink_entry().make({}), *order_by(wiring_.columns(), sort_), most);
  top_ = top.get();
  add_at_end(run, std::move(top));
}

void MainReport::add_groups(Run& run, std::unique_ptr<Output> output) {
  const std::uint64_t most = run.most_groups();
  const GroupReport::Order order{.column = sort_, .top = plan_.top};
  auto groups = std::make_unique<GroupReport>(std::move(output), sink_entry().make({}), *wiring_.groups, most,
                                              wiring_.session.seed, order);
  run.outputs().count_memory(GroupReport::memory_bytes(*wiring_.groups, most, order));
  group_report_ = groups.get();
  add_at_end(run, std::move(groups));
}

/// Adds an output that writes its report at the end of the run.
void MainReport::add_at_end(Run& run, std::unique_ptr<Exporter> report) {
  const bool has_tasks = !wiring_.session.stage.windows.empty();
  if (has_tasks) run.outputs().count_memory(RecentEvents::memory_bytes());
  queue_ = &run.outputs().add(std::move(report), {.name = std::string(kReportOutput),
                                                  .takes = {.records = true, .findings = has_tasks, .groups = false},
                                                  .waits = run.waits(),
                                                  .bytes = top_bytes()});
}

/// Returns the queue size for a report of the first few records: as much as the workers' own rings hold. The queue's
/// thread has nothing else to wait for, so it only lags if it gets no core.
std::size_t MainReport::top_bytes() const noexcept {
  const SessionOptions& wired = wiring_.session;
  return std::min(wired.workers * wired.stage.ended_ring_bytes, ExportOptions::kBytes);
}

const SinkEntry& MainReport::sink_entry() const {
  return *std::ranges::find(sink_registry(), options_.format, &SinkEntry::name);
}

void MainReport::forget_order() {
  if (!wiring_.groups) sort_ = sink_entry().default_sort;
}

bool MainReport::write(const Report& report) {
  std::optional<Error> problem;
  auto ordered = sorted(groups_ ? grouped(report, *wiring_.groups, *groups_) : report, sort_, plan_.top, &problem);
  if (!ordered) {
    say(options_.command, ordered.error().message);
    return false;
  }
  const RecentEvents::Events events = events_.all();
  ordered->events = events.latest;
  ordered->events_left_out = events.left_out;
  if (alarms_ != nullptr) ordered->summary.alarms = alarms_->list();
  sink_->write(*ordered, *output_);
  if (problem && !std::exchange(unsorted_, true)) say(options_.command, problem->message);
  if (output_->error()) return false;
  events_.forget(events);
  return true;
}

void MainReport::rescue(const Report& report) {
  const std::optional<Error> error = queue_ != nullptr ? queue_->error() : output_->error();
  if (error) say(options_.command, error->message + "; the report there is incomplete");
  if (auto output = Output::create_temporary("." + options_.format)) {
    output_ = *std::move(output);
    sink_ = sink_entry().make({});
    bool is_written = true;
    if (top_ != nullptr)
      top_->write(report.summary, *sink_, *output_);
    else if (group_report_ != nullptr)
      group_report_->write(report.summary, *sink_, *output_);
    else
      is_written = write(report);
    output_->flush();
    if (output_->error()) {
      say(options_.command, output_->error()->message + "; there is no final report");
      ::unlink(output_->name().c_str());
    } else if (is_written) {
      say(options_.command, "the final report is in " + output_->name());
    }
  } else {
    say(options_.command, output.error().message);
  }
  say(options_.command, accounting_line(report.summary.total));
}

}  // namespace parshall::cli
