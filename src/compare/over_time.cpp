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

void OverTime::add_single(Way way, std::uint64_t time_ns, Alone what) {
  Passed& passed = at(way, time_ns).passed;
  const bool is_sent = what == Alone::lost || what == Alone::outside_sent;
  ++(is_sent ? passed.sent : passed.received);
  switch (what) {
    case Alone::lost:
      ++passed.lost;
      break;
    case Alone::outside_sent:
      ++passed.outside_sent;
      break;
    case Alone::duplicated:
      ++passed.duplicated;
      break;
    case Alone::extra:
      ++passed.extra;
      break;
    case Alone::outside_received:
      ++passed.outside_received;
      break;
  }
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
    // Empty intervals in between, as far as they are kept.
    if (next_ != 0)
      for (std::uint64_t empty = std::max(next_, number - std::min<std::uint64_t>(number, kMost)); empty < number;
           ++empty)
        end_one(empty);
    end_one(number);
    open_.erase(number);
  }
}

void OverTime::end_one(std::uint64_t number) {
  ComparedInterval& interval = ended_.emplace_back();
  interval.begin_ns = number * length_ns_;
  interval.end_ns = interval.begin_ns + length_ns_;
  if (const auto found = open_.find(number); found != open_.end())
    for (const Way way : {Way::there, Way::back}) {
      const Passed& passed = interval.total(way) = found->second[static_cast<std::size_t>(way)].summary();
      Passed& total = total_.total(way);
      total.add_counts(passed);
      if (passed.delays.packets == 0) continue;
      total.delays.packets += passed.delays.packets;
      total.delays.mean += (passed.delays.mean - total.delays.mean) * static_cast<double>(passed.delays.packets) /
                           static_cast<double>(total.delays.packets);
    }
  if (ended_.size() > kMost) ended_.pop_front();
  next_ = number + 1;
}

}  // namespace parshall
