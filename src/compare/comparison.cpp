// SPDX-License-Identifier: Apache-2.0
#include "compare/comparison.hpp"

#include <algorithm>
#include <tuple>

#include "compare/ways.hpp"

namespace parshall {
namespace {

/// Differences of the times at the receiver and the sender, of one direction.
struct Transit {
  std::int64_t least = 0, p99 = 0;
  bool is_known = false;
};

class Comparer {
 public:
  Comparer(Tap& up, Tap& down, const FlowNumbers& flows)
      : up_(up),
        down_(down),
        keys_(flows.keys()),
        pairing_(pairer_.pair_up(up, down, Pairer::Which::all)),
        ways_(find_ways(pairing_, partners_of(flows))),
        flows_(keys_.size()),
        seen_(keys_.size()) {}

  Comparison compare() {
    for (std::size_t flow = 0; flow < keys_.size(); ++flow) {
      flows_[flow].key = keys_[flow];
      flows_[flow].way = ways_[flow];
      if (const std::uint32_t at_down = pairer_.at_down(static_cast<std::uint32_t>(flow)); at_down != flow)
        flows_[flow].at_down = keys_[at_down];
    }
    set_clocks();
    count_pairs();
    count_singles();
    for (std::size_t flow = 0; flow < flows_.size(); ++flow) add_up(flows_[flow], seen_[flow]);
    for (const Way way : {Way::there, Way::back})
      found_.total(way).delays = delays_of(all_delays(way), all_[index(way)].variation());
    found_.flows = std::move(flows_);
    found_.sort_flows();
    return std::move(found_);
  }

 private:
  /// Holds what was seen of a flow.
  struct Seen {
    FlowCount count;
    Arrivals arrivals;
    std::vector<std::int64_t> delays;
  };

  Way way_of(const Pair& pair) const noexcept { return ways_[pair.flow]; }
  bool is_clear(const Pair& pair) const noexcept {
    return way_of(pair) == Way::there ? pair.is_single_at_up : pair.is_single_at_down;
  }
  std::int64_t delay_ns(const Pair& pair) const noexcept {
    const std::int64_t difference_ns = found_.clocks.true_difference_ns({pair.up_ns, pair.difference_ns()});
    return way_of(pair) == Way::there ? difference_ns : -difference_ns;
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
      transit_[way] = {transits[way].front(), percentile_of(transits[way], 99), true};
    }
  }

  void count_pairs() {
    std::ranges::sort(pairing_.pairs, {}, [&](const Pair& pair) {
      return std::pair(pair.flow, way_of(pair) == Way::there ? pair.down_order : pair.up_order);
    });
    for (const Pair& pair : pairing_.pairs) {
      Seen& seen = seen_[pair.flow];
      ++seen.count.pairs;
      seen.count.up.alike += !pair.is_single_at_up;
      seen.count.down.alike += !pair.is_single_at_down;
      const bool goes_there = way_of(pair) == Way::there;
      flows_[pair.flow].note_time(goes_there ? pair.up_ns : pair.down_ns);
      if (!is_clear(pair)) continue;
      seen.delays.push_back(delay_ns(pair));
      seen.count.reordered += seen.arrivals.take(goes_there ? pair.up_order : pair.down_order, seen.delays.back());
    }
  }

  void count_singles() {
    for (const bool is_up : {true, false})
      for (const Single& single : is_up ? pairing_.up_only : pairing_.down_only) {
        ComparedFlow& flow = flows_[single.flow];
        FlowCount& count = seen_[single.flow].count;
        FlowCount::OneTap& tap = is_up ? count.up : count.down;
        const bool is_sent = (flow.way == Way::there) == is_up;
        if (is_sent) flow.note_time(single.time_ns);
        tap.alike += single.is_alike;
        if (is_sent ? is_sent_outside(single.time_ns, flow.way)
                    : !single.has_twin && is_received_outside(single.time_ns, flow.way))
          ++tap.outside;
        else
          ++(single.has_twin ? tap.twins : tap.plain);
      }
  }

  /// Returns whether the receiver may not have seen a packet that was sent then, since it began later or had ended.
  bool is_sent_outside(std::uint64_t sent_ns, Way way) const noexcept {
    const Tap& receiver = way == Way::there ? down_ : up_;
    const Transit& transit = transit_[index(way)];
    if (!transit.is_known) return false;
    const __int128 sent = sent_ns;
    return sent + transit.least < receiver.first_ns || sent + transit.p99 > receiver.last_ns;
  }

  /// Returns whether the sender may not have seen a packet that was received then, since it began later.
  bool is_received_outside(std::uint64_t received_ns, Way way) const noexcept {
    const Tap& sender = way == Way::there ? up_ : down_;
    const Transit& transit = transit_[index(way)];
    return transit.is_known && __int128{received_ns} - transit.p99 < sender.first_ns;
  }

  void add_up(ComparedFlow& flow, Seen& seen) {
    flow.passed = seen.count.passed(flow.way);
    found_.total(flow.way).add_counts(flow.passed);
    flow.passed.delays = delays_of(std::move(seen.delays), seen.arrivals.variation());
    all_[index(flow.way)].steps += seen.arrivals.steps;
    all_[index(flow.way)].step_count += seen.arrivals.step_count;
  }

  std::vector<std::int64_t> all_delays(Way way) const {
    std::vector<std::int64_t> delays;
    for (const Pair& pair : pairing_.pairs)
      if (way_of(pair) == way && is_clear(pair)) delays.push_back(delay_ns(pair));
    return delays;
  }

  Tap &up_, &down_;
  const std::vector<FlowKey>& keys_;
  Pairer pairer_;
  Pairing pairing_;
  std::vector<Way> ways_;
  std::vector<ComparedFlow> flows_;
  std::vector<Seen> seen_;
  Arrivals all_[2];
  Transit transit_[2];
  Comparison found_;
};

}  // namespace

void Comparison::sort_flows() {
  std::erase_if(flows, [](const ComparedFlow& flow) { return flow.passed.sent + flow.passed.received == 0; });
  std::ranges::stable_sort(flows, {}, [](const ComparedFlow& flow) {
    return std::tuple(~flow.passed.lost, flow.passed.is_whole(), ~flow.passed.sent);
  });
}

Comparison compare(Tap& up, Tap& down, const FlowNumbers& flows) { return Comparer(up, down, flows).compare(); }

}  // namespace parshall
