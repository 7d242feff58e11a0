// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/huge_buffer.hpp"
#include "pipeline/flow/identity.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"

namespace parshall {

/// Returns the significant bytes of a key, for maps.
inline std::string key_text(const FlowKey& key) {
  return {reinterpret_cast<const char*>(&key), key.significant_bytes()};
}

/// Adds up the records of one flow that several workers kept. The flows are not moved: only their positions are sorted,
/// by the hash of their keys. Keys are compared if hash bits are equal.
///
/// Memory: memory_bytes(), touched as flows come, and a row.
class FlowMerger {
 public:
  static std::uint64_t memory_bytes(std::uint64_t flows) noexcept { return flows * sizeof(std::uint64_t); }

  /// `flows`: upper bound. Throws std::bad_alloc.
  FlowMerger(std::uint64_t flows, std::uint64_t seed)
      : hash_(KeyFields::five_tuple, Identity::exact, seed), found_(flows, /*huge_pages=*/false) {}

  /// Visits each flow in the first `places` positions once. read(place, use) calls use(record, row) if there is a flow.
  /// Statistics that cannot be merged, or that one record lacks, are absent from the sum.
  template <class Read, class Visit>
  void merge(const StatisticSet& set, std::uint64_t places, Read read, Visit visit) {
    const auto place_bits = static_cast<unsigned>(std::bit_width(places));
    const std::uint64_t place_mask = (std::uint64_t{1} << place_bits) - 1;
    std::uint64_t count = 0;
    for (std::uint64_t place = 0; place < places && count < found_.size(); ++place)
      read(place, [&](const FlowRecord& record, std::span<const std::byte>) {
        found_[count++] = (hash_.hash(record.key) & ~place_mask) | place;
      });
    const std::span<std::uint64_t> found(found_.data(), count);
    std::ranges::sort(found);
    for (std::uint64_t first = 0; first < count;) {
      std::uint64_t end = first + 1;
      while (end < count && found[end] >> place_bits == found[first] >> place_bits) ++end;
      const auto same = found.subspan(first, end - first);
      for (std::uint64_t& one : same) one &= place_mask;
      if (same.size() == 1)
        read(same[0], visit);
      else
        merge_some(set, same, read, visit);
      first = end;
    }
  }

 private:
  /// Merges the positions whose hashes have the same bits, which mostly belong to the same flow.
  template <class Read, class Visit>
  void merge_some(const StatisticSet& set, std::span<std::uint64_t> places, Read& read, Visit& visit) {
    const auto key_of = [&](std::uint64_t place) {
      FlowKey key;
      read(place, [&](const FlowRecord& record, std::span<const std::byte>) { key = record.key; });
      return key;
    };
    std::ranges::sort(places, [&](std::uint64_t a, std::uint64_t b) {
      const auto order = compare(key_of(a), key_of(b));
      return order == 0 ? a < b : order < 0;
    });
    for (std::size_t i = 0; i < places.size();) {
      FlowRecord sum;
      read(places[i], [&](const FlowRecord& record, std::span<const std::byte> row) {
        sum = record;
        row_.assign(row.begin(), row.end());
      });
      for (++i; i < places.size() && key_of(places[i]) == sum.key; ++i)
        read(places[i], [&](const FlowRecord& record, std::span<const std::byte> row) { add(set, sum, record, row); });
      visit(sum, std::span<const std::byte>(row_));
    }
  }

  static std::strong_ordering compare(const FlowKey& a, const FlowKey& b) noexcept {
    if (a.ip_version != b.ip_version) return a.ip_version <=> b.ip_version;
    return std::memcmp(&a, &b, a.significant_bytes()) <=> 0;
  }

  void add(const StatisticSet& set, FlowRecord& into, const FlowRecord& record, std::span<const std::byte> row) {
    into.packets += record.packets;
    into.ip_bytes += record.ip_bytes;
    into.wire_bytes += record.wire_bytes;
    into.reverse_packets += record.reverse_packets;
    into.reverse_ip_bytes += record.reverse_ip_bytes;
    into.reverse_wire_bytes += record.reverse_wire_bytes;
    into.reverse_tcp_flags |= record.reverse_tcp_flags;
    into.knows_initiator |= record.knows_initiator;
    into.first_ns = std::min(into.first_ns, record.first_ns);
    into.last_ns = std::max(into.last_ns, record.last_ns);
    into.tcp_flags |= record.tcp_flags;
    if (row.empty() || row_.empty() || !set.mergeable())
      row_.clear();
    else
      set.merge(row_.data(), row.data());
  }

  FlowIdentity hash_;
  HugeBuffer<std::uint64_t> found_;  ///< hash bits above those of the position
  std::vector<std::byte> row_;       ///< row of the flow being merged
};

}  // namespace parshall
