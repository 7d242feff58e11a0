// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "pipeline/flow/record.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Position of a flow's current record within the flow: when the flow began, and how many earlier records an active
/// timeout ended, with their counts. It has no columns itself; the schema's columns use it. It is kept in the row, so
/// it lives as long as the row.
///
/// Shape:  48 bytes; all zero for a flow that existed before, about which nothing is known.
/// Cost:   only packets that begin a flow or end a record.
/// Merge:  takes the earlier beginning, with the record number of the worker that saw it. Counts of ended records add
///         up.
class FlowOrigin final : public Statistic {
 public:
  struct State {
    std::uint64_t began_ns = 0;        ///< time of the packet that began the flow, the first to arrive; never changes
    std::uint64_t first_ns = 0;        ///< smallest time of that packet and of the records that ended
    std::uint64_t record_and_one = 0;  ///< 0: unknown
    std::uint64_t packets = 0, ip_bytes = 0, wire_bytes = 0;  ///< sums over the records that ended

    bool is_known() const noexcept { return record_and_one != 0; }
    std::uint64_t record() const noexcept { return record_and_one - 1; }
  };

  static State state_of(const std::byte* row) noexcept {
    State state;
    std::memcpy(&state, row, sizeof state);
    return state;
  }

  /// Begins a flow with a packet at that time.
  static void begin_at(std::byte* row, std::uint64_t time_ns) noexcept {
    store(row, {.began_ns = time_ns, .first_ns = time_ns, .record_and_one = 1});
  }

  /// Continues the flow in another record, after `ended`.
  static void go_on(std::byte* row, const FlowRecord& ended) noexcept {
    State state = state_of(row);
    if (!state.is_known()) return;
    if (ended.first_ns < state.first_ns) state.first_ns = ended.first_ns;
    ++state.record_and_one;
    state.packets += ended.packets;
    state.ip_bytes += ended.ip_bytes;
    state.wire_bytes += ended.wire_bytes;
    store(row, state);
  }

  Variable variable() const noexcept override { return Variable::ip_size; }
  bool takes_samples() const noexcept override { return false; }
  std::size_t row_bytes() const noexcept override { return sizeof(State); }
  std::optional<std::uint32_t> first_packets() const noexcept override { return 1; }
  std::span<const Column> columns() const noexcept override { return {}; }
  void update(const SampleBatch&) const noexcept override {}
  void read(const std::byte*, std::span<std::optional<double>>) const noexcept override {}
  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override {
    const State a = state_of(into), b = state_of(from);
    if (!b.is_known()) return;
    State merged = a.is_known() && a.began_ns <= b.began_ns ? a : b;
    if (a.is_known()) merged.first_ns = std::min(a.first_ns, b.first_ns);
    merged.packets = a.packets + b.packets;
    merged.ip_bytes = a.ip_bytes + b.ip_bytes;
    merged.wire_bytes = a.wire_bytes + b.wire_bytes;
    store(into, merged);
  }

 private:
  static void store(std::byte* row, const State& state) noexcept { std::memcpy(row, &state, sizeof state); }
};

}  // namespace parshall
