// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "parshall/presets/presets.hpp"
#include "parshall/sources/source_kind.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kFloodFilterBytes = 128;  ///< default if tasks may leave out flows, or judge them

Result<const OverloadPolicyEntry*> policy_of(const Plan& plan) {
  const auto policies = overload_policies();
  const auto policy = std::ranges::find(policies, plan.tasks.overload, &OverloadPolicyEntry::name);
  if (policy == policies.end()) return Error{fmt::format("no policy \"{}\" under overload", plan.tasks.overload)};
  return &*policy;
}

/// Returns whether packets are lost if they come too fast.
bool can_lose(const Plan& plan, const Wiring& wiring) noexcept {
  return !kind_of(plan.source).can_wait(plan.source) && wiring.session.threads.model != ThreadModel::pipeline;
}

/// Groups the tasks that can leave out flows, and asks for them in the groups' states.
std::optional<TaskGroups> group_tasks(const Plan& plan, Wiring& wiring, std::vector<TaskSpec>& specs) {
  if (!wiring.session.stage.states->has_lighter() || !can_lose(plan, wiring)) return std::nullopt;
  auto groups = TaskGroups::make(wiring.tasks, *wiring.session.stage.states);
  if (!groups) {
    wiring.notes.push_back(
        fmt::format("under overload packets are lost: no task of {} can leave out flows, or there "
                    "are too many states",
                    plan.tasks.states));
    return std::nullopt;
  }
  if (groups->count < groups->tasks())
    wiring.notes.push_back(
        fmt::format("under overload {} tasks leave out flows in {} groups", groups->tasks(), groups->count));
  std::size_t number = 0;
  for (const TaskSet& set : wiring.tasks.sets())
    for (const TaskSet::Member& task : set.members())
      if (const auto group = groups->of_task[number++])
        for (TaskSpec& spec : specs)
          if (task.spec == spec.text) {
            spec.states |= groups->states.states_of(*group);
            spec.skips_flows = true;
          }
  return groups;
}

/// Sets up what tasks leave out under overload.
std::optional<Error> wire_control(const Plan& plan, std::optional<TaskGroups> groups, Wiring& wiring) {
  FlowStageOptions& stage = wiring.session.stage;
  if (!stage.states->has_lighter()) return std::nullopt;
  const auto policy = policy_of(plan);
  if (!policy) return policy.error();
  if (wiring.session.threads.model == ThreadModel::pipeline) {
    // In a pipeline the rings overflow, and the receive thread that fills them cannot do less.
    if (!kind_of(plan.source).can_wait(plan.source))
      wiring.notes.emplace_back("with --threads pipeline no task leaves out flows: under overload packets are lost");
    return std::nullopt;
  }
  ControlPlan control{.policy = *policy, .batch = plan.source.batch};
  control.watch(wiring.tasks);
  if (groups) {
    control.use(*std::move(groups), *stage.states, wiring.tasks, stage.windows, stage.findings);
  }
  if (*policy != &no_adaptation() && can_lose(plan, wiring) && !plan.flows.flood_filter_bytes)
    stage.flood_filter_bytes = kFloodFilterBytes;
  stage.control = std::make_shared<const ControlPlan>(std::move(control));
  return std::nullopt;
}

/// Sets the flood filter. Tasks that judge whole flows need those of a window to stay in the table, so new flows must
/// pass the filter before they take room.
void wire_flood_filter(const Plan& plan, const TaskSets& tasks, FlowStageOptions& stage) {
  if (plan.flows.flood_filter_bytes || plan.flows.biflow) return;
  const auto judges = [](const TaskSet& set) {
    return std::ranges::any_of(set.members(), &TaskSet::Member::judges_flows);
  };
  if (std::ranges::none_of(tasks.sets(), judges)) return;
  stage.flood_filter_bytes = kFloodFilterBytes;
  stage.flood_filter_for_room = true;
}

/// Rejects tasks that need all traffic if several receive queues show each worker only a part.
std::optional<Error> queue_problem(const Plan& plan, const Wiring& wiring) {
  const bool several_queues = kind_of(plan.source).is_link &&
                              (plan.threads.workers > 1 || plan.source.queues > 1 || !plan.source.forward.empty());
  if (!several_queues) return std::nullopt;
  const FlowStageOptions& stage = wiring.session.stage;
  if (std::ranges::any_of(stage.windows,
                          [](const WindowPlan& windows) { return windows.length.unit == WindowLength::Unit::packets; }))
    return Error{"windows of packets need all packets in one queue: leave out --workers, --queues and --forward"};
  if (std::ranges::any_of(stage.findings, &FindingNeeds::tcp) && wiring.session.threads.model != ThreadModel::pipeline)
    return Error{
        "tasks and columns that follow TCP connections need both directions in one worker: leave out --workers, "
        "--queues and --forward, or take --threads pipeline"};
  return std::nullopt;
}

