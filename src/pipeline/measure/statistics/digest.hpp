// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Sums over a flow's packets, by which two taps find what was lost between them, and how long packets took: the number
/// of packets and of repeats among them (RecentNames), the sum of their names (PacketNames), and the sum of their
/// times. The clocks of the taps may differ. Sums are modulo 2^64, and go on over all records of the flow.
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
  /// Number of packets in the lowest 40 bits, and of repeats, modulo 2^24, in the others.
  class Counts {
   public:
    static constexpr unsigned kPacketBits = 40;

    std::uint64_t packets() const noexcept { return bits_ & ((std::uint64_t{1} << kPacketBits) - 1); }
    std::uint64_t repeats() const noexcept { return bits_ >> kPacketBits; }
    void add(bool is_repeat) noexcept { bits_ += 1 | std::uint64_t{is_repeat} << kPacketBits; }
    Counts& operator+=(Counts other) noexcept {
      bits_ += other.bits_;
      return *this;
    }

   private:
    std::uint64_t bits_ = 0;
  };

  /// The order keeps gcc from adding two sums at once, which would load what was just stored in other pieces.
  struct State {
    Counts counts, cut_counts;  ///< so far, and at the cut; no packets: no cut yet
    std::uint64_t names = 0, cut_names = 0;
    std::uint64_t times_ns = 0, cut_times_ns = 0;
    std::uint64_t cut_name = 0, cut_time_ns = 0;

    bool has_cut() const noexcept { return cut_counts.packets() != 0; }
  };
  static_assert(sizeof(State) == 64);

  static State state_of(const std::byte* row) noexcept {
    State state;
    std::memcpy(&state, row, sizeof state);
    return state;
  }

  /// Adds a packet to the state at that place.
  static void add(std::byte* at, std::uint64_t name, std::uint64_t time_ns, bool is_repeat) noexcept {
    State& state = *reinterpret_cast<State*>(at);
    state.counts.add(is_repeat);
    state.names += name;
    state.times_ns += time_ns;
    if (name < state.cut_name || !state.has_cut()) [[unlikely]] {
      state.cut_name = name;
      state.cut_time_ns = time_ns;
      state.cut_counts = state.counts;
      state.cut_names = state.names;
      state.cut_times_ns = state.times_ns;
    }
  }

  Variable variable() const noexcept override { return Variable::ip_size; }
  bool takes_samples() const noexcept override { return false; }
  std::size_t row_bytes() const noexcept override { return sizeof(State); }
  std::span<const Column> columns() const noexcept override { return {}; }
  void update(const SampleBatch&) const noexcept override {}

  /// Keeps the sums.
  void begin_record(std::byte* state) const noexcept override {
    const State before = state_of(state);
    const State now{.counts = before.counts, .names = before.names, .times_ns = before.times_ns};
    std::memcpy(state, &now, sizeof now);
  }

  void read(const std::byte*, std::span<std::optional<double>>) const noexcept override {}
  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override {
    const State a = state_of(into), b = state_of(from);
    if (b.counts.packets() == 0) return;
    if (a.counts.packets() == 0) {
      std::memcpy(into, &b, sizeof b);
      return;
    }
    State sum{.counts = a.counts, .names = a.names + b.names, .times_ns = a.times_ns + b.times_ns};
    sum.counts += b.counts;
    std::memcpy(into, &sum, sizeof sum);
  }
};

}  // namespace parshall
