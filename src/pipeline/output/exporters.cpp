// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/exporters.hpp"

#include <algorithm>

#include "pipeline/output/arrow/arrow.hpp"
#include "pipeline/output/files/csv.hpp"
#include "pipeline/output/files/recall_csv.hpp"
#include "pipeline/output/files/target_file.hpp"
#include "pipeline/output/ipfix/ipfix.hpp"
#include "pipeline/output/json/json_lines.hpp"
#include "pipeline/output/kafka/kafka.hpp"
#include "pipeline/output/parquet/parquet.hpp"
#include "pipeline/output/receivers/syslog.hpp"
#include "pipeline/output/receivers/webhook.hpp"

namespace parshall {
namespace {

constexpr ExporterTakes kRecords{.records = true}, kFlows{.records = true, .groups = false},
    kFindings{.findings = true}, kAlarms{.alarms = ExporterTakes::Alarms::all},
    kTold{.alarms = ExporterTakes::Alarms::told},
    kAll{.records = true, .findings = true, .alarms = ExporterTakes::Alarms::all};

constexpr ExporterEntry kExporters[] = {
    {"csv", "records, one line each", kRecords, make_csv_exporter},
    {"jsonl", "records, events, alarms and the summary, a JSON object a line", kAll, make_json_lines_exporter},
    {"ipfix", "records as IPFIX, to a file, udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT", kRecords, nullptr,
     open_ipfix_exporter, ipfix_needs},
    {"netflow9", "records as NetFlow version 9, to udp://HOST:PORT", kFlows, nullptr, open_netflow9_exporter,
     netflow9_needs},
    {"kafka", "records to HOST:PORT/TOPIC of Kafka", kFlows, nullptr, open_kafka_exporter, kafka_needs, nullptr,
     kafka_problem},
    {"parquet", "records as Parquet files in a folder", kRecords, nullptr, open_parquet_exporter, parquet_needs},
    {"arrow", "records as an Arrow IPC stream", kRecords, make_arrow_exporter},
    {"events", "events of tasks, a JSON object a line", kFindings, make_events_exporter},
    {"alarms", "alarms that began or ended, a JSON object a line", kAlarms, make_alarms_exporter},
    {"syslog", "alarms by syslog, to udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT", kTold, nullptr,
     open_syslog_exporter, syslog_needs},
    {"webhook", "alarms by HTTP, to http://HOST:PORT/PATH or https://HOST:PORT/PATH", kTold, nullptr,
     open_webhook_exporter, webhook_needs, webhook_shown, webhook_problem},
    {"recall", "recall of tasks, a CSV line for each window and task", kFindings, make_recall_exporter},
};

}  // namespace

std::span<const ExporterEntry> exporter_registry() noexcept { return kExporters; }

Result<std::unique_ptr<Exporter>> open_exporter(const ExporterEntry& entry, const std::string& target) {
  if (entry.open != nullptr) return entry.open(target);
  auto output = open_target(target);
  if (!output) return output.error();
  return entry.make(*std::move(output));
}

Result<OutputNeeds> needs_of(const ExporterEntry& entry, const std::string& target) {
  if (entry.needs != nullptr) return entry.needs(target);
  return OutputNeeds{.files = {target}};
}

const ExporterEntry* find_exporter(std::string_view name) noexcept {
  const auto found = std::ranges::find(kExporters, name, &ExporterEntry::name);
  return found == std::end(kExporters) ? nullptr : found;
}

}  // namespace parshall
