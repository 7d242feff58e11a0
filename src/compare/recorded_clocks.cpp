// SPDX-License-Identifier: Apache-2.0
#include "compare/recorded_clocks.hpp"

#include <algorithm>
#include <utility>

#include "compare/ways.hpp"

namespace parshall {
namespace {

bool may_have_same_names(const JoinedFlow& flow) {
  const auto up = flow.up->sums(), down = flow.down->sums();
  return !up || !down || up->all.names == down->all.names;
}

void add_pair(std::size_t flow, const Passage& passage, Pairing& pairing) {
  pairing.pairs.push_back({.up_ns = passage.up_ns,
                           .down_ns = passage.up_ns + static_cast<std::uint64_t>(passage.difference_ns),
                           .up_order = 0,
                           .down_order = 0,
                           .flow = static_cast<std::uint32_t>(flow),
                           .hops = 0,
                           .is_single_at_up = true,
                           .is_single_at_down = true});
}

}  // namespace

std::optional<CutFlow> JoinedFlow::cuts(FlowEnds watched) const {
  const auto of_up = up->sums(), of_down = down->sums();
  return of_up && of_down ? compare_cuts(*of_up, *of_down, watched) : std::nullopt;
}

std::vector<JoinedFlow> join(const RecordSet& up, const RecordSet& down) {
  static const RecordedFlow kNone;
  std::vector<JoinedFlow> flows;
  auto at_up = up.flows.begin();
  auto at_down = down.flows.begin();
  while (at_up != up.flows.end() || at_down != down.flows.end()) {
    const bool takes_up = at_up != up.flows.end() && (at_down == down.flows.end() || at_up->first <= at_down->first);
    const bool takes_down = at_down != down.flows.end() && (at_up == up.flows.end() || at_down->first <= at_up->first);
    flows.push_back({.name = takes_up ? at_up->first : at_down->first,
                     .up = takes_up ? &at_up->second : &kNone,
                     .down = takes_down ? &at_down->second : &kNone});
    if (takes_up) ++at_up;
    if (takes_down) ++at_down;
  }
  return flows;
}

/// Whether both taps watched a flow is known once there are clocks, so a second look leaves out the others.
RecordedClocks::RecordedClocks(const RecordSet& up, const RecordSet& down, const std::vector<JoinedFlow>& flows)
    : up_(up), down_(down), flows_(flows), partners_(flows.size(), kNoPartner) {
  for (std::size_t i = 0; i + 1 < flows_.size(); ++i)  // next to each other: names differ by the lowest bit
    if ((flows_[i].name ^ 1) == flows_[i + 1].name) partners_[i] = i + 1, partners_[i + 1] = i;
  std::vector<bool> is_watched(flows_.size(), true);
  take_pairs(is_watched);
  for (std::size_t i = 0; i < flows_.size(); ++i) is_watched[i] = watched(flows_[i], ways_[i]) == FlowEnds::both;
  take_pairs(is_watched);
}

/// Takes all common cuts for pairs, and the first and last packets of flows of which both taps saw as many packets, and
/// watched all. Without any, takes the first packets of all flows. If the receiver did not see the very first packet of
/// a flow since it was lost, its delay looks longer; the least delays do not depend on that.
void RecordedClocks::take_pairs(const std::vector<bool>& is_watched) {
  Pairing of_one, of_firsts;  // pairs that are surely of one packet, and others
  std::vector<bool> has_pair(flows_.size());
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    const JoinedFlow& flow = flows_[i];
    if (!flow.is_at_both()) continue;
    const Passage first{flow.up->first_ns, difference_of(flow.up->first_ns, flow.down->first_ns)};
    add_pair(i, first, of_firsts);
    if (const auto cuts = flow.cuts(FlowEnds::none))
      for (const CutFlow::Sample& sample : cuts->samples) add_pair(i, sample.passage, of_one);
    if (flow.up->packets != flow.down->packets || !may_have_same_names(flow) || !is_watched[i]) continue;
    add_pair(i, first, of_one);
    if (flow.up->packets > 1)
      add_pair(i, {flow.up->last_ns, difference_of(flow.up->last_ns, flow.down->last_ns)}, of_one);
  }
  if (of_one.pairs.empty()) return take_clocks(of_firsts, 50);  // half of the first packets were not lost
  take_clocks(of_one, 99);
  for (const Pair& pair : of_one.pairs) has_pair[pair.flow] = true;
  find_other_ways(of_firsts, has_pair);
}

