// SPDX-License-Identifier: Apache-2.0
#include "app/output_watch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/counted.hpp"
#include "cli/messages.hpp"
#include "cli/signals.hpp"
#include "pipeline/output/text/summary_text.hpp"

namespace parshall::cli {

OutputWatch::OutputWatch(const Outputs& outputs, const ExportQueue* main, std::string main_name, std::string command)
    : outputs_(outputs), main_(main), main_name_(std::move(main_name)), command_(std::move(command)) {
  follow();
}

/// Follows added and removed outputs. The losses of a removed output were reported then; here they count for the run.
void OutputWatch::follow() {
  const auto queues = outputs_.queues();
  std::erase_if(watched_, [&](const Watched& watched) {
    const ExportQueue& queue = *watched.queue;
    if (std::ranges::find(*queues, watched.queue) != queues->end()) return false;
    lost_ |= queue.lost_some() && !(queue.failed() && queue.reader_gone());
    return true;
  });
  for (const auto& queue : *queues)
    if (std::ranges::none_of(watched_, [&](const Watched& watched) { return watched.queue == queue; }))
      watched_.push_back({queue});
}

const std::string& OutputWatch::name_of(const ExportQueue& queue) const noexcept {
  return &queue == main_ ? main_name_ : queue.name();
}

void OutputWatch::look() {
  follow();
  for (Watched& watched : watched_) {
    const ExportQueue& queue = *watched.queue;
    if (!std::exchange(watched.said_left_out, true) && !queue.left_out().empty())
      say(command_, fmt::format("the format of {} lacks {}", name_of(queue), fmt::join(queue.left_out(), ", ")));
    tell_trouble(watched);
    lost_ |= &queue != main_ && queue.lost_some() && !queue.failed();
    lost_ |= queue.takes().alarms == ExporterTakes::Alarms::told && queue.summary().dropped.findings != 0;
    if (queue.failed()) {
      if (std::exchange(watched.said_failed, true)) continue;
      if (queue.reader_gone()) {
        reader_gone_ = true;
      } else if (&queue != main_) {
        lost_ = true;
        say(command_,
            fmt::format("{}; from now on, records and findings are counted but not written", queue.error()->message));
      }
    } else if (const auto dropped = queue.summary().dropped;
               dropped.records + dropped.findings != 0 && !watched.said_trouble) {
      if (std::exchange(watched.said_dropped, true)) continue;
      say(command_,
          fmt::format("{} is written more slowly than {}: what does not fit in the queue is counted and dropped",
                      name_of(queue), dropped.records != 0 ? "records end" : "tasks find events"));
    }
  }
}

/// Reports trouble at most once a minute. The first loss, and the end of trouble, are reported at once.
void OutputWatch::tell_trouble(Watched& watched) {
  constexpr std::chrono::minutes kAgain{1};
  constexpr std::chrono::seconds kCalm{1};
  const std::string trouble = watched.queue->trouble();
  const auto now = std::chrono::steady_clock::now();
  const auto tell = [&](const std::string& what) {
    const ExportQueue& queue = *watched.queue;
    const OutputSummary sum = queue.summary();
    const OutputSummary::Sum& dropped = sum.dropped;
    const std::string records = fmt::format("{} ({})", counted(dropped.records, "record"),
                                            counted(dropped.packets, "packet")),
                      findings = counted(dropped.findings, "finding"),
                      both = dropped.findings == 0 ? records : records + " and " + findings;
    say(command_,
        fmt::format("{}: {}; {} dropped{} so far", name_of(queue), what, queue.takes().records ? both : findings,
                    unconfirmed_text(sum.unconfirmed) + unconfirmed_findings_text(sum.unconfirmed)));
  };
  if (!trouble.empty()) {
    watched.seen_trouble = now;
    const bool loses = watched.queue->lost_some();
    const bool is_news = loses && !watched.said_loss && trouble != watched.said;
    if (watched.said_trouble && now - *watched.said_trouble < kAgain && !is_news) return;
    watched.said_trouble = now;
    watched.said_loss = loses;
    watched.said = trouble;
    watched.is_over = false;
    tell(trouble);
  } else if (!watched.is_over && now - watched.seen_trouble >= kCalm) {
    watched.is_over = true;
    tell("it works again");
  }
}

std::string OutputWatch::whom_we_wait_for() {
  std::string names;
  for (const Watched& watched : watched_)
    if (watched.queue->summary().waiting() != OutputSummary::Sum())
      names += (names.empty() ? "" : ", ") + name_of(*watched.queue);
  return fmt::format("waiting for the reader of {}; {} the run at once, and what is not yet written is lost",
                     names.empty() ? main_name_ : names,
                     stop_asked() ? "another signal ends" : "two signals, half a second apart, end");
}

void OutputWatch::tell_account() const {
  if (reader_gone_) return;
  for (const Watched& watched : watched_) {
    const OutputSummary sum = watched.queue->summary();
    if ((sum.dropped + sum.unconfirmed).records != 0)
      say(command_, fmt::format("{}: {} of flows ({}) = {} ({}) written{} + {} ({}) dropped", name_of(*watched.queue),
                                counted(sum.offered.records, "record"), counted(sum.offered.packets, "packet"),
                                sum.written.records, sum.written.packets, unconfirmed_text(sum.unconfirmed),
                                sum.dropped.records, sum.dropped.packets));
    if ((sum.dropped + sum.unconfirmed).findings != 0)
      say(command_, fmt::format("{}: {} of tasks = {} written{} + {} dropped", name_of(*watched.queue),
                                counted(sum.offered.findings, "finding"), sum.written.findings,
                                unconfirmed_findings_text(sum.unconfirmed), sum.dropped.findings));
  }
}

}  // namespace parshall::cli
