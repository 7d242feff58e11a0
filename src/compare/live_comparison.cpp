// SPDX-License-Identifier: Apache-2.0
#include "compare/live_comparison.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "pipeline/flow/both_ways.hpp"

namespace parshall {
namespace {

Way by_sign(int value) noexcept { return value >= 0 ? Way::there : Way::back; }

}  // namespace

LiveComparison::LiveComparison(std::uint64_t seed, std::uint64_t begin_ns, Limits limits)
    : limits_(limits), begin_ns_(begin_ns), numbers_(seed), over_time_(begin_ns, limits.interval_ns) {}

void LiveComparison::settle(std::uint64_t until_ns) {
  judge(Pairer::Which::waited);
  // The other half of a pair may have come after the last call, so that it waits for the next one.
  over_time_.end_before(std::exchange(judged_ns_, std::exchange(until_ns_, until_ns)));
  fold_flows();
}

void LiveComparison::end(std::uint64_t end_ns) {
  end_ns_ = end_ns;
  judge(Pairer::Which::all);
  over_time_.end(end_ns);
}

void LiveComparison::judge(Pairer::Which which) {
  ++judgements_;
  Pairing pairing = pairer_.pair_up(up_, down_, which);
  flows_.resize(numbers_.keys().size());
  find_ways(pairing);
  count_pairs(pairing.pairs);
  for (const Single& single : pairing.up_only) count_single(single, true);
  for (const Single& single : pairing.down_only) count_single(single, false);
}

/// A router lowers the TTL. Without one, packets pass the tap nearer to their sender first; the mean counts, as an
/// interface may deliver, and stamp, packets late. A TTL that is lower at the same tap in both directions was set by a
/// device.
void LiveComparison::find_ways(const Pairing& pairing) {
  std::vector<std::uint32_t> found;
  for (const Pair& pair : pairing.pairs) {
    Flow& flow = flows_[pair.flow];
    if (flow.way) continue;
    if (flow.hops == 0 && flow.later_ns == 0) found.push_back(pair.flow);
    flow.hops += sign(pair.hops);
    flow.later_ns += static_cast<double>(pair.difference_ns());
  }
  std::vector<Way> ways;
  for (const std::uint32_t number : found) {
    const Flow& flow = flows_[number];
    const auto partner = numbers_.find(opposite(numbers_.keys()[number]));
    const int hops = sign(flow.hops), partner_hops = partner ? sign(flows_[*partner].hops) : 0;
    if (hops != 0 && hops != partner_hops)
      ways.push_back(by_sign(hops));
    else if (flow.later_ns != 0)
      ways.push_back(flow.later_ns > 0 ? Way::there : Way::back);
    else
      ways.push_back(partner && flows_[*partner].way ? other(*flows_[*partner].way) : Way::there);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    Flow& flow = flows_[found[i]];
    if (flow.way) continue;
    flow.way = ways[i];
    const auto partner = numbers_.find(opposite(numbers_.keys()[found[i]]));
    if (partner && *partner != found[i] && flows_[*partner].way)
      ++(*flows_[*partner].way == ways[i] ? same_ways_ : other_ways_);
  }
}

void LiveComparison::count_pairs(std::vector<Pair>& pairs) {
  std::ranges::sort(pairs, {}, [&](const Pair& pair) {
    return std::pair(pair.flow, *flows_[pair.flow].way == Way::there ? pair.down_order : pair.up_order);
  });
  for (const Pair& pair : pairs) {
    Flow& flow = flows_[pair.flow];
    const Way way = *flow.way;
    const std::uint64_t sent_ns = way == Way::there ? pair.up_ns : pair.down_ns;
    over_time_.add_pair(way, sent_ns);
    ++flow.count.pairs;
    flow.count.up.alike += !pair.is_single_at_up;
    flow.count.down.alike += !pair.is_single_at_down;
    flow.first_up_ns = std::min(flow.first_up_ns, pair.up_ns);
    flow.last_up_ns = std::max(flow.last_up_ns, pair.up_ns);
    flow.first_down_ns = std::min(flow.first_down_ns, pair.down_ns);
    flow.last_down_ns = std::max(flow.last_down_ns, pair.down_ns);
    if (!(way == Way::there ? pair.is_single_at_up : pair.is_single_at_down)) continue;
    const std::int64_t delay_ns = way == Way::there ? pair.difference_ns() : -pair.difference_ns();
    const Arrivals before = flow.arrivals;
    const bool is_reordered = flow.arrivals.take(way == Way::there ? pair.up_order : pair.down_order, delay_ns);
    flow.count.reordered += is_reordered;
    if (is_reordered) over_time_.add_reordered(way, sent_ns);
    over_time_.add_delay(way, sent_ns, delay_ns,
                         before.delay_ns ? std::optional(delay_ns - *before.delay_ns) : std::nullopt);
    flow.delays.add(delay_ns);
    auto& all = all_[index(way)];
    all.delays.add(delay_ns);
    all.steps += flow.arrivals.steps - before.steps;
    all.step_count += flow.arrivals.step_count - before.step_count;
  }
}

void LiveComparison::count_single(const Single& single, bool is_up) {
  Flow& flow = flows_[single.flow];
  FlowCount::OneTap& tap = is_up ? flow.count.up : flow.count.down;
  tap.alike += single.is_alike;
  std::uint64_t& first_ns = is_up ? flow.first_up_ns : flow.first_down_ns;
  std::uint64_t& last_ns = is_up ? flow.last_up_ns : flow.last_down_ns;
  first_ns = std::min(first_ns, single.time_ns);
  last_ns = std::max(last_ns, single.time_ns);
  const bool is_sent = flow.way && (*flow.way == Way::there) == is_up;
  const bool is_early = judgements_ <= 2 && (single.time_ns < begin_ns_ || (!is_sent && !single.has_twin));
  const bool is_outside = is_early || single.time_ns >= end_ns_;
  ++(is_outside ? tap.outside : single.has_twin ? tap.twins : tap.plain);
  const Way way = way_of(single.flow);
  const auto at_sender = is_outside ? &Passed::outside_sent : &Passed::lost;
  const auto at_receiver = is_outside        ? &Passed::outside_received
                           : single.has_twin ? &Passed::duplicated
                                             : &Passed::extra;
  over_time_.add_single(way, single.time_ns, (way == Way::there) == is_up ? at_sender : at_receiver);
}

void LiveComparison::fold_flows() {
  if (flows_.size() <= limits_.flows) return;
  std::vector<bool> kept(flows_.size());
  for (const Tap* tap : {&up_, &down_})
    for (const Sighting& one : tap->seen) kept[one.flow] = true;
  std::vector<std::uint32_t> candidates;
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow)
    if (!kept[flow]) candidates.push_back(flow);
  std::ranges::sort(candidates, {}, [&](std::uint32_t number) {
    const Flow& flow = flows_[number];
    return std::tuple(flow.count.passed(way_of(number)).is_whole(), flow.last_ns());
  });
  const std::size_t waiting = flows_.size() - candidates.size(), goal = limits_.flows - limits_.flows / 4;
  const std::size_t stay = std::min(candidates.size(), goal - std::min(goal, waiting));
  const auto lossy_end = std::ranges::partition_point(
      candidates, [&](std::uint32_t flow) { return !flows_[flow].count.passed(way_of(flow)).is_whole(); });
  // The latest flows with losses stay, and then the latest others, as far as there is room.
  const auto lossy = static_cast<std::size_t>(lossy_end - candidates.begin());
  const std::size_t lossy_stay = std::min(lossy, stay), whole_stay = stay - lossy_stay;
  for (auto at = lossy_end - static_cast<std::ptrdiff_t>(lossy_stay); at != lossy_end; ++at) kept[*at] = true;
  for (auto at = candidates.end() - static_cast<std::ptrdiff_t>(whole_stay); at != candidates.end(); ++at)
    kept[*at] = true;
  for (std::uint32_t flow = 0; flow < flows_.size(); ++flow)
    if (kept[flow]) kept[pairer_.at_down(flow)] = true;
  for (const std::uint32_t flow : candidates) {
    if (kept[flow]) continue;
    const Way way = way_of(flow);
    const Passed passed = flows_[flow].count.passed(way);
    if (passed.sent + passed.received == 0) continue;
    ended_.total(way).add_counts(passed);
    ++ended_.ended_flows;
  }
  const std::vector<std::uint32_t> numbers = numbers_.keep(kept);
  std::vector<Flow> rest(numbers_.keys().size());
  for (std::size_t flow = 0; flow < flows_.size(); ++flow)
    if (numbers[flow] != FlowNumbers::kGone) rest[numbers[flow]] = std::move(flows_[flow]);
  flows_ = std::move(rest);
  pairer_.renumber(numbers);
  for (Tap* tap : {&up_, &down_})
    for (Sighting& one : tap->seen) one.flow = numbers[one.flow];
}

