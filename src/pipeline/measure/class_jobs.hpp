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

/// A flow whose class is to be told by another thread, and what that told.
struct ClassJob {
  std::uint32_t slot;
  ClassId id;
  std::array<std::uint16_t, kMostFirstPackets> sizes;  ///< of as many packets as the classifier goes by
};

/// Between one worker and one thread that classifies.
///
/// Shape: two rings of as many. A verdict that finds its ring full is dropped: whoever reads the flow tells its class
///        then.
class ClassJobRing {
 public:
  static constexpr std::size_t kJobs = 4096;
  static constexpr std::size_t kMemoryBytes = 2 * kJobs * sizeof(ClassJob);

  explicit ClassJobRing(std::size_t capacity) : jobs(capacity), verdicts(capacity) {}

  SpscRing<ClassJob> jobs;      ///< worker to classifier
  SpscRing<ClassJob> verdicts;  ///< and back
};

/// How flows went to other threads for their classes.
struct ClassJobCounts {
  std::uint64_t sent = 0;
  std::uint64_t refused = 0;  ///< times that a flow's packet found the ring full
  std::uint64_t told = 0;     ///< classes that came back before anybody asked

  void add(const ClassJobCounts& other) noexcept {
    sent += other.sent;
    refused += other.refused;
    told += other.told;
  }
};

/// A worker's side of its rings, which it fills in turn.
class ClassJobs {
 public:
  explicit ClassJobs(std::size_t rings, std::size_t ring_jobs = ClassJobRing::kJobs) {
    for (std::size_t i = 0; i < rings; ++i) rings_.push_back(std::make_unique<ClassJobRing>(ring_jobs));
  }

  std::span<const std::unique_ptr<ClassJobRing>> rings() const noexcept { return rings_; }
  const ClassJobCounts& counts() const noexcept { return counts_; }

  /// False where there is no room. Seen by the other side once flushed.
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

  /// `apply(verdict)` says whether it was still wanted.
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
