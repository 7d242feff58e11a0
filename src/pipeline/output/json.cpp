// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "pipeline/output/event_json.hpp"
#include "pipeline/output/flow_json.hpp"
#include "pipeline/output/sink.hpp"

namespace parshall {
namespace {

using nlohmann::ordered_json;

/// A counter that the device cannot give is null.
ordered_json optional_json(const std::optional<std::uint64_t>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

ordered_json accounting_json(const Accounting& accounting) {
  ordered_json malformed;
  for (std::size_t v = static_cast<std::size_t>(Verdict::not_ip) + 1; v < kVerdicts; ++v)
    malformed[std::string(verdict_name(static_cast<Verdict>(v)))] = accounting.front.verdict[v];
  return {{"offered", accounting.offered()},
          {"nic_received", optional_json(accounting.device.received)},
          {"nic_missed", optional_json(accounting.device.nic_missed)},
          {"nic_error", optional_json(accounting.device.nic_error)},
          {"no_mbuf", optional_json(accounting.device.no_mbuf)},
          {"joined", optional_json(accounting.device.joined)},
          {"ring_full", accounting.ring_full},
          {"filtered", accounting.front.filtered},
          {"not_ip", accounting.not_ip()},
          {"malformed", malformed},
          {"counted", accounting.counted()},
          {"live_flow_packets", accounting.flows.live_packets},
          {"ended_record_packets", accounting.flows.ended_packets},
          {"kept_out_packets", accounting.flows.kept_out.packets},
          {"shed_packets", accounting.flows.shed.packets},
          {"balanced", accounting.balanced()}};
}

ordered_json tasks_json(const ReportSummary& summary) {
  ordered_json json{{"windows", summary.windows},
                    {"windows_balanced", summary.windows_balanced},
                    {"events_not_taken", summary.events_not_taken},
                    {"tcp_segments_not_kept", summary.segments_not_kept},
                    {"events", ordered_json::object()}};
  for (const TaskSummary& task : summary.tasks) {
    json["events"][task.name] = {{"written", task.events}, {"left_out", task.dropped}};
    if (!task.recall) continue;
    const RecallSummary& recall = *task.recall;
    json["recall"][task.name] = {{"threshold", recall.threshold},      {"windows", recall.windows},
                                 {"incomplete", recall.incomplete},    {"unknown", recall.unknown},
                                 {"below_threshold", recall.below},    {"mean", recall.mean},
                                 {"least_at_95_percent", recall.least}};
  }
  for (const StateSummary& state : summary.states)
    json["states"][state.name] = {{"packets", state.packets}, {"packets_not_given_way", state.kept}};
  return json;
}

ordered_json forwarding_json(const ForwardingSummary& forwarding) {
  ordered_json json{{"offered", forwarding.offered},     {"sent", forwarding.sent},
                    {"not_sent", forwarding.not_sent()}, {"too_long", forwarding.too_long},
                    {"refused", forwarding.refused},     {"marked", forwarding.marked()},
                    {"marks", ordered_json::object()}};
  for (const MarkSummary& mark : forwarding.marks)
    json["marks"][mark.class_name] = {{"dscp", mark.dscp ? ordered_json(*mark.dscp) : ordered_json(nullptr)},
                                      {"packets", mark.packets}};
  return json;
}

ordered_json summary_json(const ReportSummary& summary) {
  const LossRatio loss = loss_ratio(summary.total.lost(), summary.total.offered());
  ordered_json json = {{"source", summary.source},
                       {"report", summary.number},
                       {"final", summary.final},
                       {"elapsed_s", summary.elapsed_s},
                       {"first_seen_ns", summary.first_ns},
                       {"last_seen_ns", summary.last_ns},
                       {"packets", summary.total.counted()},
                       {"ip_bytes", summary.total.flows.ip_bytes},
                       {"wire_bytes", summary.total.flows.wire_bytes},
                       {"live_flows", summary.total.flows.live_flows},
                       {"ended_records", summary.total.flows.ended_records},
                       {"evicted_records", summary.total.flows.evicted_records},
                       {"dropped_records", summary.records_dropped.records},
                       {"dropped_record_packets", summary.records_dropped.packets},
                       {"capacity_flows", summary.capacity},
                       {"memory_bytes", summary.memory_bytes},
                       {"loss_ratio", loss.ratio},
                       {"loss_ratio_upper95", loss.upper95},
                       {"expected_merges", summary.expected_merges},
                       {"observed_merges", optional_json(summary.observed_merges)},
                       {"accounting", accounting_json(summary.total)},
                       {"workers", ordered_json::array()},
                       {"damage", summary.damage ? ordered_json(*summary.damage) : ordered_json(nullptr)}};
  if (!summary.tasks.empty()) json["tasks"] = tasks_json(summary);
  if (const auto& adaptation = summary.adaptation)
    json["adaptation"] = {{"mode", adaptation->mode},
                          {"seconds", adaptation->seconds},
                          {"seconds_shifted", adaptation->shifted_s},
                          {"windows", adaptation->windows},
                          {"windows_infeasible", adaptation->infeasible},
                          {"seconds_shed", adaptation->shed_s},
                          {"shed_packets", summary.total.flows.shed.packets},
                          {"shed_ip_bytes", summary.total.flows.shed.ip_bytes},
                          {"shed_wire_bytes", summary.total.flows.shed.wire_bytes},
                          {"sampled_one_in", adaptation->one_in},
                          {"overhead_share", adaptation->overhead_share},
                          {"longest_step_us", adaptation->longest_us},
                          {"cost_residual", adaptation->residual}};
  if (const auto& filter = summary.flood_filter)
    json["flood_filter"] = {{"bytes", filter->bytes},
                            {"seconds", filter->seconds},
                            {"seconds_on", filter->on_s},
                            {"kept_out_packets", summary.total.flows.kept_out.packets},
                            {"kept_out_ip_bytes", summary.total.flows.kept_out.ip_bytes},
                            {"kept_out_wire_bytes", summary.total.flows.kept_out.wire_bytes}};
  for (const ClassSummary& flow_class : summary.classes)
    json["classes"][flow_class.name] = {{"flows", flow_class.counts.records},
                                        {"packets", flow_class.counts.packets},
                                        {"ip_bytes", flow_class.counts.ip_bytes},
                                        {"wire_bytes", flow_class.counts.wire_bytes}};
  if (const auto& classifiers = summary.classifiers)
    json["classifiers"] = {{"threads", classifiers->threads},
                           {"sent", classifiers->jobs.sent},
                           {"told", classifiers->jobs.told},
                           {"refused", classifiers->jobs.refused}};
  if (summary.forwarding) json["forwarding"] = forwarding_json(*summary.forwarding);
  for (const CostSummary& cost : summary.costs) json["cost_ns_per_packet"][cost.what] = cost.ns_per_packet;
  for (const WorkerSummary& worker : summary.workers)
    json["workers"].push_back({{"busy_share", worker.busy_share}, {"accounting", accounting_json(worker.accounting)}});
  return json;
}

/// One document; with several reports, each is one line.
class JsonSink final : public ReportSink {
 public:
  explicit JsonSink(bool lines) : lines_(lines) {}

  void write(const Report& report, Output& output) override {
    const std::string_view line_end = lines_ ? "" : "\n";
    output.write(fmt::format("{{\"summary\": {}, {}\"flows\": [",
                             summary_json(report.summary).dump(-1, ' ', false, ordered_json::error_handler_t::replace),
                             line_end));
    const FlowJson flows(report.columns);
    bool first = true;
    report.flows([&](const ReportFlow& flow) {
      output.write(first ? line_end : lines_ ? std::string_view(",") : std::string_view(",\n"));
      first = false;
      output.commit(flows.put(output.reserve(flows.longest()), flow));
    });
    output.write(fmt::format("], {}\"events\": [", line_end));
    for (const Event& event : report.events) {
      output.write(&event == report.events.data() ? line_end
                   : lines_                       ? std::string_view(",")
                                                  : std::string_view(",\n"));
      output.write(event_json(event));
    }
    output.write(report.events_left_out == 0 ? "]}\n"
                                             : fmt::format("], \"events_left_out\": {}}}\n", report.events_left_out));
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
