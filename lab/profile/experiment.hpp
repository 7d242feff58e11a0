// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lab/profile/frames.hpp"
#include "lab/profile/retrieval_fit.hpp"
#include "lab/profile/workloads.hpp"

namespace parshall::lab {

struct ProfilePlan {
  WorkloadSweep sweep;
  bool are_states = false;       ///< true: the workloads are states; false: kinds of work
  std::size_t memory_bytes = 0;  ///< limit for the larger table of flows
};

/// A measured time.
struct Timed {
  std::string what;
  double ns = 0;  ///< the median; costs per packet are relative to counting alone
  std::optional<double> mean_ns = {};
  double low_ns = 0, high_ns = 0;        ///< 95 % interval of the median
  std::size_t samples = 0, dropped = 0;  ///< samples used, and those left out as disturbed
};

/// Times to find flows.
struct TimedRetrieval {
  std::vector<Fit> fits;  ///< of single lookups, best first
  double mean_ns = 0;     ///< of single lookups
  double batched_ns = 0;  ///< per lookup, in batches that prefetch
};

struct ProfileFigures {
  std::vector<Timed> timed;
  TimedRetrieval cached, uncached;
  std::vector<std::string> notes, warnings;  ///< one line each
};

/// Measures the cost model of adaptive monitoring. Progress goes to `tell`. Returns nullopt if `stop` returned true.
///
/// Error:  the contents of caches are inferred from times. Lookups of flushed lines show what memory takes. At most a
///         20th of the lookups in the cached table take that long. The result notes how many in the large table take
///         less.
/// Source: Tangari et al., MONA, IEEE/ACM ToN 2020, section IV.A.
Result<std::optional<ProfileFigures>> measure_profile(const ProfilePlan& plan, const Frames& frames,
                                                      const std::function<void(const std::string&)>& tell,
                                                      const std::function<bool()>& stop);

}  // namespace parshall::lab
