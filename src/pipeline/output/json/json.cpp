// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/json.hpp"

#include <fmt/format.h>

#include "pipeline/output/json/alarm_json.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "pipeline/output/json/flow_json.hpp"
#include "pipeline/output/json/summary_json.hpp"

namespace parshall {
namespace {

/// Writes one document per report; of several, each is one line.
class JsonSink final : public ReportSink {
 public:
  explicit JsonSink(bool lines) : lines_(lines) {}

  void write(const Report& report, Output& output) override {
    const std::string_view line_end = lines_ ? "" : "\n";
    output.write(
        fmt::format("{{\"summary\": {}, {}\"{}\": [", summary_json(report.summary), line_end, report.rows.many));
    const FlowJson flows(report.columns);
    bool first = true;
    report.flows([&](const ReportFlow& flow) {
      output.write(first ? line_end : lines_ ? std::string_view(",") : std::string_view(",\n"));
      first = false;
      output.commit(flows.put(output.reserve(flows.longest()), flow));
    });
    output.write(fmt::format("], {}\"events\": [", line_end));
    for (const Event& event : report.events) {
      output.write(&event == report.events.data() ? line_end : fmt::format(",{}", line_end));
      output.write(event_json(event));
    }
    output.write("]");
    if (const auto& alarms = report.summary.alarms) {
      output.write(fmt::format(", {}\"alarms\": [", line_end));
      for (const Alarm& alarm : alarms->alarms) {
        output.write(&alarm == alarms->alarms.data() ? line_end : fmt::format(",{}", line_end));
        output.write(alarm_json(alarm));
      }
      output.write("]");
    }
    if (report.events_left_out != 0) output.write(fmt::format(", \"events_left_out\": {}", report.events_left_out));
    output.write("}\n");
    output.flush();
  }

 private:
  bool lines_;
};

}  // namespace

std::unique_ptr<ReportSink> make_json_sink(const SinkOptions& options) {
  return std::make_unique<JsonSink>(options.several);
}

}  // namespace parshall
