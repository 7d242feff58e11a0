// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/spsc_ring.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// A flow for another thread to classify, or that thread's verdict on it.
struct ClassJob {
  std::uint32_t slot;
  ClassId id;
  std::array<std::uint16_t, kMostFirstPackets> sizes;  ///< packet sizes, as many as the classifier uses
};

/// Rings between one worker and one classifying thread.
///
/// Shape: two rings of the same capacity. A verdict that finds its ring full is dropped; the class is then computed by
///        the thread that reads the flow's row.
class ClassJobRing {
 public:
  static constexpr std::size_t kJobs = 4096;
  static constexpr std::size_t kMemoryBytes = 2 * kJobs * sizeof(ClassJob);

  explicit ClassJobRing(std::size_t capacity) : jobs(capacity), verdicts(capacity) {}

  SpscRing<ClassJob> jobs;      ///< worker to classifier
  SpscRing<ClassJob> verdicts;  ///< classifier to worker
};

/// Counts of flows that were sent to other threads for their classes.
struct ClassJobCounts {
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  ///< times that a packet of a flow found the rings full
  std::uint64_t told = 0;     ///< classes that came back before they were needed

  void add(const ClassJobCounts& other) noexcept {
    sent += other.sent;
    refused += other.refused;
    told += other.told;
  }
};

/// A worker's side of its rings, which it uses in turn.
class ClassJobs {
 public:
  explicit ClassJobs(std::size_t rings, std::size_t ring_jobs = ClassJobRing::kJobs) {
    for (std::size_t i = 0; i < rings; ++i) rings_.push_back(std::make_unique<ClassJobRing>(ring_jobs));
  }

  std::span<const std::unique_ptr<ClassJobRing>> rings() const noexcept { return rings_; }
  const ClassJobCounts& counts() const noexcept { return counts_; }

  /// Queues a job, visible to the other side after flush(). Returns false if all rings are full.
  bool send(std::uint32_t slot, std::span<const std::uint16_t> sizes) noexcept {
    for (std::size_t tries = 0; tries < rings_.size(); ++tries) {
      ClassJob* const job = rings_[next_]->jobs.stage();
      next_ = next_ + 1 == rings_.size() ? 0 : next_ + 1;
      if (job == nullptr) continue;
      job->slot = slot;
      std::ranges::copy(sizes, job->sizes.begin());
      ++counts_.sent;
      return true;
    }
    ++counts_.refused;
    return false;
  }
  void flush() noexcept {
    for (const auto& ring : rings_) ring->jobs.flush();
  }

  /// Takes all verdicts. `apply(verdict)` returns whether the verdict was still needed.
  template <class Apply>
  void take_verdicts(Apply apply) noexcept {
    for (const auto& ring : rings_)
      while (true) {
        const std::span<const ClassJob> verdicts = ring->verdicts.readable(ring->verdicts.capacity());
        if (verdicts.empty()) break;
        for (const ClassJob& verdict : verdicts) counts_.told += apply(verdict);
        ring->verdicts.release(verdicts.size());
      }
  }

 private:
  std::vector<std::unique_ptr<ClassJobRing>> rings_;
  std::size_t next_ = 0;
  ClassJobCounts counts_;
};

}  // namespace parshall
