// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/json/summary_json.hpp"

#include <nlohmann/json.hpp>

#include "base/escaped.hpp"
#include "base/mean_interval.hpp"
#include "base/or_null.hpp"

namespace parshall {
namespace {

using nlohmann::ordered_json;

/// Adds the counters of a part by name.
void put(ordered_json& json, const Counters& counters, CounterPart part) {
  for (const CounterLine& line : Counters::kTable)
    if (line.part == part) json[std::string(line.name)] = or_null(counters.known(line.id));
}

ordered_json accounting_json(const Accounting& accounting) {
  ordered_json json{{"offered", accounting.offered()}};
  for (const CounterLine& line : Counters::kTable) {
    const bool is_malformed = line.part == CounterPart::malformed;
    if (is_malformed || line.part <= CounterPart::share)
      (is_malformed ? json["malformed"] : json)[std::string(line.name)] = or_null(accounting.known(line.id));
  }
  json["balanced"] = accounting.balanced();
  return json;
}

ordered_json tasks_json(const ReportSummary& summary) {
  ordered_json json{{"windows", summary.windows},
                    {"windows_balanced", summary.windows_balanced},
                    {"events_not_taken", summary.events_not_taken},
                    {"tcp_segments_not_kept", summary.segments_not_kept},
                    {"events", ordered_json::object()}};
  for (const TaskSummary& task : summary.tasks) {
    json["events"][task.name] = {
        {"written", task.events}, {"left_out", task.dropped}, {"keys_left_out", task.keys_left_out}};
    if (!task.recall) continue;
    const RecallSummary& recall = *task.recall;
    json["recall"][task.name] = {{"threshold", recall.threshold},      {"windows", recall.windows},
                                 {"incomplete", recall.incomplete},    {"unknown", recall.unknown},
                                 {"below_threshold", recall.below},    {"mean", recall.mean},
                                 {"least_at_95_percent", recall.least}};
  }
  if (const auto& alarms = summary.alarms)
    json["alarms"] = {{"begun", alarms->begun}, {"open", alarms->open}, {"findings_left_out", alarms->left_out}};
  for (const StateSummary& state : summary.states)
    json["states"][state.name] = {{"packets", state.packets}, {"packets_not_reduced", state.kept}};
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

ordered_json adaptation_json(const AdaptationSummary& adaptation) {
  ordered_json json{{"mode", adaptation.mode},
                    {"seconds", adaptation.seconds},
                    {"seconds_reduced", adaptation.reduced_s},
                    {"windows", adaptation.windows},
                    {"windows_infeasible", adaptation.infeasible}};
  json["overhead_share"] = adaptation.overhead_share;
  json["longest_step_us"] = adaptation.longest_us;
  json["cost_factor"] = adaptation.factor;
  json["given_up"] = ordered_json::object();
  for (const GivenUp& task : adaptation.given_up)
    json["given_up"][task.task] = {{"seconds", task.seconds}, {"now", task.is_now}};
  return json;
}

ordered_json output_json(const OutputSummary& output) {
  ordered_json json{{"name", output.name},
                    {"whole_run", output.whole_run},
                    {"packets_in_columns", output.packets_in_columns},
                    {"left_out", output.left_out}};
  for (const auto& [name, sum] : {std::pair("offered", output.offered), std::pair("written", output.written),
                                  std::pair("unconfirmed", output.unconfirmed), std::pair("waiting", output.waiting()),
                                  std::pair("dropped", output.dropped)})
    json[name] = {{"records", sum.records}, {"packets", sum.packets}, {"findings", sum.findings}};
  return json;
}

}  // namespace

std::string summary_json(const ReportSummary& summary) {
  const LossRatio loss = loss_ratio(summary.total.lost(), summary.total.offered());
  ordered_json json = {{"source", summary.source},
                       {"report", summary.number},
                       {"final", summary.final},
                       {"elapsed_s", summary.elapsed_s}};
  put(json, summary.total, CounterPart::times);
  if (summary.total.counted() == 0) json["first_seen_ns"] = json["last_seen_ns"] = nullptr;
  json["packets"] = summary.total.counted();
  put(json, summary.total, CounterPart::totals);
  json["capacity_flows"] = summary.capacity;
  json["memory_bytes"] = summary.memory_bytes;
  json["loss_ratio"] = loss.ratio;
  json["loss_ratio_upper95"] = loss.upper95;
  json["expected_merges"] = summary.expected_merges;
  json["observed_merges"] = or_null(summary.observed_merges);
  json["accounting"] = accounting_json(summary.total);
  for (const InterfacePackets& interface : summary.interfaces)
    json["interfaces"][escaped(interface.name)] = interface.packets;
  if (!summary.remedy.empty()) json["remedy"] = summary.remedy;
  json["workers"] = ordered_json::array();
  json["damage"] = summary.damage ? ordered_json(*summary.damage) : ordered_json(nullptr);
  if (summary.names_not_read) json["names_not_read_flows"] = *summary.names_not_read;
  if (const auto& labels = summary.labels)
    json["labels"] = {{"connections", labels->connections},
                      {"labelled", labels->labelled},
                      {"given_up", labels->given_up},
                      {"packets", labels->packets},
                      {"dropped_packets", labels->dropped}};
  if (const auto& learning = summary.learning) {
    const ShareInterval agreement = share_interval(learning->agreed, learning->judged);
    json["learning"] = {{"learnt_flows", learning->learnt},  {"models", learning->models},
                        {"judged_flows", learning->judged},  {"agreed_flows", learning->agreed},
                        {"agreement_low95", agreement.low},  {"agreement_high95", agreement.high},
                        {"indistinct", learning->indistinct}};
    if (!learning->problem.empty()) json["learning"]["problem"] = learning->problem;
  }
  if (!summary.tasks.empty()) json["tasks"] = tasks_json(summary);
  if (summary.adaptation) json["adaptation"] = adaptation_json(*summary.adaptation);
  if (const auto& filter = summary.flood_filter) {
    ordered_json& told =
        json["flood_filter"] = {{"bytes", filter->bytes}, {"seconds", filter->seconds}, {"seconds_on", filter->on_s}};
    told["kept_out_packets"] = summary.total[Counter::kept_out_packets];
    put(told, summary.total, CounterPart::kept_out);
  }
  // Labels name hundreds of classes, of which few occur.
  for (const ClassSummary& flow_class : summary.classes) {
    if (summary.learning && flow_class.counts[ClassCounter::flows] == 0) continue;
    for (const ClassCounterLine& line : ClassCounts::kTable)
      json["classes"][flow_class.name][std::string(line.name)] = flow_class.counts[line.id];
  }
  if (const auto& classifiers = summary.classifiers)
    json["classifiers"] = {{"threads", classifiers->threads},
                           {"sent", classifiers->jobs.sent},
                           {"told", classifiers->jobs.told},
                           {"refused", classifiers->jobs.refused}};
  if (summary.forwarding) json["forwarding"] = forwarding_json(*summary.forwarding);
  for (const OutputSummary& output : summary.outputs) json["outputs"].push_back(output_json(output));
  for (const CostSummary& cost : summary.costs) json["cost_ns_per_packet"][cost.what] = cost.ns_per_packet;
  for (const WorkerSummary& worker : summary.workers)
    json["workers"].push_back({{"busy_share", worker.busy_share}, {"accounting", accounting_json(worker.accounting)}});
  for (const ReceiverSummary& receiver : summary.receivers)
    json["receivers"].push_back({{"busy_share", receiver.busy_share},
                                 {"handed_over", receiver.handed_over},
                                 {"accounting", accounting_json(receiver.accounting)}});
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace parshall
