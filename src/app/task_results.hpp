// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/live/opened.hpp"
#include "app/live/recall_tail.hpp"
#include "app/web/state_json.hpp"
#include "pipeline/output/alarms/alarm_book.hpp"
#include "pipeline/output/outputs.hpp"
#include "pipeline/output/recent_events.hpp"

namespace parshall::cli {

/// What tasks found lately, for the live view and the page. Any thread.
class TaskResults {
 public:
  /// Takes events of the run. Must outlive the thread that hands over.
  void add_to(Outputs& outputs) {
    outputs.add_direct(recalls_);
    outputs.add_direct(figures_);
    outputs_ = &outputs;
  }

  /// Returns what the page shows.
  web::TaskResults for_page() const;
  /// Returns alarms for the page; with opened rows, only those about these.
  std::optional<AlarmList> page_alarms(const std::vector<live::Opened>& within) const {
    return alarms(kMostOnPage, within);
  }
  /// Returns lines for the live view, the latest last: figures of all traffic, then alarms. With opened rows, only
  /// alarms about these.
  std::vector<std::string> lines(const std::vector<live::Opened>& within) const;
  std::vector<live::TaskRecall> recalls() const { return recalls_.tasks(); }

 private:
  static constexpr std::size_t kMostLines = 16, kMostOnPage = 50;

  std::optional<AlarmList> alarms(std::size_t most, const std::vector<live::Opened>& within) const;

  live::RecallTail recalls_;
  RecentEvents figures_{kMostOnPage, /*findings=*/false};
  const Outputs* outputs_ = nullptr;
};

}  // namespace parshall::cli
