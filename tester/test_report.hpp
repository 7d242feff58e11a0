// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/capture/source.hpp"
#include "pipeline/decode/facts.hpp"
#include "tester/flow_result.hpp"
#include "tester/interval.hpp"
#include "tester/receiver.hpp"
#include "traffic/sender.hpp"

namespace parshall::tester {

/// Frames sent of a stream.
struct SentFlow {
  FlowKey key = {};
  std::uint64_t frames = 0;
  std::uint64_t wire_bytes = 0;  ///< without the frame check sequence
};

/// Rates over the time of sending. Bits are those on the line: frame check sequence, preamble and least gap add 24
/// bytes a frame.
struct Rates {
  std::optional<double> sent_pps = {}, received_pps = {};
  std::optional<double> sent_line_bps = {}, received_line_bps = {};
};

/// Percentiles of one-way latency by nearest rank, within the histogram's error.
struct LatencySummary {
  std::optional<double> p50_ns = {}, p90_ns = {}, p99_ns = {}, p99_9_ns = {}, p99_99_ns = {}, p99_999_ns = {};
  /// Percentile of packet delay variation, latency minus its least: RFC 5481, section 4.2.
  std::optional<double> pdv_p99_ns = {};
};

struct FlowRow {
  std::uint32_t stream = 0;
  FlowKey key = {};
  FlowResult result = {};
  Rates rates = {};
  std::optional<LatencySummary> latency = {};  ///< set if the book keeps a histogram for each flow
};

/// Settings of a test and how its sending went, needed to repeat it and to trust it.
struct TestAbout {
  std::string command = {}, device = {}, traffic = {}, rate = {};
  std::uint64_t seed = 0;                         ///< all other seeds are derived from it
  std::optional<std::uint64_t> device_seed = {};  ///< seed of the device's random decisions, if it makes any
  SendCounts sending = {};
  std::uint64_t dropped_in_sending = 0;  ///< accepted by the sending device, and dropped: they count as lost
  Counters receiving = {};               ///< counters of the receiving device
  std::optional<double> late_p50_ns = {}, late_p99_ns = {}, late_max_ns = {};  ///< time from due to handed over
  bool interrupted = false;                                                    ///< true: it should have taken longer
  std::string device_did = {};  ///< report of the device under test: JSON, or empty

  /// Returns the frames that were due but not sent.
  std::uint64_t not_sent() const noexcept {
    return sending.taken - std::min(sending.taken, sending.sent) + dropped_in_sending;
  }
  /// Returns true if half of the frames were more than 10 ms late, so that the load was another.
  bool is_late() const noexcept { return late_p50_ns && *late_p50_ns > 10e6; }
  bool is_as_asked() const noexcept { return not_sent() == 0 && !is_late(); }
};

/// Results of a test. A value that does not exist is absent.
struct TestReport {
  TestAbout about = {};
  Confidence confidence = Confidence::percent_95;
  std::uint64_t sending_ns = 0;  ///< duration of sending
  FrameCounts frames = {};       ///< received frames by kind
  FlowResult total = {};         ///< sums; longest loss of any flow, mean of the flows' jitters
  Rates rates = {};
  LatencySummary latency = {};
  std::uint64_t silent_flows = 0;  ///< flows of which frames were sent, and none came
  std::uint64_t flows_with_loss = 0;
  /// Jain's index of the flows' received rates, and of the share of each flow that came: 1 if all are equal, 1 / flows
  /// if one flow has everything.
  std::optional<double> fairness_of_rates = {}, fairness_of_ratios = {};
  std::vector<FlowRow> rows = {};
};

/// Makes a report. `sent` has an entry for each stream of the receiver's plan.
TestReport make_report(const Receiver& receiver, std::span<const SentFlow> sent, std::uint64_t sending_ns,
                       Confidence confidence = Confidence::percent_95);

/// Ratios of a result, with their intervals: lost, corrupted and duplicated relative to sent frames, reordered and
/// overtaking relative to received ones.
struct Ratios {
  std::optional<Ratio> lost, corrupted, duplicated, reordered, overtaking;
};
Ratios ratios_of(const FlowResult& result, Confidence confidence) noexcept;

}  // namespace parshall::tester
