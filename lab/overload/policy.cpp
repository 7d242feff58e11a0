// SPDX-License-Identifier: Apache-2.0
#include "lab/overload/policy.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "control/overload_policy.hpp"
#include "control/task_controller.hpp"

namespace parshall::lab {
namespace {

constexpr double kColdShare = 0.27;  ///< of Zipf's packets at 250,000 flows
constexpr std::array<double, FlowWeight::kClasses> kFlowsPerPacket{0.4,      1.0 / 11,  1.0 / 23,  1.0 / 45,
                                                                   1.0 / 90, 1.0 / 180, 1.0 / 360, 1.0 / 700};
/// Parts of the work, as bits.
enum Part : std::uint32_t { row = 1, tcp = 2, gaps = 4, round_trips = 8 };
constexpr std::array<std::uint32_t, kOverloadTasks> kPartsOfTask{row, row | tcp, row | gaps, row | tcp | round_trips};

/// Returns the mean cost of each part; `price_error` is a factor of those of connections.
std::vector<double> part_ns_of(const PacketCosts& costs, double price_error) {
  return {costs.new_row_ns, price_error * costs.tcp.mean_ns(kColdShare), costs.gaps.mean_ns(kColdShare),
          price_error * costs.round_trips.mean_ns(kColdShare)};
}

/// Returns each task with the states that have it, and its work; as a FollowedTask or a TaskDemand.
template <class Task>
std::vector<Task> tasks_of(const OverloadTraffic& traffic) {
  std::vector<Task> tasks(kOverloadTasks);
  for (std::size_t task = 0; task < kOverloadTasks; ++task) {
    for (std::size_t state = 0; state < traffic.states(); ++state)
      tasks[task].states |= std::uint64_t{static_cast<unsigned>(traffic.tasks_of_state(state)) >> task & 1} << state;
    tasks[task].parts = kPartsOfTask[task];
    tasks[task].by_keys = task == static_cast<std::size_t>(OverloadTask::heavy_hitters);
  }
  return tasks;
}

TaskLoad load_of(const OverloadStep& step, std::span<const double> packets, std::span<const double> done) {
  return {.window_ns = step.step_ns,
          .busy_ns = step.busy_ns,
          .offered = step.offered,
          .counted = step.counted,
          .missed = step.missed,
          .packets = packets,
          .done = done,
          .flow_parts = row,
          .flows_per_packet = kFlowsPerPacket,
          .mixed_parts = row | tcp | gaps};
}

/// Returns how often each part of the work was done.
std::vector<double> work_of(const OverloadStep& step) {
  std::vector<double> done(4);
  done[0] = step.work.rows;
  for (std::size_t tasks = 0; tasks < step.work.followed.size(); ++tasks)
    for (std::size_t part = 1; part < done.size(); ++part) {
      bool is_done = false;
      for (std::size_t task = 0; task < kOverloadTasks; ++task)
        is_done |= (tasks >> task & 1) != 0 && (kPartsOfTask[task] >> part & 1) != 0;
      if (is_done) done[part] += step.work.followed[tasks];
    }
  return done;
}

class NoAdaptation final : public SimulatedPolicy {
 public:
  void end_step(const OverloadStep&, const OverloadMonitor&) override {}
  bool weighs() const noexcept override { return false; }
};

/// The product's controller, driven as WorkerControl does.
class ProductPolicy final : public SimulatedPolicy {
 public:
  ProductPolicy(const OverloadTraffic& traffic, const PacketCosts& costs, double price_error, Preference prefer)
      : traffic_(traffic),
        demands_(tasks_of<TaskDemand>(traffic)),
        controller_(kOverloadTasks, {.input_ns = costs.counting.mean_ns(kColdShare)}, part_ns_of(costs, price_error),
                    {.sheds = false,
                     .prefer = prefer,
                     .costs = {.prior_sd = 0.35, .common_drift = 0.003, .own_drift = 0.005, .relaxing = 0.1}}) {}

  bool weighs() const noexcept override { return weighs_; }

  void end_step(const OverloadStep& step, const OverloadMonitor& monitor) override {
    const bool has_weights = weighed_ >= 2;
    std::vector<double> packets(traffic_.states() * FlowWeight::kClasses);
    for (std::size_t state = 0; state < traffic_.states(); ++state)
      for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight)
        packets[state * FlowWeight::kClasses + (has_weights ? weight : FlowWeight::kClasses - 1)] +=
            step.work.packets[state][weight];
    const std::vector<double> done = work_of(step);
    for (std::size_t task = 0; task < kOverloadTasks; ++task) tell(monitor.known(task), has_weights, demands_[task]);
    TaskLoad load = load_of(step, packets, done);
    if (!has_weights) load.flows_per_packet.fill(kFlowsPerPacket.front());
    if (controller_.end_window(load, demands_))
      install([shares = controller_.shares()](std::size_t task, std::size_t weight) {
        return shares[task].of_weight(weight);
      });
    constexpr double kBusy = 0.6;
    weighs_ = step.busy_ns >= kBusy * step.step_ns || controller_.gives_way();
    weighed_ = weighs_ ? weighed_ + 1 : 0;
  }

