// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/receive/shape.hpp"

namespace parshall::lab {

/// Parameters of `parshall bench receive`. Queues and pools are compared in rows; every combination of the others is a
/// comparison.
struct ReceiveSweep {
  std::vector<std::size_t> queues{1, 2, 4, 8};
  std::vector<Pools> pools{Pools::shared, Pools::own};
  std::vector<std::size_t> cache{0, 32, 256, 512};
  std::vector<std::size_t> burst{32, 256};
  std::vector<std::size_t> cores{1};
  std::vector<std::size_t> arrivals{256};
  std::size_t buffers = 16384;  ///< buffers per core
  int rounds = 15;
  std::uint64_t seed = 1;
};

/// One receive side. Cycles are those of calls timed alone: see ReceiveCycles. Costs are those of one core while the
/// others do the same.
struct ReceiveRow {
  ReceiveShape of;
  Cost cost;                  ///< per packet, all work of its core, including putting packets on queues
  double polling_cycles = 0;  ///< per packet, taking it from a queue, including empty polls; median of the samples
  double pool_cycles = 0;     ///< per packet, getting its buffer and returning it; median of the samples
  double polls = 0;           ///< per packet
  double empty_polls = 0;     ///< per packet
  double together = 1;        ///< median share of a sample's time in which all cores ran
};

/// Returns which parameters are impossible, by their command-line option; nullopt if none is.
std::optional<Error> wrong_receiving(const ReceiveSweep& sweep);

/// Measures, and passes on the rows of each comparison when it is done. Before a clock starts, all cores receive at
/// once and every packet is tracked. Error: a packet is lost, duplicated or invented, or a buffer is not in its pool at
/// the end; both are checked again after the last round. Also if there is not enough memory, or no DPDK in this build.
/// Samples count as disturbed if another core did not run. `stop` is called before each round; the comparison that it
/// ends is not passed on. Returns the number of comparisons.
Result<std::size_t> measure_receiving(const ReceiveSweep& sweep,
                                      const std::function<void(std::span<const ReceiveRow>)>& done,
                                      const std::function<bool()>& stop);

/// Returns the number of comparisons.
std::size_t combinations(const ReceiveSweep& sweep) noexcept;

}  // namespace parshall::lab
