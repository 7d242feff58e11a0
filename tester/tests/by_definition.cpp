// SPDX-License-Identifier: Apache-2.0
#include "by_definition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace parshall::tester {
namespace {

/// Losses of a flow sent evenly.
Losses losses_of(const std::vector<bool>& came, std::span<const std::uint64_t> sent_ns) {
  Losses losses;
  const auto any = std::ranges::count(came, true);
  std::uint64_t longest_ns = 0;
  for (std::size_t first = 0; first < came.size();) {
    std::size_t end = first;
    while (end < came.size() && !came[end]) ++end;
    if (const std::uint64_t run = end - first; run > 0) {
      losses.frames += run;
      ++losses.periods;
      losses.longest_frames = std::max(losses.longest_frames, run);
      longest_ns = std::max(longest_ns, run * (sent_ns[1] - sent_ns[0]));
    }
    first = end + 1;
  }
  if (losses.frames > 0 && any > 1) losses.longest_ns = longest_ns;
  return losses;
}

void add_latency(FlowResult& result, std::span<const Arrival> firsts) {
  long double sum = 0;
  double jitter = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto transit = static_cast<std::int64_t>(firsts[i].received_ns - firsts[i].sent_ns);
    result.wire_bytes += firsts[i].wire_bytes;
    if (i > 0) {
      const auto before = static_cast<std::int64_t>(firsts[i - 1].received_ns - firsts[i - 1].sent_ns);
      jitter += (std::abs(static_cast<double>(transit - before)) - jitter) / 16;
      result.jitter_ns = jitter;
    }
    if (transit < 0) {
      ++result.negative_latencies;
      continue;
    }
    const auto latency = static_cast<std::uint64_t>(transit);
    ++result.latencies;
    sum += latency;
    result.latency_least_ns = std::min(result.latency_least_ns.value_or(latency), latency);
    result.latency_largest_ns = std::max(result.latency_largest_ns.value_or(latency), latency);
    result.latency_mean_ns = static_cast<double>(sum / static_cast<long double>(result.latencies));
  }
}

}  // namespace

FlowResult by_definition(std::span<const Arrival> arrivals, std::span<const std::uint64_t> sent_ns) {
  FlowResult result{.sent = sent_ns.size()};
  std::vector<Arrival> firsts;
  std::vector<bool> came(sent_ns.size(), false);
  for (const Arrival& arrival : arrivals) {
    if (came[arrival.sequence]) {
      ++result.duplicates;
      continue;
    }
    came[arrival.sequence] = true;
    firsts.push_back(arrival);
  }
  result.received = firsts.size();
  result.losses = losses_of(came, sent_ns);
  add_latency(result, firsts);
  std::uint64_t next_expected = 0;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const std::uint32_t s = firsts[i].sequence;
    const auto is_larger = [&](const Arrival& other) { return other.sequence > s; };
    const auto is_smaller = [&](const Arrival& other) { return other.sequence < s; };
    result.overtaking += std::any_of(firsts.begin() + static_cast<std::ptrdiff_t>(i), firsts.end(), is_smaller);
    if (s >= next_expected) {
      next_expected = s + 1;
      continue;
    }
    ++result.reordered;
    const auto earliest = static_cast<std::size_t>(std::ranges::find_if(firsts, is_larger) - firsts.begin());
    result.extent_sum += i - earliest;
    result.extent_largest = std::max<std::uint64_t>(result.extent_largest, i - earliest);
    const auto here = firsts.begin() + static_cast<std::ptrdiff_t>(i);
    result.reordered_by_3 += i >= 3 && std::all_of(here - 3, here, is_larger);
  }
  return result;
}

void expect_same(const FlowResult& result, const FlowResult& expected) {
  EXPECT_EQ(result.sent, expected.sent);
  EXPECT_EQ(result.received, expected.received);
  EXPECT_EQ(result.duplicates, expected.duplicates);
  EXPECT_EQ(result.corrupted, expected.corrupted);
  EXPECT_EQ(result.too_late, expected.too_late);
  EXPECT_EQ(result.losses.frames, expected.losses.frames);
  EXPECT_EQ(result.losses.periods, expected.losses.periods);
  EXPECT_EQ(result.losses.longest_frames, expected.losses.longest_frames);
  EXPECT_EQ(result.losses.longest_ns, expected.losses.longest_ns);
  EXPECT_EQ(result.reordered, expected.reordered);
  EXPECT_EQ(result.reordered_by_3, expected.reordered_by_3);
  EXPECT_EQ(result.extent_sum, expected.extent_sum);
  EXPECT_EQ(result.extent_largest, expected.extent_largest);
  EXPECT_EQ(result.extents_at_least, expected.extents_at_least);
  EXPECT_EQ(result.overtaking, expected.overtaking);
  EXPECT_EQ(result.wire_bytes, expected.wire_bytes);
  EXPECT_EQ(result.latencies, expected.latencies);
  EXPECT_EQ(result.negative_latencies, expected.negative_latencies);
  EXPECT_EQ(result.latency_least_ns, expected.latency_least_ns);
  EXPECT_EQ(result.latency_largest_ns, expected.latency_largest_ns);
  ASSERT_EQ(result.latency_mean_ns.has_value(), expected.latency_mean_ns.has_value());
  EXPECT_DOUBLE_EQ(result.latency_mean_ns.value_or(0), expected.latency_mean_ns.value_or(0));
  ASSERT_EQ(result.jitter_ns.has_value(), expected.jitter_ns.has_value());
  EXPECT_NEAR(result.jitter_ns.value_or(0), expected.jitter_ns.value_or(0), 1e-9 * expected.jitter_ns.value_or(0));
}

}  // namespace parshall::tester
