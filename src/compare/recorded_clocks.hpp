// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "compare/clocks.hpp"
#include "compare/cuts.hpp"
#include "compare/pairing.hpp"
#include "compare/passed.hpp"
#include "compare/record_set.hpp"

namespace parshall {

/// A flow at both taps. At a tap that did not see it, it has no packets.
struct JoinedFlow {
  std::uint64_t name;
  const RecordedFlow *up, *down;

  bool is_at_both() const noexcept { return up->packets != 0 && down->packets != 0; }
  /// Returns nullopt if the sums of its packets are not known at both taps, or if nothing is common.
  std::optional<CutFlow> cuts(FlowEnds watched) const;
};

/// Returns the flows of both, by name. They point into the sets.
std::vector<JoinedFlow> join(const RecordSet& up, const RecordSet& down);

/// Finds the directions of recorded flows, how the clocks of the taps differ, and whether both taps watched a flow.
class RecordedClocks {
 public:
  /// The sets and flows must outlive it.
  RecordedClocks(const RecordSet& up, const RecordSet& down, const std::vector<JoinedFlow>& flows);

  const Clocks& clocks() const noexcept { return clocks_; }

  /// Returns where a flow goes: if one tap alone saw it, not where the other direction of its connection goes, or away
  /// from this tap.
  Way way_of(std::size_t flow) const;

  /// Returns which ends of a flow both taps watched, without a pause between.
  FlowEnds watched(const JoinedFlow& flow, Way way) const;

 private:
  /// Differences of the times at the receiver and the sender, of one direction.
  struct Transit {
    std::int64_t least = 0, most = 0;  ///< without the longest ones
    bool is_known = false;
  };

  void take_pairs(const std::vector<bool>& is_watched);
  void take_clocks(const Pairing& pairing, unsigned percent);
  void find_other_ways(const Pairing& of_firsts, const std::vector<bool>& has_pair);
  bool goes_both_ways() const noexcept { return transit_[0].is_known && transit_[1].is_known; }

  const RecordSet &up_, &down_;
  const std::vector<JoinedFlow>& flows_;
  std::vector<std::size_t> partners_;
  std::vector<Way> ways_;  ///< of flows at both taps
  Clocks clocks_;
  Transit transit_[2];
};

}  // namespace parshall
