// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/output/records/base_columns.hpp"

namespace parshall {

/// Keeps the counts of live flows at the previous report and at this one, for rates over the time between.
///
/// Shape:  two dense arrays of 64 bytes for each flow, with an index of two 32-bit entries for each.
/// Memory: memory_bytes(), touched as flows come.
/// Full:   keeps the number of flows given at construction; later ones have no base at the next report.
class IntervalBases {
 public:
  static std::uint64_t memory_bytes(std::uint64_t flows) noexcept {
    return 2 * (flows * sizeof(Entry) + index_for(flows) * sizeof(std::uint32_t));
  }

  /// Returns how many flows a report may have, for tables with this capacity and this many slots. A table never holds
  /// more than its capacity. But while it is copied, flows end and others begin in slots copied later. Hashing decides
  /// which, so of 2^20 flows at most some thousand more are reported.
  static std::uint64_t most_flows(std::uint64_t flows, std::uint64_t slots) noexcept {
    constexpr std::uint64_t kChance = 16, kFew = 4096;
    return std::min(slots, flows + flows / kChance + kFew);
  }

  /// `flows`: most of one report. Throws std::bad_alloc.
  IntervalBases(std::uint64_t flows, std::uint64_t seed)
      : hash_(KeyFields::five_tuple, Identity::exact, seed), before_(flows), now_(flows) {}

  /// Returns the counts at the previous report; empty if the flow was not in it, or has ended and begun again since.
  IntervalBase find(const FlowRecord& record) const noexcept {
    const Entry* const entry = before_.find(hash_.hash(record.key), record.key);
    if (entry == nullptr || record.first_ns > entry->first_ns) return {};
    return {entry->packets, entry->wire_bytes, entry->first_ns, 0};
  }

  /// Begins a report with this many live flows; put() is called once for each.
  void begin_report(std::uint64_t flows) noexcept { now_.clear(flows); }
  void put(const FlowRecord& record) noexcept {
    now_.put(hash_.hash(record.key), {record.key, record.packets, record.wire_bytes, record.first_ns});
  }
  void end_report() noexcept { std::swap(before_, now_); }

 private:
  struct Entry {
    FlowKey key;
    std::uint64_t packets, wire_bytes, first_ns;
  };
  static_assert(sizeof(Entry) == 64);

  static std::uint64_t index_for(std::uint64_t flows) noexcept { return std::max<std::uint64_t>(2, 2 * flows); }

  /// Uses only as much of the index as a report's flows need.
  class Table {
   public:
    explicit Table(std::uint64_t flows)
        : entries_(std::min<std::uint64_t>(flows, std::numeric_limits<std::uint32_t>::max()), /*huge_pages=*/false),
          index_(index_for(entries_.size()), /*huge_pages=*/false) {}

    void clear(std::uint64_t flows) noexcept {
      places_ = index_for(std::min<std::uint64_t>(flows, entries_.size()));
      std::memset(index_.data(), 0, places_ * sizeof(std::uint32_t));
      size_ = 0;
      most_ = std::min<std::uint64_t>(flows, entries_.size());
    }

    const Entry* find(std::uint64_t hash, const FlowKey& key) const noexcept {
      if (size_ == 0) return nullptr;
      for (std::uint64_t at = home(hash); index_[at] != 0; at = after(at))
        if (const Entry& entry = entries_[index_[at] - 1]; entry.key == key) return &entry;
      return nullptr;
    }

    void put(std::uint64_t hash, const Entry& entry) noexcept {
      if (size_ == most_) return;
      std::uint64_t at = home(hash);
      while (index_[at] != 0) at = after(at);
      entries_[size_] = entry;
      index_[at] = static_cast<std::uint32_t>(++size_);
    }

   private:
    std::uint64_t home(std::uint64_t hash) const noexcept {
      return static_cast<std::uint64_t>((static_cast<unsigned __int128>(hash) * places_) >> 64);
    }
    std::uint64_t after(std::uint64_t at) const noexcept { return at + 1 == places_ ? 0 : at + 1; }

    HugeBuffer<Entry> entries_;
    HugeBuffer<std::uint32_t> index_;  ///< index + 1; 0: empty
    std::uint64_t places_ = 2, size_ = 0, most_ = 0;
  };

  FlowIdentity hash_;
  Table before_, now_;
};

}  // namespace parshall
