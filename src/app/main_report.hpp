// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "app/watch_options.hpp"
#include "parshall/run.hpp"
#include "pipeline/output/exporters.hpp"
#include "pipeline/output/groups/group_report.hpp"
#include "pipeline/output/queue/sink.hpp"
#include "pipeline/output/recent_events.hpp"
#include "pipeline/output/text/top_report.hpp"

namespace parshall::cli {

/// Writes the report that --output and --format ask for. If the format allows it and no earlier reports were asked for,
/// records are written as they end. A report of the first few flows keeps only these. Every other report is made from
/// snapshots by the caller.
class MainReport {
 public:
  /// Adds the outputs it needs to the run's outputs. All arguments but `output` must outlive it, and `run` must outlive
  /// the outputs added. `events` appear in the reports made here.
  MainReport(Run& run, const WatchOptions& options, const WatchPlan& plan, RecentEvents& events,
             std::unique_ptr<Output> output);

  /// Returns the user's name for the report.
  const std::string& name() const noexcept { return name_; }
  /// Returns the queue for results that leave during the run, or null if write() writes them.
  const ExportQueue* queue() const noexcept { return queue_; }

  bool failed() const noexcept { return queue_ != nullptr ? queue_->failed() : output_->error().has_value(); }
  /// Returns true if the report goes to standard output without a queue, and its reader has gone.
  bool reader_gone() const noexcept { return output_ && output_->error() && output_->reader_gone(); }
  /// Returns true if a report should have been sorted but was not.
  bool is_unsorted() const noexcept { return unsorted_; }

  /// Starts a new report in place of the previous one.
  void begin() {
    if (output_) output_->begin_anew();
  }
  /// Forgets the sort order, because the columns have changed.
  void forget_order();

  /// Writes a report; only without a queue. Returns false if it was not written completely.
  bool write(const Report& report);
  /// Writes the last report. Returns false if it was not written completely.
  bool end(const Report& report) { return queue_ != nullptr ? !queue_->failed() : write(report); }
  /// Saves the results to a new file, because the output is gone or full.
  void rescue(const Report& report);

 private:
  const SinkEntry& sink_entry() const;
  void add_stream(Run& run, const ExporterEntry& format, std::unique_ptr<Output> output);
  void add_top(Run& run, std::unique_ptr<Output> output);
  void add_groups(Run& run, std::unique_ptr<Output> output);
  void add_at_end(Run& run, std::unique_ptr<Exporter> report);
  std::size_t top_bytes() const noexcept;

  const WatchOptions& options_;
  const WatchPlan& plan_;
  const Wiring& wiring_;
  const AlarmBook* const alarms_;  ///< null without tasks
  RecentEvents& events_;
  std::string name_, sort_;
  ExportQueue* queue_ = nullptr;
  TopReport* top_ = nullptr;             ///< receives the records from the queue, if only the first few are kept
  GroupReport* group_report_ = nullptr;  ///< likewise, for groups
  std::unique_ptr<Output> output_;
  std::unique_ptr<ReportSink> sink_;
  std::optional<GroupTable> groups_;  ///< set if write() adds up groups
  bool unsorted_ = false;
};

}  // namespace parshall::cli
