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
#include "lab/contention/core_shares.hpp"
#include "lab/tables/candidate.hpp"

namespace parshall::lab {

/// A way for several cores to count the same traffic.
struct CountingWay {
  std::string_view name;
  std::string_view help;
  bool shared;     ///< all cores share one table
  bool exact;      ///< no packet is lost
  bool one_table;  ///< at the end, one table has all flows
  bool apart;      ///< flows are kept separate; otherwise those that share a place are added up

  /// Makes the counters of each core, for the flows that each sees or, if shared, for all. Null: the same as the
  /// previous way, plus the cost of merging its tables.
  std::vector<std::unique_ptr<Candidate>> (*make)(std::span<const std::size_t> flows_of_core, std::size_t flows,
                                                  std::uint64_t seed);
  std::size_t (*memory_bytes)(std::size_t flows) noexcept;  ///< memory of one of its tables
};

/// Lists all ways; the others are compared with the first.
std::span<const CountingWay> counting_ways() noexcept;

/// Parameters of `parshall bench contention`; every combination is measured.
struct ContentionSweep {
  std::vector<std::size_t> flows;  ///< distinct flows, each number at most kMaxFlows
  std::vector<double> zipf{0};     ///< exponents; 0 is uniform
  std::vector<Sharing> sharing{Sharing::same};
  std::vector<std::size_t> cores{1, 2};

  int rounds = 15;
  std::uint64_t seed = 1;
  std::size_t trace_packets = std::size_t{1} << 22;
  std::size_t epoch_packets = 2'000'000;  ///< packets of all cores after which separate tables are merged

  static constexpr std::size_t kMaxFlows = std::size_t{1} << 26;
  static constexpr std::size_t kBatch = 32;  ///< in packets
};

/// Common parameters of the rows of one comparison.
struct ContentionCase {
  std::string traffic;
  std::size_t flows = 0;
  double zipf = 0;
  Sharing sharing = Sharing::same;
  std::size_t cores = 1;
};

/// One way on one case. Costs are those of one core while the others do the same.
struct ContentionRow {
  const CountingWay* way;
  ContentionCase of;
  Cost cost;                       ///< per packet, including making the key and its hash
  std::optional<double> merge_ns;  ///< per packet; part of the cost
  BatchFigures batches;            ///< batches of the measured core; no rounds if not applicable
  double lost_share = 0;           ///< share of the packets of all cores during measurement
  double together = 1;             ///< median share of a sample's time in which all cores ran
  std::size_t memory_bytes = 0;    ///< memory of all cores
};

/// Measures, and passes on the rows of each case when it is done. Concurrent counts are checked against the truth
/// before a clock starts, and their sum at the end. Error: a way counts wrongly, or a case needs more memory, cores or
/// flows than there are. Samples count as disturbed if another core did not run. `stop` is called before each round;
/// the case that it ends is not passed on. Returns the number of cases.
Result<std::size_t> measure_contention(const ContentionSweep& sweep,
                                       const std::function<void(std::span<const ContentionRow>)>& done,
                                       const std::function<bool()>& stop);

/// Returns the number of cases.
std::size_t cases(const ContentionSweep& sweep) noexcept;

}  // namespace parshall::lab
