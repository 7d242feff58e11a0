// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/counters.hpp"
#include "pipeline/flow/kept_out.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// Counts of the flows of one class, live and ended.
enum class ClassCounter : std::uint8_t { flows, packets, ip_bytes, wire_bytes };

struct ClassCounterLine {
  ClassCounter id;
  std::string_view name, unit, help;
  Summing summing = Summing::add;
  bool may_be_absent = false;
};

template <>
inline constexpr auto kCounterTable<ClassCounter> = std::array{
    ClassCounterLine{ClassCounter::flows, "flows", "flows", "flows of the class, live and ended"},
    ClassCounterLine{ClassCounter::packets, "packets", "packets", "packets of flows of the class"},
    ClassCounterLine{ClassCounter::ip_bytes, "ip_bytes", "bytes", "bytes of flows of the class, from the IP header on"},
    ClassCounterLine{ClassCounter::wire_bytes, "wire_bytes", "bytes", "bytes of flows of the class, on the wire"},
};
static_assert(is_in_order(kCounterTable<ClassCounter>));

using ClassCounts = CounterSet<ClassCounter>;

/// Counts of a worker's flow stage.
struct StageCounts : Counters {
  StageCounts() = default;
  explicit StageCounts(const Counters& counters) noexcept : Counters(counters) {}

  /// Counts by class, then of unknown flows, then of flows with too few packets; empty without classes.
  std::vector<ClassCounts> classes;

  /// Adds a live or ended flow. `id` may be one of the two values that stand for no class.
  void add_to_class(ClassId id, const FlowRecord& record) noexcept {
    ClassCounts& counts = classes[id < classes.size() - 2 ? id : classes.size() - (id == kUnknownClass ? 2 : 1)];
    counts.add(ClassCounter::flows, 1);
    counts.add(ClassCounter::packets, record.all_packets());
    counts.add(ClassCounter::ip_bytes, record.all_ip_bytes());
    counts.add(ClassCounter::wire_bytes, record.all_wire_bytes());
  }

  void add_live(const FlowRecord& record) noexcept {
    add(Counter::live_flows, 1);
    add(Counter::live_flow_packets, record.all_packets());
    add(Counter::ip_bytes, record.all_ip_bytes());
    add(Counter::wire_bytes, record.all_wire_bytes());
    add_times(record.first_ns, record.last_ns);
  }
  void add_ended(const FlowRecord& record) noexcept {
    add(Counter::ended_records, 1);
    add(Counter::evicted_records, record.end_reason == EndReason::lack_of_resources ? 1 : 0);
    add(Counter::ended_record_packets, record.all_packets());
    add(Counter::ended_record_ip_bytes, record.all_ip_bytes());
    add(Counter::ended_record_wire_bytes, record.all_wire_bytes());
    add_times(record.first_ns, record.last_ns);
  }
  void add_kept_out(const KeptOut& more) noexcept {
    add(Counter::kept_out_packets, more.packets);
    add(Counter::kept_out_ip_bytes, more.ip_bytes);
    add(Counter::kept_out_wire_bytes, more.wire_bytes);
    add_times(more.first_ns, more.last_ns);
  }
  /// Adds the bytes of packets outside live flows; called once all live flows are added.
  void complete_bytes() noexcept {
    using enum Counter;
    for (const Counter part : {ended_record_ip_bytes, kept_out_ip_bytes}) add(ip_bytes, (*this)[part]);
    for (const Counter part : {ended_record_wire_bytes, kept_out_wire_bytes}) add(wire_bytes, (*this)[part]);
  }

  StageCounts& operator+=(const StageCounts& other) {
    Counters::operator+=(other);
    classes.resize(std::max(classes.size(), other.classes.size()));
    for (std::size_t i = 0; i < other.classes.size(); ++i) classes[i] += other.classes[i];
    return *this;
  }
  StageCounts& operator-=(const StageCounts& before) noexcept {
    Counters::operator-=(before);
    for (std::size_t i = 0; i < before.classes.size(); ++i) classes[i] -= before.classes[i];
    return *this;
  }

 private:
  void add_times(std::uint64_t first_ns, std::uint64_t last_ns) noexcept {
    add(Counter::first_seen_ns, first_ns);
    add(Counter::last_seen_ns, last_ns);
  }
};

}  // namespace parshall
