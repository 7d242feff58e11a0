// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "lab/harness.hpp"
#include "lab/tables.hpp"

namespace parshall::lab {

/// What `parshall bench tables` varies: every combination is measured.
struct TableSweep {
  std::vector<const TableUnderTest*> tables;
  std::vector<std::size_t> flows;        ///< distinct, each at most kMaxFlows
  std::vector<double> zipf;              ///< exponents; 0 is uniform
  std::vector<std::size_t> value_bytes;  ///< of value_sizes()
  int rounds = 15;
  std::uint64_t seed = 1;
  std::size_t trace_packets = std::size_t{1} << 22;

  static constexpr std::size_t kMaxFlows = std::size_t{1} << 26;
};

/// One structure on one combination.
struct TableRow {
  const TableUnderTest* table;
  std::size_t flows;
  double zipf;
  std::size_t value_bytes;  ///< 0: what the table keeps
  Cost cost;                ///< per update, making the key and its hash included
  double ratio;             ///< to the first table of the combination
  std::size_t memory_bytes, size, places;
  double rejected_share;  ///< of the packets
  double mean_probes;     ///< over the packets
};

/// Measures, and hands over the rows of each combination as it is done. Answers are checked before a clock starts: a
/// structure that counts wrongly is an error, and so is a combination that may need more memory than there is. `stop`
/// is asked before each round; the combination that it ends is not handed over. Returns how many were.
Result<std::size_t> measure_tables(const TableSweep& sweep, const std::function<void(std::span<const TableRow>)>& done,
                                   const std::function<bool()>& stop);

}  // namespace parshall::lab
