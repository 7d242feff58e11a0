// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/text/summary_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "base/counted.hpp"
#include "base/escaped.hpp"
#include "base/mean_interval.hpp"
#include "pipeline/output/format.hpp"

namespace parshall {
namespace {

/// Returns the memory of the whole process, and the most that its flows may take.
std::string memory_text(const ReportSummary& summary) {
  const auto megabytes = [](std::uint64_t bytes) { return (bytes + (1 << 20) - 1) >> 20; };
  const std::string limit = fmt::format("flows at most {} MB", megabytes(summary.memory_bytes));
  return summary.resident_bytes == 0 ? limit : fmt::format("{} MB, {}", megabytes(summary.resident_bytes), limit);
}

std::string identity_line(const ReportSummary& summary) {
  if (summary.identity == Identity::exact) return {};
  std::string line =
      fmt::format("identity   {}: {:.3g} flows expected to be merged with another flow",
                  summary.identity == Identity::fingerprint ? "fingerprint" : "nic-hash", summary.expected_merges);
  if (summary.observed_merges) line += fmt::format(", {} observed", *summary.observed_merges);
  return line + "\n";
}

std::string interface_lines(std::span<const InterfacePackets> interfaces) {
  std::string lines;
  for (const InterfacePackets& interface : interfaces)
    lines += fmt::format("interface  {}: {}{}\n", escaped(interface.name), counted(interface.packets, "packet"),
                         interface.is_gone ? ", removed during the run" : "");
  return lines + "           a packet that passed two of these interfaces is counted twice\n";
}

/// Returns the counts of a queue's device, where they differ from the packets polled.
std::string device_text(const Accounting& account, std::uint64_t polled) {
  const auto received = account.known(Counter::nic_received);
  if (!received) return {};
  std::string text = fmt::format(", device reports {} received", *received);
  if (*received != polled)
    text += fmt::format(" ({:+} to the {} polled)", static_cast<std::int64_t>(*received - polled), polled);
  for (const CounterLine& line : Counters::kTable)
    if (const std::uint64_t lost = account[line.id]; line.part == CounterPart::device_lost && lost != 0)
      text += fmt::format(", {} {}", lost, line.name);
  return text;
}

std::string worker_lines(const ReportSummary& summary) {
  std::string lines;
  for (std::size_t i = 0; i < summary.receivers.size(); ++i) {
    const ReceiverSummary& receiver = summary.receivers[i];
    const std::uint64_t polled = receiver.accounting[Counter::polled] + receiver.handed_over;
    lines +=
        fmt::format("receiver {} {}, {} of them handed to workers, busy {:.0f} %{}\n", i, counted(polled, "packet"),
                    receiver.handed_over, 100 * receiver.busy_share, device_text(receiver.accounting, polled));
  }
  for (std::size_t i = 0; i < summary.workers.size(); ++i) {
    const WorkerSummary& worker = summary.workers[i];
    lines += fmt::format("worker {}   {}, busy {:.0f} %{}\n", i, counted(worker.accounting.counted(), "packet"),
                         100 * worker.busy_share, device_text(worker.accounting, worker.accounting[Counter::polled]));
  }
  return lines;
}

std::string names_line(const ReportSummary& summary) {
  if (summary.names_not_read.value_or(0) == 0) return {};
  return fmt::format("names      {} without a name, since too many names were incomplete or took long at once\n",
                     counted(*summary.names_not_read, "flow"));
}

std::string labels_line(const ReportSummary& summary) {
  if (!summary.labels) return {};
  const LabelCounts& labels = *summary.labels;
  std::string dropped =
      labels.dropped == 0 ? "" : fmt::format("; {} came too fast for it", counted(labels.dropped, "packet"));
  if (labels.given_up != 0)
    dropped += fmt::format("; {} left for lack of room", counted(labels.given_up, "connection"));
  return fmt::format("labels     {} inspected, {} of them with an application{}\n",
                     counted(labels.connections, "connection"), labels.labelled, dropped);
}

/// Returns how far the classes that are learnt agree with the labels.
std::string learning_lines(const ReportSummary& summary) {
  if (!summary.learning) return {};
  const LearningState& state = *summary.learning;
  std::string text = fmt::format("learning   {} learnt, {} trained", counted(state.learnt, "labelled flow"),
                                 counted(state.models, "model"));
  if (state.judged != 0) {
    const ShareInterval agreement = share_interval(state.agreed, state.judged);
    text += fmt::format("; of the latest {}, {:.1f} % have the class of their label ({:.1f} to {:.1f} %)",
                        counted(state.judged, "flow"),
                        100 * static_cast<double>(state.agreed) / static_cast<double>(state.judged),
                        100 * agreement.low, 100 * agreement.high);
  }
  text += '\n';
  if (!state.indistinct.empty())
    text += fmt::format("           mostly not recognized: {}\n", fmt::join(state.indistinct, ", "));
  if (!state.problem.empty()) text += fmt::format("           {}\n", escaped(state.problem));
  return text;
}

/// Returns the account of each output. The report's own is omitted if it has everything.
std::string output_lines(const ReportSummary& summary) {
  std::string lines;
  for (const OutputSummary& output : summary.outputs) {
    const OutputSummary::Sum waiting = output.waiting();
    if (output.name == kReportOutput && output.dropped == OutputSummary::Sum()) continue;
    const bool has_findings = output.offered.findings != 0 || !output.takes_records;
    if (output.takes_records)
      lines += fmt::format("output     {}: {} ({}) = {} ({}) written{} + {} ({}) waiting + {} ({}) dropped\n",
                           escaped(output.name), counted(output.offered.records, "record"),
                           counted(output.offered.packets, "packet"), output.written.records, output.written.packets,
                           unconfirmed_text(output.unconfirmed), waiting.records, waiting.packets,
                           output.dropped.records, output.dropped.packets);
    if (!output.left_out.empty())
      lines +=
          fmt::format("output     {}: its format lacks {}\n", escaped(output.name), fmt::join(output.left_out, ", "));
    if (has_findings)
      lines += fmt::format("output     {}: {} of tasks = {} written{} + {} waiting + {} dropped\n",
                           escaped(output.name), counted(output.offered.findings, "finding"), output.written.findings,
                           unconfirmed_findings_text(output.unconfirmed), waiting.findings, output.dropped.findings);
  }
  return lines;
}

/// Returns what was done about overload, and what recall that left.
std::string adaptation_lines(const ReportSummary& summary) {
  if (!summary.adaptation) return {};
  const AdaptationSummary& adaptation = *summary.adaptation;
  std::string lines = fmt::format("overload   {}: tasks left out flows in {:.3g} of {:.3g} s", adaptation.mode,
                                  adaptation.reduced_s, adaptation.seconds);
  if (adaptation.infeasible != 0)
    lines += fmt::format(", and there was no time for all packets in {} of {}", adaptation.infeasible,
                         counted(adaptation.windows, "window"));
  lines += fmt::format("; decisions took {:.2g} % of the time, {:.3g} us at most\n", 100 * adaptation.overhead_share,
                       adaptation.longest_us);
  for (const GivenUp& task : adaptation.given_up)
    lines += fmt::format("given up   {}: in {:.3g} of {:.3g} s{}\n", task.task, task.seconds, adaptation.seconds,
                         task.is_now ? ", including now" : "");
  for (const TaskSummary& task : summary.tasks) {
    if (!task.recall) continue;
    const RecallSummary& recall = *task.recall;
    lines += fmt::format("recall     {}: {:.3g} on average, >= {:.3g} (95 %) in the worst of {}; below {:.3g} in {}",
                         task.name, recall.mean, recall.least, counted(recall.windows, "window"), recall.threshold,
                         recall.below);
    if (recall.unknown != 0) lines += fmt::format(", unknown in {}", recall.unknown);
    lines += "\n";
  }
  return lines;
}

std::string class_lines(const ReportSummary& summary) {
  const double all = static_cast<double>(std::max<std::uint64_t>(1, summary.total.counted()));
  std::string text;
  for (const ClassSummary* const one : by_packets(summary))
    text += fmt::format("class      {}: {}, {} ({:.3g} %), {}\n", one->name,
                        counted(one->counts[ClassCounter::flows], "flow"),
                        counted(one->counts[ClassCounter::packets], "packet"),
                        100 * static_cast<double>(one->counts[ClassCounter::packets]) / all,
                        counted(one->counts[ClassCounter::wire_bytes], "wire byte"));
  if (const auto& classifiers = summary.classifiers)
    text += fmt::format("classifier {}: classified {} of {} sent to them before this report; their queue was full {}\n",
                        counted(classifiers->threads, "thread"), classifiers->jobs.told,
                        counted(classifiers->jobs.sent, "flow"), counted(classifiers->jobs.refused, "time"));
  return text;
}

}  // namespace

std::string unconfirmed_findings_text(const OutputSummary::Sum& sum) {
  return sum.findings == 0 ? "" : fmt::format(" + {} unconfirmed", sum.findings);
}

std::string unconfirmed_text(const OutputSummary::Sum& sum) {
  return sum.records == 0 ? "" : fmt::format(" + {} ({}) unconfirmed", sum.records, sum.packets);
}

std::string accounting_line(const Accounting& accounting) {
  std::string terms, unknown;
  const bool has_device = std::ranges::any_of(Counters::kTable, [&](const CounterLine& line) {
    return line.may_be_absent && line.id != Counter::nic_missed && accounting.knows(line.id);
  });
  for (const CounterLine& line : Counters::kTable) {
    const bool is_term = line.part == CounterPart::outcome || line.part == CounterPart::malformed;
    const bool is_loss = line.part == CounterPart::device_lost;  // a capture may state losses before it, too
    if (is_loss && has_device && !accounting.knows(line.id))
      unknown += fmt::format("{} {}", unknown.empty() ? "; the device does not report" : ",", line.name);
    else if (is_loss && (has_device || accounting[line.id] != 0))
      terms += fmt::format(" + {} {}", accounting[line.id], line.name);
    else if (is_term && (accounting[line.id] != 0 || line.id == Counter::counted))
      terms += fmt::format(" + {} {}", accounting[line.id], line.name);
  }
  for (const CounterLine& line : Counters::kTable) {
    const bool is_in_flows = line.id == Counter::live_flow_packets || line.id == Counter::ended_record_packets;
    if (line.part == CounterPart::share && !is_in_flows && accounting[line.id] != 0)
      terms += fmt::format(", of which {} {}", accounting[line.id], line.name.substr(0, line.name.rfind("_packets")));
  }
  return fmt::format("{} offered = {}{}{}", accounting.offered(), terms.substr(3), unknown,
                     accounting.balanced() ? "" : "  (DOES NOT BALANCE: please report this as a bug)");
}

std::string forwarding_line(const ForwardingSummary& forwarding) {
  return fmt::format("{} offered = {} sent + {} too long + {} refused; {} marked", forwarding.offered, forwarding.sent,
                     forwarding.too_long, forwarding.refused, forwarding.marked());
}

std::vector<const ClassSummary*> by_packets(const ReportSummary& summary) {
  std::vector<const ClassSummary*> classes;
  for (const ClassSummary& one : summary.classes)
    if (one.counts[ClassCounter::flows] != 0) classes.push_back(&one);
  std::ranges::stable_sort(classes, std::greater(),
                           [](const ClassSummary* one) { return one->counts[ClassCounter::packets]; });
  return classes;
}

std::string summary_text(const ReportSummary& summary) {
  const Accounting& total = summary.total;
  const double packet_s = static_cast<double>(summary.last_ns() - summary.first_ns()) * 1e-9;
  std::string text = fmt::format("source     {}\n", summary.source);
  text += fmt::format("packets    {} ({}, {})", total.counted(), counted(total[Counter::wire_bytes], "wire byte"),
                      counted(total[Counter::ip_bytes], "ip byte"));
  if (summary.last_ns() > summary.first_ns())
    text += fmt::format(" over {:.6g} s of packet time: {}, {}", packet_s,
                        scaled_text(static_cast<double>(summary.total.counted()) / packet_s, "pps"),
                        scaled_text(8 * static_cast<double>(total[Counter::wire_bytes]) / packet_s, "bit/s"));
  text += fmt::format("\nflows      {} live, {} ended ({} evicted), capacity {}, memory {}\n",
                      total[Counter::live_flows], total[Counter::ended_records], total[Counter::evicted_records],
                      summary.capacity, memory_text(summary));
  if (const std::uint64_t dropped = total[Counter::dropped_records]; dropped != 0)
    text += fmt::format(
        "dropped    {} of ended flows, {}: counted, but not reported because the spool was full (--spool)\n",
        counted(dropped, "record"), counted(total[Counter::dropped_record_packets], "packet"));
  text += identity_line(summary);
  text += names_line(summary);
  text += labels_line(summary);
  text += learning_lines(summary);
  text += "accounting " + accounting_line(summary.total) + "\n";
  if (!summary.interfaces.empty()) text += interface_lines(summary.interfaces);
  if (!summary.remedy.empty())
    text += fmt::format("missed     {} packets dropped because the receive queue was full: {}\n",
                        total[Counter::nic_missed], summary.remedy);
  if (total[Counter::joined] != 0)
    text += fmt::format(
        "joined     {} longer than the link's MTU: this host joined several segments (GRO, TSO); to see those on the "
        "wire: ethtool -K INTERFACE gro off gso off tso off\n",
        counted(total[Counter::joined], "packet"));
  const LossRatio loss = loss_ratio(summary.total.lost(), summary.total.offered());
  text += fmt::format("loss ratio {:.3g}, with 95 % confidence below {:.3g}\n", loss.ratio, loss.upper95);
  text += fmt::format("time       {:.3f} s", summary.elapsed_s);
  if (summary.elapsed_s > 0)
    text += fmt::format(", {}",
                        scaled_text(static_cast<double>(summary.total.counted()) / summary.elapsed_s, "pps processed"));
  text += "\n";
  if (summary.workers.size() > 1 || !summary.receivers.empty() ||
      (!summary.workers.empty() && summary.workers[0].accounting.knows(Counter::nic_received)))
    text += worker_lines(summary);
  text += output_lines(summary);
  for (const StateSummary& state : summary.states)
    text += fmt::format(
        "state      {}: {}{}\n", escaped(state.name), counted(state.packets, "packet"),
        state.packets == state.kept
            ? ""
            : fmt::format(", {:.3g} % of them of reduced flows",
                          100 * (1 - static_cast<double>(state.kept) / static_cast<double>(state.packets))));
  text += adaptation_lines(summary);
  if (const auto& filter = summary.flood_filter)
    text += fmt::format("flood      filter active in {:.3g} of {:.3g} s: {} not in the table\n", filter->on_s,
                        filter->seconds, counted(total[Counter::kept_out_packets], "packet"));
  text += class_lines(summary);
  if (summary.forwarding) text += "forwarded  " + forwarding_line(*summary.forwarding) + "\n";
  for (const CostSummary& cost : summary.costs)
    text += fmt::format("cost       {:>8.2f} ns per packet: {}\n", cost.ns_per_packet, cost.what);
  if (summary.damage) text += "damage     " + *summary.damage + "\n";
  return text;
}

}  // namespace parshall
