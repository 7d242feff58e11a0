// SPDX-License-Identifier: Apache-2.0
#include "lab/rivals/mona/controller.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace parshall::lab {
namespace {

constexpr double kWorthChanging = 0.02;  ///< difference of recall, or of flows
constexpr double kBusy = 0.98, kLeastMargin = 0.85, kMarginLost = 0.02, kMarginBack = 0.003;  ///< last two: per window
constexpr std::size_t kMostTasks = 256;     ///< tasks whose flows are considered before a shift is chosen
constexpr double kLearning = 0.3;           ///< share of the difference per window
constexpr double kLeast = 0.1, kMost = 10;  ///< corrections beyond these are measurement errors

void approach(double& value, double measured, double learning) noexcept {
  value += learning * (std::clamp(measured, kLeast, kMost) - value);
}

/// Clips the utilisation; a NaN becomes the default.
double bounded(double utilisation) noexcept {
  return std::isnan(utilisation) ? Controller::Options().utilisation
                                 : std::clamp(utilisation, Controller::kLeastUtilisation, 1.0);
}

/// Returns true if a change is too small to be worth it: flows that change state lose their history.
bool is_near(const Shift& one, const Shift& other) noexcept {
  return one.steps == other.steps && one.others_stay == other.others_stay && one.infeasible == other.infeasible &&
         std::abs(one.share - other.share) < kWorthChanging;
}

std::vector<double> all_in_costs(const StateGraph& graph, const PacketTime& time) {
  std::vector<double> costs_ns;
  for (const double cost : graph.costs_ns()) costs_ns.push_back(std::max(1e-3, time.total_ns(cost)));
  return costs_ns;
}

}  // namespace

Controller::Controller(StateGraph graph, PacketTime profile, Options options)
    : graph_(std::move(graph)),
      all_in_(graph_),
      time_(profile),
      options_(options),
      profiled_ns_(all_in_costs(graph_, profile)),
      now_ns_(graph_.size()),
      sds_ns_(graph_.size()),
      mix_(graph_.size()),
      shares_(graph_.size()),
      costs_(profiled_ns_, options.costs),
      adapted_(graph_),
      allocation_(graph_),
      recovery_(graph_, options.recovery),
      rest_packets_(graph_.size()) {
  tasks_.reserve(kMostTasks);
  options_.utilisation = bounded(options.utilisation);
  tell();
}

/// Compares the time that packets took with the expected time for these states.
void Controller::learn(const WindowLoad& load) noexcept {
  if (load.hit_probability && std::isfinite(*load.hit_probability))
    time_.hit_probability = std::clamp(*load.hit_probability, 0.0, 1.0);
  if (load.counted == 0) return;
  const auto counted = static_cast<double>(load.counted);
  time_.new_flow_share = std::min(1.0, static_cast<double>(load.new_flows) / counted);
  double packets = 0, profiled_ns = 0;
  for (std::size_t i = 0; i < std::min(graph_.size(), load.packets.size()); ++i) packets += load.packets[i];
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    mix_[i] = i < load.packets.size() && packets > 0 ? load.packets[i] / packets : 0;
    const double now_ns = time_.total_ns(graph_.costs_ns()[i]);
    profiled_ns += mix_[i] * now_ns;
    shares_[i] = mix_[i] * now_ns / profiled_ns_[i];
  }
  if (!costs_.add_window({load.window_ns, load.busy_ns, counted, shares_})) return;
  const double learning = kLearning * std::min(1.0, load.busy_ns / load.window_ns);
  approach(slowness_, load.busy_ns / counted / profiled_ns, learning);
  if (shift_.steps == 0) return;  // all flows have their base state, whatever their weight
  set_aside_heavy(load, heavy_from_);
  const double by_shares_ns = rest_share_ * allocation_.mean_cost_ns(all_in_, rest_packets_);
  const double rest_ns = all_in_.mean_cost_ns(load.packets) - heavy_ns_;
  if (by_shares_ns > 0) approach(weight_, rest_ns / by_shares_ns, learning);
}

/// Publishes the learnt costs, for the actual shares of new flows and cache hits.
void Controller::tell() noexcept {
  for (std::size_t i = 0; i < graph_.size(); ++i) {
    const double factor = time_.total_ns(graph_.costs_ns()[i]) / profiled_ns_[i];
    now_ns_[i] = factor * costs_.cost_ns(i);
    sds_ns_[i] = factor * costs_.sd_ns(i);
  }
  make_monotone(graph_, sds_ns_, mix_, now_ns_);
  all_in_.set_costs(now_ns_);
}

/// Sets aside flows of this weight or more, which go all the way, and keeps the rest for deciding.
void Controller::set_aside_heavy(const WindowLoad& load, std::uint8_t from) noexcept {
  const auto lightest = all_in_.after(all_in_.depth());
  double all = 0, rest = 0, heavy_ns = 0;
  states_in_use_ = 0;
  for (std::size_t state = 0; state < graph_.size(); ++state) {
    double& packets = rest_packets_[state];
    packets = state < load.base_packets.size() ? load.base_packets[state] : 0;
    all += packets;
    if (packets > 0) states_in_use_ |= std::uint64_t{1} << state;
    for (std::size_t weight = from; weight < FlowWeight::kClasses && !load.weighed_packets.empty(); ++weight) {
      const double heavy = load.weighed_packets[state * FlowWeight::kClasses + weight];
      packets -= heavy;
      heavy_ns += heavy * all_in_[lightest[state]].cost_ns;
    }
    rest += packets;
  }
  rest_share_ = all > 0 ? rest / all : 1;
  heavy_ns_ = all > 0 ? heavy_ns / all : 0;
}