/// `percent`: of the transits, that are taken for those of one packet.
void RecordedClocks::take_clocks(const Pairing& pairing, unsigned percent) {
  ways_ = find_ways(pairing, partners_);
  std::vector<Passage> passages[2];
  std::vector<std::int64_t> transits[2];
  for (const Pair& pair : pairing.pairs) {
    const Way way = ways_[pair.flow];
    passages[index(way)].push_back({pair.up_ns, pair.difference_ns()});
    transits[index(way)].push_back(way == Way::there ? pair.difference_ns() : -pair.difference_ns());
  }
  clocks_ = compare_clocks(std::move(passages[0]), std::move(passages[1]));
  for (const std::size_t way : {0, 1}) {
    transit_[way] = {};
    if (transits[way].empty()) continue;
    std::ranges::sort(transits[way]);
    transit_[way] = {transits[way].front(), percentile_of(transits[way], percent), true};
  }
}

/// Finds where flows go that have no pair of their own: where the other direction of their connection does not, unless
/// connections here go one way, as in a replayed capture; else by their first packets.
void RecordedClocks::find_other_ways(const Pairing& of_firsts, const std::vector<bool>& has_pair) {
  std::size_t same = 0, others = 0;
  for (std::size_t i = 0; i < flows_.size(); ++i)
    if (const std::size_t partner = partners_[i]; partner != kNoPartner && has_pair[i] && has_pair[partner])
      ++(ways_[i] == ways_[partner] ? same : others);
  if (same > others) partners_.assign(flows_.size(), kNoPartner);
  if (!goes_both_ways()) return;
  for (const Pair& pair : of_firsts.pairs) {
    if (has_pair[pair.flow]) continue;
    const std::size_t partner = partners_[pair.flow];
    const bool is_later = clocks_.true_difference_ns({pair.up_ns, pair.difference_ns()}) >= 0;
    ways_[pair.flow] = partner != kNoPartner && has_pair[partner] ? other(ways_[partner])
                       : is_later                                 ? Way::there
                                                                  : Way::back;
  }
}

Way RecordedClocks::way_of(std::size_t flow) const {
  if (flows_[flow].is_at_both() || !goes_both_ways()) return ways_[flow];
  if (const std::size_t partner = partners_[flow]; partner != kNoPartner && flows_[partner].is_at_both())
    return other(ways_[partner]);
  return flows_[flow].up->packets != 0 ? Way::there : Way::back;
}

FlowEnds RecordedClocks::watched(const JoinedFlow& flow, Way way) const {
  if (!up_.lacks.empty() || !down_.lacks.empty() || flow.up->has_several_runs || flow.down->has_several_runs)
    return FlowEnds::none;
  const Transit& transit = transit_[index(way)];
  if (!transit.is_known) return FlowEnds::both;
  const bool goes_there = way == Way::there;
  const RecordedFlow &sender = goes_there ? *flow.up : *flow.down, &receiver = goes_there ? *flow.down : *flow.up;
  bool beginning = true, end = true;
  const auto look = [&](const RecordSet& tap, __int128 first, __int128 last) {
    const auto run_at = [&tap](__int128 ns) {
      return std::ranges::find_if(
          tap.runs, [ns](const auto& run) { return run.second.first_ns <= ns && ns <= run.second.last_ns; });
    };
    const auto at_first = run_at(first), at_last = run_at(last);
    beginning &= at_first != tap.runs.end();
    end &= at_last != tap.runs.end();
    if (beginning && end && at_first != at_last) beginning = end = false;
  };
  if (sender.packets != 0)
    look(goes_there ? down_ : up_, __int128{sender.first_ns} + transit.least, __int128{sender.last_ns} + transit.most);
  if (receiver.packets != 0)
    look(goes_there ? up_ : down_, __int128{receiver.first_ns} - transit.most,
         __int128{receiver.last_ns} - transit.least);
  if (beginning && end) return FlowEnds::both;
  return beginning ? FlowEnds::beginning : end ? FlowEnds::end : FlowEnds::none;
}

}  // namespace parshall
