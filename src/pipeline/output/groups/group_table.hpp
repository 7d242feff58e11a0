// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/output/groups/connection_texts.hpp"
#include "pipeline/output/groups/group_schema.hpp"
#include "pipeline/output/text/report.hpp"

namespace parshall {

/// Adds up flow records by group.
///
/// Memory: memory_bytes() at most; grows with the groups.
/// Texts:  both directions of a connection are in the group of the text that one of them has (ConnectionTexts).
/// Full:   with `most` groups, or without memory for more, flows of further groups are added up in one row without a
///         key. So all rows always add up to all packets. With more than kPairsPerGroup pairs of a group and a peer for
///         each group allowed, or without memory for them, peers are absent.
class GroupTable {
 public:
  /// Keeps at most `most` groups. `schema` must outlive it.
  GroupTable(const GroupSchema& schema, std::uint64_t most, std::uint64_t seed);
  GroupTable(const GroupTable&) = delete;
  GroupTable& operator=(const GroupTable&) = delete;

  static std::uint64_t memory_bytes(std::uint64_t most, bool of_texts) noexcept;

  /// Adds a flow record, which must not be a biflow. If it has a base in the previous report, only what came since is
  /// added.
  void add(const ReportFlow& flow);

  enum class Order : std::uint8_t { by_key, any };

  /// Visits all groups.
  void visit(const std::function<void(const ReportFlow&)>& visit, Order order = Order::by_key);
  /// Forgets all groups, and keeps the memory for others.
  void clear() noexcept;

 private:
  using Table = KeyTable<Group>;
  static constexpr std::uint64_t kPairsPerGroup = 4, kFewestPairs = 65536;

  Group& group_of(const FlowKey& key) noexcept;
  Group& group_of(const FlowKey& key, std::string_view text);
  std::string_view add_to_text(std::string_view text, bool sends, const GroupShare& share);
  bool grow() noexcept;
  void count_peer(const FlowKey& pair, Group& group) noexcept;
  bool grow_pairs() noexcept;
  std::uint64_t most_pairs() const noexcept { return std::max(kFewestPairs, kPairsPerGroup * most_); }

  const GroupSchema& schema_;
  std::uint64_t most_, seed_;
  std::unique_ptr<Table> groups_;
  std::deque<std::string> texts_;                 ///< of groups by a column of texts
  std::unique_ptr<ConnectionTexts> connections_;  ///< null for groups of other things, or without memory
  Group others_;
  std::vector<std::uint64_t> pairs_;  ///< hashes, at most half full; 0: empty
  std::uint64_t pair_count_ = 0;
  bool knows_peers_ = true, is_full_ = false;
  double interval_s_ = 0;
};

/// Returns `report` with groups in place of its flows. `table` must outlive it.
Report grouped(Report report, const GroupSchema& schema, GroupTable& table);

/// Returns a report of the groups that are in the table already. `table` must outlive it.
Report report_of(const ReportSummary& summary, const GroupSchema& schema, GroupTable& table);

}  // namespace parshall
