// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace parshall::tester {

/// Impairments of a link. Probabilities are from 0 to 1.
struct ImpairmentSettings {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;     ///< probability of being sent at once instead of after the delay
  std::uint32_t gap = 1;  ///< gap - 1 frames are always delayed before one may be sent at once; 0: all are delayed
  std::uint64_t delay_ns = 0;
  std::uint64_t jitter_ns = 0;  ///< delays are uniform in [delay - jitter, delay + jitter); at most the delay
  std::size_t limit = 1000;     ///< most frames that wait
  std::uint64_t seed = 1;
};

/// Counts of frames: offered = lost + refused + those of which at least one copy was forwarded.
struct ImpairmentCounts {
  std::uint64_t offered = 0;
  std::uint64_t lost = 0;
  std::uint64_t refused = 0;       ///< the queue was full
  std::uint64_t duplicated = 0;    ///< forwarded twice
  std::uint64_t sent_at_once = 0;  ///< copies, like `delayed`
  std::uint64_t delayed = 0;
};

/// A lossy link with the behaviour of Linux's netem, independent of the kernel. Pure logic with any clock, repeatable
/// with the same seed.
///
/// A frame is drawn first for duplication, which adds a copy, then for loss, which removes one. A frame drawn for both
/// is forwarded once, so a frame is lost with probability loss (1 - duplicate). The second copy goes through the same
/// steps, but is not duplicated again. It may be lost, so a frame is forwarded twice with probability duplicate (1 -
/// loss)^2. Each copy is then sent at once, before all that wait, or waits for its own delay.
///
/// Shape:  a heap of `limit` frames, reserved at first.
/// Cost:   some draws and a heap operation a frame; no allocation.
/// Full:   a frame that finds `limit` waiting is refused, and so is its copy.
/// Source: Linux, net/sched/sch_netem.c (netem_enqueue, tfifo_enqueue, netem_dequeue), tc-netem(8): independent draws,
///         uniform delay, no rate, no slots, no corruption.
template <class Frame>
class Impairment {
 public:
  explicit Impairment(const ImpairmentSettings& settings)
      : settings_(settings), random_(settings.seed), half_width_ns_(std::min(settings.jitter_ns, settings.delay_ns)) {
    waiting_.reserve(settings.limit + 1);
    at_once_.reserve(settings.limit + 1);
  }

  /// Restarts the random numbers as if it began with this seed.
  void reseed(std::uint64_t seed) noexcept {
    random_ = SplitMix64(seed);
    since_at_once_ = 0;
  }

  void offer(std::uint64_t now_ns, const Frame& frame) {
    ++counts_.offered;
    const bool is_duplicated = happens(settings_.duplicate);
    const bool is_lost = happens(settings_.loss);
    if (is_lost && !is_duplicated) {
      ++counts_.lost;
      return;
    }
    if (queued() >= settings_.limit) {
      ++counts_.refused;
      return;
    }
    if (is_duplicated && !is_lost && !happens(settings_.loss)) {
      ++counts_.duplicated;
      enqueue(now_ns, frame);
    }
    enqueue(now_ns, frame);
  }

  /// Returns the next frame that is due: those sent at once, latest first; then by time, then in the order offered.
  std::optional<Frame> due(std::uint64_t now_ns) {
    if (!at_once_.empty()) {
      Frame frame = std::move(at_once_.back());
      at_once_.pop_back();
      return frame;
    }
    if (waiting_.empty() || waiting_.front().time_ns > now_ns) return std::nullopt;
    std::ranges::pop_heap(waiting_, is_later);
    Frame frame = std::move(waiting_.back().frame);
    waiting_.pop_back();
    return frame;
  }

  /// Returns when due() has the next frame: nullopt if none waits, 0 if one is to be sent at once.
  std::optional<std::uint64_t> next_ns() const noexcept {
    if (!at_once_.empty()) return 0;
    return waiting_.empty() ? std::nullopt : std::optional(waiting_.front().time_ns);
  }

  std::size_t queued() const noexcept { return waiting_.size() + at_once_.size(); }
  const ImpairmentCounts& counts() const noexcept { return counts_; }

 private:
  struct Waiting {
    std::uint64_t time_ns;
    std::uint64_t number;
    Frame frame;
  };

  static bool is_later(const Waiting& a, const Waiting& b) noexcept {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.number > b.number;
  }

  bool happens(double probability) noexcept { return probability > 0 && random_.uniform() < probability; }

  void enqueue(std::uint64_t now_ns, const Frame& frame) {
    if (settings_.gap > 0 && since_at_once_ + 1 >= settings_.gap && happens(settings_.reorder)) {
      since_at_once_ = 0;
      ++counts_.sent_at_once;
      at_once_.push_back(frame);
      return;
    }
    ++since_at_once_;
    ++counts_.delayed;
    const std::uint64_t delay_ns =
        settings_.delay_ns - half_width_ns_ + (half_width_ns_ == 0 ? 0 : random_.below(2 * half_width_ns_));
    waiting_.push_back({now_ns + delay_ns, counts_.delayed, frame});
    std::ranges::push_heap(waiting_, is_later);
  }

  ImpairmentSettings settings_;
  SplitMix64 random_;
  std::uint64_t half_width_ns_;  ///< half the width of the range of delays
  std::uint64_t since_at_once_ = 0;
  std::vector<Waiting> waiting_;
  std::vector<Frame> at_once_;
  ImpairmentCounts counts_;
};

}  // namespace parshall::tester
