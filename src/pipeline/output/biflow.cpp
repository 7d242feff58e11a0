// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/biflow.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

#include "pipeline/output/base_columns.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kReversePen = 29305;  // RFC 5103
constexpr std::size_t kLastSeen = 10;         // of base_columns()
enum Reverse : std::size_t { packets, ip_bytes, wire_bytes, tcp_flags, direction };
constexpr std::uint8_t kTcp = 6;
constexpr std::uint16_t kSyn = 2;

FlowKey reversed(const FlowKey& key) noexcept {
  FlowKey back = key;
  std::swap(back.src_port_bytes, back.dst_port_bytes);
  const std::size_t bytes = key.address_bytes();
  std::memcpy(back.address.data(), key.address.data() + bytes, bytes);
  std::memcpy(back.address.data() + bytes, key.address.data(), bytes);
  return back;
}

/// That both directions have.
FlowKey common_key(const FlowKey& key) noexcept {
  const auto src = key.src_address(), dst = key.dst_address();
  const int order = std::memcmp(src.data(), dst.data(), src.size());
  return order > 0 || (order == 0 && key.src_port() > key.dst_port()) ? reversed(key) : key;
}

/// RFC 5103, 5.2: the initiator, or arbitrary, where TCP was not seen from its first packet on.
std::uint64_t direction_of(const FlowRecord& forward, const FlowRecord& back) noexcept {
  return forward.key.protocol != kTcp || (forward.tcp_flags & back.tcp_flags & kSyn) != 0 ? 1 : 0;
}

}  // namespace

std::span<const ColumnInfo, kReverseColumns> reverse_columns() {
  static const std::array<ColumnInfo, kReverseColumns> columns{{
      {.name = "reverse_packets",
       .unit = "packets",
       .type = kUint64,
       .ipfix = {kReversePen, 2},
       .help = "that came back (--biflow); absent where nothing did, or came too late"},
      {.name = "reverse_ip_bytes",
       .unit = "bytes",
       .type = kUint64,
       .ipfix = {kReversePen, 1},
       .help = "that came back, by the IP headers"},
      {.name = "reverse_wire_bytes",
       .unit = "bytes",
       .type = kUint64,
       .ipfix = {kReversePen, 352},
       .help = "that came back, frames without FCS"},
      {.name = "reverse_tcp_flags",
       .type = kFlags16,
       .ipfix = {kReversePen, 6},
       .help = "TCP flag bits of the packets that came back, ORed"},
      {.name = "biflow_direction",
       .type = kUint8,
       .ipfix = {0, 239},
       .help = "1: the source began; 0: a record of one direction, or of a connection that was there before"},
  }};
  return columns;
}

BiflowHold::BiflowHold(std::span<const ColumnInfo> columns, std::uint64_t reach_ns, std::size_t slots)
    : columns_(columns.size()),
      reach_ns_(reach_ns),
      duration_(place("duration_ns", columns)),
      exact_(place("exact", columns)),
      missed_(place("missed_packets_at_most", columns)),
      slots_(slots),
      values_(slots * columns.size()) {}

std::uint64_t BiflowHold::memory_bytes(std::size_t columns, std::size_t slots) noexcept {
  return slots * (sizeof(Slot) + columns * sizeof(Value) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint64_t)));
}

