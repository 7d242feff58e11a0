// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/figures/batch_costs.hpp"
#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/candidate.hpp"
#include "lab/core_shares.hpp"

namespace parshall::lab {

/// A way for several cores to count the same traffic.
struct CountingWay {
  std::string_view name;
  std::string_view help;
  bool shared;     ///< one table for all cores
  bool exact;      ///< no packet is lost
  bool one_table;  ///< in the end one table has all flows
  bool apart;      ///< flows are; otherwise those that share a place are added up

  /// What each core counts with, of tables made for the flows that each sees or, where they share one, for all. Null:
  /// the way before, with the cost of merging the tables.
  std::vector<std::unique_ptr<Candidate>> (*make)(std::span<const std::size_t> flows_of_core, std::size_t flows,
                                                  std::uint64_t seed);
  std::size_t (*memory_bytes)(std::size_t flows) noexcept;  ///< of one of its tables
};

/// Every one there is: one line each; the first is what the others are compared with.
std::span<const CountingWay> counting_ways() noexcept;

/// What `parshall bench contention` varies: every combination is measured.
struct ContentionSweep {
  std::vector<std::size_t> flows;  ///< distinct, each at most kMaxFlows
  std::vector<double> zipf{0};     ///< exponents; 0 is uniform
  std::vector<Sharing> sharing{Sharing::same};
  std::vector<std::size_t> cores{1, 2};

  int rounds = 15;
  std::uint64_t seed = 1;
  std::size_t trace_packets = std::size_t{1} << 22;
  std::size_t epoch_packets = 2'000'000;  ///< all cores', after which separate tables are merged

  static constexpr std::size_t kMaxFlows = std::size_t{1} << 26;
  static constexpr std::size_t kBatch = 32;  ///< packets
};

/// What the rows of one comparison have in common.
struct ContentionCase {
  std::string traffic;
  std::size_t flows = 0;
  double zipf = 0;
  Sharing sharing = Sharing::same;
  std::size_t cores = 1;
};

/// One way on one case. Costs are a core's, while the others do the same.
struct ContentionRow {
  const CountingWay* way;
  ContentionCase of;
  Cost cost;                       ///< per packet, making the key and its hash included
  std::optional<double> merge_ns;  ///< per packet; part of the cost
  BatchFigures batches;            ///< of the core that is measured; without rounds where there is no such thing
  double lost_share = 0;           ///< of the packets sent while it was measured, by all cores
  double together = 1;             ///< median share of a sample in which all cores ran, at least
  std::size_t memory_bytes = 0;    ///< all cores'
};

/// Measures, and hands over the rows of each case as it is done. What all cores counted at once is checked against
/// truth before a clock starts, and its sum at the end: a way that counts wrongly is an error, and so is a case that
/// needs more memory or more cores than there are, or flows for every core. Samples during which another core did not
/// run count as disturbed. `stop` is asked before each round; the case that it ends is not handed over. Returns how
/// many were.
Result<std::size_t> measure_contention(const ContentionSweep& sweep,
                                       const std::function<void(std::span<const ContentionRow>)>& done,
                                       const std::function<bool()>& stop);

/// How many cases there are.
std::size_t cases(const ContentionSweep& sweep) noexcept;

}  // namespace parshall::lab
