// SPDX-License-Identifier: Apache-2.0
#include "parshall/wire_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/machine.hpp"
#include "base/version.hpp"
#include "parshall/sources/source_kind.hpp"

namespace parshall {
namespace {

constexpr std::uint32_t kFloodFilterBytes = 128;  ///< default if flows may be reduced, or tasks judge them

Controller::Mode mode_of(Adaptation adaptation) noexcept {
  switch (adaptation) {
    case Adaptation::none:
      return Controller::Mode::none;
    case Adaptation::adapt_only:
      return Controller::Mode::adapt;
    default:
      return Controller::Mode::recover;
  }
}

bool adapts(const Plan& plan, const Wiring& wiring) noexcept {
  return wiring.session.stage.states->gives_way() && !kind_of(plan.source).can_wait(plan.source) &&
         wiring.session.threads.model != ThreadModel::pipeline;
}

/// Falls back to MONA's policy if tasks cannot be reduced one by one: flows change state instead, and no packet is lost
/// for a task.
Result<std::optional<ReducedStates>> as_mona(const Plan& plan, Wiring& wiring, const std::string& why) {
  if (plan.tasks.prefer == Preference::tasks)
    return Error{
        fmt::format("--prefer tasks needs tasks that can be reduced one by one, which is impossible here: {}", why)};
  wiring.notes.push_back(fmt::format("{}: whole flows move to lighter states, as in MONA", why));
  return std::optional<ReducedStates>();
}

/// Reduces states so that tasks can be dropped one by one, and asks for the tasks in these states. Returns nullopt if
/// they are not dropped one by one.
Result<std::optional<ReducedStates>> reduce_states(const Plan& plan, Wiring& wiring, std::vector<TaskSpec>& specs) {
  if (plan.tasks.adaptation != Adaptation::accuracy || plan.tasks.policy != ControlPolicy::tasks ||
      !adapts(plan, wiring))
    return std::optional<ReducedStates>();
  const TaskSets& tasks = wiring.tasks;
  const auto can_give_way = [](const TaskSet::Member& task) { return task.measures || task.finds_heavy; };
  std::vector<std::uint64_t> of_tasks;
  for (const TaskSet& set : tasks.sets())
    for (const TaskSet::Member& task : set.members()) {
      if (!can_give_way(task)) continue;
      if (!task.finds_any) return as_mona(plan, wiring, fmt::format("{} measures and finds nothing", task.name));
      of_tasks.push_back(task.states);
    }
  if (of_tasks.empty() && plan.tasks.prefer == Preference::tasks) return as_mona(plan, wiring, "none does");
  auto reduced = ReducedStates::make(of_tasks, wiring.session.stage.states->lighter, StatePlan::kMostStates);
  if (!reduced) return as_mona(plan, wiring, reduced.error().message);
  for (TaskSpec& spec : specs) {
    std::size_t number = 0;
    for (const TaskSet& set : tasks.sets())
      for (const TaskSet::Member& task : set.members()) {
        if (!can_give_way(task)) continue;
        if (task.spec == spec.text) {
          spec.states |= reduced->states_of(number);
          spec.gives_way = true;
        }
        ++number;
      }
  }
  return std::optional(*std::move(reduced));
}

/// Sets up how flows are reduced to lighter states, if the source cannot wait.
std::optional<Error> wire_control(const Plan& plan, const std::string& profile_text, const StateFile& file,
                                  std::optional<ReducedStates> reduced, Wiring& wiring) {
  const TasksPlan& wanted = plan.tasks;
  const TaskSets& tasks = wiring.tasks;
  FlowStageOptions& stage = wiring.session.stage;
  const StatePlan& states = *stage.states;
  if (!states.gives_way()) return std::nullopt;
  const bool adapts = !kind_of(plan.source).can_wait(plan.source) && wanted.adaptation != Adaptation::none;
  if (wiring.session.threads.model == ThreadModel::pipeline) {
    // In a pipeline the rings overflow, and the receive thread that fills them cannot do less.
    if (adapts) wiring.notes.emplace_back("with --threads pipeline no flow moves to a lighter state");
    return std::nullopt;
  }
  ControlPlan control = ControlPlan::guess(states, stage.windows, stage.findings);
  control.controller.mode = mode_of(wanted.adaptation);
  control.controller.sheds = wanted.sheds;
  control.prefer = wanted.prefer;
  if (!wanted.profile.empty()) {
    const auto profile =
        profile_text.empty() ? Profile::read(wanted.profile) : Profile::parse(profile_text, wanted.profile);
    if (!profile) return profile.error();
    if (const auto difference = profile->difference_from(identify_machine(version(), plan.flows.table)))
      return Error{fmt::format("--profile {}: {}", wanted.profile, *difference)};
    if (const auto problem = control.use(*profile, states, file.tasks_of_states()))
      return Error{fmt::format("--profile {}: {}; run parshall profile --states {}", wanted.profile, problem->message,
                               wanted.states)};
  }
  if (adapts && !plan.flows.flood_filter_bytes) stage.flood_filter_bytes = kFloodFilterBytes;
  control.batch = plan.source.batch;
  control.watch(tasks);
  if (reduced && control.recalls->size() != 0) control.use(*std::move(reduced), tasks, stage.windows, stage.findings);
  if (const auto graph = control.graph(states); !graph)
    return Error{fmt::format("--states {}: {}", wanted.states, graph.error().message)};
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

}  // namespace

std::optional<Error> wire_tasks(const Plan& plan, const PlanTexts& texts, Wiring& wiring) {
  const TasksPlan& wanted = plan.tasks;
  if (wanted.prefer == Preference::tasks && wanted.policy != ControlPolicy::tasks)
    return Error{"--prefer tasks is of --policy tasks: leave out --policy mona"};
  if (!wanted.profile.empty() && wanted.states.empty())
    return Error{"--profile is of monitoring states: name them with --states"};
  std::optional<StateFile> states;
  std::vector<TaskSpec> specs;
  if (!wanted.states.empty()) {
    auto read = texts.states.empty() ? StateFile::read(wanted.states) : StateFile::parse(texts.states, wanted.states);
    if (!read) return read.error();
    states = *std::move(read);
    specs = states->tasks;
  }
  if (auto problem = split_problem(wanted.names)) return problem;
  for (const auto* const given : {&wanted.names, &wanted.specs})
    for (const std::string& spec : *given) specs.push_back({spec});
  if (specs.empty()) {
    if (wanted.window != TasksPlan().window) wiring.notes.emplace_back("--window is of tasks, and none is asked for");
    if (states) return Error{fmt::format("--states {}: no state has a task", wanted.states)};
    if (const auto problem = wire_columns(plan, wiring)) return *problem;
    return queue_problem(plan, wiring);
  }
  if (plan.flows.packets_only) return Error{"--packets-only keeps no flows: leave out --tasks"};
  const auto window = parse_window(wanted.window);
  if (!window) return Error{"--" + window.error().message};
  SessionOptions& session = wiring.session;
  const TaskOptions options{
      .window = *window, .fields = session.key, .keys = wanted.keys, .seed = session.seed, .recall = wanted.accuracy};
  const auto make_tasks = [&]() -> std::optional<Error> {
    auto tasks = TaskSets::make(specs, options);
    if (!tasks) return tasks.error();
    wiring.tasks = *std::move(tasks);
    return std::nullopt;
  };
  if (auto problem = make_tasks()) return problem;
  std::size_t state_count = states ? states->plan.names.size() : 1;
  std::optional<ReducedStates> reduced;
  if (states) {
    auto made = states->plan_for(wiring.tasks, session.seed);
    if (!made) return Error{fmt::format("--states {}: {}", wanted.states, made.error().message)};
    session.stage.states = std::make_shared<const StatePlan>(*std::move(made));
    auto left = reduce_states(plan, wiring, specs);
    if (!left) return left.error();
    reduced = *std::move(left);
    if (reduced) {  // only the tasks themselves can say which of them can be dropped
      state_count = reduced->states();
      if (auto problem = make_tasks()) return problem;
    }
  }
  session.stage.windows = wiring.tasks.windows(state_count);
  session.stage.findings = wiring.tasks.findings(state_count);
  if (const auto problem = wire_columns(plan, wiring)) return *problem;
  if (!states) wire_flood_filter(plan, wiring.tasks, session.stage);
  if (states)
    if (const auto problem = wire_control(plan, texts.profile, *states, std::move(reduced), wiring)) return *problem;
  return queue_problem(plan, wiring);
}

std::optional<Error> watch_recall(const Plan& plan, const Wiring& wiring) {
  const ControlPlan* const control = wiring.session.stage.control.get();
  if (plan.tasks.states.empty())
    return Error{"no states are given that flows could move to: name some with --states (examples/states)"};
  if (wiring.session.threads.model == ThreadModel::pipeline)
    return Error{"with --threads pipeline no flow moves to a lighter state: leave it out"};
  if (control == nullptr) return Error{fmt::format("no state of {} names a lighter one", plan.tasks.states)};
  if (kind_of(plan.source).can_wait(plan.source))
    return Error{"flows are reduced only if the input does not wait: give -i, or -g with pace=PPS"};
  if (control->recalls->size() == 0)
    return Error{fmt::format("the tasks of {} only count, and miss no reduced flow", plan.tasks.states)};
  control->recalls->windows = std::make_unique<FindingQueue<WindowRecall>>(/*can_wait=*/false);
  return std::nullopt;
}

}  // namespace parshall
