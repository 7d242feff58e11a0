// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/record_ring.hpp"
#include "engine/flow_tally.hpp"

namespace parshall {

/// Counts the records that left a worker's table, and passes them to the session's collector.
class EndedFlows {
 public:
  EndedFlows(std::size_t ring_bytes, const StatisticSet* statistics) : ring_(ring_bytes), counts_(statistics) {}

  /// Adds a record. `snapshot` is the first one that may report it; `generation` is that of the statistics in its row.
  /// Full: waits, which loses nothing unseen, since a device counts what it misses.
  void add(const TalliedFlow& flow, std::uint64_t snapshot, std::uint64_t generation) noexcept;

  const FlowTally& counts() const noexcept { return counts_; }
  RecordRing& ring() noexcept { return ring_; }

 private:
  RecordRing ring_;
  FlowTally counts_;
};

}  // namespace parshall
