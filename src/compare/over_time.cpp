// SPDX-License-Identifier: Apache-2.0
#include "compare/over_time.hpp"

#include <cstdlib>

namespace parshall {

void OverTime::add_pair(Way way, std::uint64_t sent_ns) {
  Passed& passed = at(way, sent_ns).passed;
  ++passed.sent, ++passed.received, ++passed.delivered;
}

void OverTime::add_delay(Way way, std::uint64_t sent_ns, std::int64_t delay_ns, std::optional<std::int64_t> step_ns) {
  OneWay& of = at(way, sent_ns);
  of.delays.add(delay_ns);
  if (!step_ns) return;
  of.steps += static_cast<double>(std::abs(*step_ns));
  ++of.step_count;
}

void OverTime::add_reordered(Way way, std::uint64_t sent_ns) { ++at(way, sent_ns).passed.reordered; }

void OverTime::add_single(Way way, std::uint64_t time_ns, std::uint64_t Passed::*count) {
  Passed& passed = at(way, time_ns).passed;
  const bool is_sent = count == &Passed::lost || count == &Passed::outside_sent;
  ++(is_sent ? passed.sent : passed.received);
  ++(passed.*count);
}

Passed OverTime::OneWay::summary() const {
  Passed all = passed;
  all.delays = delays.summary();
  if (step_count != 0) all.delays.variation = steps / static_cast<double>(step_count);
  return all;
}

void OverTime::end_before(std::uint64_t time_ns) {
  const std::uint64_t end = time_ns / length_ns_;
  while (!open_.empty() && open_.begin()->first < end) {
    const std::uint64_t number = open_.begin()->first;
    end_empty_before(number);
    end_one(number);
    open_.erase(number);
  }
  end_empty_before(end);
}

void OverTime::end(std::uint64_t end_ns) {
  watched_to_ns_ = end_ns;
  end_before(end_ns);
  while (!open_.empty()) end_before((open_.begin()->first + 1) * length_ns_);
}

/// Ends the intervals before one, which have no packets, as far as they are kept.
void OverTime::end_empty_before(std::uint64_t number) {
  if (next_ == 0) return;
  for (std::uint64_t empty = std::max(next_, number - std::min<std::uint64_t>(number, kMost)); empty < number; ++empty)
    end_one(empty);
}

void OverTime::end_one(std::uint64_t number) {
  ComparedInterval& interval = ended_.emplace_back();
  interval.begin_ns = number * length_ns_;
  interval.end_ns = interval.begin_ns + length_ns_;
  interval.is_whole = interval.begin_ns >= watched_from_ns_ && interval.end_ns <= watched_to_ns_;
  if (const auto found = open_.find(number); found != open_.end())
    for (const Way way : {Way::there, Way::back}) {
      const Passed& passed = interval.total(way) = found->second[index(way)].summary();
      totals_[index(way)].add_counts(passed);
      delays_[index(way)].packets += passed.delays.packets;
      delays_[index(way)].ns += static_cast<std::uint64_t>(
          std::max(passed.delays.mean * static_cast<double>(passed.delays.packets) + 0.5, 0.0));
    }
  if (ended_.size() > kMost) ended_.pop_front();
  next_ = number + 1;
}

}  // namespace parshall
