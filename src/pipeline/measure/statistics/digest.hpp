// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Sums over a flow's packets, by which two taps find what was lost between them, and how long packets took: the number
/// of packets, the sum of their names (PacketNames), and the sum of their times. The clocks of the taps may differ.
/// Sums are modulo 2^64, and go on over all records of the flow.
///
/// Each record also has these sums at one of its packets, the *cut*: the one with the smallest name, counted with it.
/// Two taps cut at the same packet, unless it is at the edge of a record. Between two common cuts, the difference of
/// the numbers of packets is what was lost. Where the sums of names agree too, both taps saw the same packets, and the
/// difference of the sums of times by their number is their mean delay.
///
/// It has no columns itself; the schema's columns use it.
///
/// Shape: 64 bytes; a cache line of its own if there is no other statistic.
/// Error: different packets have the same sum of names with probability 2^-64.
/// Merge: sums add up. A cut is only one within the packets of one worker, so none is left.
class Digest final : public Statistic {
 public:
  struct State {
    std::uint64_t packets = 0, names = 0, times_ns = 0;
    std::uint64_t cut_name = 0, cut_time_ns = 0;
    std::uint64_t cut_packets = 0, cut_names = 0, cut_times_ns = 0;  ///< sums at the cut; 0 packets: no cut yet
  };
  static_assert(sizeof(State) == 64);

  static State state_of(const std::byte* row) noexcept {
    State state;
    std::memcpy(&state, row, sizeof state);
    return state;
  }

  Variable variable() const noexcept override { return Variable::packet_name; }
  std::size_t row_bytes() const noexcept override { return sizeof(State); }
  std::span<const Column> columns() const noexcept override { return {}; }

  void update(const SampleBatch& batch) const noexcept override {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      State& state = *reinterpret_cast<State*>(batch.state(i));
      const std::uint64_t name = batch.samples[i], time_ns = batch.times_ns[i];
      ++state.packets;
      state.names += name;
      state.times_ns += time_ns;
      if (name < state.cut_name || state.cut_packets == 0) [[unlikely]] {
        state.cut_name = name;
        state.cut_time_ns = time_ns;
        state.cut_packets = state.packets;
        state.cut_names = state.names;
        state.cut_times_ns = state.times_ns;
      }
    }
  }

  /// Keeps the sums.
  void begin_record(std::byte* state) const noexcept override {
    const State before = state_of(state);
    const State now{.packets = before.packets, .names = before.names, .times_ns = before.times_ns};
    std::memcpy(state, &now, sizeof now);
  }

  void read(const std::byte*, std::span<std::optional<double>>) const noexcept override {}
  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override {
    const State a = state_of(into), b = state_of(from);
    if (b.packets == 0) return;
    if (a.packets == 0) {
      std::memcpy(into, &b, sizeof b);
      return;
    }
    const State sum{.packets = a.packets + b.packets, .names = a.names + b.names, .times_ns = a.times_ns + b.times_ns};
    std::memcpy(into, &sum, sizeof sum);
  }
};

}  // namespace parshall
