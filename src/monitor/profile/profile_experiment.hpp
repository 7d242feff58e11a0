// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "control/profile.hpp"
#include "monitor/profile/frames.hpp"
#include "monitor/profile/profile_workloads.hpp"

namespace parshall::lab {

struct ProfilePlan {
  MachineIdentity machine;
  WorkloadSweep sweep;
  bool are_states = false;       ///< the workloads; else they are kinds of work
  std::size_t memory_bytes = 0;  ///< that the larger table of flows may take
};

/// Something that was timed.
struct Timed {
  std::string what;
  double ns = 0;  ///< the median; of costs per packet, what they add to counting alone
  std::optional<double> mean_ns = {};
  double low_ns = 0, high_ns = 0;        ///< 95 % interval of the median
  std::size_t samples = 0, dropped = 0;  ///< in use, and left out as disturbed
};

/// To find flows one at a time.
struct TimedRetrieval {
  std::vector<double> samples_ns;
  std::vector<Fit> fits;  ///< the best first
};

struct ProfileFigures {
  Profile profile;
  std::vector<Timed> timed;
  TimedRetrieval cached, uncached;
  std::vector<std::string> notes, warnings;  ///< one line each
};

/// Measures the cost model of adaptive monitoring. `tell` hears what is going on. Nothing when `stop` said so.
///
/// Error:  what caches hold is told by times: lookups whose lines were flushed beforehand say what memory takes. At
/// most
///         a 20th of the lookups of the table in cache take that long; how many of the table in memory take less is
///         noted.
/// Source: Tangari et al., MONA, IEEE TNSM 2020, section IV.A.
Result<std::optional<ProfileFigures>> measure_profile(const ProfilePlan& plan, const Frames& frames,
                                                      const std::function<void(const std::string&)>& tell,
                                                      const std::function<bool()>& stop);

}  // namespace parshall::lab
