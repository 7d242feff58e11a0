// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace parshall::lab {
namespace {

constexpr double kHeavyShare = 0.001, kBurstyShare = 0.1, kDeviations = 2;
constexpr std::uint32_t kFewestBursty = 10, kFewestRoundTrips = 8;
constexpr std::uint64_t kBurstNs = 1'000'000;
constexpr double kForgetting = 0.002;

template <class Count>
void count(Count& of) noexcept {
  if (of != std::numeric_limits<Count>::max()) ++of;
}

}  // namespace

/// Notes that lines numbered by their last packet are used again; returns true if they left the caches since.
bool OverloadMonitor::is_cold(std::uint32_t& at) noexcept {
  const bool cold = at == 0 || taken_ - at > costs_.cold_after;
  at = taken_;
  return cold;
}

/// Gives the flow a new weight if flows were weighed since. A weight falls by a class at most, but for a flow that was
/// silent.
void OverloadMonitor::weigh(Flow& flow) noexcept {
  if (flow.weighing == weighings_) return;
  const int weight = FlowWeight::of(flow.weighed), before = flow.weight;
  const auto passed = static_cast<std::uint8_t>(weighings_ - flow.weighing);
  const int lighter = passed > 1 ? passed : weight < before - 1 ? 1 : 0;
  flow.weight = static_cast<std::uint8_t>(std::max({0, weight, before - lighter}));
  flow.weighed = 0;
  flow.weighing = weighings_;
}

double OverloadMonitor::take(const OverloadTraffic::Packet& packet, const FollowedFlows& followed) {
  ++taken_;
  ++taken_in_window_;
  Flow& flow = flows_[packet.flow];
  const bool is_cold_flow = is_cold(flow.seen_at);
  double ns = costs_.counting.ns(is_cold_flow);
  weigh(flow);
  count(flow.weighed);
  const std::uint8_t state = traffic_.state_of(packet.flow);
  const TaskBits tasks =
      traffic_.tasks_of_state(state) & followed.tasks[state][flow.weight][traffic_.hash_of(packet.flow)];
  work_.packets[state][flow.weight] += 1;
  work_.cold_packets[state][flow.weight] += is_cold_flow;
  work_.followed[tasks] += 1;
  if (flow.window != window_) {
    flow.window = window_;
    flow.packets = 0;
    flow.bursts = flow.retransmissions = flow.changes = 0;
    flow.by_all = kAllTasks, flow.by_any = 0;
    in_window_.push_back(packet.flow);
  }
  if (tasks != 0) {
    ns += flow.by_any == 0 ? costs_.new_row_ns : costs_.row_ns;
    work_.rows[state][flow.weight] += flow.by_any == 0;
  }
  ++flow.packets;
  flow.by_all = flow.by_all & tasks & kAllTasks;
  flow.by_any = (flow.by_any | tasks) & kAllTasks;
  const bool is_bursty = (tasks & bit_of(OverloadTask::bursty)) != 0, is_tcp = (tasks & kOfConnections) != 0;
  const bool reads_track = (is_bursty || is_tcp) && is_cold(flow.followed_at);
  if (is_bursty) {
    ns += is_tcp ? costs_.gaps.hot_ns : costs_.gaps.ns(reads_track);
    if (flow.last_ns != 0 && packet.ns - flow.last_ns < kBurstNs) count(flow.bursts);
  }
  flow.last_ns = is_bursty ? packet.ns : 0;
  Flow& peer = flows_[packet.flow ^ 1];
  if (is_tcp) {
    ns += costs_.tcp.ns(reads_track) + follow(packet, flow, peer, tasks);
    if ((tasks & bit_of(OverloadTask::latency_change)) != 0) ns += costs_.round_trips.ns(reads_track);
  } else if (flow.is_followed) {
    flow.is_followed = flow.is_unacknowledged = peer.is_unacknowledged = false;
    flow.segments = flow.acknowledged = peer.acknowledged = 0;
  }
  followed_share_ += kForgetting * (is_tcp - followed_share_);
  return ns + costs_.mixed_ns * 4 * followed_share_ * (1 - followed_share_);
}

