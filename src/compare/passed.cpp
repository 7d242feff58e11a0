// SPDX-License-Identifier: Apache-2.0
#include "compare/passed.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace parshall {

std::int64_t percentile_of(std::span<const std::int64_t> sorted, unsigned percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

Delays delays_of(std::vector<std::int64_t> delays, std::optional<double> variation) {
  if (delays.empty()) return {};
  std::ranges::sort(delays);
  const std::int64_t base = delays.front();
  const double above = std::accumulate(delays.begin(), delays.end(), 0.0, [base](double total, std::int64_t delay) {
    return total + static_cast<double>(delay - base);
  });
  return {.packets = delays.size(),
          .least = base,
          .p50 = percentile_of(delays, 50),
          .p90 = percentile_of(delays, 90),
          .p99 = percentile_of(delays, 99),
          .most = delays.back(),
          .mean = static_cast<double>(base) + above / static_cast<double>(delays.size()),
          .samples = delays.size(),
          .variation = variation};
}

void Passed::add_counts(const Passed& other) noexcept {
  sent += other.sent, received += other.received, delivered += other.delivered, lost += other.lost;
  outside_sent += other.outside_sent, outside_received += other.outside_received;
  unlike_sent += other.unlike_sent, unlike_received += other.unlike_received;
  duplicated += other.duplicated, extra += other.extra, reordered += other.reordered, alike += other.alike;
}

Passed FlowCount::passed(Way way) const noexcept {
  const auto& [sender, receiver] = way == Way::there ? std::tie(up, down) : std::tie(down, up);
  Passed passed{.sent = pairs + sender.all(),
                .received = pairs + receiver.all(),
                .delivered = pairs,
                .reordered = reordered,
                .alike = sender.alike};
  if (pairs == 0 && sender.all() != 0 && receiver.all() != 0) {
    passed.unlike_sent = sender.all();
    passed.unlike_received = receiver.all();
    return passed;
  }
  passed.lost = sender.plain + sender.twins;
  passed.outside_sent = sender.outside;
  passed.duplicated = receiver.twins;
  passed.extra = receiver.plain;
  passed.outside_received = receiver.outside;
  return passed;
}

bool Arrivals::take(std::uint64_t number, std::int64_t its_delay_ns) noexcept {
  const bool is_overtaken = number < next;
  next = std::max(next, number + 1);
  if (delay_ns) steps += static_cast<double>(std::abs(its_delay_ns - *delay_ns)), ++step_count;
  delay_ns = its_delay_ns;
  return is_overtaken;
}

}  // namespace parshall
