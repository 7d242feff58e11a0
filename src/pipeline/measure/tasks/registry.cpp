// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "base/parse.hpp"
#include "base/suggestion.hpp"
#include "pipeline/measure/tasks/expression.hpp"
#include "pipeline/measure/tasks/flow_finder.hpp"

namespace parshall {

namespace {

constexpr Parameter kOfAnyTask[] = {
    {"count", "", "unit of recall: flows (that have events), each (event), or both"},
    {"window", "", "length of its windows: a time from 10ms, or packets such as 2Mp (default: --window)"},
    {"most", "1000", "most events of a window; further ones are only counted"},
    {"name", "", "name in its events (default: the task's name)"},
    {"priority", "0", "under overload, tasks with larger values reach their recall first"},
    {"recall", "", "fraction of its events that it should find under overload, from 0 to 1 (default: 0.75)"},
};

constexpr std::uint64_t kShortestNs = 10'000'000, kFewestPackets = 1000;

Result<WindowLength> window_of(const Arguments& arguments, const TaskOptions& options) {
  return arguments.given("window") ? parse_window(arguments.text("window")) : options.window;
}

/// Returns the bits of TaskSet::Member::counts.
Result<std::uint8_t> counts_of(const std::string& text, bool counts_events) {
  constexpr std::uint8_t kFlows = 0b01, kEach = 0b10;
  if (text == "flows") return kFlows;
  if (!counts_events) {
    if (text.empty()) return kFlows;
    return Error{fmt::format("count={}: give flows, since it reports flows and no single events", text)};
  }
  if (text == "each") return kEach;
  if (text == "both" || text.empty()) return std::uint8_t{kFlows | kEach};
  return Error{fmt::format("count={}: give flows, each or both", text)};
}

const TaskEntry* find_task(std::string_view name) {
  const auto found = std::ranges::find(task_registry(), name, [](const TaskEntry* task) { return task->name; });
  return found == task_registry().end() ? nullptr : *found;
}

/// Task spec: NAME[:PARAMETERS] of a task that there is, or else NAME=CONDITION or NAME:PARAMETERS:CONDITION.
struct Spec {
  std::string name, parameters, condition;

