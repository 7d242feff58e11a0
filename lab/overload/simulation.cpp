// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/random.hpp"

namespace parshall::lab {
namespace {

constexpr std::size_t kQueue = 4096, kBatch = 256;
constexpr std::size_t kAhead = 12;  ///< packets: the simulation asks for a flow's line so early
constexpr std::size_t kFew = 32;    ///< packets: with fewer a worker waits before it asks again
constexpr double kPrecision = 0.75, kBusyAtLoad1 = 0.95, kSwingNs = 1e9, kNoiseNs = 0.7e9;
constexpr double kWindowNs = static_cast<double>(OverloadMonitor::kWindowNs);

double normal(SplitMix64& random) noexcept {
  return std::sqrt(-2 * std::log(1 - random.uniform())) * std::cos(2 * std::numbers::pi * random.uniform());
}

/// Factors of what packets take: an autoregressive process, and independent jitter.
std::vector<double> factors_of(const OverloadCell& cell, std::size_t steps, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<double> factors(steps);
  const double kept = std::exp(-kWindowNs / kNoiseNs);
  double slow = normal(random);
  for (double& factor : factors) {
    slow = kept * slow + std::sqrt(1 - kept * kept) * normal(random);
    factor = std::exp(cell.noise * slow + cell.jitter * normal(random));
  }
  return factors;
}

}  // namespace

/// Packets in the order and at the times of their arrival.
class OverloadSimulation::Arrivals {
 public:
  explicit Arrivals(const OverloadSimulation& of) : stream_(of.traffic_), cell_(of.cell_), load_1_pps_(of.load_1_pps_) {
    next();
  }

  const OverloadTraffic::Packet& first() const noexcept { return packet_; }

  std::uint32_t flow_after(std::size_t packets) const noexcept { return stream_.flow_after(packets); }

  void next() noexcept {
    if (number_++ % kAtOneRate == 0) gap_ns_ = 1e9 / rate_pps();
    ns_ += gap_ns_;
    packet_ = stream_.next(static_cast<std::uint64_t>(ns_));
  }

 private:
  static constexpr std::uint64_t kAtOneRate = 256;

  double rate_pps() const noexcept {
    if (!cell_.swings) return cell_.load * load_1_pps_;
    return load_1_pps_ * (1 + (cell_.load - 1) / 2 * (1 - std::cos(2 * std::numbers::pi * ns_ / kSwingNs)));
  }

  OverloadTraffic::Stream stream_;
  const OverloadCell& cell_;
  double load_1_pps_, ns_ = 0, gap_ns_ = 0;
  std::uint64_t number_ = 0;
  OverloadTraffic::Packet packet_;
};

OverloadSimulation::OverloadSimulation(const OverloadTraffic& traffic, const OverloadCell& cell,
                                       const PacketCosts& costs, Length length, std::uint64_t seed)
    : traffic_(traffic),
      cell_(cell),
      costs_(costs),
      first_judged_(static_cast<std::size_t>(length.warm_up_s * 1e9 / kWindowNs)),
      windows_(first_judged_ + static_cast<std::size_t>(length.judged_s * 1e9 / kWindowNs)),
      load_1_pps_(load_1()),
      factors_(factors_of(cell, windows_ + 2, seed)) {
  find_truth();
}

/// Returns the rate at which all tasks take kBusyAtLoad1 of the time, once flows are known.
double OverloadSimulation::load_1() const {
  constexpr std::size_t kWarmUp = 1'500'000, kPackets = 3'000'000;
  OverloadMonitor monitor(traffic_, costs_, [](std::size_t, const FoundEvents&) {});
  OverloadTraffic::Stream stream(traffic_);
  const FollowedFlows all;
  double ns = 0, warm_ns = 0, border_ns = kWindowNs;
  for (std::size_t i = 0; i < kPackets; ++i) {
    if (i == kWarmUp) warm_ns = ns;
    if (ns >= border_ns) {
      monitor.end_window();
      border_ns += kWindowNs;
    }
    monitor.prefetch(stream.flow_after(kAhead));
    ns += monitor.take(stream.next(static_cast<std::uint64_t>(ns)), all) + costs_.batch_ns / kBatch;
  }
  return kBusyAtLoad1 * 1e9 * (kPackets - kWarmUp) / (ns - warm_ns);
}

/// Finds what tasks would with unlimited time.
void OverloadSimulation::find_truth() {
  OverloadMonitor monitor(traffic_, costs_, [&](std::size_t, const FoundEvents& found) { truth_.push_back(found); });
  Arrivals arrivals(*this);
  const FollowedFlows all;
  while (truth_.size() < windows_) {
    const auto border = OverloadMonitor::kWindowNs * (truth_.size() + 1);
    for (; arrivals.first().ns < border; arrivals.next()) {
      monitor.prefetch(arrivals.flow_after(kAhead));
      monitor.take(arrivals.first(), all);
    }
    monitor.end_window();
    work_.push_back(work_of(monitor.end_step(), monitor));
    monitor.weigh();
  }
}

/// Returns what the latest window of truth_ takes, and what its classes of flows show.
WindowWork OverloadSimulation::work_of(const StepWork& step, const OverloadMonitor& monitor) const {
  const double factor = factors_[truth_.size() - 1];
  WindowWork work{.free_ns = kWindowNs, .classes = {}};
  for (std::size_t state = 0; state < OverloadTraffic::kMostStates; ++state)
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
      const double packets = step.packets[state][weight], cold = step.cold_packets[state][weight];
      const auto ns = [&](const HotCold& cost) {
        return factor * packets * cost.mean_ns(cold / std::max(1.0, packets));
      };
      work.free_ns -= ns(costs_.counting) + factor * packets * costs_.batch_ns / kBatch;
      work.classes.push_back(
          {.rows_ns =
               factor * (packets * costs_.row_ns + step.rows[state][weight] * (costs_.new_row_ns - costs_.row_ns)),
           .gaps_ns = ns({costs_.gaps.hot_ns, costs_.gaps.hot_ns}),  // cold lines may be those of a connection
           .tcp_ns = ns(costs_.tcp),
           .round_trips_ns = ns(costs_.round_trips)});
    }
  for (std::size_t task = 0; task < kOverloadTasks; ++task)
    for (const FoundEvent& event : truth_.back()[task]) {
      ClassInWindow& of =
          work.classes[traffic_.state_of(event.flow) * FlowWeight::kClasses + monitor.weight_of(event.flow)];
      ++of.events[static_cast<std::size_t>(EventMeasure::flows)][task];
      of.events[static_cast<std::size_t>(EventMeasure::each)][task] += event.count;
    }
  return work;
}

