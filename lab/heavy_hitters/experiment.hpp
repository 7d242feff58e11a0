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
#include "lab/profile/frames.hpp"

namespace parshall::lab {

/// Method to find the sources with the most packets of each window.
enum class HeavyHittersWay : std::uint8_t { worker, all_flows, heavy_keeper, space_saving, nitro };

struct HeavyHittersWayEntry {
  std::string_view name, help;
  HeavyHittersWay way;
};
std::span<const HeavyHittersWayEntry> heavy_hitters_ways() noexcept;

struct HeavyHittersSweep {
  std::vector<const HeavyHittersWayEntry*> ways;
  std::vector<std::uint64_t> windows_ns{10'000'000};
  std::vector<std::size_t> widths{1 << 14};  ///< counters in each row of a sketch, of two rows (nitro: three)
  std::vector<std::size_t> one_in{16, 1};    ///< n, where a row of nitro counts one in n packets
  double threshold = 0.001;                  ///< share of the window's packets
  int rounds = 15;
  std::uint64_t seed = 1;
};

struct HeavyHittersRow {
  const HeavyHittersWayEntry* way;
  std::string traffic;
  std::uint64_t window_ns = 0, width = 0;  ///< width is 0 if there is no sketch
  std::uint64_t one_in = 1;
  Cost cost;                         ///< total cost per packet
  double recall = 1, precision = 1;  ///< over all windows of the traffic's first pass
  std::uint64_t windows = 0;         ///< windows that were judged; 0 for a worker alone, which reports nothing
  std::uint64_t memory_bytes = 0;
};

/// Compares a task in the complete monitor, which keeps every flow, with sketches that do nothing else. All poll,
/// decode and hash the same way on one core, including the analyst's work. Reports are compared with the truth.
Result<std::size_t> measure_heavy_hitters(const HeavyHittersSweep& sweep, const Frames& frames,
                                          const std::string& traffic,
                                          const std::function<void(std::span<const HeavyHittersRow>)>& done,
                                          const std::function<bool()>& stop);

std::span<const Column> heavy_hitters_columns() noexcept;
Part heavy_hitters_part(std::span<const HeavyHittersRow> rows);

}  // namespace parshall::lab