  explicit Spec(const std::string& text) {
    const std::size_t end = text.find_first_of(":=");
    name = text.substr(0, end);
    if (end == std::string::npos) return;
    if (text[end] == ':' && find_task(name) != nullptr) {
      parameters = text.substr(end + 1);  // times and addresses in it may have colons
      return;
    }
    const std::size_t colon = text[end] == ':' ? text.find(':', end + 1) : end;
    if (text[end] == ':') parameters = text.substr(end + 1, colon == std::string::npos ? colon : colon - end - 1);
    if (colon != std::string::npos) condition = text.substr(colon + 1);
    is_condition = colon != std::string::npos;
  }
  bool is_condition = false;
};

std::unique_ptr<Task> make_condition(Expression expression) {
  std::vector<BoundField> shown = expression.fields();
  const auto condition = std::make_shared<Expression>(std::move(expression));
  return std::make_unique<FlowFinder>([condition](const FlowWindow& flow) { return condition->holds(flow); },
                                      /*counts_events=*/false, std::move(shown));
}

bool has_parameter(std::span<const Parameter> parameters, std::string_view name) {
  return std::ranges::find(parameters, name, &Parameter::name) != parameters.end();
}

bool is_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

/// Shows what was meant: parameters behind a task's name, or a condition that lacks its name.
Error no_name(const std::string& text, const std::string& name) {
  const std::size_t comma = name.find(',');
  const bool is_task = find_task(std::string_view(name).substr(0, comma)) != nullptr;
  if (comma != name.npos && is_task)
    return Error{fmt::format("task '{}': write {}:{}", text, name.substr(0, comma), text.substr(comma + 1))};
  return Error{fmt::format("task '{}': a name of letters, digits, - and _ comes first: big={}", text,
                           text.find_first_of("<>") != text.npos ? text : "wire_bytes > 1e6")};
}

}  // namespace

const Aggregate& TaskContext::aggregate(const KeyPart& part) {
  for (const auto& [aggregate, states] : aggregates_)
    if (aggregate->part() == part && states == states_) return *aggregate;
  aggregates_.push_back({std::make_unique<Aggregate>(part, keys_, seed_, states_), states_});
  return *aggregates_.back().aggregate;
}

std::size_t TaskContext::measure(std::shared_ptr<const FlowMeasure> measure) {
  asked_for_measures_ = true;
  asked_for_history_ |= measure->needs().rtt_history;
  const std::string name = measure->name();
  const std::size_t offset = measures_->add(std::move(measure));
  measured_states_.resize(measures_->measures().size());
  for (std::size_t i = 0; i < measured_states_.size(); ++i)
    if (measures_->measures()[i].measure->name() == name) measured_states_[i] |= states_;
  return offset;
}

bool TaskContext::ask_for_bins(std::uint64_t bin_ns) noexcept {
  if (window_.unit != WindowLength::Unit::ns || (bin_ns_ != 0 && bin_ns_ != bin_ns)) return false;
  bin_ns_ = bin_ns;
  return true;
}

BoundField TaskContext::field(const FlowField& field) {
  return {field, field.measure == nullptr ? 0 : measure(field.measure())};
}

std::uint64_t TaskContext::measures_of(std::size_t state) const noexcept {
  std::uint64_t measures = 0;
  for (std::size_t i = 0; i < measured_states_.size(); ++i) measures |= (measured_states_[i] >> state & 1) << i;
  return measures;
}

std::span<const Parameter> common_parameters() noexcept {
  static constexpr auto kCommon = [] {
    std::array<Parameter, std::size(kOfAnyTask) + std::size(kAlarmParameters)> all;
    std::ranges::copy(kAlarmParameters, std::ranges::copy(kOfAnyTask, all.begin()).out);
    return all;
  }();
  return kCommon;
}

std::string name_of_task(const std::string& text) {
  const Spec spec(text);
  for (std::string_view rest = spec.parameters; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.starts_with("name=")) return std::string(rest.substr(5, comma - 5));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return spec.name;
}

std::optional<Error> split_problem(std::span<const std::string> names) {
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string task = names[i - 1].substr(0, names[i - 1].find(':')),
                      name = names[i].substr(0, names[i].find('='));
    const TaskEntry* const entry = find_task(task);
    if (entry == nullptr || name == names[i]) continue;
    if (!has_parameter(entry->parameters, name) && !has_parameter(common_parameters(), name)) continue;
    return Error{fmt::format("--tasks: {} is a parameter of {}; for parameters write --task '{}{}{}'", name, task,
                             names[i - 1], names[i - 1] == task ? ':' : ',', names[i])};
  }
  return std::nullopt;
}

Result<WindowLength> parse_window(const std::string& text) {
  if (text.ends_with('p')) {
    const auto packets = parse_count(text.substr(0, text.size() - 1));
    if (packets && *packets >= kFewestPackets) return WindowLength{WindowLength::Unit::packets, *packets};
  } else if (const auto ns = parse_duration_ns(text); ns && *ns >= kShortestNs) {
    return WindowLength{WindowLength::Unit::ns, *ns};
  }
  return Error{fmt::format("window {}: give a time from 10ms, such as 1s, or packets from {}p, such as 2Mp", text,
                           kFewestPackets)};
}

std::size_t TaskSet::memory_bytes() const noexcept {
  std::size_t bytes =
      context_.aggregates().size() * Aggregate::memory_bytes(context_.keys()) + PartedFlows::memory_bytes();
  for (const Member& member : members_) bytes += member.task->memory_bytes();
  return bytes;
}

std::span<const FlowWindow> TaskSet::of_states(std::span<const FlowWindow> flows, std::uint64_t states) {
  const auto is_wanted = [states](const FlowWindow& flow) { return (states >> flow.state & 1) != 0; };
  if (std::ranges::all_of(flows, is_wanted)) return flows;
  wanted_.clear();
  std::ranges::copy_if(flows, std::back_inserter(wanted_), is_wanted);
  return wanted_;
}

