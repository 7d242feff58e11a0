// SPDX-License-Identifier: Apache-2.0
#include "monitor/output_watch.hpp"

#include <fmt/format.h>

#include "cli/messages.hpp"

namespace parshall::cli {

OutputWatch::OutputWatch(const Outputs& outputs, const ExportQueue* main, std::string main_name, std::string command)
    : main_(main), main_name_(std::move(main_name)), command_(std::move(command)) {
  for (const auto& queue : outputs.queues()) watched_.push_back({queue.get()});
}

const std::string& OutputWatch::name_of(const ExportQueue& queue) const noexcept {
  return &queue == main_ ? main_name_ : queue.name();
}

void OutputWatch::look() {
  for (Watched& watched : watched_) {
    const ExportQueue& queue = *watched.queue;
    if (queue.failed()) {
      if (std::exchange(watched.said_failed, true)) continue;
      if (queue.exporter().reader_gone()) {
        reader_gone_ = true;
      } else if (&queue != main_) {
        lost_ = true;
        say(command_,
            fmt::format("{}; what comes from now on is counted, and not written", queue.exporter().error()->message));
      }
    } else if (const auto dropped = queue.summary().dropped; dropped.records + dropped.findings != 0) {
      if (std::exchange(watched.said_dropped, true)) continue;
      say(command_, fmt::format("{} is not written as fast as {}: those that find no room are counted, and dropped",
                                name_of(queue), dropped.records != 0 ? "records end" : "tasks find something"));
    }
  }
}

std::string OutputWatch::whom_we_wait_for() {
  std::string names;
  for (const Watched& watched : watched_)
    if (watched.queue->summary().waiting() != OutputSummary::Sum())
      names += (names.empty() ? "" : ", ") + name_of(*watched.queue);
  return fmt::format("waiting for who reads {}; another signal ends at once, and loses what is not written",
                     names.empty() ? main_name_ : names);
}

void OutputWatch::tell_account() const {
  if (reader_gone_) return;
  for (const Watched& watched : watched_) {
    const OutputSummary sum = watched.queue->summary();
    if (sum.dropped.records != 0)
      say(command_, fmt::format("{}: {} records of flows ({} packets) = {} ({}) written + {} ({}) dropped",
                                name_of(*watched.queue), sum.offered.records, sum.offered.packets, sum.written.records,
                                sum.written.packets, sum.dropped.records, sum.dropped.packets));
    if (sum.dropped.findings != 0)
      say(command_, fmt::format("{}: {} findings of tasks = {} written + {} dropped", name_of(*watched.queue),
                                sum.offered.findings, sum.written.findings, sum.dropped.findings));
  }
}

}  // namespace parshall::cli
