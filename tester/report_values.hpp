// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "tester/test_report.hpp"

namespace parshall::tester {

using ReportValue = std::variant<std::uint64_t, double, std::optional<std::uint64_t>, std::optional<double>>;

/// Reports each number of a flow's row, or of the total, by its name; CSV and JSON have the same numbers in this order.
///
/// `tell`: called with a name that ends with the unit, and a ReportValue.
template <class Tell>
void each_value(const FlowResult& result, const Rates& rates, const std::optional<LatencySummary>& latency,
                Confidence confidence, Tell&& tell) {
  const auto tell_ratio = [&](std::string_view name, const std::optional<Ratio>& ratio) {
    const std::string start(name);
    tell(start + "_ratio", ReportValue(ratio ? std::optional(ratio->value) : std::nullopt));
    tell(start + "_ratio_low", ReportValue(ratio ? std::optional(ratio->low) : std::nullopt));
    tell(start + "_ratio_high", ReportValue(ratio ? std::optional(ratio->high) : std::nullopt));
  };
  const LatencySummary none, &percentiles = latency ? *latency : none;
  const Ratios ratios = ratios_of(result, confidence);
  tell("sent_frames", ReportValue(result.sent));
  tell("received_frames", ReportValue(result.received));
  tell("lost_frames", ReportValue(result.losses.frames));
  tell("duplicate_frames", ReportValue(result.duplicates));
  tell("corrupted_frames", ReportValue(result.corrupted));
  tell("reordered_frames", ReportValue(result.reordered));
  tell("overtaking_frames", ReportValue(result.overtaking));
  tell("too_late_frames", ReportValue(result.too_late));
  tell_ratio("lost", ratios.lost);
  tell_ratio("duplicate", ratios.duplicated);
  tell_ratio("corrupted", ratios.corrupted);
  tell_ratio("reordered", ratios.reordered);
  tell_ratio("overtaking", ratios.overtaking);
  tell("loss_periods", ReportValue(result.losses.periods));
  tell("longest_loss_frames", ReportValue(result.losses.longest_frames));
  tell("longest_loss_ns", ReportValue(result.losses.longest_ns));
  tell("reordered_by_3_frames", ReportValue(result.reordered_by_3));
  tell("reordering_extent_max_frames",
       ReportValue(result.reordered > 0 ? std::optional(result.extent_largest) : std::nullopt));
  tell("reordering_extent_mean_frames", ReportValue(result.extent_mean()));
  tell("reordering_extents_at_least", ReportValue(result.extents_at_least));
  tell("latency_min_ns", ReportValue(result.latency_least_ns));
  tell("latency_mean_ns", ReportValue(result.latency_mean_ns));
  tell("latency_p50_ns", ReportValue(percentiles.p50_ns));
  tell("latency_p90_ns", ReportValue(percentiles.p90_ns));
  tell("latency_p99_ns", ReportValue(percentiles.p99_ns));
  tell("latency_p99.9_ns", ReportValue(percentiles.p99_9_ns));
  tell("latency_p99.99_ns", ReportValue(percentiles.p99_99_ns));
  tell("latency_p99.999_ns", ReportValue(percentiles.p99_999_ns));
  tell("latency_max_ns", ReportValue(result.latency_largest_ns));
  tell("negative_latency_frames", ReportValue(result.negative_latencies));
  tell("pdv_p99_ns", ReportValue(percentiles.pdv_p99_ns));
  tell("jitter_ns", ReportValue(result.jitter_ns));
  tell("sent_pps", ReportValue(rates.sent_pps));
  tell("received_pps", ReportValue(rates.received_pps));
  tell("sent_line_bps", ReportValue(rates.sent_line_bps));
  tell("received_line_bps", ReportValue(rates.received_line_bps));
}

inline std::string address_text(std::span<const std::uint8_t> address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.size() == 4 ? AF_INET : AF_INET6, address.data(), text.data(), text.size());
  return text.data();
}

}  // namespace parshall::tester
