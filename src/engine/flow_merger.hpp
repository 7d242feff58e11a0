// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "pipeline/flow/record.hpp"
#include "pipeline/measure/registry.hpp"

namespace parshall {

/// A key's bytes that carry meaning, for maps.
inline std::string key_text(const FlowKey& key) {
  return {reinterpret_cast<const char*>(&key), key.significant_bytes()};
}

/// Adds up the records of one flow that several workers kept.
class FlowMerger {
 public:
  explicit FlowMerger(const StatisticSet& set) : set_(set) {}

  /// Statistics that cannot be merged, or that one record lacks, are absent from the sum.
  void add(const FlowRecord& record, std::span<const std::byte> row) {
    const auto [at, is_new] = flows_.try_emplace(key_text(record.key), Merged{record, {row.begin(), row.end()}});
    if (is_new) return;
    FlowRecord& into = at->second.record;
    into.packets += record.packets;
    into.ip_bytes += record.ip_bytes;
    into.wire_bytes += record.wire_bytes;
    into.first_ns = std::min(into.first_ns, record.first_ns);
    into.last_ns = std::max(into.last_ns, record.last_ns);
    into.tcp_flags |= record.tcp_flags;
    if (row.empty() || at->second.row.empty() || !set_.mergeable())
      at->second.row.clear();
    else
      set_.merge(at->second.row.data(), row.data());
  }

  template <class Visit>
  void visit(Visit visit) const {
    for (const auto& [key, merged] : flows_) visit(merged.record, std::span<const std::byte>(merged.row));
  }

 private:
  struct Merged {
    FlowRecord record;
    std::vector<std::byte> row;
  };
  const StatisticSet& set_;
  std::unordered_map<std::string, Merged> flows_;
};

}  // namespace parshall
