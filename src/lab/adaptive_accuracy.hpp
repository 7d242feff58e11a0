// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lab/adaptive_experiment.hpp"
#include "pipeline/output/report.hpp"

namespace parshall::lab {

/// An event, by a hash of its key: of some millions two that meet are not to be expected.
struct Found {
  std::uint64_t window, key;
  auto operator<=>(const Found&) const = default;
};
struct Said {
  double recall, at_least;
};
/// Of a window, that a task looked at, in whole or in part; and did not look at all the time.
struct FlowsLookedAt {
  std::uint64_t seen, missed;
};

/// Windows that are judged, with the last.
struct Stretch {
  std::uint64_t first, last;
  bool has(std::uint64_t window) const noexcept { return window >= first && window <= last; }
};
/// In order; none is in two.
using Stretches = std::vector<Stretch>;

/// What came of a run.
struct Outcome {
  std::map<std::string, std::vector<Found>> found;  ///< by task; in order once the run is over
  /// By task and window; nothing: that nothing is known.
  std::map<std::pair<std::string, std::uint64_t>, std::optional<Said>> said;
  /// Likewise; no word: it missed none.
  std::map<std::pair<std::string, std::uint64_t>, FlowsLookedAt> flows;
  std::vector<std::uint64_t> packets;  ///< by window
  ReportSummary summary;
};

/// What the run found of a task in these windows, of what `truth` has.
TaskAccuracy judge(const std::string& task, const Outcome& outcome, const Outcome& truth, const Stretches& judged,
                   double threshold);

}  // namespace parshall::lab
