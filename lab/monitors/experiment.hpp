// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/figures/batch_costs.hpp"
#include "base/figures/figures.hpp"
#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "engine/tables.hpp"
#include "lab/profile/frames.hpp"

namespace parshall::lab {

/// Steps that a packet goes through; each includes the previous ones.
enum class Depth : std::uint8_t { poll, decode, count };
inline constexpr std::string_view kDepthNames[] = {"poll", "parse and hash", "count"};

/// A monitor as `parshall watch` would run it on one core.
struct MonitorUnderTest {
  std::string name;
  Depth depth = Depth::count;
  const TableEntry* table = nullptr;  ///< for Depth::count
  Identity identity = Identity::exact;
  std::vector<std::string> statistics;
  StatisticOptions statistic_options;
  std::size_t batch = 256;  ///< packets taken at a time
};

struct MonitorSweep {
  std::vector<MonitorUnderTest> monitors;
  std::size_t flows = 1 << 16;  ///< capacity of the tables
  int rounds = 15;
  std::uint64_t seed = 1;
  OfferedLoad offered = {};  ///< for the lossless rate and the modelled loss
};

/// One monitor on one input.
struct MonitorRow {
  MonitorUnderTest monitor;
  std::string traffic;
  Cost cost;  ///< per packet, from its descriptor on
  BatchFigures batches;
  std::uint64_t memory_bytes = 0;  ///< upper bound of table and rows
  std::size_t flows = 0;           ///< flows in the table after the first pass
  double evicted_share = 0;        ///< share of the records of the first pass
  double expected_merges = 0;      ///< pairs of flows counted as one
};

/// Measures the monitors in interleaved rounds on the same packets. Their accounts are checked after the first pass,
/// before a clock starts, and at the end. Error: a packet is missing or counted twice. Returns nothing if `stop`
/// returned true.
Result<std::vector<MonitorRow>> measure_monitors(const MonitorSweep& sweep, const Frames& frames,
                                                 const std::string& traffic, const std::function<bool()>& stop);

std::span<const Column> monitor_columns() noexcept;
Part monitor_part(std::span<const MonitorRow> rows);

}  // namespace parshall::lab