std::optional<std::size_t> BiflowHold::place(std::string_view name, std::span<const ColumnInfo> columns) const {
  const auto at = std::ranges::find(columns, name, &ColumnInfo::name);
  if (at == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(at - columns.begin());
}

bool BiflowHold::is_near(const FlowRecord& a, const FlowRecord& b) const noexcept {
  const std::uint64_t later = std::max(a.first_ns, b.first_ns), earlier = std::min(a.last_ns, b.last_ns);
  return later <= earlier || later - earlier <= reach_ns_;
}

BiflowHold::Taken BiflowHold::take(FlowRecord& record, std::span<Value> values, Clock::time_point now) {
  values[columns_ - kReverseColumns + direction] = Value::of_unsigned(0);
  if (reversed(record.key) == record.key) return Taken::other;  // it is its own
  const auto known = by_key_.find(common_key(record.key));
  if (known != by_key_.end()) {
    const std::size_t at = known->second % slots_.size();
    Slot& slot = slots_[at];
    if (slot.record.key != reversed(record.key) || !is_near(slot.record, record)) {
      exchange(at, record, values, now);  // the flow's record before this one, or another connection's, waited in vain
      return Taken::other;
    }
    held_ = held_ - OutputSummary::Sum{.records = 1, .packets = slot.record.packets};
    merge(slot.record, values_of(at), record, values);
    slot.is_taken = false;
    by_key_.erase(known);
    return Taken::merged;
  }
  const std::size_t at = next_ % slots_.size();
  by_key_[common_key(record.key)] = next_++;
  if (next_ - oldest_ > slots_.size()) oldest_ = next_ - slots_.size();
  if (slots_[at].is_taken) {
    by_key_.erase(common_key(slots_[at].record.key));
    exchange(at, record, values, now);
    return Taken::other;
  }
  std::construct_at(&slots_[at], Slot{record, now, true});
  std::ranges::copy(values, values_of(at).begin());
  held_ += {.records = 1, .packets = record.packets};
  return Taken::held;
}

/// Holds that one in place of the one that was there.
void BiflowHold::exchange(std::size_t at, FlowRecord& record, std::span<Value> values, Clock::time_point now) {
  held_ = held_ - OutputSummary::Sum{.packets = slots_[at].record.packets};
  held_ += {.packets = record.packets};
  std::swap(slots_[at].record, record);
  std::ranges::swap_ranges(values_of(at), values);
  slots_[at].since = now;
}

bool BiflowHold::release(Clock::time_point until, FlowRecord& record, std::span<Value> values) {
  for (; oldest_ != next_; ++oldest_) {
    const std::size_t at = oldest_ % slots_.size();
    if (!slots_[at].is_taken) continue;
    if (slots_[at].since > until) return false;
    record = slots_[at].record;
    std::ranges::copy(values_of(at), values.begin());
    slots_[at].is_taken = false;
    by_key_.erase(common_key(record.key));
    held_ = held_ - OutputSummary::Sum{.records = 1, .packets = record.packets};
    ++oldest_;
    return true;
  }
  return false;
}

bool BiflowHold::holds(const FlowRecord& record) const noexcept {
  const auto known = by_key_.find(common_key(record.key));
  if (known == by_key_.end()) return false;
  const FlowRecord& held = slots_[known->second % slots_.size()].record;
  return held.key == record.key && held.first_ns == record.first_ns;
}

void BiflowHold::clear() noexcept {
  for (; oldest_ != next_; ++oldest_) slots_[oldest_ % slots_.size()].is_taken = false;
  by_key_.clear();
  held_ = {};
}

/// Of two that came at the same time the held one is the first.
void BiflowHold::merge(const FlowRecord& held, std::span<const Value> held_values, FlowRecord& record,
                       std::span<Value> values) const {
  const bool held_first = held.first_ns <= record.first_ns;
  const FlowRecord forward = held_first ? held : record, back = held_first ? record : held;
  const auto either = [&](std::size_t at) { return std::pair(held_values[at], values[at]); };
  const auto exact = exact_ ? std::optional(either(*exact_)) : std::nullopt;
  const auto missed = missed_ ? std::optional(either(*missed_)) : std::nullopt;
  if (held_first) std::ranges::copy(held_values, values.begin());
  if (exact) values[*exact_] = Value::of_bool(exact->first.as_bool() && exact->second.as_bool());
  if (missed) {
    const auto& [a, b] = *missed;
    values[*missed_] =
        a.present() && b.present() ? Value::of_unsigned(std::max(a.as_unsigned(), b.as_unsigned())) : Value();
  }
  record = forward;
  record.packets += back.packets;
  record.ip_bytes += back.ip_bytes;
  record.wire_bytes += back.wire_bytes;
  record.last_ns = std::max(forward.last_ns, back.last_ns);
  values[kLastSeen] = Value::of_time(record.last_ns);
  if (duration_) values[*duration_] = Value::of_signed(static_cast<std::int64_t>(record.last_ns - record.first_ns));
  const auto reverse = values.subspan(columns_ - kReverseColumns);
  reverse[packets] = Value::of_unsigned(back.packets);
  reverse[ip_bytes] = Value::of_unsigned(back.ip_bytes);
  reverse[wire_bytes] = Value::of_unsigned(back.wire_bytes);
  reverse[tcp_flags] = Value::of_flags(back.tcp_flags);
  reverse[direction] = Value::of_unsigned(direction_of(forward, back));
}

}  // namespace parshall
