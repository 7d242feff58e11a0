// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <absl/container/flat_hash_map.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/key_hash.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/output/column.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// Columns of a record of both directions: of what came back. Source: RFC 5103.
inline constexpr std::size_t kReverseColumns = 5;
std::span<const ColumnInfo, kReverseColumns> reverse_columns();

/// Holds the records of one direction until the other's comes, and makes them one: of the direction whose first packet
/// came first, with what came back. Its FlowRecord counts both, its values as their columns say.
///
/// Two records are of one connection where their keys are each other's reverse and their times are no further apart
/// than `reach`. As many as there are slots are held; who has to make room leaves as it came, the oldest first.
/// Memory: memory_bytes(), touched as records come.
class BiflowHold {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kSlots = 131'072;

  /// `columns`: a schema's, the last of which are reverse_columns().
  BiflowHold(std::span<const ColumnInfo> columns, std::uint64_t reach_ns, std::size_t slots = kSlots);

  enum class Taken : std::uint8_t {
    held,
    merged,  ///< the record and its values are now of both
    other,   ///< they are now those of one that leaves for want of room, or since its flow goes on; or have no reverse
  };
  Taken take(FlowRecord& record, std::span<Value> values, Clock::time_point now);

  /// Takes out the oldest that came before `until`. Whether there was one.
  bool release(Clock::time_point until, FlowRecord& record, std::span<Value> values);

  OutputSummary::Sum held() const noexcept { return held_; }
  bool holds(const FlowRecord& record) const noexcept;
  void clear() noexcept;

  static std::uint64_t memory_bytes(std::size_t columns, std::size_t slots = kSlots) noexcept;

 private:
  struct Slot {
    FlowRecord record;
    Clock::time_point since;
    bool is_taken;
  };

  void exchange(std::size_t slot, FlowRecord& record, std::span<Value> values, Clock::time_point now);
  void merge(const FlowRecord& held, std::span<const Value> held_values, FlowRecord& record,
             std::span<Value> values) const;
  bool is_near(const FlowRecord& a, const FlowRecord& b) const noexcept;
  std::span<Value> values_of(std::size_t slot) noexcept { return {values_.data() + slot * columns_, columns_}; }
  std::optional<std::size_t> place(std::string_view name, std::span<const ColumnInfo> columns) const;

  std::size_t columns_;
  std::uint64_t reach_ns_;
  std::optional<std::size_t> duration_, exact_, missed_;  ///< places of columns that are of both directions' times
  HugeBuffer<Slot> slots_;                                ///< a ring
  HugeBuffer<Value> values_;
  std::uint64_t oldest_ = 0, next_ = 0;  ///< of all that were ever held
  absl::flat_hash_map<FlowKey, std::uint64_t, KeyHash> by_key_;
  OutputSummary::Sum held_;
};

}  // namespace parshall
