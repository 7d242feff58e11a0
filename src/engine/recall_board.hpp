// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/blind_loss.hpp"
#include "control/followed_task.hpp"
#include "engine/event_queue.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// What is known of a task's events after a window. Counts are of a window, with those of flows that it left out.
struct KnownEvents {
  using ByWeight = FollowedTask::ByWeight;

  std::optional<double> recall;
  bool knows_weights = false;  ///< true: flows have the weights that the workers give them
  ByWeight flows{};
  std::array<ByWeight, kEventMeasures> events{};
  std::array<double, kEventMeasures> loss_exponent{BlindLoss::kUnknown, BlindLoss::kUnknown};
};

/// Publishes what is known of the tasks' events, from the analyst to the workers. One thread writes, any may read; a
/// reader may see values of two successive windows.
class RecallBoard {
 public:
  struct Task {
    std::string name;
    double threshold = 0;  ///< wanted recall, from 0 to 1
  };

  /// Adds a task, which keeps its number; call it before any thread reads.
  std::size_t add(std::string name, double threshold) {
    tasks_.push_back({std::move(name), threshold});
    known_.push_back(std::make_unique<Values>());
    put(tasks_.size() - 1, {});
    return tasks_.size() - 1;
  }

  void put(std::size_t task, const KnownEvents& known) noexcept {
    auto to = known_[task]->begin();
    const auto store = [&](double value) { (to++)->store(value, std::memory_order_relaxed); };
    store(known.recall.value_or(kUnknown));
    store(known.knows_weights);
    std::ranges::for_each(known.loss_exponent, store);
    std::ranges::for_each(known.flows, store);
    for (const KnownEvents::ByWeight& events : known.events) std::ranges::for_each(events, store);
  }

  KnownEvents known(std::size_t task) const noexcept {
    auto from = known_[task]->begin();
    const auto load = [&] { return (from++)->load(std::memory_order_relaxed); };
    KnownEvents known;
    if (const double recall = load(); recall >= 0) known.recall = recall;
    known.knows_weights = load() != 0;
    std::ranges::generate(known.loss_exponent, load);
    std::ranges::generate(known.flows, load);
    for (KnownEvents::ByWeight& events : known.events) std::ranges::generate(events, load);
    return known;
  }

  /// Recall of each window and task, in order; null if not asked for. Set before any thread reads.
  std::unique_ptr<FindingQueue<WindowRecall>> windows;

  std::size_t size() const noexcept { return tasks_.size(); }
  const Task& operator[](std::size_t task) const noexcept { return tasks_[task]; }

 private:
  static constexpr double kUnknown = -1;
  using Values = std::array<std::atomic<double>, 2 + kEventMeasures + (1 + kEventMeasures) * FlowWeight::kClasses>;

  std::vector<Task> tasks_;
  std::vector<std::unique_ptr<Values>> known_;
};

}  // namespace parshall
