// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "pipeline/measure/tasks/key_table.hpp"
#include "pipeline/output/groups/grouping.hpp"

namespace parshall {

/// Joins the two directions of connections of which one has a text: a flow without a text gets that of its opposite
/// direction, or waits for it.
///
/// Memory: memory_bytes(), of which what connections need is committed.
/// Full:   the older half of the connections is forgotten. What still waits there counts as without a text.
class ConnectionTexts {
 public:
  /// Adds a flow's share to the group of that text, which is empty for the group without one. Returns the text as the
  /// group keeps it.
  using Add = std::function<std::string_view(std::string_view text, bool sends, const GroupShare& share)>;

  /// Keeps at least `connections` of them. Throws std::bad_alloc.
  ConnectionTexts(std::size_t connections, std::uint64_t seed, Add add);
  static std::uint64_t memory_bytes(std::size_t connections) noexcept { return 2 * Table::memory_bytes(connections); }

  void add(const FlowKey& flow, std::string_view text, bool sends, const GroupShare& share);
  /// Adds what still waits.
  void give_up();
  void clear() noexcept;

 private:
  struct Connection {
    std::string_view text = {};
    std::uint64_t first_ns = 0, last_ns = 0;  ///< of the flows with this text
    std::array<GroupShare, 2> waiting = {};   ///< flows without a text: those to the service, and those from it
  };
  using Table = KeyTable<Connection>;

  Connection& connection_of(const FlowKey& both);
  void give_up(Table& table);

  Add add_;
  std::unique_ptr<Table> recent_, older_;
};

}  // namespace parshall
