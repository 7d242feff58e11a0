// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/flow/both_ways.hpp"
#include "pipeline/measure/tasks/event.hpp"
#include "pipeline/measure/tasks/key_table.hpp"

namespace parshall {

/// Keys that a task reported in one window.
class Reported {
 public:
  Reported(std::size_t capacity, std::uint64_t seed) : keys_(capacity, seed) {}

  /// Returns whether the flow, or its opposite direction, was reported.
  bool has(const FlowKey& flow) const noexcept {
    if (all_) return true;
    return std::ranges::any_of(
        parts_, [&](const auto& part) { return has_part(part->of(flow)) || has_part(part->of(opposite(flow))); });
  }

 private:
  friend class Outcomes;
  struct Nothing {};

  bool has_part(const FlowKey& part) const noexcept { return keys_.find(keys_.hash(part), part) != nullptr; }

  KeyTable<Nothing> keys_;
  std::vector<std::shared_ptr<const KeyPart>> parts_;  ///< parts that the keys have; several if prefixes differ
  bool all_ = false;                                   ///< true if an event was about all traffic
};

/// Findings of a task, window by window, for workers whose flows' states depend on it. One thread writes.
///
/// A worker reads the window before the last one whose end it has reported, or an earlier one. No window is written
/// before all workers have reported its end. So with four windows, none is read while it is written.
/// Shape: for each event a window, four times 64 bytes and 16 of an index, allocated once.
/// Full:  further findings are ignored; the capacity is the task's limit of events.
class Outcomes {
 public:
  Outcomes(std::size_t capacity, std::uint64_t seed)
      : capacity_(capacity),
        windows_{Window(capacity, seed), Window(capacity, seed), Window(capacity, seed), Window(capacity, seed)} {}

  std::size_t memory_bytes() const noexcept { return kWindows * KeyTable<Reported::Nothing>::memory_bytes(capacity_); }

  void begin(std::uint64_t window) {
    Window& open = windows_[++open_ % kWindows];
    open.number.store(kNone, std::memory_order_relaxed);
    open.reported.keys_.clear();
    open.reported.parts_.clear();
    open.reported.all_ = false;
    written_ = window;
  }
  /// Adds a finding; summaries are ignored, because they do not concern flows.
  void add(const Event& event) {
    if (event.kind != EventKind::finding) return;
    Reported& reported = windows_[open_ % kWindows].reported;
    if (event.part == nullptr) {
      reported.all_ = true;
      return;
    }
    if (std::ranges::find(reported.parts_, event.part) == reported.parts_.end()) reported.parts_.push_back(event.part);
    reported.keys_.find_or_add(reported.keys_.hash(event.key), event.key);
  }
  void end() { windows_[open_ % kWindows].number.store(written_, std::memory_order_release); }

  /// Declares that all windows below this one are over.
  void decide_below(std::uint64_t window) noexcept { decided_below_.store(window, std::memory_order_release); }

  /// Any worker: returns whether the window is over.
  bool decided(std::uint64_t window) const noexcept { return window < decided_below_.load(std::memory_order_acquire); }

  /// Returns the findings of a window, or null if there are none.
  const Reported* of(std::uint64_t window) const noexcept {
    for (const Window& kept : windows_)
      if (kept.number.load(std::memory_order_acquire) == window) return &kept.reported;
    return nullptr;
  }

 private:
  static constexpr std::size_t kWindows = 4;
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  struct Window {
    Window(std::size_t capacity, std::uint64_t seed) : reported(capacity, seed) {}
    std::atomic<std::uint64_t> number{kNone};
    Reported reported;
  };

  std::size_t capacity_;
  std::array<Window, kWindows> windows_;
  std::uint64_t written_ = 0, open_ = 0;
  std::atomic<std::uint64_t> decided_below_{0};
};

}  // namespace parshall