 private:
  static void tell(const OverloadMonitor::Known& known, bool has_weights, TaskDemand& demand) noexcept {
    demand.loss_exponent = known.blind.exponent();
    demand.events = known.estimator.events_of_late();
    demand.knows_weights = has_weights && known.heavy_share.back() < 1;
    for (std::size_t weight = 0; weight < FlowWeight::kClasses; ++weight) {
      const double heavier = weight + 1 < FlowWeight::kClasses ? known.heavy_share[weight + 1] : 0;
      demand.events_by_weight[weight] = has_weights ? std::max(0.0, known.heavy_share[weight] - heavier)
                                                    : static_cast<double>(weight + 1 == FlowWeight::kClasses);
    }
  }

  const OverloadTraffic& traffic_;
  std::vector<TaskDemand> demands_;
  TaskController controller_;
  bool weighs_ = true;
  int weighed_ = 0;
};

/// Tasks follow flows of the weights that show most for their time.
class FollowsByWeight final : public SimulatedPolicy {
 public:
  FollowsByWeight(const OverloadTraffic& traffic, const PacketCosts& costs, double price_error)
      : traffic_(traffic),
        tasks_(tasks_of<FollowedTask>(traffic)),
        policy_(kOverloadTasks,
                {.base_ns = costs.counting.mean_ns(kColdShare), .part_ns = part_ns_of(costs, price_error)}) {
    for (std::size_t task = 0; task < kOverloadTasks; ++task) {
      tasks_[task].counts = (kPartsOfTask[task] & tcp) != 0 ? 0b11 : 0b01;
      tasks_[task].loss_exponent = kLossExponents[task];
    }
  }

  bool weighs() const noexcept override { return true; }

  void end_step(const OverloadStep& step, const OverloadMonitor& monitor) override {
    std::vector<double> packets;
    for (std::size_t state = 0; state < traffic_.states(); ++state)
      packets.insert(packets.end(), step.work.packets[state].begin(), step.work.packets[state].end());
    for (std::size_t task = 0; task < kOverloadTasks; ++task) {
      tasks_[task].events = monitor.known(task).events.events();
      tasks_[task].flows = monitor.known(task).events.flows();
    }
    const std::vector<double> done = work_of(step);
    if (!policy_.end_window(load_of(step, packets, done), tasks_)) return;
    const auto& shares = policy_.plan().shares;
    install([&](std::size_t task, std::size_t weight) { return shares[task][weight]; });
  }

 private:
  /// As simulated tasks lose events without adaptation.
  static constexpr std::array<std::array<double, kEventMeasures>, kOverloadTasks> kLossExponents{
      {{0.1, 0.1}, {1.2, 1.2}, {0.8, 0.8}, {2.05, 1.0}}};

  const OverloadTraffic& traffic_;
  std::vector<FollowedTask> tasks_;
  OverloadPolicy policy_;
};

constexpr OverloadPolicyEntry kPolicies[] = {
    {"none", "all tasks follow all flows, and packets are lost",
     [](const OverloadTraffic&, const PacketCosts&, double) -> std::unique_ptr<SimulatedPolicy> {
       return std::make_unique<NoAdaptation>();
     }},
    {"adapt", "tasks follow the flows that show most for their time",
     [](const OverloadTraffic& traffic, const PacketCosts& costs, double error) -> std::unique_ptr<SimulatedPolicy> {
       return std::make_unique<FollowsByWeight>(traffic, costs, error);
     }},
    {"tasks", "tasks follow fewer flows one by one (--policy tasks)",
     [](const OverloadTraffic& traffic, const PacketCosts& costs, double error) -> std::unique_ptr<SimulatedPolicy> {
       return std::make_unique<ProductPolicy>(traffic, costs, error, Preference::packets);
     }},
    {"prefer-tasks", "likewise, but packets may be lost (--prefer tasks)",
     [](const OverloadTraffic& traffic, const PacketCosts& costs, double error) -> std::unique_ptr<SimulatedPolicy> {
       return std::make_unique<ProductPolicy>(traffic, costs, error, Preference::tasks);
     }},
};

}  // namespace

std::span<const OverloadPolicyEntry> overload_policies() noexcept { return kPolicies; }

}  // namespace parshall::lab
