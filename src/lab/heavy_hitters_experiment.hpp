// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/figures/figures.hpp"
#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "monitor/profile/frames.hpp"

namespace parshall::lab {

/// How the sources with the most packets of each window are found.
enum class HeavyHittersWay : std::uint8_t { worker, all_flows, heavy_keeper, space_saving, nitro };

struct HeavyHittersWayEntry {
  std::string_view name, help;
  HeavyHittersWay way;
};
std::span<const HeavyHittersWayEntry> heavy_hitters_ways() noexcept;

struct HeavyHittersSweep {
  std::vector<const HeavyHittersWayEntry*> ways;
  std::vector<std::uint64_t> windows_ns{10'000'000};
  std::vector<std::size_t> widths{1 << 14};  ///< counters of a row of a sketch, of two rows (nitro: of three)
  std::vector<std::size_t> one_in{16, 1};    ///< packets, of which a row of nitro counts one
  double threshold = 0.001;                  ///< of the window's packets
  int rounds = 15;
  std::uint64_t seed = 1;
};

struct HeavyHittersRow {
  const HeavyHittersWayEntry* way;
  std::string traffic;
  std::uint64_t window_ns = 0, width = 0;  ///< the latter 0 where there is no sketch
  std::uint64_t one_in = 1;
  Cost cost;                         ///< of a packet, all in
  double recall = 1, precision = 1;  ///< of all windows of the traffic's first pass
  std::uint64_t windows = 0;         ///< that was judged by; none of a worker alone, who reports nothing
  std::uint64_t memory_bytes = 0;
};

/// One task with the whole monitor behind it, which keeps every flow, against sketches that do nothing else: polled,
/// decoded and hashed alike, on one core, the analyst's work too. What is reported is compared with the truth.
Result<std::size_t> measure_heavy_hitters(const HeavyHittersSweep& sweep, const Frames& frames,
                                          const std::string& traffic,
                                          const std::function<void(std::span<const HeavyHittersRow>)>& done,
                                          const std::function<bool()>& stop);

std::span<const Column> heavy_hitters_columns() noexcept;
Part heavy_hitters_part(std::span<const HeavyHittersRow> rows);

}  // namespace parshall::lab
