// SPDX-License-Identifier: Apache-2.0
#include "control/task_controller.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace parshall {
namespace {

constexpr double kRoom = 0.97;       ///< share of the time that is used; the rest is for what comes next
constexpr double kFull = 0.9;        ///< a worker that loses packets while less busy was interrupted
constexpr double kLessAtOnce = 0.9;  ///< of packet time, if packets were lost that should have fit
constexpr double kWorthIt = 0.05, kWorthItAtOnce = 0.15;  ///< sum over all tasks' recall
constexpr double kSmallChangeNs = 1e9;
/// Shares of packets that may be lost; with more, a quarter of the events found may be false.
constexpr std::array kLosses{0.06, 0.12, 0.18, 0.24};
constexpr double kLeastLoss = 0.001;
constexpr double kAtRest = 0.2;  ///< part of a task: recall lost when flows come and go
constexpr double kLookAgainNs = 50e6;
constexpr std::uint32_t kLately = 0b1111;            ///< windows, as bits
constexpr double kLeastPart = 0.02, kNearly = 0.75;  ///< step size for returning flows, and the part that counts as all
constexpr double kComingBack = 3;                    ///< cost factor of returning flows in their first window

constexpr double kTaskSurprise = 1.3;  ///< factor over the packet time of nearby windows
constexpr double kMixedNs = 7;
constexpr double kMuch = 0.3;  ///< relative to the dearest part; smaller parts are learnt together
constexpr double kFlowsLearning = 0.1;
constexpr double kLeastFlowsFactor = 1.0 / 256, kMostFlowsFactor = 4;  ///< tasks' windows may last seconds

bool takes_much(double ns, std::span<const double> part_ns) noexcept { return ns >= kMuch * std::ranges::max(part_ns); }

double median(std::array<double, 3> of) noexcept {
  std::ranges::sort(of);
  return of[1];
}

bool is_time(double ns) noexcept { return ns > 0 && std::isfinite(ns); }

}  // namespace

std::vector<double> TaskController::given_costs(const PacketTime& packet, std::span<const double> part_ns) {
  std::vector<double> costs{packet.input_ns + packet.retrieval_ns(), packet.new_flow_ns, kMixedNs, 0};
  for (const double ns : part_ns) {
    if (takes_much(ns, part_ns))
      costs.push_back(ns);
    else
      costs[kRest] += ns;
  }
  return costs;
}

TaskController::TaskController(std::size_t tasks, const PacketTime& packet, std::span<const double> part_ns,
                               Options options)
    : options_(options),
      costs_(given_costs(packet, part_ns), options.costs),
      choice_(tasks),
      shares_(tasks),
      target_(tasks),
      next_(tasks),
      none_(tasks, TaskShare(0)),
      all_(tasks),
      with_losses_(tasks),
      work_shares_(costs_.size()),
      given_ns_(part_ns.begin(), part_ns.end()),
      part_ns_(given_ns_) {
  std::size_t own = kFirstPart;
  for (const double ns : part_ns) work_of_part_.push_back(takes_much(ns, part_ns) ? own++ : std::size_t{kRest});
}

bool TaskController::gives_way() const noexcept {
  return std::ranges::any_of(shares_, [](const TaskShare& share) { return !share.is_all(); });
}

double TaskController::looks_again_in_ns() const noexcept {
  return std::max(patience_.left_ns(), kLookAgainNs - looked_ns_);
}

/// Learns from a window; returns false if it took far longer than the ones before. Then the machine was away, which a
/// virtual machine's clocks count as work. So the median of three windows is learnt.
bool TaskController::learn(const TaskLoad& load, std::span<const TaskDemand> tasks) noexcept {
  if (load.counted == 0) return true;
  const auto counted = static_cast<double>(load.counted);
  work_shares_[kPacket] = 1;
  work_shares_[kNewFlow] = new_flow_share_ = std::min(1.0, static_cast<double>(load.new_flows) / counted);
  prices_.set(tasks, work_of(load));
  const TaskPrices::Amounts told = prices_.amounts(shares_);
  work_shares_[kMixed] = told.mixed;
  for (std::uint32_t left = load.flow_parts; left != 0; left &= left - 1) {
    const auto part = static_cast<std::size_t>(std::countr_zero(left));
    if (!(told.times[part] > 0 && load.done[part] > 0)) continue;
    const double factor = load.done[part] / counted / told.times[part] * flows_factor_;
    flows_factor_ += kFlowsLearning * (std::clamp(factor, kLeastFlowsFactor, kMostFlowsFactor) - flows_factor_);
  }
  const double rest_ns = costs_.given_ns(kRest);
  work_shares_[kRest] = 0;
  for (std::size_t part = 0; part < part_ns_.size(); ++part) {
    const double times = part < load.done.size() ? load.done[part] / counted : 0;
    if (const std::size_t work = work_of_part_[part]; work != kRest)
      work_shares_[work] = times;
    else if (rest_ns > 0)
      work_shares_[kRest] += times * given_ns_[part] / rest_ns;
  }
  const double busy_ns = std::max(0.0, load.busy_ns - static_cast<double>(load.shed) * Shedding::kShedNs);
  const double told_ns = counted * costs_.mean_cost_ns(work_shares_);
  if (!(told_ns > 0)) return true;
  const double times = busy_ns / told_ns;
  if (rose_ && times > median(times_told_)) return times <= kTaskSurprise * kComingBack;
  std::rotate(times_told_.begin(), times_told_.begin() + 1, times_told_.end());
  times_told_.back() = times;
  const double usual = median(times_told_);
  costs_.add_window({load.window_ns, usual * told_ns, counted, work_shares_});
  for (double& earlier : times_told_) earlier *= told_ns / (counted * costs_.mean_cost_ns(work_shares_));
  for (std::size_t part = 0; part < part_ns_.size(); ++part) {
    const std::size_t work = work_of_part_[part];
    part_ns_[part] = work != kRest ? costs_.cost_ns(work)
                     : rest_ns > 0 ? given_ns_[part] * costs_.cost_ns(kRest) / rest_ns
                                   : 0;
  }
  return times <= kTaskSurprise * usual;
}

