// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/flow_weight.hpp"
#include "control/blind_loss.hpp"
#include "engine/event_queue.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Publishes the tasks' recall from the analyst to workers whose flows are reduced. One thread writes, any may read.
class RecallBoard {
 public:
  struct Task {
    std::string name;
    std::uint64_t states = 0;  ///< bit i: the task is for flows of state i
    double threshold = 0;      ///< wanted recall, from 0 to 1
    std::atomic<double> recall{kUnknown};
    std::array<std::atomic<double>, FlowWeight::kClasses> heavy_share;  ///< share of its events; see GapRecovery::Task
    std::atomic<double> events{0};                                      ///< in a window, including missed ones
    std::atomic<double> loss_exponent{BlindLoss::kUnknown};             ///< under packet loss; see BlindLoss
    std::atomic<std::uint64_t> told{0};                                 ///< number of updates

    Task(std::string task, std::uint64_t in, double least) : name(std::move(task)), states(in), threshold(least) {
      for (auto& share : heavy_share) share.store(1, std::memory_order_relaxed);
    }
  };
  using ShareByWeight = std::array<double, FlowWeight::kClasses>;

  /// Adds a task, which keeps its number; call it before any thread reads.
  std::size_t add(std::string name, std::uint64_t states, double threshold) {
    tasks_.push_back(std::make_unique<Task>(std::move(name), states, threshold));
    return tasks_.size() - 1;
  }

  void put(std::size_t task, std::optional<double> recall, const ShareByWeight& heavy_share, double events,
           double loss_exponent) noexcept {
    tasks_[task]->loss_exponent.store(loss_exponent, std::memory_order_relaxed);
    tasks_[task]->events.store(events, std::memory_order_relaxed);
    for (std::size_t weight = 0; weight < heavy_share.size(); ++weight)
      tasks_[task]->heavy_share[weight].store(heavy_share[weight], std::memory_order_relaxed);
    tasks_[task]->recall.store(recall.value_or(kUnknown), std::memory_order_relaxed);
    tasks_[task]->told.fetch_add(1, std::memory_order_release);
  }

  /// Recall of each window and task, in order; null if not asked for. Set before any thread reads.
  std::unique_ptr<FindingQueue<WindowRecall>> windows;

  std::size_t size() const noexcept { return tasks_.size(); }
  const Task& operator[](std::size_t task) const noexcept { return *tasks_[task]; }
  ShareByWeight heavy_share(std::size_t task) const noexcept {
    ShareByWeight shares;
    for (std::size_t weight = 0; weight < shares.size(); ++weight)
      shares[weight] = tasks_[task]->heavy_share[weight].load(std::memory_order_relaxed);
    return shares;
  }
  std::optional<double> recall(std::size_t task) const noexcept {
    const double recall = tasks_[task]->recall.load(std::memory_order_relaxed);
    return recall < 0 ? std::nullopt : std::optional(recall);
  }

 private:
  static constexpr double kUnknown = -1;

  std::vector<std::unique_ptr<Task>> tasks_;
};

}  // namespace parshall