/// Makes every state follow TCP connections if a column needs it.
std::optional<Error> wire_columns(const Plan& plan, Wiring& wiring) {
  if (!wiring.schema.statistics()->needs_tcp()) return std::nullopt;
  if (plan.flows.packets_only) return Error{"--packets-only keeps no flows: leave out rtt_... and tcp_..."};
  if (plan.flows.key != KeyFields::five_tuple)
    return Error{"columns that follow TCP connections (rtt_..., tcp_...) are of five-tuples: leave out --key"};
  for (FindingNeeds& needs : wiring.session.stage.findings) needs.tcp = true;
  return std::nullopt;
}

/// Returns whether the user, or a state, asks for a task of the same name.
bool is_replaced(const std::string& spec, const TasksPlan& wanted, const std::vector<TaskSpec>& of_states) {
  const auto is_same = [name = name_of_task(spec)](const std::string& other) { return name_of_task(other) == name; };
  if (std::ranges::any_of(of_states, is_same, &TaskSpec::text)) return true;
  return std::ranges::any_of(wanted.names, is_same) || std::ranges::any_of(wanted.specs, is_same);
}

}  // namespace

std::optional<Error> wire_tasks(const Plan& plan, const PlanTexts& texts, Wiring& wiring) {
  const TasksPlan& wanted = plan.tasks;
  std::optional<StateFile> states;
  std::vector<TaskSpec> specs;
  if (!wanted.states.empty()) {
    auto read = texts.states.empty() ? StateFile::read(wanted.states) : StateFile::parse(texts.states, wanted.states);
    if (!read) return read.error();
    states = *std::move(read);
    specs = states->tasks;
  }
  if (auto problem = split_problem(wanted.names)) return problem;
  if (!wanted.preset.empty()) {
    auto preset = tasks_of_preset(wanted.preset);
    if (!preset) return preset.error();
    const std::vector<TaskSpec> of_states = specs;
    for (const std::string& spec : *preset)
      if (!is_replaced(spec, wanted, of_states)) specs.push_back({spec});
  }
  for (const auto* const given : {&wanted.names, &wanted.specs})
    for (const std::string& spec : *given) specs.push_back({spec});
  if (specs.empty()) {
    if (wanted.window != TasksPlan().window) wiring.notes.emplace_back("--window is of tasks, and none is asked for");
    if (!wanted.alarms.empty()) wiring.notes.emplace_back("--alarms is of tasks, and none is asked for");
    if (states) return Error{fmt::format("--states {}: no state has a task", wanted.states)};
    if (const auto problem = wire_columns(plan, wiring)) return *problem;
    return queue_problem(plan, wiring);
  }
  if (plan.flows.packets_only) return Error{"--packets-only keeps no flows: leave out --tasks"};
  const auto window = parse_window(wanted.window);
  if (!window) return Error{"--" + window.error().message};
  SessionOptions& session = wiring.session;
  const TaskOptions options{.window = *window,
                            .fields = session.key,
                            .keys = wanted.keys,
                            .seed = session.seed,
                            .recall = wanted.recall,
                            .alarms = wanted.alarms};
  const auto make_tasks = [&]() -> std::optional<Error> {
    auto tasks = TaskSets::make(specs, options);
    if (!tasks) return tasks.error();
    wiring.tasks = *std::move(tasks);
    return std::nullopt;
  };
  if (auto problem = make_tasks()) return problem;
  std::size_t state_count = states ? states->plan.names.size() : 1;
  std::optional<TaskGroups> groups;
  if (states) {
    auto made = states->plan_for(wiring.tasks, session.seed);
    if (!made) return Error{fmt::format("--states {}: {}", wanted.states, made.error().message)};
    session.stage.states = std::make_shared<const StatePlan>(*std::move(made));
    if (wanted.overload != no_adaptation().name) groups = group_tasks(plan, wiring, specs);
    if (groups) {  // only the tasks themselves can say which of them leave out flows
      state_count = groups->states.states();
      if (auto problem = make_tasks()) return problem;
    }
  }
  session.stage.windows = wiring.tasks.windows(state_count);
  session.stage.findings = wiring.tasks.findings(state_count);
  if (const auto problem = wire_columns(plan, wiring)) return *problem;
  if (!states) wire_flood_filter(plan, wiring.tasks, session.stage);
  if (states)
    if (const auto problem = wire_control(plan, std::move(groups), wiring)) return *problem;
  return queue_problem(plan, wiring);
}

std::optional<Error> watch_recall(const Plan& plan, const Wiring& wiring) {
  const ControlPlan* const control = wiring.session.stage.control.get();
  if (plan.tasks.states.empty()) return Error{"no states are given: name a file with --states (examples/states)"};
  if (wiring.session.threads.model == ThreadModel::pipeline)
    return Error{"with --threads pipeline no task leaves out flows: leave it out"};
  if (control == nullptr) return Error{fmt::format("no state of {} names a lighter one", plan.tasks.states)};
  if (kind_of(plan.source).can_wait(plan.source))
    return Error{"tasks leave out flows only if the input does not wait: give -i, or -g with pace=PPS"};
  if (control->recalls->size() == 0)
    return Error{fmt::format("the tasks of {} only count, and leave out no flow", plan.tasks.states)};
  control->recalls->windows = std::make_unique<FindingQueue<WindowRecall>>(/*can_wait=*/false);
  return std::nullopt;
}

}  // namespace parshall
