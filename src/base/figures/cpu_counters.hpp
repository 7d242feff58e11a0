// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace parshall::lab {

/// Event that the kernel counts: type and config as in perf_event_open(2).
struct PerfEvent {
  std::uint32_t type;
  std::uint64_t config;
};

/// Group of events of the calling thread that are counted together.
class PerfGroup {
 public:
  /// Starts counting. Counts nothing if the kernel or the CPU refuses one of the events.
  explicit PerfGroup(std::span<const PerfEvent> events);
  ~PerfGroup();
  PerfGroup(const PerfGroup&) = delete;
  PerfGroup& operator=(const PerfGroup&) = delete;

  bool available() const noexcept { return !files_.empty(); }

  /// Returns the counts so far, one per event, or nullopt if counting is not available. Counts are scaled up where the
  /// CPU had to multiplex its counters.
  std::optional<std::vector<double>> read() const;

 private:
  std::vector<int> files_;  ///< the first leads the group
};

/// Figures that the CPU counted over some work. Source: the events of table IV of Zhang et al., "FloWatcher-DPDK", IEEE
/// TNSM 2019.
struct CpuCounts {
  double instructions_per_cycle = 0;
  double cache_miss_share = 0;  ///< fraction of the references to the last-level cache
};

/// Reads the CPU's own counters for the calling thread. Virtual machines seldom provide them.
class CpuCounters {
 public:
  CpuCounters();

  bool available() const noexcept { return group_.available(); }
  void start() { start_ = group_.read(); }
  std::optional<CpuCounts> stop();  ///< since start()

 private:
  PerfGroup group_;
  std::optional<std::vector<double>> start_;
};

}  // namespace parshall::lab
