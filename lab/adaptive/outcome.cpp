// SPDX-License-Identifier: Apache-2.0
#include "lab/adaptive/outcome.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "pipeline/flow/key_hash.hpp"

namespace parshall::lab {
namespace {

std::optional<double> value_of(const Event& event, std::string_view name) {
  const auto at = std::ranges::find(event.values, name, &EventValue::name);
  return at == event.values.end() ? std::nullopt : std::optional(std::get<double>(at->value));
}

/// Returns the events of the flow, if the task counts them.
std::uint64_t count_of(const Event& event) {
  for (const EventValue& value : event.values)
    if (value.name == "tcp_retransmissions" || value.name == "latency_changes")
      return std::get<std::uint64_t>(value.value);
  return 1;
}

}  // namespace

void OutcomeTaker::event(const Event& event) {
  const std::uint64_t window = event.window.number;
  if (event.task != "count" && !keeps(window)) return;
  if (event.kind == EventKind::finding) {
    outcome_.found[event.task].push_back({window, KeyHash()(event.key), count_of(event)});
    return;
  }
  if (event.task == "count") {
    outcome_.packets.push_back(std::get<std::uint64_t>(event.values.front().value));
    return;
  }
  const auto recall = value_of(event, "recall"), at_least = value_of(event, "recall_at_least");
  outcome_.said[{event.task, window}] = recall && at_least ? std::optional(Said{*recall, *at_least}) : std::nullopt;
}

/// Takes a recall. Events exist only for windows in which a task missed flows and found something, or may have.
void OutcomeTaker::recall(const WindowRecall& told) {
  if (!keeps(told.window.number)) return;
  outcome_.flows[{told.task, told.window.number}] = {
      .seen = told.flows_seen, .seen_in_part = told.flows_seen_in_part, .missed = told.flows_missed};
}

Outcome OutcomeTaker::outcome() && {
  for (auto& [task, found] : outcome_.found) std::ranges::sort(found);
  return std::move(outcome_);
}

bool OutcomeTaker::keeps(std::uint64_t window) const noexcept {
  return std::ranges::any_of(kept_, [window](const Stretch& stretch) { return stretch.has(window); });
}

}  // namespace parshall::lab
