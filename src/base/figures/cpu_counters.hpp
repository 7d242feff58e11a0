// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace parshall::lab {

/// An event that the kernel counts: type and config as perf_event_open(2) has them.
struct PerfEvent {
  std::uint32_t type;
  std::uint64_t config;
};

/// Events of the calling thread that are counted together.
class PerfGroup {
 public:
  /// Counts from here on. None is counted where the kernel or the CPU refuses one.
  explicit PerfGroup(std::span<const PerfEvent> events);
  ~PerfGroup();
  PerfGroup(const PerfGroup&) = delete;
  PerfGroup& operator=(const PerfGroup&) = delete;

  bool available() const noexcept { return !files_.empty(); }

  /// So far, by event; scaled up where the CPU had to share its counters out. Nothing where they are not available.
  std::optional<std::vector<double>> read() const;

 private:
  std::vector<int> files_;  ///< the first is the group's
};

/// What the CPU counted over some work. Source: the events of table IV of Zhang et al., "FloWatcher-DPDK", IEEE TNSM
/// 2019.
struct CpuCounts {
  double instructions_per_cycle = 0;
  double cache_miss_share = 0;  ///< of the references to the last-level cache
};

/// The CPU's own counters, for the calling thread. Virtual machines seldom have them.
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