/// Returns the least margin of any task: its recall above its threshold, assuming that its flows are alike in all
/// states.
double Controller::worst_headroom(Shift shift, std::uint8_t heavy_from) const noexcept {
  double worst = 1;
  for (const GapRecovery::Task& task : tasks_) {
    const double light = heavy_from < FlowWeight::kClasses ? 1 - task.heavy_share[heavy_from] : 1;
    if ((task.states & states_in_use_) == 0) continue;
    // If all of its packets are of heavy flows, its events come from light flows alone.
    const double staying = share_staying(graph_, shift, rest_packets_, task.states).value_or(1);
    worst = std::min(worst, light * staying - task.threshold);
  }
  return worst;
}

/// Chooses the shift. A small gain is not worth another kind of shift, since flows that change lose their history.
Controller::Choice Controller::choose_shift(double target_ns, std::uint8_t heavy_from) const noexcept {
  const Shift all = shift_to(all_in_, rest_packets_, target_ns);
  const Choice of_all{heavy_from, all, worst_headroom(all, heavy_from)};
  if (options_.mode != Mode::recover || all.steps == 0 || all.infeasible || tasks_.empty()) return of_all;
  const Shift few = few_shift_to(all_in_, rest_packets_, target_ns);
  const Choice of_few{heavy_from, few, worst_headroom(few, heavy_from)};
  const double gain = of_few.headroom - of_all.headroom;
  return gain > (shift_.others_stay ? -kWorthChanging : kWorthChanging) ? of_few : of_all;
}

Controller::Choice Controller::choose_with(const WindowLoad& load, std::uint8_t heavy_from, double target_ns) noexcept {
  set_aside_heavy(load, heavy_from);
  if (rest_share_ > 0) return choose_shift((target_ns - heavy_ns_) / rest_share_ / weight_, heavy_from);
  const Shift shift = heavy_ns_ > target_ns ? Shift{all_in_.depth(), 1, /*infeasible=*/true} : Shift{};
  return {heavy_from, shift, worst_headroom(shift, heavy_from)};
}

/// Chooses by the worst task. The weight from which flows go all the way falls by one class a window, so that the
/// effect of each step is seen before the next. If there is time without it, no flow does.
Controller::Choice Controller::choose(const WindowLoad& load, double target_ns) noexcept {
  constexpr std::uint8_t kNone = FlowWeight::kClasses;
  Choice best = choose_with(load, kNone, target_ns);
  if (options_.mode != Mode::recover || best.shift.steps == 0 || tasks_.empty() || load.weighed_packets.empty())
    return best;
  const auto consider = [&](std::uint8_t heavy_from) {
    Choice other = choose_with(load, heavy_from, target_ns);
    if (heavy_from == heavy_from_) other.headroom += kWorthChanging;
    if (other.headroom > best.headroom) best = other;
  };
  if (heavy_from_ == kNone) best.headroom += kWorthChanging;
  for (int weight = heavy_from_ - 1; weight <= std::min<int>(heavy_from_ + 1, kNone - 1); ++weight)
    if (weight > 0) consider(static_cast<std::uint8_t>(weight));
  return best;
}

/// Learns the margin. Packets lost in spite of spare time came while the worker did something else: windows begin with
/// more work than they end with.
void Controller::learn_margin(const WindowLoad& load) noexcept {
  if (load.missed == 0)
    margin_ = std::min(1.0, margin_ + kMarginBack);
  else if (load.busy_ns < kBusy * load.window_ns)
    margin_ = std::max(kLeastMargin, margin_ - kMarginLost);
}

const Allocation& Controller::end_window(const WindowLoad& load, std::span<const GapRecovery::Task> tasks) noexcept {
  if (options_.mode == Mode::none || !(load.window_ns > 0) || !std::isfinite(load.window_ns)) return allocation_;
  if (load.counted == 0 && load.offered != 0) return allocation_;  // the worker stood still
  learn(load);
  tell();
  const double rate_pps = rate_.add_window(load.offered, load.window_ns);
  set_aside_heavy(load, heavy_from_);
  if (options_.mode == Mode::recover && !tasks.empty()) recovery_.step(all_in_, tasks, rest_packets_, adapted_);
  learn_margin(load);
  if (options_.mode == Mode::recover && !tasks.empty())
    tasks_.assign(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(std::min(tasks.size(), kMostTasks)));
  Choice choice;
  if (rate_pps > 0) {
    const double target_ns = margin_ * options_.utilisation * 1e9 / rate_pps;
    choice = load.counted != 0 ? choose(load, target_ns) : Choice{.heavy_from = heavy_from_, .shift = shift_};
  }
  if (load.missed == 0 && choice.heavy_from == heavy_from_ && is_near(choice.shift, shift_)) choice.shift = shift_;
  shift_ = choice.shift;
  heavy_from_ = choice.heavy_from;
  set_aside_heavy(load, heavy_from_);
  adapted_.apply(graph_, shift_);
  allocation_ = adapted_;
  if (options_.mode == Mode::recover) recovery_.apply(all_in_, rest_packets_, allocation_);
  return allocation_;
}

}  // namespace parshall::lab
