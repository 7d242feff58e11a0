// SPDX-License-Identifier: Apache-2.0
#include "tester/test_report.hpp"

#include <algorithm>

#include "tester/fairness.hpp"

namespace parshall::tester {
namespace {

constexpr std::uint64_t kLineBytes = 4 + 8 + 12;  ///< frame check sequence, preamble, least gap

std::optional<double> per_second(std::uint64_t count, std::uint64_t time_ns) noexcept {
  if (time_ns == 0) return std::nullopt;
  return static_cast<double>(count) * 1e9 / static_cast<double>(time_ns);
}

/// Durations of sending and of receiving.
struct Spans {
  std::uint64_t sending_ns, receiving_ns;
};

/// Adds a mean gap after the last frame; returns 0 for fewer than two frames.
std::uint64_t with_last_gap(std::uint64_t span_ns, std::uint64_t frames) noexcept {
  return frames < 2 ? 0 : span_ns + span_ns / (frames - 1);
}

Rates rates_of(const FlowResult& result, std::uint64_t sent_frames, std::uint64_t sent_bytes, Spans spans) noexcept {
  return {.sent_pps = per_second(sent_frames, spans.sending_ns),
          .received_pps = per_second(result.received, spans.receiving_ns),
          .sent_line_bps = per_second(8 * (sent_bytes + sent_frames * kLineBytes), spans.sending_ns),
          .received_line_bps = per_second(8 * (result.wire_bytes + result.received * kLineBytes), spans.receiving_ns)};
}

LatencySummary latency_of(const ValueHistogram& histogram) noexcept {
  LatencySummary latency{.p50_ns = histogram.quantile(0.5),
                         .p90_ns = histogram.quantile(0.9),
                         .p99_ns = histogram.quantile(0.99),
                         .p99_9_ns = histogram.quantile(0.999),
                         .p99_99_ns = histogram.quantile(0.9999),
                         .p99_999_ns = histogram.quantile(0.99999)};
  if (latency.p99_ns) latency.pdv_p99_ns = *latency.p99_ns - static_cast<double>(*histogram.least());
  return latency;
}

template <class T>
void keep_largest(std::optional<T>& largest, const std::optional<T>& value) noexcept {
  if (value && (!largest || *value > *largest)) largest = value;
}

void add_losses(Losses& total, const Losses& losses) noexcept {
  total.frames += losses.frames;
  total.periods += losses.periods;
  total.longest_frames = std::max(total.longest_frames, losses.longest_frames);
  keep_largest(total.longest_ns, losses.longest_ns);
}

/// Adds everything but latency and jitter, which are no sums.
void add_counts(FlowResult& total, const FlowResult& flow) noexcept {
  total.sent += flow.sent;
  total.received += flow.received;
  total.duplicates += flow.duplicates;
  total.contradictory += flow.contradictory;
  total.corrupted += flow.corrupted;
  total.too_late += flow.too_late;
  add_losses(total.losses, flow.losses);
  total.reordered += flow.reordered;
  total.reordered_by_3 += flow.reordered_by_3;
  total.extent_sum += flow.extent_sum;
  total.extent_largest = std::max(total.extent_largest, flow.extent_largest);
  total.extents_at_least += flow.extents_at_least;
  total.overtaking += flow.overtaking;
  total.wire_bytes += flow.wire_bytes;
  total.latencies += flow.latencies;
  total.negative_latencies += flow.negative_latencies;
}

class Mean {
 public:
  void add(double value) noexcept {
    sum_ += value;
    ++count_;
  }
  std::optional<double> value() const noexcept {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace

TestReport make_report(const Receiver& receiver, std::span<const SentFlow> sent, std::uint64_t sending_ns,
                       Confidence confidence) {
  const FlowBook& book = receiver.book();
  TestReport report{.confidence = confidence, .sending_ns = sending_ns, .frames = receiver.frames()};
  report.rows.reserve(sent.size());
  std::uint64_t sent_bytes = 0, sent_frames = 0, contradictory = 0;
  for (std::uint32_t stream = 0; stream < sent.size(); ++stream) {
    const SentFlow& flow = sent[stream];
    report.rows.push_back({.stream = stream, .key = flow.key, .result = book.flow(stream, flow.frames)});
    sent_frames += flow.frames;
    contradictory += report.rows.back().result.contradictory;
  }
  report.frames.ours -= contradictory;
  report.frames.contradictory += contradictory;
  // Frames from a queue arrive over a longer time than they were sent in; losses at the ends shorten that time.
  const std::uint64_t sending_span_ns = with_last_gap(sending_ns, sent_frames);
  const Spans spans{sending_span_ns,
                    std::max(sending_span_ns, with_last_gap(receiver.receiving_ns(), report.frames.ours))};
  Mean jitter;
  JainIndex rates, ratios;
  for (FlowRow& row : report.rows) {
    const SentFlow& flow = sent[row.stream];
    row.rates = rates_of(row.result, flow.frames, flow.wire_bytes, spans);
    if (const ValueHistogram* histogram = book.latency_ns(row.stream)) row.latency = latency_of(*histogram);
    add_counts(report.total, row.result);
    sent_bytes += flow.wire_bytes;
    if (row.result.jitter_ns) jitter.add(*row.result.jitter_ns);
    if (row.result.sent > 0) {
      rates.add(static_cast<double>(row.result.received));
      ratios.add(static_cast<double>(row.result.received) / static_cast<double>(row.result.sent));
      report.silent_flows += row.result.received == 0 ? 1 : 0;
      report.flows_with_loss += row.result.losses.frames > 0 ? 1 : 0;
    }
  }
  report.rates = rates_of(report.total, report.total.sent, sent_bytes, spans);
  report.latency = latency_of(book.latency_ns());
  report.total.latency_least_ns = book.latency_ns().least();
  report.total.latency_largest_ns = book.latency_ns().largest();
  report.total.latency_mean_ns = book.latency_ns().mean();
  report.total.jitter_ns = jitter.value();
  report.fairness_of_rates = rates.value();
  report.fairness_of_ratios = ratios.value();
  return report;
}

Ratios ratios_of(const FlowResult& result, Confidence confidence) noexcept {
  return {.lost = ratio_of(result.losses.frames, result.sent, confidence),
          .corrupted = ratio_of(result.corrupted, result.sent, confidence),
          .duplicated = ratio_of(result.duplicates, result.sent, confidence),
          .reordered = ratio_of(result.reordered, result.received, confidence),
          .overtaking = ratio_of(result.overtaking, result.received, confidence)};
}

}  // namespace parshall::tester
