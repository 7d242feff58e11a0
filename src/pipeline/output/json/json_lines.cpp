// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/json_lines.hpp"

#include <fmt/format.h>

#include <optional>

#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/json/flow_json.hpp"
#include "pipeline/output/json/summary_json.hpp"

namespace parshall {
namespace {

/// Returns what comes before a row: {"flow":
std::string before_row(RowNames rows) { return fmt::format("{{\"{}\": ", rows.one); }

void put_flow(const FlowJson& json, std::string_view before, const ReportFlow& flow, Output& output) {
  constexpr std::string_view kAfter = "}\n";
  char* at = output.reserve(before.size() + json.longest() + kAfter.size());
  at = json.put(std::ranges::copy(before, at).out, flow);
  output.commit(std::ranges::copy(kAfter, at).out);
}

void put_line(std::string_view name, const std::string& object, Output& output) {
  output.write("{\"");
  output.write(name);
  output.write("\": ");
  output.write(object);
  output.write("}\n");
}

class JsonLinesExporter final : public FileExporter {
 public:
  using FileExporter::FileExporter;

  void begin(std::span<const ColumnInfo> columns) override { flows_.emplace(columns); }
  void name_rows(RowNames names) override { before_row_ = before_row(names); }
  void records(std::span<const ReportFlow> batch) override {
    for (const ReportFlow& flow : batch) put_flow(*flows_, before_row_, flow, output());
  }
  void event(const Event& event) override { put_line("event", event_json(event), output()); }
  void alarm(const Alarm& alarm) override { put_line("alarm", alarm_json(alarm), output()); }
  void accounting(const ReportSummary& summary, const OutputSummary&) override {
    put_line("summary", summary_json(summary), output());
  }

 private:
  std::optional<FlowJson> flows_;
  std::string before_row_ = before_row({});
};

class JsonLinesSink final : public ReportSink {
 public:
  void write(const Report& report, Output& output) override {
    const FlowJson flows(report.columns);
    const std::string before = before_row(report.rows);
    report.flows([&](const ReportFlow& flow) { put_flow(flows, before, flow, output); });
    for (const Event& event : report.events) put_line("event", event_json(event), output);
    if (report.summary.alarms)
      for (const Alarm& alarm : report.summary.alarms->alarms) put_line("alarm", alarm_json(alarm), output);
    put_line("summary", summary_json(report.summary), output);
    output.flush();
  }
};

class AlarmsExporter final : public FileExporter {
 public:
  using FileExporter::FileExporter;
  void alarm(const Alarm& alarm) override { output().write(alarm_json(alarm) + "\n"); }
};

class EventsExporter final : public FileExporter {
 public:
  using FileExporter::FileExporter;
  void event(const Event& event) override { output().write(event_json(event) + "\n"); }
};

}  // namespace

std::unique_ptr<Exporter> make_json_lines_exporter(std::unique_ptr<Output> output) {
  return std::make_unique<JsonLinesExporter>(std::move(output));
}

std::unique_ptr<ReportSink> make_json_lines_sink(const SinkOptions&) { return std::make_unique<JsonLinesSink>(); }

std::unique_ptr<Exporter> make_events_exporter(std::unique_ptr<Output> output) {
  return std::make_unique<EventsExporter>(std::move(output));
}

std::unique_ptr<Exporter> make_alarms_exporter(std::unique_ptr<Output> output) {
  return std::make_unique<AlarmsExporter>(std::move(output));
}

}  // namespace parshall
