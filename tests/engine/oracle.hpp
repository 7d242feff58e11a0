// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>

#include "run.hpp"

namespace parshall::testing {

/// The samples of a record's packets: packets of the flow from `first_ns` on, `packets` of them.
struct Samples {
  std::vector<double> gaps, iats, sizes;

  Samples(const std::vector<const Sent*>& flow, const FlowRecord& record) {
    auto at = static_cast<std::size_t>(
        std::ranges::lower_bound(flow, record.first_ns, {}, [](const Sent* packet) { return packet->time_ns; }) -
        flow.begin());
    if (at < flow.size() && flow[at]->time_ns != record.first_ns) at = flow.size();
    for (std::size_t i = 0; i < record.packets && at + i < flow.size(); ++i) {
      const Sent& packet = *flow[at + i];
      sizes.push_back(packet.wire_bytes);
      if (i == 0) continue;
      gaps.push_back(static_cast<double>(packet.position - flow[at + i - 1]->position - 1));
      iats.push_back(static_cast<double>(packet.time_ns - flow[at + i - 1]->time_ns));
    }
  }
};

inline std::optional<double> mean_of(const std::vector<double>& samples) {
  if (samples.empty()) return std::nullopt;
  double sum = 0;
  for (const double x : samples) sum += x;
  return sum / static_cast<double>(samples.size());
}
inline std::optional<double> max_of(const std::vector<double>& samples) {
  if (samples.empty()) return std::nullopt;
  return *std::ranges::max_element(samples);
}
inline std::optional<double> sd_of(const std::vector<double>& samples) {
  if (samples.size() < 2) return std::nullopt;
  const double mean = *mean_of(samples);
  double sum = 0;
  for (const double x : samples) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(samples.size() - 1));
}

inline void expect_near(const std::optional<double>& seen, const std::optional<double>& expected, const char* what) {
  ASSERT_EQ(seen.has_value(), expected.has_value()) << what;
  if (expected) {
    ASSERT_NEAR(*seen, *expected, 1e-9 + 1e-7 * std::fabs(*expected)) << what;
  }
}

/// Columns gap_mean, iat_max, size_mean: of every record, ended or live, over exactly its own packets.
inline void expect_complete_statistics(const std::vector<Row>& rows, const Traffic& traffic) {
  const auto& flows = traffic.by_flow();
  for (const Row& row : rows) {
    const Samples samples(flows.at(text_of(row.record.key)), row.record);
    ASSERT_EQ(samples.sizes.size(), row.record.packets);
    expect_near(row.values[0], mean_of(samples.gaps), "gap_mean");
    expect_near(row.values[1], max_of(samples.iats), "iat_max");
    expect_near(row.values[2], mean_of(samples.sizes), "size_mean");
    if (::testing::Test::HasFatalFailure())
      FAIL() << "record of " << row.record.packets
             << " packets, ended: " << kEndReasonNames[static_cast<std::size_t>(row.record.end_reason)];
  }
}

}  // namespace parshall::testing
