// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "lab/candidate.hpp"
#include "lab/keys.hpp"
#include "lab/rolling.hpp"
#include "pipeline/flow/table.hpp"

namespace parshall::lab {

/// A flow table of the monitor, with all that it keeps for a flow: packets, bytes, flags and times.
template <FlowTable Table>
class TableCandidate final : public Candidate, private FlowSink {
 public:
  TableCandidate(std::size_t entries, std::uint64_t seed) : hasher_{KeyedHash(seed)}, table_(entries, {}, *this) {}

  void run(std::span<const std::uint32_t> flows) noexcept override {
    const LabHasher hasher = hasher_;
    const auto prefetch = table_.prefetcher();
    InFlight<PacketFacts> asked;
    std::array<SlotRef, kGroup> slots;
    roll(
        flows.size(),
        [&](std::size_t first, std::size_t count) {
          for (std::size_t i = first; i < first + count; ++i) {
            facts_of(flows[i], hasher, asked[i]);
            prefetch(asked[i].hash);
          }
        },
        [](std::size_t, std::size_t) {},
        [&](std::size_t first, std::size_t count) {
          table_.update({&asked[first], count}, slots, Nothing{});
        });
  }

  /// Looks through the flows as a report does: the table's own lookup is for packets, which it counts.
  void counts(std::span<std::uint64_t> by_flow) const noexcept override {
    std::ranges::fill(by_flow, 0);
    for (std::uint32_t slot = 0; slot < table_.slots(); ++slot) {
      if (!table_.occupied(slot)) continue;
      const FlowRecord record = table_.record(slot);
      LabKey key;
      std::memcpy(static_cast<void*>(&key), &record.key, sizeof key);
      if (const std::uint32_t flow = flow_of(key); flow < by_flow.size()) by_flow[flow] += record.packets;
    }
  }

  static std::size_t memory_bytes(std::size_t entries) noexcept { return Table::memory_bytes(entries); }
  std::size_t places() const noexcept override { return table_.slots(); }
  std::size_t size() const noexcept override { return table_.size(); }
  std::uint64_t rejected() const noexcept override { return ended_packets_; }

 private:
  static void facts_of(std::uint32_t flow, const LabHasher& hasher, PacketFacts& facts) noexcept {
    const LabKey key = key_of(flow);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(&facts.key), key.block());
    facts.hash = hasher(key);
    facts.time_ns = 0;
    facts.counts = CountWord::narrow(46, 14, 0);
  }
  void flow_ended(const FlowRecord& record, std::uint32_t, std::size_t) noexcept override {
    ended_packets_ += record.packets;
  }

  LabHasher hasher_;
  Table table_;
  std::uint64_t ended_packets_ = 0;
};

}  // namespace parshall::lab