/// Returns the work of a window, as far as known.
TaskWork TaskController::work_of(const TaskLoad& load) noexcept {
  TaskWork work{.packets = load.packets,
                .base_ns = costs_.cost_ns(kPacket) + new_flow_share_ * costs_.cost_ns(kNewFlow),
                .part_ns = part_ns_,
                .flow_parts = load.flow_parts,
                .flows_per_packet = load.flows_per_packet,
                .mixed_parts = load.mixed_parts,
                .mixed_ns = costs_.cost_ns(kMixed),
                .always = load.always};
  for (double& per_packet : work.flows_per_packet) per_packet *= flows_factor_;
  return work;
}

void TaskController::shed(const TaskLoad& load, double target_ns) noexcept {
  if (!options_.sheds) return;
  shedding_.end_window({.target_ns = target_ns,
                        .lightest_ns = prices_.packet_ns(none_),
                        .kept = load.counted,
                        .shed = load.shed,
                        .missed = load.missed,
                        .busy_share = load.busy_ns / load.window_ns,
                        .all_gave_way = !fits_});
}

void TaskController::choose(std::span<const TaskDemand> tasks, double budget_ns) noexcept {
  chosen_lost_share_ = 0;
  if (options_.prefer == Preference::packets) {
    choice_tasks_ = choice_.choose(tasks, prices_, budget_ns);
    return;
  }
  const double all_ns = budget_ns / (kRoom * options_.utilisation);  // a worker that loses packets is never idle
  const auto with_losses = [&](double lost) -> std::span<const TaskDemand> {
    with_losses_.assign(tasks.begin(), tasks.end());
    for (TaskDemand& task : with_losses_) task.recall /= BlindLoss::recall(task.loss_exponent, lost);
    return with_losses_;
  };
  double most = choice_.satisfied_of(tasks, prices_, budget_ns);
  for (const double lost : kLosses)
    if (const double satisfied = choice_.satisfied_of(with_losses(lost), prices_, all_ns / (1 - lost));
        satisfied > most + kWorthIt)
      most = satisfied, chosen_lost_share_ = lost;
  // With nothing reduced, flows keep their history, and tasks with too little recall find most of their events too.
  const double full_ns = prices_.packet_ns(all_);
  const double by_blind_loss = satisfied_by_blind_loss(tasks, all_ns);
  if (full_ns > budget_ns && by_blind_loss + kAtRest >= most) {
    // Leaves room, so that a little more traffic does not change the choice at once.
    chosen_lost_share_ = std::max(kLeastLoss, 1 - all_ns / (full_ns * (1 + kWorthIt)));
    choice_.choose(with_losses(std::max(0.0, 1 - all_ns / full_ns)), prices_, all_ns / (1 - chosen_lost_share_));
    choice_tasks_ = by_blind_loss;
    return;
  }
  choice_tasks_ = choice_.choose(with_losses(chosen_lost_share_), prices_,
                                 chosen_lost_share_ > 0 ? all_ns / (1 - chosen_lost_share_) : budget_ns);
}

/// Returns the mean number of satisfied tasks per window if all inspect all of their flows, and the worker is always
/// busy.
double TaskController::satisfied_by_blind_loss(std::span<const TaskDemand> tasks, double all_ns) const noexcept {
  const double lost = std::max(0.0, 1 - all_ns / prices_.packet_ns(all_));
  double satisfied = 0;
  for (const TaskDemand& task : tasks) satisfied += task.chance_with(BlindLoss::recall(task.loss_exponent, lost));
  return satisfied;
}

double TaskController::recall_sum(std::span<const TaskDemand> tasks, std::span<const TaskShare> shares) const noexcept {
  double sum = 0;
  for (std::size_t task = 0; task < tasks.size(); ++task) sum += tasks[task].recall_with(shares[task]);
  return sum;
}

