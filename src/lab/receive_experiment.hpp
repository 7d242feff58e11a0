// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/figures/harness.hpp"
#include "base/result.hpp"
#include "lab/receive_shape.hpp"

namespace parshall::lab {

/// What `parshall bench receive` varies. Queues and pools are compared in rows; every combination of the others is a
/// comparison.
struct ReceiveSweep {
  std::vector<std::size_t> queues{1, 2, 4, 8};
  std::vector<Pools> pools{Pools::shared, Pools::own};
  std::vector<std::size_t> cache{0, 32, 256, 512};
  std::vector<std::size_t> burst{32, 256};
  std::vector<std::size_t> cores{1};
  std::vector<std::size_t> arrivals{256};
  std::size_t buffers = 16384;  ///< of a core
  int rounds = 15;
  std::uint64_t seed = 1;
};

/// One receive side. Cycles are of calls that are timed alone: see ReceiveCycles. Costs are a core's, while the others
/// do the same.
struct ReceiveRow {
  ReceiveShape of;
  Cost cost;                  ///< per packet, of all that its core does, putting packets on queues included
  double polling_cycles = 0;  ///< per packet, of taking it from a queue, empty polls included; median of the samples
  double pool_cycles = 0;     ///< per packet, of getting its buffer and putting it back; likewise
  double polls = 0;           ///< per packet
  double empty_polls = 0;     ///< per packet
  double together = 1;        ///< median share of a sample in which all cores ran, at least
};

/// What no receive side can be, or nothing: the error names the option of the command line.
std::optional<Error> wrong_receiving(const ReceiveSweep& sweep);

/// Measures, and hands over the rows of each comparison as it is done. Before a clock starts all cores receive at once,
/// and every packet is followed: one that is lost, that comes twice or that never was is an error, and so is a buffer
/// that is not in its pool in the end; both are looked at again after the last round. An error too: more memory than
/// there is, and a build without DPDK. Samples during which another core did not run count as disturbed. `stop` is
/// asked before each round; the comparison that it ends is not handed over. Returns how many were.
Result<std::size_t> measure_receiving(const ReceiveSweep& sweep,
                                      const std::function<void(std::span<const ReceiveRow>)>& done,
                                      const std::function<bool()>& stop);

/// How many comparisons there are.
std::size_t combinations(const ReceiveSweep& sweep) noexcept;

}  // namespace parshall::lab
