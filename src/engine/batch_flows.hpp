// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Remembers the flow of each packet in a batch, for use once all of them are counted and measured.
///
/// Shape:  48 bytes for each packet of the largest batch.
class BatchFlows {
 public:
  explicit BatchFlows(std::size_t most_packets) : flows_(most_packets) {}

  void clear() noexcept { accepted_ = counted_ = 0; }

  /// Notes the next packet of the batch that goes into flight, by its index in the batch.
  void note_accepted(std::size_t packet) noexcept { flows_[accepted_++].packet = static_cast<std::uint16_t>(packet); }

  /// Notes the flow of the next packet counted; packets are counted in the order in which they were accepted.
  void note_counted(std::uint32_t slot, const FlowKey& key) noexcept {
    Flow& flow = flows_[counted_++];
    flow.slot = slot;
    flow.key = key;
  }
  void note_kept_out() noexcept { flows_[counted_++].slot = kNone; }

  void note_moved(std::uint32_t from, std::uint32_t to, const FlowKey& key) noexcept {
    for (std::size_t i = 0; i < counted_; ++i)
      if (flows_[i].slot == from && flows_[i].key == key) flows_[i].slot = to;
  }

  /// Calls visit(packet, slot, key) for each packet that came to a flow. The slot may hold another flow by now.
  template <class Visit>
  void visit(Visit visit) const noexcept {
    for (std::size_t i = 0; i < counted_; ++i)
      if (flows_[i].slot != kNone) visit(flows_[i].packet, flows_[i].slot, flows_[i].key);
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Flow {
    FlowKey key;
    std::uint32_t slot;
    std::uint16_t packet;
  };

  std::vector<Flow> flows_;
  std::size_t accepted_ = 0, counted_ = 0;
};

}  // namespace parshall
