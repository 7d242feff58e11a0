// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "monitor/profile/keys.hpp"
#include "pipeline/flow/bucketed_table.hpp"

namespace parshall::lab {

/// Where the entries of flows are when they are looked for.
enum class Entries : std::uint8_t {
  as_they_are,
  flushed,  ///< in memory, whatever caches would have kept
};

/// Measured times, without those that an interrupt met.
struct Times {
  std::vector<double> ns;
  std::size_t dropped = 0;
};

/// Drops what is more than 20 interquartile ranges above the median; a range counts as a quarter of the median at
/// least, since the counter's ticks can make it 0.
Times without_interrupts(std::vector<double> ns);

/// The default table with flows of its own, to time lookups and insertions in.
///
/// Error: one lookup at a time stands between fences, so that nothing of it overlaps with anything else; what the two
///        time stamps themselves take is the median of such pairs around nothing, and subtracted. Rounded to ticks of
///        the time stamp counter, and one tick at least.
class LookupProbe {
 public:
  static constexpr std::size_t kBatchedLookups = 2048;  ///< under one pair of time stamps

  /// For so many flows in all, in a table of at least that size. Throws std::bad_alloc.
  LookupProbe(std::size_t flows, std::uint64_t seed);

  /// Lines of a table for so many flows; what such a table takes, and what lookups of all of them touch.
  static std::size_t lines(std::size_t flows) noexcept { return ExactTable::lines_for(flows); }
  static std::size_t memory_bytes(std::size_t flows) noexcept;
  static std::size_t touched_bytes(std::size_t flows) noexcept;

  /// Inserts flows until there are so many; false where `stop` said so before.
  bool fill(std::size_t flows, const std::function<bool()>& stop);

  /// Looks every flow up once.
  void warm();

  using Ticks = std::vector<std::uint64_t>;  ///< of the time stamp counter

  /// Times so many, one at a time, of flows taken at random; adds to `ticks`.
  void time_lookups(std::size_t count, Entries entries, Ticks& ticks) { time_each(Of::known, entries, count, ticks); }
  void time_insertions(std::size_t count, Ticks& ticks) { time_each(Of::fresh, Entries::as_they_are, count, ticks); }
  /// The same in batches that ask for each flow's line before they need it, as the monitor does.
  void time_batched_lookups(std::size_t batches, Ticks& ticks) { time_batches(Of::known, batches, ticks); }
  void time_batched_insertions(std::size_t batches, Ticks& ticks) { time_batches(Of::fresh, batches, ticks); }

  /// Of lookups timed one at a time, and, in the mean of each, of batches.
  Times one_at_a_time(const Ticks& ticks) const;
  static Times per_lookup(const Ticks& ticks);

  std::size_t flows() const noexcept { return flows_; }

  /// Whether every flow was found where one was looked up, and none where one was inserted.
  bool right() const noexcept { return wrong_ == 0 && ended_.count == 0 && table_.size() == flows_; }

 private:
  struct Ended final : FlowSink {
    std::size_t count = 0;
    void flow_ended(FlowRecord&, std::uint32_t, std::size_t) noexcept override { ++count; }
  };
  enum class Of : std::uint8_t { known, fresh };  ///< flows

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
