// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/flow_stage.hpp"
#include "engine/lane.hpp"
#include "pipeline/decode/dscp.hpp"

namespace parshall {

/// DSCP code points by class, then that of unknown flows. If unset, packets keep their own; so do packets of flows that
/// have no class yet.
using MarkingPlan = std::vector<std::optional<Dscp>>;

/// Counts of packets in one direction of a wire.
struct MarkingCounts {
  std::uint64_t offered = 0;  ///< offered to the outgoing device
  ForwardCounts forwarded;
  std::vector<std::uint64_t> marked;  ///< part of the offered, by class as in the plan

  void add(const MarkingCounts& other);
};

/// Forwards what a worker polled, marked by class, once the worker has counted it.
///
/// Source: Santiago del Rio et al., Wire-speed statistical classification of network traffic on commodity hardware,
///         IMC 2012, section 7; DSCP for QoS by RFC 2474.
class Marker {
 public:
  /// Handles at most `batch` packets at a time.
  Marker(MarkingPlan plan, std::size_t batch);

  /// Counts, measures and sends the packets of the lane's last poll.
  void pass_on(Lane& lane, FlowStage& stage, std::span<const RawPacket> packets) noexcept;

  /// Any thread.
  MarkingCounts counts() const;

 private:
  void mark(Forwarder& forwarder, std::span<const RawPacket> packets) noexcept;

  MarkingPlan plan_;
  std::vector<ClassId> classes_;  ///< classes of the current packets
  std::atomic<std::uint64_t> sent_{0}, too_long_{0}, refused_{0};
  std::unique_ptr<std::atomic<std::uint64_t>[]> marked_;
};

}  // namespace parshall
