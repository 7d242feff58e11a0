// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "control/blind_loss.hpp"
#include "control/events_by_weight.hpp"
#include "control/recall.hpp"
#include "engine/event_queue.hpp"
#include "engine/recall_board.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Estimates the recall of the tasks of one window length, where flows are reduced to lighter states. It does so at
/// each window's end, and emits an event if anything was missed. Tasks that miss reduced flows are also reported to the
/// workers.
class RecallWatch {
 public:
  RecallWatch() = default;
  RecallWatch(const TaskSet& tasks, std::shared_ptr<RecallBoard> board);

  void end_window(const TaskSet& tasks, const EventWindow& window, EventQueue& events);
  std::optional<RecallSummary> summary(std::size_t task) const;

 private:
  struct Watched {
    std::size_t task;                  ///< index among the set's members
    std::optional<std::size_t> board;  ///< index on the board; unset for a task that only counts
    RecallByWeight estimator;
    EventsByWeight events;
    std::array<BlindLoss, kEventMeasures> blind;
    RecallSummary summary;
    double sum = 0;      ///< sum of the recalls of windows where it is known
    double lacking = 0;  ///< share of packets that flow histories lack, if the task uses them
  };

  /// Returns the exponent of BlindLoss for packets that the device missed.
  static double loss_exponent(const TaskSet::Member& task, const Watched& watched, EventMeasure measure) noexcept;
  std::optional<Recall> of_measures(const TaskSet::Member& task, const EventWindow& window, Watched& watched) const;
  void tell(const TaskSet::Member& task, const EventWindow& window, const std::optional<Recall>& recall,
            std::uint64_t missed_flows) const;

  std::shared_ptr<RecallBoard> board_;
  std::vector<Watched> watched_;
  double missed_share_ = 0;  ///< share of packets that the device missed recently
};

}  // namespace parshall