double OverloadSimulation::bound(EventMeasure measure) const {
  const double dearest_ns = costs_.counting.cold_ns + costs_.new_row_ns + costs_.gaps.cold_ns + costs_.tcp.cold_ns +
                            costs_.round_trips.cold_ns + costs_.mixed_ns;
  return most_satisfied(std::span(work_).subspan(first_judged_, windows_ - first_judged_), measure,
                        (kQueue + kBatch) * dearest_ns * *std::ranges::max_element(factors_));
}

OverloadOutcome OverloadSimulation::run(const OverloadPolicyEntry& entry) const {
  OverloadOutcome outcome;
  std::vector<std::uint16_t> there(traffic_.flows());
  const auto judge = [&](std::size_t window, const FoundEvents& found) {
    if (window < first_judged_ || window >= windows_) return;
    for (std::size_t task = 0; task < kOverloadTasks; ++task) {
      double flows = 0, events = 0, all_events = 0;
      for (const FoundEvent& event : truth_[window][task]) {
        there[event.flow] = event.count;
        all_events += event.count;
      }
      for (const FoundEvent& event : found[task]) {
        flows += there[event.flow] != 0;
        events += std::min(there[event.flow], event.count);
      }
      for (const FoundEvent& event : truth_[window][task]) there[event.flow] = 0;
      const auto all = static_cast<double>(truth_[window][task].size()), told = static_cast<double>(found[task].size());
      outcome.by_flows[task] += flows >= kRecall * all && flows >= kPrecision * told;
      outcome.by_count[task] += events >= kRecall * all_events;
    }
  };
  OverloadMonitor monitor(traffic_, costs_, judge);
  SimulatedPolicy policy(entry, traffic_, costs_, cell_.price_error);
  Arrivals arrivals(*this);
  std::vector<OverloadTraffic::Packet> queue(kQueue);
  std::size_t head = 0, waiting = 0, window = 0;
  std::uint64_t offered_judged = 0, missed_judged = 0;
  OverloadStep step;
  double now_ns = 0, step_began_ns = 0;
  while (window < windows_) {
    for (; static_cast<double>(arrivals.first().ns) <= now_ns; arrivals.next()) {
      const bool is_kept = waiting < kQueue, is_judged = window >= first_judged_;
      if (is_kept) queue[(head + waiting++) % kQueue] = arrivals.first();
      ++step.offered;
      step.missed += !is_kept;
      offered_judged += is_judged;
      missed_judged += is_judged && !is_kept;
    }
    if (waiting < kFew) {
      now_ns += costs_.wait_ns;
      continue;
    }
    double ns = costs_.batch_ns;
    std::uint64_t latest_ns = 0;
    const std::size_t batch = std::min(kBatch, waiting);
    for (std::size_t i = 0; i < batch; ++i) {
      const OverloadTraffic::Packet& packet = queue[head];
      if (i + kAhead < batch) monitor.prefetch(queue[(head + kAhead) % kQueue].flow);
      latest_ns = packet.ns;
      for (; packet.ns >= OverloadMonitor::kWindowNs * (window + 1); ++window) monitor.end_window();
      ns += monitor.take(packet, policy.followed());
      head = (head + 1) % kQueue;
    }
    waiting -= batch;
    step.counted += batch;
    ns *= factors_[std::min(factors_.size() - 1, static_cast<std::size_t>(now_ns / kWindowNs))];
    step.busy_ns += ns;
    now_ns += ns;
    if (static_cast<double>(latest_ns) < step_began_ns + kWindowNs) continue;
    step.step_ns = now_ns - std::exchange(step_began_ns, now_ns);
    step.work = monitor.end_step();
    policy.end_step(std::exchange(step, OverloadStep()), monitor);
    if (policy.weighs()) monitor.weigh();
  }
  const auto judged = static_cast<double>(windows_ - first_judged_);
  for (double& share : outcome.by_flows) share /= judged;
  for (double& share : outcome.by_count) share /= judged;
  outcome.lost_share = static_cast<double>(missed_judged) / static_cast<double>(offered_judged);
  return outcome;
}

}  // namespace parshall::lab
