// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/registry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "base/parse.hpp"
#include "pipeline/measure/tasks/flow_condition.hpp"

namespace parshall {

extern const TaskEntry kCount, kHeavyHitters, kHierarchicalHeavyHitters, kSuperspreaders, kVictims, kChange, kFlowSizes,
    kEntropy, kFlowQuantiles;

namespace {

/// A new one is its file, its name here and above, and its test.
constexpr const TaskEntry* kTasks[] = {&kCount,          &kHeavyHitters, &kHierarchicalHeavyHitters,
                                       &kSuperspreaders, &kVictims,      &kChange,
                                       &kFlowSizes,      &kEntropy,      &kFlowQuantiles};

constexpr Parameter kCommon[] = {
    {"window", "", "length of its windows: a time from 10ms, or packets such as 2Mp (default: --window)"},
    {"most", "1000", "events a window, at most; more are counted"},
    {"name", "", "what its events call it (default: the task's name)"},
};

constexpr std::uint64_t kShortestNs = 10'000'000, kFewestPackets = 1000;

Result<WindowLength> window_of(const Arguments& arguments, const TaskOptions& options) {
  return arguments.given("window") ? parse_window(arguments.text("window")) : options.window;
}

/// Where the name of a task or a condition ends.
struct Split {
  std::string name, rest;
  char by = 0;
};
Split split(const std::string& spec) {
  const std::size_t at = spec.find_first_of(":=");
  if (at == std::string::npos) return {spec, "", 0};
  return {spec.substr(0, at), spec.substr(at + 1), spec[at]};
}

bool is_name(const std::string& name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

}  // namespace

const Aggregate& TaskContext::aggregate(const KeyPart& part) {
  for (const auto& aggregate : aggregates_)
    if (aggregate->part() == part) return *aggregate;
  return *aggregates_.emplace_back(std::make_unique<Aggregate>(part, keys_, seed_));
}

std::span<const TaskEntry* const> task_registry() noexcept { return kTasks; }
std::span<const Parameter> common_parameters() noexcept { return kCommon; }

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
  std::size_t bytes = context_.aggregates().size() * Aggregate::memory_bytes(context_.keys());
  for (const Member& member : members_) bytes += member.task->memory_bytes();
  return bytes;
}

void TaskSet::flows(std::span<const FlowWindow> flows) {
  for (const auto& aggregate : context_.aggregates()) aggregate->add(flows);
  for (const Member& member : members_) member.task->flows(flows);
}

void TaskSet::end(const EventWindow& window, const EventWriter::Take& take) {
  for (Member& member : members_) {
    EventWriter events(member.name, window, member.most, take);
    member.task->end(events);
    member.events += events.written();
    member.dropped += events.dropped();
  }
  for (const auto& aggregate : context_.aggregates()) aggregate->clear();
}

Result<TaskSets> TaskSets::make(std::span<const std::string> specs, const TaskOptions& options) {
  TaskSets sets;
  for (const std::string& spec : specs)
    if (auto error = sets.add(spec, options)) return *std::move(error);
  return sets;
}

TaskSet& TaskSets::set_of(WindowLength window, const TaskOptions& options) {
  for (TaskSet& set : sets_)
    if (set.window() == window) return set;
  return sets_.emplace_back(window, options);
}

std::optional<Error> TaskSets::add(const std::string& spec, const TaskOptions& options) {
  const Split parts = split(spec);
  TaskSet::Member member{.name = parts.name, .most = 1000, .task = nullptr};
  WindowLength window = options.window;
  if (!is_name(parts.name))
    return Error{fmt::format("task '{}': a name of letters, digits, - and _ comes first", spec)};
  if (parts.by == '=') {
    auto condition = Expression::parse(parts.rest);
    if (!condition) return Error{fmt::format("task {}: {}", parts.name, condition.error().message)};
    member.task = std::make_unique<FlowCondition>(*std::move(condition));
    set_of(window, options);
  } else {
    const auto entry = std::ranges::find(kTasks, parts.name, [](const TaskEntry* task) { return task->name; });
    if (entry == std::end(kTasks)) {
      std::vector<std::string_view> names;
      for (const TaskEntry* task : kTasks) names.push_back(task->name);
      return Error{fmt::format("task {}: there is {}; or give a condition, {}='packets > 100'", parts.name,
                               fmt::join(names, ", "), parts.name)};
    }
    std::vector<Parameter> parameters((*entry)->parameters.begin(), (*entry)->parameters.end());
    parameters.insert(parameters.end(), std::begin(kCommon), std::end(kCommon));
    auto arguments = Arguments::parse(parts.name, parts.rest, parameters);
    if (!arguments) return arguments.error();
    const auto length = window_of(*arguments, options);
    if (!length) return Error{fmt::format("task {}: {}", parts.name, length.error().message)};
    window = *length;
    member.most = arguments->count("most", 1, 10'000'000);
    if (arguments->given("name")) member.name = arguments->text("name");
    member.task = (*entry)->make(*arguments, set_of(window, options).context_);
    if (arguments->problem()) return arguments->problem();
    if (!is_name(member.name))
      return Error{fmt::format("task {}: name={}: letters, digits, - and _", parts.name, member.name)};
  }
  for (const TaskSet& set : sets_)
    for (const TaskSet::Member& other : set.members_)
      if (other.name == member.name)
        return Error{fmt::format("two tasks are called {}: give one another name, as in {}:name=other", member.name,
                                 member.name)};
  set_of(window, options).members_.push_back(std::move(member));
  return std::nullopt;
}

std::vector<WindowLength> TaskSets::windows() const {
  std::vector<WindowLength> windows;
  for (const TaskSet& set : sets_) windows.push_back(set.window());
  return windows;
}

std::size_t TaskSets::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const TaskSet& set : sets_) bytes += set.memory_bytes();
  return bytes;
}

}  // namespace parshall
