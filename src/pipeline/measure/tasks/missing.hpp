// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "pipeline/measure/tasks/aggregate.hpp"
#include "pipeline/measure/tasks/event.hpp"

namespace parshall {

/// Returns what was not reported to tasks.
inline KeyCounts untold_of(const EventWindow& window) noexcept {
  const WindowTotals& totals = window.totals;
  const std::uint64_t wire_bytes = totals.untold_wire_bytes(), flows = totals.untold_flows();
  return {totals.untold_packets(), wire_bytes, wire_bytes, flows, flows};
}

/// Returns the most that each count of a key may lack in this window; all zero if counts are exact.
inline KeyCounts most_missing(const Aggregate& aggregate, const EventWindow& window) noexcept {
  KeyCounts missing = untold_of(window);
  missing.add(aggregate.most_missing());
  return missing;
}

/// Returns the most that the sum of several keys may lack: what all keys together lack.
inline KeyCounts most_missing_of_any(const Aggregate& aggregate, const EventWindow& window) noexcept {
  KeyCounts missing = untold_of(window);
  missing.add(aggregate.dropped());
  return missing;
}

inline std::vector<EventValue> missing_error(const Amount& amount, const KeyCounts& missing) {
  const std::uint64_t most = missing.*amount.of;
  if (most == 0) return {};
  return {{std::string(amount.name) + "_missing", most}};
}

inline std::vector<EventValue> missing_error(const KeyCounts& missing) {
  std::vector<EventValue> error;
  for (const Amount& amount : kAmounts) std::ranges::move(missing_error(amount, missing), std::back_inserter(error));
  return error;
}

/// Reports what the aggregate left out.
inline void write_left_out(EventWriter& events, const Aggregate& aggregate, std::vector<EventValue> error) {
  if (aggregate.dropped_keys() != 0) events.write_left_out(aggregate.dropped_keys(), std::move(error));
}

/// Returns the total of all traffic in the window.
inline std::uint64_t total_of(const Amount& amount, const Aggregate& aggregate, const EventWindow& window) noexcept {
  if (amount.of == &KeyCounts::packets) return window.totals.packets;
  if (amount.of == &KeyCounts::ip_bytes) return window.totals.ip_bytes;
  if (amount.of == &KeyCounts::wire_bytes) return window.totals.wire_bytes;
  std::uint64_t total = aggregate.dropped().*amount.of + window.totals.unlisted_flows;
  for (const auto& entry : aggregate.entries()) total += entry.value.*amount.of;
  return total;
}

}  // namespace parshall