void TaskSet::flows(std::span<const FlowWindow> flows) {
  for (const FlowWindow& flow : flows)
    if (flow.is_part) [[unlikely]]
      parted_.add(flow.key);
  {
    const StageCost::Timer timer(shared_cost_.get(), 0);
    for (const auto& [aggregate, states] : context_.aggregates()) aggregate->add(of_states(flows, states));
  }
  for (Member& member : members_) {
    const StageCost::Timer timer(member.cost.get(), 0);
    if (!member.measures) {
      const std::span<const FlowWindow> wanted = of_states(flows, member.states);
      if (member.finds_any)
        for (const FlowWindow& flow : wanted)
          member.seen.add(flow, ~std::uint64_t{0}, member.skips_flows ? flow.weight : 0);
      member.task->flows(wanted);
      continue;
    }
    for (const FlowWindow& flow : flows)
      if ((member.states >> flow.state & 1) != 0) member.seen.add(flow, member.states, flow.weight);
    const auto is_whole = [states = member.states](const FlowWindow& flow) {
      return (states >> flow.state & 1) != 0 && flow.wholly_in(states);
    };
    const auto is_wanted = [states = member.states](const FlowWindow& flow) {
      return (states >> flow.state & 1) != 0 && flow.partly_in(states);
    };
    if (std::ranges::all_of(flows, is_whole)) {
      member.task->flows(flows);
      continue;
    }
    wanted_.clear();
    std::ranges::copy_if(flows, std::back_inserter(wanted_), is_wanted);
    for (FlowWindow& flow : wanted_) flow.measured_in_part = !is_whole(flow);
    member.task->flows(wanted_);
  }
}

void TaskSet::unread(std::size_t state, const UnreadFlows& flows) {
  for (Member& member : members_) {
    if ((member.states >> state & 1) == 0) continue;
    if (member.finds_any) member.seen.add(flows, /*missed=*/member.looks_at_flows);
    member.task->unread(flows);
  }
}

std::uint64_t TaskSet::read(std::size_t state, std::size_t states) const noexcept {
  std::uint64_t read = 0;
  for (const Member& member : members_)
    if (member.looks_at_flows && (member.states >> state & 1) != 0)
      read |= member.skips_flows ? member.states : ~std::uint64_t{0};
  return read & (~std::uint64_t{0} >> (64 - states));
}

void TaskSet::bins(std::size_t first, std::span<const LinkBin> bins) {
  for (const Member& member : members_) member.task->bins(first, bins);
}

void TaskSet::end(const EventWindow& window, const EventWriter::Take& take) {
  for (Member& member : members_) {
    const StageCost::Timer timer(member.cost.get(), 0);
    EventWriter events(member.name, window, member.most, take, parted_);
    member.task->end(events);
    member.events += events.written();
    member.dropped += events.dropped();
    member.keys_left_out += events.keys_left_out();
    member.found = events.found();
    member.each_found = events.each_found();
    member.found_in_part = events.found_in_part();
  }
  for (const auto& asked : context_.aggregates()) asked.aggregate->clear();
  parted_.clear();
}

Result<TaskSets> TaskSets::make(std::span<const TaskSpec> specs, const TaskOptions& options) {
  TaskSets sets;
  for (const TaskSpec& spec : specs)
    if (auto error = sets.add(spec, options)) return *std::move(error);
  return sets;
}

TaskSet& TaskSets::set_of(WindowLength window, const TaskOptions& options) {
  for (TaskSet& set : sets_)
    if (set.window() == window) return set;
  return sets_.emplace_back(window, options);
}

