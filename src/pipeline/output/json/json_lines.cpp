// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/json_lines.hpp"

#include <optional>

#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/json/flow_json.hpp"
#include "pipeline/output/json/summary_json.hpp"

namespace parshall {
namespace {

void put_flow(const FlowJson& json, const ReportFlow& flow, Output& output) {
  constexpr std::string_view kBefore = "{\"flow\": ", kAfter = "}\n";
  char* at = output.reserve(kBefore.size() + json.longest() + kAfter.size());
  at = json.put(std::ranges::copy(kBefore, at).out, flow);
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
  void records(std::span<const ReportFlow> batch) override {
    for (const ReportFlow& flow : batch) put_flow(*flows_, flow, output());
  }
  void event(const Event& event) override { put_line("event", event_json(event), output()); }
  void accounting(const ReportSummary& summary, const OutputSummary&) override {
    put_line("summary", summary_json(summary), output());
  }

 private:
  std::optional<FlowJson> flows_;
};

class JsonLinesSink final : public ReportSink {
 public:
  void write(const Report& report, Output& output) override {
    const FlowJson flows(report.columns);
    report.flows([&](const ReportFlow& flow) { put_flow(flows, flow, output); });
    for (const Event& event : report.events) put_line("event", event_json(event), output);
    put_line("summary", summary_json(report.summary), output);
    output.flush();
  }
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

}  // namespace parshall