/// A flow without pairs goes where the other direction of its connection does not, unless connections here go one way,
/// as in a replayed capture; else away from the tap that saw it.
Way LiveComparison::way_of(std::size_t number) const {
  const Flow& flow = flows_[number];
  if (flow.way) return *flow.way;
  if (other_ways_ >= same_ways_)
    if (const auto partner = numbers_.find(opposite(numbers_.keys()[number])); partner && *partner < flows_.size())
      if (const auto way = flows_[*partner].way) return other(*way);
  return flow.count.up.all() != 0 ? Way::there : Way::back;
}

Delays LiveComparison::delays(Way way) const {
  Delays delays = all_[index(way)].delays.summary();
  if (const auto& all = all_[index(way)]; all.step_count != 0)
    delays.variation = all.steps / static_cast<double>(all.step_count);
  return delays;
}

Comparison LiveComparison::result() const {
  Comparison found = ended_;
  found.by = ComparedBy::interfaces;
  found.clocks.kind = Clocks::Kind::same;
  found.clocks.error_ns = 0;
  for (std::size_t number = 0; number < flows_.size(); ++number) {
    const Flow& flow = flows_[number];
    const Way way = way_of(number);
    const std::uint32_t at_down = pairer_.at_down(static_cast<std::uint32_t>(number));
    ComparedFlow& compared = found.flows.emplace_back();
    compared.key = numbers_.keys()[number];
    if (at_down != number) compared.at_down = numbers_.keys()[at_down];
    compared.way = way;
    compared.passed = flow.count.passed(way);
    compared.passed.delays = flow.delays.summary();
    compared.passed.delays.variation = flow.arrivals.variation();
    compared.first_ns = way == Way::there ? flow.first_up_ns : flow.first_down_ns;
    compared.last_ns = way == Way::there ? flow.last_up_ns : flow.last_down_ns;
    found.total(way).add_counts(compared.passed);
  }
  for (const Way way : {Way::there, Way::back}) found.total(way).delays = delays(way);
  found.sort_flows();
  return found;
}

}  // namespace parshall
