// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>
#include <tuple>

#include "compare/ways.hpp"

namespace parshall {
namespace {

/// Differences of the times at the receiver and the sender, of one direction.
struct Transit {
  std::int64_t least = 0, p99 = 0;
  bool is_known = false;
};

/// Returns the nearest-rank percentile of sorted delays.
std::int64_t percentile(std::span<const std::int64_t> sorted, unsigned percent) {
  const std::size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

class Comparer {
 public:
  Comparer(Tap& up, Tap& down, const FlowNumbers& flows)
      : up_(up),
        down_(down),
        keys_(flows.keys()),
        pairing_(pair_up(up, down, keys_.size())),
        ways_(find_ways(pairing_, flows)),
        flows_(keys_.size()),
        sums_(keys_.size()) {}

  Comparison compare() {
    for (std::size_t flow = 0; flow < keys_.size(); ++flow) {
      flows_[flow].key = keys_[flow];
      flows_[flow].way = ways_[flow];
      if (pairing_.at_down[flow] != flow) flows_[flow].at_down = keys_[pairing_.at_down[flow]];
    }
    set_clocks();
    count_pairs();
    count_singles();
    for (ComparedFlow& flow : flows_) add_up(flow);
    for (const Way way : {Way::there, Way::back}) summarise(all_delays(way), all_[index(way)], total(way).delays);
    std::erase_if(flows_, [](const ComparedFlow& flow) { return flow.passed.sent + flow.passed.received == 0; });
    std::ranges::stable_sort(flows_, {}, [](const ComparedFlow& flow) {
      return std::tuple(~flow.passed.lost, flow.passed.is_whole(), ~flow.passed.sent);
    });
    found_.flows = std::move(flows_);
    return std::move(found_);
  }

 private:
  /// Delays that are added up while a flow's packets are visited in the order of their arrival.
  struct Sum {
    std::vector<std::int64_t> delays;
    double steps = 0;
    std::uint64_t step_count = 0;
  };

  static std::size_t index(Way way) noexcept { return static_cast<std::size_t>(way); }
  Passed& total(Way way) noexcept { return way == Way::there ? found_.there : found_.back; }
  Way way_of(const Pair& pair) const noexcept { return ways_[pair.flow]; }
  bool is_clear(const Pair& pair) const noexcept {
    return way_of(pair) == Way::there ? pair.is_single_at_up : pair.is_single_at_down;
  }
  std::int64_t difference_ns(const Pair& pair) const noexcept {
    return found_.clocks.true_difference_ns({pair.up_ns, pair.difference_ns()});
  }

  void set_clocks() {
    std::vector<Passage> passages[2];
    std::vector<std::int64_t> transits[2];
    for (const Pair& pair : pairing_.pairs) {
      const std::size_t way = index(way_of(pair));
      if (!is_clear(pair)) continue;
      passages[way].push_back({pair.up_ns, pair.difference_ns()});
      transits[way].push_back(way == index(Way::there) ? pair.difference_ns() : -pair.difference_ns());
    }
    found_.clocks = compare_clocks(std::move(passages[0]), std::move(passages[1]));
    for (std::size_t way = 0; way < 2; ++way) {
      if (transits[way].empty()) continue;
      std::ranges::sort(transits[way]);
      transit_[way] = {transits[way].front(), percentile(transits[way], 99), true};
    }
  }

  void count_pairs() {
    std::ranges::sort(pairing_.pairs, {}, [&](const Pair& pair) {
      return std::pair(pair.flow, way_of(pair) == Way::there ? pair.down_order : pair.up_order);
    });
    std::uint32_t next = 0;  // RFC 4737: NextExp
    std::optional<std::int64_t> before_ns;
    const Pair* last = nullptr;
    for (const Pair& pair : pairing_.pairs) {
      if (last == nullptr || last->flow != pair.flow) next = 0, before_ns.reset();
      last = &pair;
      ComparedFlow& flow = flows_[pair.flow];
      const Way way = flow.way;
      note_time(flow, way == Way::there ? pair.up_ns : pair.down_ns);
      ++flow.passed.sent, ++flow.passed.received, ++flow.passed.delivered;
      if (!is_clear(pair)) continue;
      const std::uint32_t order = way == Way::there ? pair.up_order : pair.down_order;
      flow.passed.reordered += order < next;
      next = std::max(next, order + 1);
      const std::int64_t delay_ns = way == Way::there ? difference_ns(pair) : -difference_ns(pair);
      Sum& sum = sums_[pair.flow];
      sum.delays.push_back(delay_ns);
      if (before_ns) sum.steps += static_cast<double>(std::abs(delay_ns - *before_ns)), ++sum.step_count;
      before_ns = delay_ns;
    }
  }

  void count_singles() {
    std::vector<std::uint8_t> seen_at(keys_.size());  // bit 0: at UP, bit 1: at DOWN, bit 2: a pair
    for (const Single& single : pairing_.up_only) seen_at[single.flow] |= 1;
    for (const Single& single : pairing_.down_only) seen_at[single.flow] |= 2;
    for (const Pair& pair : pairing_.pairs) seen_at[pair.flow] |= 4;
    for (const bool is_up : {true, false})
      for (const Single& single : is_up ? pairing_.up_only : pairing_.down_only) {
        ComparedFlow& flow = flows_[single.flow];
        const bool is_sent = (flow.way == Way::there) == is_up, is_unlike = seen_at[single.flow] == 3;
        Passed& passed = flow.passed;
        if (is_sent) {
          note_time(flow, single.time_ns);
          ++passed.sent;
          ++(is_unlike ? passed.unlike_sent : is_outside(single.time_ns, flow.way) ? passed.outside : passed.lost);
        } else {
          ++passed.received;
          ++(is_unlike ? passed.unlike_received : single.has_twin ? passed.duplicated : passed.extra);
        }
      }
  }

  /// Returns whether the receiver may not have seen a packet that was sent then, since it began later or had ended.
  bool is_outside(std::uint64_t sent_ns, Way way) const noexcept {
    const Tap& receiver = way == Way::there ? down_ : up_;
    const Transit& transit = transit_[index(way)];
    if (!transit.is_known) return false;
    const __int128 sent = sent_ns;
    return sent + transit.least < receiver.first_ns || sent + transit.p99 > receiver.last_ns;
  }

  static void note_time(ComparedFlow& flow, std::uint64_t ns) noexcept {
    flow.first_ns = std::min(flow.first_ns, ns);
    flow.last_ns = std::max(flow.last_ns, ns);
  }

  void add_up(ComparedFlow& flow) {
    const std::size_t number = static_cast<std::size_t>(&flow - flows_.data());
    Passed &passed = flow.passed, &all = total(flow.way);
    passed.alike = (flow.way == Way::there ? pairing_.alike_up : pairing_.alike_down)[number];
    summarise(std::move(sums_[number].delays), sums_[number], passed.delays);
    all.sent += passed.sent, all.received += passed.received, all.delivered += passed.delivered;
    all.lost += passed.lost, all.outside += passed.outside, all.duplicated += passed.duplicated;
    all.unlike_sent += passed.unlike_sent, all.unlike_received += passed.unlike_received;
    all.extra += passed.extra, all.reordered += passed.reordered, all.alike += passed.alike;
    all_[index(flow.way)].steps += sums_[number].steps;
    all_[index(flow.way)].step_count += sums_[number].step_count;
  }

  std::vector<std::int64_t> all_delays(Way way) const {
    std::vector<std::int64_t> delays;
    for (const Pair& pair : pairing_.pairs)
      if (way_of(pair) == way && is_clear(pair))
        delays.push_back(way == Way::there ? difference_ns(pair) : -difference_ns(pair));
    return delays;
  }

  static void summarise(std::vector<std::int64_t> delays, const Sum& sum, Delays& to) {
    if (delays.empty()) return;
    std::ranges::sort(delays);
    const std::int64_t base = delays.front();
    const double above = std::accumulate(delays.begin(), delays.end(), 0.0, [base](double total, std::int64_t delay) {
      return total + static_cast<double>(delay - base);
    });
    to = {.packets = delays.size(),
          .least = base,
          .p50 = percentile(delays, 50),
          .p90 = percentile(delays, 90),
          .p99 = percentile(delays, 99),
          .most = delays.back(),
          .mean = static_cast<double>(base) + above / static_cast<double>(delays.size())};
    if (sum.step_count != 0) to.variation = sum.steps / static_cast<double>(sum.step_count);
  }

  Tap &up_, &down_;
  const std::vector<FlowKey>& keys_;
  Pairing pairing_;
  std::vector<Way> ways_;
  std::vector<ComparedFlow> flows_;
  std::vector<Sum> sums_;
  Sum all_[2];
  Transit transit_[2];
  Comparison found_;
};

}  // namespace

Comparison compare(Tap& up, Tap& down, const FlowNumbers& flows) { return Comparer(up, down, flows).compare(); }

}  // namespace parshall
