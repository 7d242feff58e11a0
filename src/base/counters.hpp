// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/counter_set.hpp"

namespace parshall {

/// Names everything that a run counts, for each worker and in total. `kCounterTable` describes each counter. The
/// counters of packets without a flow are in the order of Verdict.
enum class Counter : std::uint8_t {
  nic_received,
  nic_missed,
  nic_error,
  no_mbuf,
  joined,
  polled,
  elsewhere,
  ring_full,
  filtered,
  later_msdus,
  not_ip,
  cut_link_header,
  cut_ip_header,
  bad_ip_version,
  bad_ip_header_length,
  bad_ip_total_length,
  unknown_link_type,
  counted,
  arrived,
  live_flow_packets,
  ended_record_packets,
  kept_out_packets,
  ended_record_ip_bytes,
  ended_record_wire_bytes,
  kept_out_ip_bytes,
  kept_out_wire_bytes,
  flood_filter_ns,
  flood_filter_on_ns,
  ip_bytes,
  wire_bytes,
  live_flows,
  ended_records,
  evicted_records,
  dropped_records,
  dropped_record_packets,
  table_lines,
  first_seen_ns,
  last_seen_ns,
};

/// Says which thread counts and publishes a counter. Counters of `walk` come from a walk over a table and are in
/// reports only.
enum class CountedBy : std::uint8_t { lane, flows, collector, walk };

/// Says where a counter stands in the account, or where else a report has it. The account is: offered = device_lost +
/// outcomes (which include the malformed packets and `counted`), and counted = shares.
enum class CounterPart : std::uint8_t {
  device,
  device_lost,
  outcome,
  malformed,
  share,
  kept_out,
  totals,
  times,
  unreported
};

struct CounterLine {
  Counter id;
  std::string_view name;  ///< name in reports that show the counter
  std::string_view unit;
  CountedBy by;
  CounterPart part;
  std::string_view help;
  Summing summing = Summing::add;
  bool may_be_absent = false;  ///< set by devices, not all of which report it
};

template <>
inline constexpr auto kCounterTable<Counter> = [] {
  using enum Counter;
  using Part = CounterPart;
  constexpr auto kLane = CountedBy::lane, kFlows = CountedBy::flows, kCollector = CountedBy::collector,
                 kWalk = CountedBy::walk;
  const auto device = [](Counter id, std::string_view name, CounterPart part, std::string_view help) {
    return CounterLine{id, name, "packets", kLane, part, help, Summing::add, /*may_be_absent=*/true};
  };
  return std::array{
      device(nic_received, "nic_received", Part::device, "packets that the device reports as delivered"),
      device(nic_missed, "nic_missed", Part::device_lost,
             "packets that the device dropped because no descriptor was free, or its ring was full"),
      device(nic_error, "nic_error", Part::device_lost, "packets that the device dropped as erroneous"),
      device(no_mbuf, "no_mbuf", Part::device_lost, "packets that the device dropped because no buffer was free"),
      device(joined, "joined", Part::device, "packets delivered that are longer than the MTU of the link allows"),
      CounterLine{polled, "polled", "packets", kLane, Part::unreported, "packets that the source delivered"},
      CounterLine{elsewhere, "elsewhere", "packets", kLane, Part::unreported,
                  "packets that the source delivered to one worker and that another worker counts"},
      CounterLine{ring_full, "ring_full", "packets", kLane, Part::outcome,
                  "packets dropped between the receive and the flow thread"},
      CounterLine{filtered, "filtered", "packets", kLane, Part::outcome, "packets that the filter left out"},
      CounterLine{later_msdus, "later_msdus", "packets", kLane, Part::outcome,
                  "packets after the first one in a frame of IEEE 802.11 (A-MSDU), which are not decoded"},
      CounterLine{not_ip, "not_ip", "packets", kLane, Part::outcome,
                  "packets of another network protocol (ARP, LLDP, ...), or of a link type without IP"},
      CounterLine{cut_link_header, "cut_link_header", "packets", kLane, Part::malformed,
                  "packets whose captured bytes end inside the link-layer headers"},
      CounterLine{cut_ip_header, "cut_ip_header", "packets", kLane, Part::malformed,
                  "packets whose captured bytes end inside the fixed IP header"},
      CounterLine{bad_ip_version, "bad_ip_version", "packets", kLane, Part::malformed,
                  "packets whose IP version contradicts the link layer"},
      CounterLine{bad_ip_header_length, "bad_ip_header_length", "packets", kLane, Part::malformed,
                  "IPv4 packets with an IHL below 5"},
      CounterLine{bad_ip_total_length, "bad_ip_total_length", "packets", kLane, Part::malformed,
                  "IPv4 packets whose Total Length is shorter than the header"},
      CounterLine{unknown_link_type, "unknown_link_type", "packets", kLane, Part::malformed,
                  "packets of a LINKTYPE_ that is not decoded"},
      CounterLine{counted, "counted", "packets", kLane, Part::outcome, "packets that are counted"},
      CounterLine{arrived, "arrived", "packets", kFlows, Part::unreported,
                  "counted packets that left the ring in front of the flow stage"},
      CounterLine{live_flow_packets, "live_flow_packets", "packets", kFlows, Part::share,
                  "packets of flows in the table"},
      CounterLine{ended_record_packets, "ended_record_packets", "packets", kFlows, Part::share,
                  "packets of records that left the table"},
      CounterLine{kept_out_packets, "kept_out_packets", "packets", kFlows, Part::share,
                  "packets that the flood filter kept out of the table"},
      CounterLine{ended_record_ip_bytes, "ended_record_ip_bytes", "bytes", kFlows, Part::unreported,
                  "bytes of records that left the table, from the IP header on"},
      CounterLine{ended_record_wire_bytes, "ended_record_wire_bytes", "bytes", kFlows, Part::unreported,
                  "bytes of records that left the table, on the wire"},
      CounterLine{kept_out_ip_bytes, "kept_out_ip_bytes", "bytes", kFlows, Part::kept_out,
                  "bytes that the flood filter kept out of the table, from the IP header on"},
      CounterLine{kept_out_wire_bytes, "kept_out_wire_bytes", "bytes", kFlows, Part::kept_out,
                  "bytes that the flood filter kept out of the table, on the wire"},
      CounterLine{flood_filter_ns, "flood_filter_ns", "ns", kFlows, Part::unreported,
                  "packet time with a flood filter, on or off"},
      CounterLine{flood_filter_on_ns, "flood_filter_on_ns", "ns", kFlows, Part::unreported,
                  "packet time while the flood filter was on"},
      CounterLine{ip_bytes, "ip_bytes", "bytes", kFlows, Part::totals,
                  "bytes of all packets counted, from the IP header on; at any time if metrics are served"},
      CounterLine{wire_bytes, "wire_bytes", "bytes", kFlows, Part::totals,
                  "bytes of all packets counted, on the wire; at any time if metrics are served"},
      CounterLine{live_flows, "live_flows", "flows", kFlows, Part::totals, "flows in the table"},
      CounterLine{ended_records, "ended_records", "records", kFlows, Part::totals, "records that left the table"},
      CounterLine{evicted_records, "evicted_records", "records", kFlows, Part::totals,
                  "records that left the table because it was full"},
      CounterLine{dropped_records, "dropped_records", "records", kCollector, Part::totals,
                  "records that are in no report because the spool was full"},
      CounterLine{dropped_record_packets, "dropped_record_packets", "packets", kCollector, Part::totals,
                  "packets of records that are in no report"},
      CounterLine{table_lines, "table_lines", "lines", kWalk, Part::unreported, "lines of the table in use"},
      CounterLine{first_seen_ns, "first_seen_ns", "ns", kWalk, Part::times, "time of the earliest packet",
                  Summing::least},
      CounterLine{last_seen_ns, "last_seen_ns", "ns", kWalk, Part::times, "time of the latest packet", Summing::most},
  };
}();
static_assert(is_in_order(kCounterTable<Counter>));

using Counters = CounterSet<Counter>;

constexpr const CounterLine& line_of(Counter counter) noexcept {
  return kCounterTable<Counter>[static_cast<std::size_t>(counter)];
}
constexpr std::string_view name_of(Counter counter) noexcept { return line_of(counter).name; }

constexpr std::uint64_t sum_of(const Counters& counters, CounterPart part) noexcept {
  std::uint64_t sum = 0;
  for (const CounterLine& line : Counters::kTable)
    if (line.part == part) sum += counters[line.id];
  return sum;
}

/// Replaces the device counters in `to`, known or absent, by those of `device`.
constexpr void set_device(Counters& to, const Counters& device) noexcept {
  for (const CounterLine& line : Counters::kTable)
    if (line.may_be_absent) to.set(line.id, device.known(line.id));
}

}  // namespace parshall
