// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lab/tables/candidate.hpp"
#include "lab/tables/tasks.hpp"

namespace parshall::lab {

/// Accuracy of a structure for one epoch of packets, compared with the exact truth.
struct Accuracy {
  std::size_t true_positives = 0, reported = 0, positives = 0;  ///< flows: heavy hitters, or what the task reports
  double count_error = 0;                 ///< mean over the epoch's flows of |count - truth| / truth
  std::size_t missing = 0, too_high = 0;  ///< flows without a count, and flows whose count includes packets of others
  std::size_t flows = 0;                  ///< flows in the epoch

  double precision() const noexcept;  ///< 1 if nothing was reported
  double recall() const noexcept;     ///< 1 if there was nothing to report
};

/// Epoch of packets and the task for it.
struct Epoch {
  Task task = Task::count;
  std::size_t flows = 0;  ///< flow numbers are below this
  std::span<const std::uint32_t> packets;
  std::uint64_t threshold = 0;  ///< a flow with more packets is a heavy hitter
};

/// Truth about an epoch, computed once for all candidates.
class EpochTruth {
 public:
  explicit EpochTruth(const Epoch& epoch);

  /// Judges a candidate that was given exactly the epoch's packets, and drained.
  Accuracy judge(const Candidate& candidate) const;

 private:
  bool by_counts() const noexcept { return reports_.empty(); }

  std::vector<std::uint64_t> counts_;
  std::vector<std::uint8_t> reports_;  ///< reports of the task; empty if counts decide
  std::uint64_t threshold_;
};

}  // namespace parshall::lab
