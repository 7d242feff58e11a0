// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/counted.hpp"
#include "pipeline/output/format.hpp"
#include "tester/report_values.hpp"
#include "tester/report_writers.hpp"

namespace parshall::tester {
namespace {

constexpr std::size_t kFlowsShown = 10;

std::string time_text(const std::optional<double>& ns) {
  if (!ns) return "-";
  if (*ns < 1e3) return fmt::format("{:.0f} ns", *ns);
  if (*ns < 1e6) return fmt::format("{:.4g} us", *ns / 1e3);
  return *ns < 1e9 ? fmt::format("{:.4g} ms", *ns / 1e6) : fmt::format("{:.4g} s", *ns / 1e9);
}

std::string time_text(const std::optional<std::uint64_t>& ns) {
  return time_text(ns ? std::optional(static_cast<double>(*ns)) : std::nullopt);
}

std::string ratio_text(const std::optional<Ratio>& ratio) {
  if (!ratio) return "-";
  return fmt::format("{:.4g} % ({:.4g} .. {:.4g} %)", 100 * ratio->value, 100 * ratio->low, 100 * ratio->high);
}

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

std::string rate_text(const std::optional<double>& rate, const char* unit) {
  return rate ? scaled_text(*rate, unit) : "-";
}

std::string flow_text(const FlowKey& key) {
  if (!key.present()) return "";
  const auto end = [](std::span<const std::uint8_t> address, unsigned port) {
    return address.size() == 4 ? fmt::format("{}:{}", address_text(address), port)
                               : fmt::format("[{}]:{}", address_text(address), port);
  };
  const std::string protocol = key.protocol == 17 ? "UDP" : key.protocol == 6 ? "TCP" : std::to_string(key.protocol);
  return fmt::format("{} {} > {}", protocol, end(key.src_address(), key.src_port()),
                     end(key.dst_address(), key.dst_port()));
}

void write_frames(std::string& to, const TestReport& report) {
  const FlowResult& total = report.total;
  const Ratios ratios = ratios_of(total, report.confidence);
  fmt::format_to(std::back_inserter(to), "flows       {}, {} with loss, {} without any received frame\n",
                 report.rows.size(), report.flows_with_loss, report.silent_flows);
  fmt::format_to(std::back_inserter(to), "sent        {} in {}, {}, {} on the line\n", counted(total.sent, "frame"),
                 time_text(std::optional(report.sending_ns)), rate_text(report.rates.sent_pps, "pps"),
                 rate_text(report.rates.sent_line_bps, "bit/s"));
  fmt::format_to(std::back_inserter(to), "received    {}, {}, {} on the line\n", counted(total.received, "frame"),
                 rate_text(report.rates.received_pps, "pps"), rate_text(report.rates.received_line_bps, "bit/s"));
  fmt::format_to(std::back_inserter(to), "lost        {}: {}, in {}; longest: {}, {}\n", total.losses.frames,
                 ratio_text(ratios.lost), counted(total.losses.periods, "period"),
                 counted(total.losses.longest_frames, "frame"), time_text(total.losses.longest_ns));
  fmt::format_to(std::back_inserter(to), "duplicates  {}: {}\n", total.duplicates, ratio_text(ratios.duplicated));
  fmt::format_to(std::back_inserter(to), "corrupted   {}: {}, and {} that belong to no flow\n", total.corrupted,
                 ratio_text(ratios.corrupted), report.frames.corrupted_of_no_flow);
  fmt::format_to(std::back_inserter(to),
                 "reordered   {}: {} (RFC 4737), extent {} on average, {}{} at most; {} frames by 3 or more\n",
                 total.reordered, ratio_text(ratios.reordered), number_text(total.extent_mean()),
                 total.extents_at_least > 0 ? "at least " : "", total.extent_largest, total.reordered_by_3);
  if (total.reordered > 0) to += "            these frames arrived after a frame of their flow that was sent later\n";
  fmt::format_to(std::back_inserter(to), "overtaking  {}: {}\n", total.overtaking, ratio_text(ratios.overtaking));
  if (total.reordered > 0)
    to +=
        "            these frames arrived before a frame of their flow that was sent earlier; frames of other flows do "
        "not count\n";
  fmt::format_to(std::back_inserter(to),
                 "            in brackets: {} % confidence intervals, assuming that frames are independent\n",
                 report.confidence == Confidence::percent_95 ? 95 : 99);
  if (total.too_late > 0)
    fmt::format_to(std::back_inserter(to), "too late    {} to distinguish lost frames from duplicates\n",
                   total.too_late);
  fmt::format_to(std::back_inserter(to), "others      {} foreign, {} truncated, {} inconsistent with what was sent\n",
                 report.frames.foreign, report.frames.cut, report.frames.contradictory);
  fmt::format_to(std::back_inserter(to), "fairness    {} of rates, {} of shares received of each flow (Jain)\n",
                 number_text(report.fairness_of_rates), number_text(report.fairness_of_ratios));
}

/// Reports where the sender did not do what was asked: frames left out, and lateness.
void write_shortfall(std::string& to, const TestAbout& about) {
  if (about.is_as_asked()) return;
  const std::uint64_t taken = about.sending.taken, missing = about.not_sent();
  to += "not as requested: ";
  if (missing > 0)
    fmt::format_to(std::back_inserter(to), "{} of {} frames due were not sent ({:.3g} %)", missing, taken,
                   100 * static_cast<double>(missing) / static_cast<double>(taken));
  if (about.is_late())
    fmt::format_to(std::back_inserter(to), "{}half of the frames sent left at least {} late", missing > 0 ? "; " : "",
                   time_text(about.late_p50_ns));
  to += ": loss, rates and latency are those of a lower or delayed load\n";
}

void write_about(std::string& to, const TestAbout& about) {
  if (about.command.empty()) return;
  fmt::format_to(std::back_inserter(to), "device      {}\n", about.device);
  fmt::format_to(std::back_inserter(to), "traffic     {} at {}\n", about.traffic, about.rate);
  fmt::format_to(std::back_inserter(to), "seed        {}{} (to repeat: --seed)\n", about.seed,
                 about.device_seed ? fmt::format(", of the device {}", *about.device_seed) : "");
}

void write_sending(std::string& to, const TestAbout& about) {
  if (about.command.empty()) return;
  if (about.late_max_ns)
    fmt::format_to(std::back_inserter(to),
                   "late by     p50 {}, p99 {}, max {}: from the time a frame was due until it was handed over\n",
                   time_text(about.late_p50_ns), time_text(about.late_p99_ns), time_text(about.late_max_ns));
  const SendCounts& counts = about.sending;
  fmt::format_to(std::back_inserter(to),
                 "not sent    {} refused, {} too long, {} too late; {} dropped by the sending device\n", counts.refused,
                 counts.too_long, counts.unsent, about.dropped_in_sending);
  const auto told = [](const std::optional<std::uint64_t>& count) {
    return count ? std::to_string(*count) : std::string("unknown");
  };
  fmt::format_to(std::back_inserter(to), "receiver    dropped: {} in a full queue, {} erroneous, {} without buffers\n",
                 told(about.receiving.known(Counter::nic_missed)), told(about.receiving.known(Counter::nic_error)),
                 told(about.receiving.known(Counter::no_mbuf)));
}

void write_latency(std::string& to, const TestReport& report) {
  const FlowResult& total = report.total;
  const LatencySummary& latency = report.latency;
  fmt::format_to(std::back_inserter(to), "latency     min {}, mean {}, max {}\n", time_text(total.latency_least_ns),
                 time_text(total.latency_mean_ns), time_text(total.latency_largest_ns));
  fmt::format_to(std::back_inserter(to), "            p50 {}, p90 {}, p99 {}, p99.9 {}, p99.99 {}, p99.999 {}\n",
                 time_text(latency.p50_ns), time_text(latency.p90_ns), time_text(latency.p99_ns),
                 time_text(latency.p99_9_ns), time_text(latency.p99_99_ns), time_text(latency.p99_999_ns));
  if (total.negative_latencies > 0)
    fmt::format_to(std::back_inserter(to), "            {} arrived before being sent: the clocks differ\n",
                   counted(total.negative_latencies, "frame"));
  fmt::format_to(std::back_inserter(to), "variation   p99 {} above the minimum (RFC 5481), jitter {} (RFC 3550)\n",
                 time_text(latency.pdv_p99_ns), time_text(total.jitter_ns));
}

void write_worst_flows(std::string& to, const TestReport& report) {
  std::vector<const FlowRow*> rows;
  for (const FlowRow& row : report.rows)
    if (row.result.losses.frames > 0) rows.push_back(&row);
  const std::size_t shown = std::min(rows.size(), kFlowsShown);
  const auto loses_more = [](const FlowRow* a, const FlowRow* b) {
    return a->result.losses.frames != b->result.losses.frames ? a->result.losses.frames > b->result.losses.frames
                                                              : a->stream < b->stream;
  };
  std::ranges::partial_sort(rows, rows.begin() + static_cast<std::ptrdiff_t>(shown), loses_more);
  if (shown > 0)
    fmt::format_to(std::back_inserter(to), "\n{:>10} {:>12} {:>12} {:>12}  {}\n", "stream", "sent", "lost", "longest",
                   "flow");
  for (std::size_t i = 0; i < shown; ++i)
    fmt::format_to(std::back_inserter(to), "{:>10} {:>12} {:>12} {:>12}  {}\n", rows[i]->stream, rows[i]->result.sent,
                   rows[i]->result.losses.frames, time_text(rows[i]->result.losses.longest_ns),
                   flow_text(rows[i]->key));
}

}  // namespace

std::string report_text(const TestReport& report) {
  std::string to;
  write_shortfall(to, report.about);
  write_about(to, report.about);
  if (report.about.interrupted) to += "interrupted before the end\n";
  write_frames(to, report);
  write_latency(to, report);
  write_sending(to, report.about);
  write_worst_flows(to, report);
  if (!report.about.command.empty()) fmt::format_to(std::back_inserter(to), "command     {}\n", report.about.command);
  return to;
}

}  // namespace parshall::tester
