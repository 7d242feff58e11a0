// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/groups/connection_texts.hpp"

#include <algorithm>
#include <utility>

#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

/// Returns whether flows of these times may be of one connection: an answer may come after the last question.
bool may_belong(std::uint64_t first_ns, std::uint64_t last_ns, const GroupShare& share) noexcept {
  constexpr std::uint64_t kLateNs = 2'000'000'000;
  return share.first_ns <= last_ns + kLateNs && share.last_ns + kLateNs >= first_ns;
}

}  // namespace

ConnectionTexts::ConnectionTexts(std::size_t connections, std::uint64_t seed, Add add)
    : add_(std::move(add)),
      recent_(std::make_unique<Table>(connections, seed)),
      older_(std::make_unique<Table>(connections, seed)) {}

ConnectionTexts::Connection& ConnectionTexts::connection_of(const FlowKey& both) {
  const std::uint64_t hash = recent_->hash(both);
  if (Connection* const found = recent_->find(hash, both)) return *found;
  if (recent_->size() == recent_->capacity()) {
    give_up(*older_);
    older_->clear();
    std::swap(recent_, older_);
  }
  Connection& connection = recent_->add(hash, both);
  if (Connection* const before = older_->find(hash, both)) connection = std::exchange(*before, {});
  return connection;
}

void ConnectionTexts::add(const FlowKey& flow, std::string_view text, bool sends, const GroupShare& share) {
  Connection& connection = connection_of(both_ways(flow).first);
  if (text.empty()) {
    if (!connection.text.empty() && may_belong(connection.first_ns, connection.last_ns, share))
      add_(connection.text, sends, share);
    else
      connection.waiting[sends] += share;
    return;
  }
  const std::string_view kept = add_(text, sends, share);
  if (kept.empty()) return;  // the group has no room
  const bool is_another = connection.text != kept;
  connection.first_ns = is_another ? share.first_ns : std::min(connection.first_ns, share.first_ns);
  connection.last_ns = is_another ? share.last_ns : std::max(connection.last_ns, share.last_ns);
  connection.text = kept;
  for (const bool way : {false, true}) {
    GroupShare& waiting = connection.waiting[way];
    if (waiting.flows != 0 && may_belong(connection.first_ns, connection.last_ns, waiting))
      add_(kept, way, std::exchange(waiting, {}));
  }
}

void ConnectionTexts::give_up(Table& table) {
  for (auto& entry : table.entries())
    for (const bool way : {false, true})
      if (GroupShare& waiting = entry.value.waiting[way]; waiting.flows != 0) add_({}, way, std::exchange(waiting, {}));
}

void ConnectionTexts::give_up() {
  give_up(*older_);
  give_up(*recent_);
}

void ConnectionTexts::clear() noexcept {
  recent_->clear();
  older_->clear();
}

}  // namespace parshall
