// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/candidate.hpp"
#include "lab/tasks.hpp"

namespace parshall::lab {

/// How right a structure was about one epoch of packets, against exact truth of the same packets.
struct Accuracy {
  std::size_t true_positives = 0, reported = 0, positives = 0;  ///< flows: of heavy hitters, or what the task reports
  double count_error = 0;                 ///< mean over the epoch's flows of |count - truth| / truth
  std::size_t missing = 0, too_high = 0;  ///< flows with no count at all, and with packets of others in theirs
  std::size_t flows = 0;                  ///< in the epoch

  double precision() const noexcept;  ///< 1 where nothing was reported
  double recall() const noexcept;     ///< 1 where there was nothing to report
};

/// What is asked of an epoch.
struct Epoch {
  Task task = Task::count;
  std::size_t flows = 0;  ///< their numbers are below
  std::span<const std::uint32_t> packets;
  std::uint64_t threshold = 0;  ///< a flow of more packets is a heavy hitter
};

/// The truth about an epoch, reckoned once for all candidates.
class EpochTruth {
 public:
  explicit EpochTruth(const Epoch& epoch);

  /// Of a candidate that was given the epoch's packets and no others, and drained.
  Accuracy judge(const Candidate& candidate) const;

 private:
  bool by_counts() const noexcept { return reports_.empty(); }

  std::vector<std::uint64_t> counts_;
  std::vector<std::uint8_t> reports_;  ///< of the task; empty where the counts decide
  std::uint64_t threshold_;
};

}  // namespace parshall::lab