void TaskController::take(std::span<const TaskDemand> tasks, double budget_ns) noexcept {
  const bool is_more = recall_sum(tasks, choice_.shares()) > recall_sum(tasks, shares_);
  is_more ? patience_.rose() : patience_.fell(budget_ns);
  std::ranges::copy(choice_.shares(), target_.begin());
  satisfied_ = choice_tasks_ > 0 ? choice_.satisfied() : 0;
  tasks_in_a_window_ = choice_tasks_;
  fits_ = choice_.fits();
  lost_share_ = chosen_lost_share_;
  given_up_ = 0;
  for (std::size_t task = 0; task < target_.size(); ++task) {
    const double found =
        tasks[task].recall_with(target_[task]) * BlindLoss::recall(tasks[task].loss_exponent, lost_share_);
    given_up_ |= static_cast<std::uint32_t>(!target_[task].is_all() && found < tasks[task].recall) << task;
  }
}

/// Lets as many flows return at once as there is time for. The position in a connection that was not followed must be
/// found again.
bool TaskController::rise(double budget_ns) noexcept {
  for (std::size_t task = 0; task < shares_.size(); ++task) next_[task] = shares_[task].towards(target_[task], 0);
  const double left_ns = prices_.packet_ns(next_);
  const double more_ns = prices_.packet_ns(target_) - left_ns;
  const double part = more_ns > 0 ? std::clamp((budget_ns - left_ns) / (kComingBack * more_ns), kLeastPart, 1.0) : 1;
  bool changes = false;
  for (std::size_t task = 0; task < shares_.size(); ++task) {
    next_[task] = part < kNearly ? shares_[task].towards(target_[task], part) : target_[task];
    changes |= next_[task] != std::exchange(shares_[task], next_[task]);
  }
  rose_ = more_ns > 0;
  return changes;
}

bool TaskController::end_window(const TaskLoad& load, std::span<const TaskDemand> tasks) noexcept {
  blind_satisfies_more_ = false;
  if (!is_time(load.window_ns) || !std::isfinite(load.busy_ns)) return false;
  if (load.counted == 0 && load.shed == 0 && load.offered != 0) return false;  // the worker stood still
  patience_.pass(load.window_ns);
  const bool is_told = learn(load, tasks), was_away = std::exchange(is_away_, !is_told);
  const bool came_back = std::exchange(rose_, false);
  const double rate_pps = rate_.add_window(load.offered, load.window_ns);
  if (!(rate_pps > 0)) return false;
  prices_.set(tasks, work_of(load));
  const double target_ns = options_.utilisation * 1e9 / rate_pps;
  shed(load, target_ns);
  if (load.counted == 0 || !is_told) return false;
  const double all_kept_ns = shedding_.for_kept_ns(target_ns);
  const double budget_ns = lost_share_ == 0 ? all_kept_ns : all_kept_ns / options_.utilisation / (1 - lost_share_);

  const double now_ns = prices_.packet_ns(shares_);
  blind_satisfies_more_ = options_.prefer == Preference::packets && gives_way() &&
                          satisfied_by_blind_loss(tasks, target_ns / options_.utilisation) > tasks_in_a_window_;
  const bool is_full = load.busy_ns >= kFull * load.window_ns;
  // A single window may be lost because the machine was away; delayed packets then come in the next window.
  lost_in_ = lost_in_ << 1 | static_cast<std::uint32_t>(load.missed != 0 && is_full && !was_away && !came_back);
  const bool lost = lost_share_ == 0 && (lost_in_ & 1) != 0 && std::popcount(lost_in_ & kLately) > 1;
  if (now_ns > budget_ns || lost) {
    // The packets should have fit, yet some were lost: reduce whatever can be reduced.
    const double least_ns = prices_.packet_ns(none_);
    const double wanted_ns = std::min(kRoom * budget_ns, least_ns + kLessAtOnce * (now_ns - least_ns));
    choose(tasks, now_ns > budget_ns ? kRoom * all_kept_ns : std::max(least_ns, wanted_ns));
    take(tasks, budget_ns);
    return rise(budget_ns);
  }
  if (!std::ranges::equal(shares_, target_)) return rise(budget_ns);
  if ((!gives_way() && lost_share_ == 0) || !patience_.is_over(budget_ns, now_ns)) return false;
  looked_ns_ += load.window_ns;
  if (now_ns > Patience::kToSpare * budget_ns && looked_ns_ < kLookAgainNs) return false;
  looked_ns_ = 0;
  choose(tasks, kRoom * all_kept_ns);
  const bool is_all = std::ranges::all_of(choice_.shares(), &TaskShare::is_all);
  if (std::ranges::equal(choice_.shares(), target_)) {
    lost_share_ = chosen_lost_share_;
    return false;
  }
  const bool more_satisfied = choice_tasks_ > tasks_in_a_window_ + kWorthIt;
  const double gain = recall_sum(tasks, choice_.shares()) - recall_sum(tasks, shares_);
  if (!is_all && !more_satisfied && gain < (patience_.is_settled(kSmallChangeNs) ? kWorthIt : kWorthItAtOnce))
    return false;
  take(tasks, budget_ns);
  return rise(budget_ns);
}

}  // namespace parshall
