// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/record_ring.hpp"
#include "engine/event_queue.hpp"
#include "engine/recall_watch.hpp"
#include "pipeline/measure/states/state_plan.hpp"
#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/measure/windows/window_stream.hpp"
#include "pipeline/output/queue/record_spool.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Collects what the workers report about windows of one length, and passes it to the tasks, one window after another.
/// Messages about a window wait in a spool while another worker may still report about an earlier one.
class WindowJoiner {
 public:
  /// `outcomes`: of this window length, by task.
  WindowJoiner(TaskSet& tasks, std::size_t workers, EventQueue& events, std::vector<StateOutcome> outcomes = {},
               RecallWatch recalls = {})
      : tasks_(tasks),
        events_(events),
        outcomes_(std::move(outcomes)),
        recalls_(std::move(recalls)),
        bounds_(workers),
        measured_(kBatch * tasks.measures().bytes()),
        nothing_measured_(tasks.measures().bytes()) {}

  /// Takes a message of any kind but Kind::end.
  void tell(std::span<const std::byte> message);
  void end(std::size_t worker, std::uint64_t window, const WindowEnd& end);

  std::uint64_t windows() const noexcept { return windows_; }
  const RecallWatch& recalls() const noexcept { return recalls_; }

  /// Returns true if the packets of reported and unreported flows added up to all counted packets in every window, and
  /// nothing waits. Call it once all workers have ended.
  bool balanced() const noexcept { return balanced_ && !open_ && waiting_.empty() && totals_.empty(); }

 private:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kWaitingBytes = std::size_t{1} << 20;  ///< in memory for a window; more goes to a file

  void advance();
  bool open_next(std::uint64_t told = WindowEnd::kAll);
  void take(std::span<const std::byte> message);
  void take(const RowsMessage& rows);
  void take_flow(std::span<const std::byte> flow);
  void take_unread(const UnreadMessage& message);
  void take_bins(std::span<const std::byte> message);
  void hand_over();
  void close(std::uint64_t window);
  std::uint64_t least_bound() const noexcept;

  TaskSet& tasks_;
  EventQueue& events_;
  std::vector<StateOutcome> outcomes_;
  RecallWatch recalls_;
  std::vector<std::uint64_t> bounds_;  ///< by worker: it will report no earlier window
  std::optional<std::uint64_t> open_;
  std::vector<FlowWindow> batch_;
  std::vector<std::byte> measured_;  ///< measured values of flows of the batch that waited
  std::vector<std::byte> nothing_measured_;
  std::vector<std::byte> copied_;  ///< a flow that has to wait
  std::uint64_t packets_ = 0;      ///< packets of the open window's flows
  std::map<std::uint64_t, RecordSpool> waiting_;
  std::map<std::uint64_t, WindowTotals> totals_;
  std::uint64_t windows_ = 0;
  std::uint64_t first_ = WindowEnd::kAll;  ///< first window of any worker
  bool balanced_ = true;
};

/// Runs the tasks on what workers report about their windows, in one thread that is no worker's.
class Analyst {
 public:
  Analyst(TaskSets tasks, std::vector<RecordRing*> workers, EventQueue& events,
          std::span<const StateOutcome> outcomes = {}, std::shared_ptr<RecallBoard> recalls = nullptr);

  /// Processes the messages so far; returns true if there were any.
  bool poll();

  const TaskSets& tasks() const noexcept { return tasks_; }
  bool balanced() const noexcept;
  std::uint64_t windows() const noexcept;  ///< ended so far, over all lengths

  /// Returns the recall of a task of a set, or nullopt if it misses no flow.
  std::optional<RecallSummary> recall(std::size_t set, std::size_t task) const {
    return joiners_[set].recalls().summary(task);
  }

 private:
  TaskSets tasks_;
  std::vector<RecordRing*> workers_;
  std::vector<WindowJoiner> joiners_;
};

}  // namespace parshall
