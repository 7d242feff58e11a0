// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/capture/source.hpp"
#include "pipeline/flow/front_end.hpp"
#include "pipeline/flow/kept_out.hpp"
#include "pipeline/flow/record.hpp"
#include "pipeline/measure/classifier.hpp"

namespace parshall {

/// For how long a flood filter was on.
struct FilterTime {
  std::uint64_t ns = 0, on_ns = 0;  ///< of packet time; 0 where there is no filter

  void add(const FilterTime& other) noexcept {
    ns += other.ns;
    on_ns += other.on_ns;
  }
};

/// What flows of one class were, live and ended.
struct ClassCounts {
  std::uint64_t records = 0, packets = 0, ip_bytes = 0, wire_bytes = 0;

  void add(const FlowRecord& record) noexcept {
    ++records;
    packets += record.packets;
    ip_bytes += record.ip_bytes;
    wire_bytes += record.wire_bytes;
  }
  void add(const ClassCounts& other) noexcept {
    records += other.records;
    packets += other.packets;
    ip_bytes += other.ip_bytes;
    wire_bytes += other.wire_bytes;
  }
  void subtract(const ClassCounts& other) noexcept {
    records -= other.records;
    packets -= other.packets;
    ip_bytes -= other.ip_bytes;
    wire_bytes -= other.wire_bytes;
  }
};

/// What a worker's flow stage has counted.
struct MonitorCounts {
  std::uint64_t counted = 0;        ///< packets
  std::uint64_t live_packets = 0;   ///< summed over the flows in the table
  std::uint64_t ended_packets = 0;  ///< summed over the records that left it
  std::uint64_t ended_records = 0;
  std::uint64_t evicted_records = 0;  ///< of these, for want of room
  std::uint64_t live_flows = 0;
  std::uint64_t buckets = 0;                   ///< of the table, in use
  std::uint64_t ip_bytes = 0;                  ///< of live flows and ended records, and of what came to no flow
  std::uint64_t wire_bytes = 0;                ///< likewise
  std::uint64_t first_ns = ~std::uint64_t{0};  ///< earliest of them
  std::uint64_t last_ns = 0;                   ///< latest of them
  KeptOut kept_out;                            ///< by the flood filter
  KeptOut shed;                                ///< of flows that there was no time for
  FilterTime filter;
  /// By class, then of those that are unknown, then of those that had too few packets; none where there are no classes.
  std::vector<ClassCounts> classes;

  /// One that ids of no class have a place in, too.
  ClassCounts& class_counts(ClassId id) noexcept {
    return classes[id < classes.size() - 2 ? id : classes.size() - (id == kUnknownClass ? 2 : 1)];
  }

  void add(const FlowRecord& record) noexcept {
    ip_bytes += record.ip_bytes;
    wire_bytes += record.wire_bytes;
    first_ns = std::min(first_ns, record.first_ns);
    last_ns = std::max(last_ns, record.last_ns);
  }
  void add_kept_out(const KeptOut& more) noexcept { add_to(kept_out, more); }
  void add_shed(const KeptOut& more) noexcept { add_to(shed, more); }
  void add(const MonitorCounts& other) noexcept {
    counted += other.counted;
    live_packets += other.live_packets;
    ended_packets += other.ended_packets;
    ended_records += other.ended_records;
    evicted_records += other.evicted_records;
    live_flows += other.live_flows;
    buckets += other.buckets;
    kept_out.add(other.kept_out);
    shed.add(other.shed);
    filter.add(other.filter);
    classes.resize(std::max(classes.size(), other.classes.size()));
    for (std::size_t i = 0; i < other.classes.size(); ++i) classes[i].add(other.classes[i]);
    ip_bytes += other.ip_bytes;
    wire_bytes += other.wire_bytes;
    first_ns = std::min(first_ns, other.first_ns);
    last_ns = std::max(last_ns, other.last_ns);
  }

 private:
  void add_to(KeptOut& all, const KeptOut& more) noexcept {
    all.add(more);
    ip_bytes += more.ip_bytes;
    wire_bytes += more.wire_bytes;
    first_ns = std::min(first_ns, more.first_ns);
    last_ns = std::max(last_ns, more.last_ns);
  }
};

/// Where every packet went. Nothing is unaccounted:
///   offered = nic_missed + nic_error + no_mbuf + ring_full + filtered + not_ip + malformed + counted, and
///   counted = packets in live flows + in ended records + kept out by the flood filter + shed.
struct Accounting {
  DeviceCounters device;        ///< of all queues; absent where the device cannot tell
  std::uint64_t polled = 0;     ///< packets the source handed over
  std::uint64_t ring_full = 0;  ///< dropped between receive and monitor thread
  FrontEndCounts front;
  MonitorCounts flows;

  std::uint64_t counted() const noexcept { return front.verdict[static_cast<std::size_t>(Verdict::counted)]; }
  std::uint64_t not_ip() const noexcept { return front.verdict[static_cast<std::size_t>(Verdict::not_ip)]; }
  std::uint64_t malformed() const noexcept {
    std::uint64_t sum = 0;
    for (std::size_t v = static_cast<std::size_t>(Verdict::not_ip) + 1; v < kVerdicts; ++v) sum += front.verdict[v];
    return sum;
  }
  std::uint64_t device_lost() const noexcept {
    return device.nic_missed.value_or(0) + device.nic_error.value_or(0) + device.no_mbuf.value_or(0);
  }
  std::uint64_t lost() const noexcept { return device_lost() + ring_full; }
  std::uint64_t offered() const noexcept { return device_lost() + polled; }

  bool balanced() const noexcept {
    return polled == ring_full + front.filtered + not_ip() + malformed() + counted() && counted() == flows.counted &&
           flows.counted == flows.live_packets + flows.ended_packets + flows.kept_out.packets + flows.shed.packets;
  }
};

}  // namespace parshall
