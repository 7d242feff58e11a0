// SPDX-License-Identifier: Apache-2.0
#include "lab/profile/decode_alone.hpp"

#include <cstdint>
#include <span>

#include "engine/table_stage.hpp"
#include "pipeline/flow/table.hpp"

namespace parshall::lab {
namespace {

/// A table that stores nothing, so that a monitor with it only decodes and hashes.
class DecodeAlone {
 public:
  static constexpr bool kMoves = false;
  static constexpr std::size_t slots_for(std::size_t /*flows*/) noexcept { return 0; }
  DecodeAlone(std::size_t, Timeouts, FlowSink&, const TableMemory&) {}

  auto prefetcher() const noexcept {
    return [](std::uint64_t) noexcept {};
  }
  template <class Meanwhile>
  void update(std::span<const PacketFacts> packets, std::span<SlotRef>, Meanwhile meanwhile) noexcept {
    for (std::size_t i = 0; i < packets.size(); ++i) {
      meanwhile(i);
      sum_ += packets[i].hash;
    }
  }
  bool occupied(std::uint32_t) const noexcept { return false; }
  FlowKey key(std::uint32_t) const noexcept { return {}; }
  FlowRecord record(std::uint32_t) const noexcept { return {}; }
  std::uint32_t slots() const noexcept { return 0; }
  std::size_t size() const noexcept { return 0; }
  std::size_t buckets() const noexcept { return 0; }
  void sweep(std::uint64_t, std::uint32_t) noexcept {}
  bool ends_quiet() const noexcept { return false; }
  void settle() noexcept {}
  void filter_by(FloodFilter*) noexcept {}
  void first_packets(std::uint32_t) noexcept {}
  std::uint64_t begun() const noexcept { return 0; }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace

std::unique_ptr<FlowStage> make_decode_alone(const FlowStageOptions& options) {
  return std::make_unique<TableStage<DecodeAlone>>(options);
}

}  // namespace parshall::lab