std::optional<Error> TaskSets::add(const TaskSpec& asked, const TaskOptions& options) {
  const Spec spec(asked.text);
  if (!is_name(spec.name)) return no_name(asked.text, spec.name);
  const TaskEntry* const entry = find_task(spec.name);
  if (!spec.is_condition && entry == nullptr)
    return Error{fmt::format("there is no task {}{}, or give a condition: {}='packets > 100'", spec.name,
                             suggestion(spec.name, task_registry(), &TaskEntry::name, "parshall list tasks"),
                             spec.name)};
  std::vector<Parameter> parameters(common_parameters().begin(), common_parameters().end());
  if (!spec.is_condition) parameters.insert(parameters.begin(), entry->parameters.begin(), entry->parameters.end());
  auto arguments = Arguments::parse("task " + spec.name, spec.parameters, parameters);
  if (!arguments) return arguments.error();
  const auto length = window_of(*arguments, options);
  if (!length) return Error{fmt::format("task {}: {}", spec.name, length.error().message)};
  const WindowLength window = *length;
  TaskSet::Member member{
      .name = arguments->given("name") ? arguments->text("name") : spec.name,
      .spec = asked.text,
      .most = arguments->count("most", 1, 10'000'000),
      .states = asked.states,
      .finds_any = spec.is_condition || entry->finds_any,
      .looks_at_flows = spec.is_condition || entry->looks_at_flows,
      .measures = false,
      .skips_flows = false,
      .recall = arguments->given("recall") ? arguments->number("recall", 0, 1) : options.recall,
      .alarms = !spec.is_condition && entry->has_floors ? AlarmRules() : AlarmRules::without_floors(),
      .priority = static_cast<int>(arguments->count("priority", 0, 1000)),
      .task = nullptr};
  if (!spec.is_condition) member.alarms.severity = entry->severity;
  auto for_all = Arguments::parse("--alarms", options.alarms, kAlarmParameters);
  if (!for_all) return for_all.error();
  for (Arguments* const given : {&*for_all, &*arguments}) {
    member.alarms.take(*given);
    if (given->problem()) return given->problem();
  }
  TaskContext& context = set_of(window, options).context_;
  context.begin_task(asked.states);
  if (spec.is_condition) {
    auto condition = Expression::parse(spec.condition, context);
    if (!condition) return Error{fmt::format("task {}: {}", spec.name, condition.error().message)};
    member.task = make_condition(*std::move(condition));
  } else {
    member.task = entry->make(*arguments, context);
  }
  member.measures = context.asked_for_measures();
  member.skips_flows = member.measures || asked.skips_flows;
  member.has_history = context.asked_for_history();
  member.judges_flows = member.task != nullptr && member.task->judges_flows();
  const bool counts_events = member.task != nullptr && member.task->counts_events();
  const auto counts = counts_of(arguments->text("count"), counts_events);
  if (!counts) return Error{fmt::format("task {}: {}", spec.name, counts.error().message)};
  member.counts = *counts;
  member.counts_events = counts_events;
  member.finds_heavy = member.task != nullptr && member.task->finds_heavy();
  member.finds_shares = member.task != nullptr && member.task->finds_shares();
  if (arguments->problem()) return arguments->problem();
  if (!is_name(member.name))
    return Error{fmt::format("task {}: name={}: letters, digits, - and _", spec.name, member.name)};
  if (set_of(window, options).context_.measures()->needs().tcp && options.fields != KeyFields::five_tuple)
    return Error{
        fmt::format("task {} follows TCP connections, which takes flows of five-tuples: leave out --key", member.name)};
  if (context.measures()->measures().size() > WindowPlan::kMostMeasures)
    return Error{fmt::format("task {}: too many different parameters of one kind of task in one window", member.name)};
  for (const TaskSet& set : sets_)
    for (const TaskSet::Member& other : set.members_)
      if (other.name == member.name)
        return Error{fmt::format("two tasks are called {}: give one another name, as in {}:name=other", member.name,
                                 member.name)};
  set_of(window, options).members_.push_back(std::move(member));
  return std::nullopt;
}

std::vector<WindowPlan> TaskSets::windows(std::size_t states) const {
  std::vector<WindowPlan> windows;
  for (const TaskSet& set : sets_) {
    WindowPlan& plan = windows.emplace_back(set.window(), set.context_.measures());
    plan.by_state.clear();
    plan.read.clear();
    plan.bin_ns = set.context_.bin_ns();
    for (std::size_t state = 0; state < states; ++state) {
      plan.by_state.push_back(set.context_.measures_of(state));
      plan.read.push_back(set.read(state, states));
    }
  }
  return windows;
}

std::vector<FindingNeeds> TaskSets::findings(std::size_t states) const {
  std::vector<FindingNeeds> findings(states);
  for (const TaskSet& set : sets_) {
    const auto measures = set.context_.measures()->measures();
    for (std::size_t state = 0; state < states; ++state)
      for (std::uint64_t wanted = set.context_.measures_of(state); wanted != 0; wanted &= wanted - 1)
        findings[state].add(measures[static_cast<std::size_t>(std::countr_zero(wanted))].measure->needs());
  }
  return findings;
}

std::size_t TaskSets::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const TaskSet& set : sets_) bytes += set.memory_bytes();
  return bytes;
}

}  // namespace parshall