/// Follows the connection; returns the time of what is not usual.
double OverloadMonitor::follow(const OverloadTraffic::Packet& packet, Flow& flow, Flow& peer, TaskBits tasks) noexcept {
  double ns = flow.is_followed ? 0 : costs_.new_connection_ns;
  flow.is_followed = true;
  if (packet.has_data) {
    bool was_seen = false;
    if (packet.is_again) {
      was_seen = (peer.acknowledged != 0 && peer.acknowledged >= packet.segments) ||
                 (flow.segments != 0 && flow.segments >= packet.segments);
      if (was_seen && (tasks & bit_of(OverloadTask::retransmissions)) != 0) count(flow.retransmissions);
    }
    if (flow.segments != 0 && packet.segments > flow.segments + 1) ns += costs_.lost_segment_ns;
    flow.is_unacknowledged = true;
    flow.is_again = was_seen;
    flow.segments = std::max(flow.segments, packet.segments);
    flow.segment_ns = packet.ns;
  }
  flow.acknowledged = packet.peer_segments;
  if (!peer.is_unacknowledged) return ns;
  peer.is_unacknowledged = false;
  if (packet.peer_segments != peer.segments || peer.is_again || (tasks & bit_of(OverloadTask::latency_change)) == 0)
    return ns;
  const auto round_trip_ns = static_cast<float>(packet.ns - peer.segment_ns);
  if (flow.round_trips >= kFewestRoundTrips) {
    const double sd = std::sqrt(flow.squares / static_cast<float>(flow.round_trips - 1));
    if (std::abs(round_trip_ns - flow.mean_ns) > kDeviations * sd) count(flow.changes);
  }
  count(flow.round_trips);
  const float off = round_trip_ns - flow.mean_ns;
  flow.mean_ns += off / static_cast<float>(flow.round_trips);
  flow.squares += off * (round_trip_ns - flow.mean_ns);
  return ns;
}

/// Returns the number of events that a task found in the flow in this window.
std::uint16_t OverloadMonitor::events_of(const Flow& flow, std::size_t task) const noexcept {
  switch (static_cast<OverloadTask>(task)) {
    case OverloadTask::heavy_hitters:
      return flow.packets >= kHeavyShare * taken_in_window_;
    case OverloadTask::retransmissions:
      return flow.retransmissions;
    case OverloadTask::bursty:
      return flow.packets >= kFewestBursty && flow.bursts >= kBurstyShare * flow.packets;
    case OverloadTask::latency_change:
      return flow.changes;
  }
  return 0;
}

void OverloadMonitor::end_window() {
  struct Seen {
    RecallByWeight::Counts wholly{}, events{}, in_part{}, unseen{};
    EventsByWeight::Window by_weight;
  };
  FoundEvents found;
  std::array<Seen, kOverloadTasks> seen;
  for (const std::uint32_t number : in_window_) {
    const Flow& flow = flows_[number];
    const TaskBits wanted = traffic_.tasks_of_state(traffic_.state_of(number));
    for (std::size_t task = 0; task < kOverloadTasks; ++task) {
      if ((wanted >> task & 1) == 0) continue;
      auto& [wholly, events, in_part, unseen, by_weight] = seen[task];
      const bool is_whole = (flow.by_all >> task & 1) != 0, is_seen = (flow.by_any >> task & 1) != 0;
      const std::uint16_t shown = is_seen ? events_of(flow, task) : 0;
      if (shown != 0) found[task].push_back({number, shown});
      (is_whole ? wholly : unseen)[flow.weight] += 1;
      if (shown != 0) (is_whole ? events : in_part)[flow.weight] += 1;
      by_weight.flows[flow.weight] += 1;
      by_weight.packets[flow.weight] += flow.packets;
      if (!is_whole) continue;
      by_weight.seen_flows[flow.weight] += 1;
      by_weight.seen_packets[flow.weight] += flow.packets;
      by_weight.seen_events[static_cast<std::size_t>(EventMeasure::flows)][flow.weight] += shown != 0;
      by_weight.seen_events[static_cast<std::size_t>(EventMeasure::each)][flow.weight] += shown;
    }
  }
  for (std::size_t task = 0; task < kOverloadTasks; ++task) {
    auto& [wholly, events, in_part, unseen, by_weight] = seen[task];
    Known& known = known_[task];
    known.events.add_window(by_weight, (kOfConnections >> task & 1) != 0);
    for (std::size_t weight = 0; weight < events.size(); ++weight) events[weight] += in_part[weight];
    known.estimator.add_window(wholly, events, in_part);
    const std::optional<Recall> recall = known.estimator.recall(unseen);
    known.recall = recall ? recall->expected : 0;
  }
  on_window_(window_, found);
  in_window_.clear();
  taken_in_window_ = 0;
  ++window_;
}

}  // namespace parshall::lab
