// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "pipeline/output/text/report.hpp"

namespace parshall::live {

/// A flow between 10.0.x.y and 192.0.2.1, port 443.
inline FlowRecord flow(std::uint32_t number, std::uint64_t packets, std::uint8_t protocol = 6) {
  FlowRecord record;
  record.key.ip_version = 4;
  record.key.protocol = protocol;
  record.key.address = {10, 0, static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number), 192, 0, 2, 1};
  record.key.src_port_bytes = {0x10, static_cast<std::uint8_t>(number >> 16)};
  record.key.dst_port_bytes = {0x01, 0xBB};
  record.packets = packets;
  record.ip_bytes = 46 * packets;
  record.wire_bytes = 60 * packets;
  record.first_ns = 1;
  return record;
}

/// A row of a report: what the record says, then the values of the columns that were asked for.
inline std::vector<Value> values_of(const FlowRecord& record, std::span<const Value> asked = {}) {
  std::vector<Value> values(kBaseColumns);
  read_base_columns(record, std::span(values).first<kBaseColumns>());
  values.insert(values.end(), asked.begin(), asked.end());
  return values;
}

inline Schema schema_of(const std::vector<std::string>& names) { return *Schema::make(names, {}); }

/// A report of these flows, packet time `last_s`; `values` are the same for every flow.
struct MadeReport {
  std::vector<FlowRecord> flows;
  Schema columns;
  std::vector<Value> values;  ///< of the columns that were asked for

  Report report(std::uint64_t number, double last_s, bool final = false) const {
    Report report{.summary = {}, .columns = columns.columns(), .flows = nullptr};
    ReportSummary& summary = report.summary;
    summary.source = "made";
    summary.number = number;
    summary.final = final;
    summary.capacity = 1000;
    Accounting& total = summary.total;
    for (const FlowRecord& flow : flows) {
      using enum Counter;
      for (const Counter counter : {polled, counted, arrived, live_flow_packets}) total.add(counter, flow.packets);
      total.add(wire_bytes, flow.wire_bytes);
      total.add(live_flows, 1);
    }
    total.set(Counter::last_seen_ns, static_cast<std::uint64_t>(last_s * 1e9));
    summary.workers.resize(1);
    report.flows = [this](const std::function<void(const ReportFlow&)>& visit) {
      for (const FlowRecord& flow : flows) visit({flow, values_of(flow, values)});
    };
    return report;
  }
};

}  // namespace parshall::live
