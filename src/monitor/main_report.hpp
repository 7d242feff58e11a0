// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "monitor/watch_options.hpp"
#include "parshall/run.hpp"
#include "pipeline/output/exporters.hpp"
#include "pipeline/output/recent_events.hpp"
#include "pipeline/output/sink.hpp"
#include "pipeline/output/top_report.hpp"

namespace parshall::cli {

/// What --output and --format ask for. Records leave as they end where the format can and where nobody asked for
/// reports before the end; of a report that shows the first few flows, only these are kept; all else is made of
/// snapshots, by who has them.
class MainReport {
 public:
  /// Adds what it needs to the run's outputs. All but `output` has to outlive it, `run` what is added. `events` are of
  /// the reports made here.
  MainReport(Run& run, const WatchOptions& options, const WatchPlan& plan, RecentEvents& events,
             std::unique_ptr<Output> output);

  /// What the user calls it.
  const std::string& name() const noexcept { return name_; }
  /// Where results go while the run goes on; null: they wait for write().
  const ExportQueue* queue() const noexcept { return queue_; }

  bool failed() const noexcept { return queue_ != nullptr ? queue_->failed() : output_->error().has_value(); }
  /// Standard output, and who read it wants no more. That of a queue is for others to say.
  bool reader_gone() const noexcept { return output_ && output_->error() && output_->reader_gone(); }
  /// A report that was to be sorted was not.
  bool is_unsorted() const noexcept { return unsorted_; }

  /// The run goes on: an earlier report makes room.
  void begin() {
    if (output_) output_->begin_anew();
  }
  /// The columns are others than the user's order is of.
  void forget_order();

  /// Where there is no queue. False: it is not written, or not all of it.
  bool write(const Report& report);
  /// With the run's last report. False likewise.
  bool end(const Report& report) { return queue_ != nullptr ? !queue_->failed() : write(report); }
  /// The output is gone or full: what was measured goes to a new file.
  void rescue(const Report& report);

 private:
  const SinkEntry& sink_entry() const;
  void add_stream(Run& run, const ExporterEntry& format, std::unique_ptr<Output> output);
  void add_top(Run& run, std::unique_ptr<Output> output);
  std::size_t top_bytes() const noexcept;

  const WatchOptions& options_;
  const WatchPlan& plan_;
  RecentEvents& events_;
  std::string name_, sort_;
  ExportQueue* queue_ = nullptr;
  TopReport* top_ = nullptr;  ///< what the queue hands them to, where that keeps a few
  std::unique_ptr<Output> output_;
  std::unique_ptr<ReportSink> sink_;
  bool unsorted_ = false;
};

}  // namespace parshall::cli
