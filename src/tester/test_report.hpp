// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "generate/sender.hpp"
#include "pipeline/capture/source.hpp"
#include "pipeline/decode/facts.hpp"
#include "tester/flow_result.hpp"
#include "tester/interval.hpp"
#include "tester/receiver.hpp"

namespace parshall::tester {

/// What was sent of a stream.
struct SentFlow {
  FlowKey key = {};
  std::uint64_t frames = 0;
  std::uint64_t wire_bytes = 0;  ///< without the frame check sequence
};

/// Over the time of sending. Bits are the line's: with frame check sequence, preamble and least gap, 24 bytes a frame.
struct Rates {
  std::optional<double> sent_pps = {}, received_pps = {};
  std::optional<double> sent_line_bps = {}, received_line_bps = {};
};

/// Percentiles of one-way latency, nearest rank, within the histogram's error.
struct LatencySummary {
  std::optional<double> p50_ns = {}, p90_ns = {}, p99_ns = {}, p99_9_ns = {}, p99_99_ns = {}, p99_999_ns = {};
  /// Of packet delay variation, latency less the least: RFC 5481, section 4.2.
  std::optional<double> pdv_p99_ns = {};
};

struct FlowRow {
  std::uint32_t stream = 0;
  FlowKey key = {};
  FlowResult result = {};
  Rates rates = {};
  std::optional<LatencySummary> latency = {};  ///< where the book keeps a histogram for each flow
};

/// How a test was made, and how its sending went: what is needed to make it again, and to believe it.
struct TestAbout {
  std::string command = {}, device = {}, traffic = {}, rate = {};
  std::uint64_t seed = 0;                         ///< which all others follow from
  std::optional<std::uint64_t> device_seed = {};  ///< of what the device did by chance, where it draws
  SendCounts sending = {};
  std::uint64_t dropped_in_sending = 0;  ///< taken by the sending device, and dropped: they are lost like others
  Counters receiving = {};               ///< what the receiving device did not deliver
  std::optional<double> late_p50_ns = {}, late_p99_ns = {}, late_max_ns = {};  ///< handed over after they were due
  bool interrupted = false;                                                    ///< it was to take longer
  std::string device_did = {};  ///< as the device under test tells it: JSON, or nothing

  /// Of the frames that were due.
  std::uint64_t not_sent() const noexcept {
    return sending.taken - std::min(sending.taken, sending.sent) + dropped_in_sending;
  }
  /// Half of the frames being later than 10 ms, the load was another.
  bool is_late() const noexcept { return late_p50_ns && *late_p50_ns > 10e6; }
  bool is_as_asked() const noexcept { return not_sent() == 0 && !is_late(); }
};

/// What a test found out. A value that does not exist is absent.
struct TestReport {
  TestAbout about = {};
  Confidence confidence = Confidence::percent_95;
  std::uint64_t sending_ns = 0;  ///< how long frames were sent for
  FrameCounts frames = {};       ///< that came, by kind
  FlowResult total = {};         ///< sums; the longest loss of any flow, the mean of their jitters
  Rates rates = {};
  LatencySummary latency = {};
  std::uint64_t silent_flows = 0;  ///< of which something was sent, and nothing came
  std::uint64_t flows_with_loss = 0;
  /// Jain's index of the flows' received rates, and of what part of each came: 1 where all are alike, 1 / flows where
  /// one has all.
  std::optional<double> fairness_of_rates = {}, fairness_of_ratios = {};
  std::vector<FlowRow> rows = {};
};

/// `sent`: of each stream of the receiver's plan.
TestReport make_report(const Receiver& receiver, std::span<const SentFlow> sent, std::uint64_t sending_ns,
                       Confidence confidence = Confidence::percent_95);

/// Shares of a result, with their intervals: lost, corrupted and duplicated of what was sent, reordered and overtaking
/// of what was received.
struct Ratios {
  std::optional<Ratio> lost, corrupted, duplicated, reordered, overtaking;
};
Ratios ratios_of(const FlowResult& result, Confidence confidence) noexcept;

}  // namespace parshall::tester
