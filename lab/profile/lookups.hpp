// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "pipeline/flow/bucketed_table.hpp"
#include "traffic/keys.hpp"

namespace parshall::lab {

/// Location of the flows' entries when they are looked up.
enum class Entries : std::uint8_t {
  as_they_are,
  flushed,  ///< in memory, flushed from all caches
};

/// Measured times, without those disturbed by an interrupt.
struct Times {
  std::vector<double> ns;
  std::size_t dropped = 0;
};

/// Drops times more than 20 interquartile ranges above the median. A range counts as at least a quarter of the median,
/// since the counter's ticks can make it 0.
Times without_interrupts(std::vector<double> ns);

/// A default table with flows, to time lookups and insertions in.
///
/// Error:  a single lookup is timed between fences, so that it overlaps with nothing else. The median time of empty
///         pairs of time stamps is subtracted. Results are rounded to ticks of the time stamp counter, and are at least
///         one tick.
class LookupProbe {
 public:
  static constexpr std::size_t kBatchedLookups = 2048;  ///< lookups under one pair of time stamps

  /// Makes a table for at least this many flows in all. Throws std::bad_alloc.
  LookupProbe(std::size_t flows, std::uint64_t seed);

  /// Returns the lines of a table for this many flows; memory_bytes() returns its size, and touched_bytes() what
  /// lookups of all of them touch.
  static std::size_t lines(std::size_t flows) noexcept { return ExactTable::lines_for(flows); }
  static std::size_t memory_bytes(std::size_t flows) noexcept;
  static std::size_t touched_bytes(std::size_t flows) noexcept;

  /// Inserts flows up to this number; returns false if `stop` returned true before.
  bool fill(std::size_t flows, const std::function<bool()>& stop);

  /// Looks every flow up once.
  void warm();

  using Ticks = std::vector<std::uint64_t>;  ///< ticks of the time stamp counter

  /// Times `count` lookups of random flows one at a time; appends to `ticks`.
  void time_lookups(std::size_t count, Entries entries, Ticks& ticks) { time_each(Of::known, entries, count, ticks); }
  void time_insertions(std::size_t count, Ticks& ticks) { time_each(Of::fresh, Entries::as_they_are, count, ticks); }
  /// Times lookups in batches that prefetch each flow's line, as the monitor does.
  void time_batched_lookups(std::size_t batches, Ticks& ticks) { time_batches(Of::known, batches, ticks); }
  void time_batched_insertions(std::size_t batches, Ticks& ticks) { time_batches(Of::fresh, batches, ticks); }

  /// Returns times of single lookups; per_lookup() returns the mean time per lookup in each batch.
  Times one_at_a_time(const Ticks& ticks) const;
  static Times per_lookup(const Ticks& ticks);

  std::size_t flows() const noexcept { return flows_; }

  /// Returns true if all known flows were found and no inserted flow was.
  bool right() const noexcept { return wrong_ == 0 && ended_.count == 0 && table_.size() == flows_; }

 private:
  struct Ended final : FlowSink {
    std::size_t count = 0;
    void flow_ended(FlowRecord&, std::uint32_t, std::size_t) noexcept override { ++count; }
  };
  enum class Of : std::uint8_t { known, fresh };  ///< kind of flows

  void ask(std::size_t at, std::uint32_t flow) noexcept;
  void choose(std::size_t count, Of of) noexcept;
  void place(Entries entries) const noexcept;
  void time_each(Of of, Entries entries, std::size_t count, Ticks& ticks);
  void time_batches(Of of, std::size_t batches, Ticks& ticks);
  void update_batch() noexcept;
  void check(Of of) noexcept;

  Ended ended_;
  ExactTable table_;
  LabHasher hasher_;
  SplitMix64 random_;
  std::size_t flows_ = 0, wrong_ = 0;
  std::uint64_t time_ns_ = 1;
  std::vector<PacketFacts> asked_;
  std::vector<SlotRef> slots_;
  Ticks around_nothing_;
};

}  // namespace parshall::lab
