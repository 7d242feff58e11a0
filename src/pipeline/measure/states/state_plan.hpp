// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/measure/states/outcomes.hpp"
#include "pipeline/measure/tasks/registry.hpp"

namespace parshall {

/// Addresses with the same first bits.
struct Prefix {
  std::uint8_t ip_version = 4, bits = 0;
  std::array<std::uint8_t, 16> address{};

  static Result<Prefix> parse(const std::string& text);
  bool has(const FlowKey& flow) const noexcept;  ///< true if either of the flow's addresses has it
};

/// Rule that assigns flows to a state if all of its conditions hold.
struct StateRule {
  std::uint8_t to = 0;
  std::uint64_t from = ~std::uint64_t{0};  ///< bit i: flows that earlier rules left in state i
  std::optional<BpfFilter> filter;         ///< matches the flow's addresses, protocol and ports
  std::optional<Prefix> prefix;
  std::optional<std::uint16_t> port;   ///< source or destination
  std::optional<double> share;         ///< fraction of the flows, by a hash that both directions share
  std::optional<std::size_t> outcome;  ///< index in StatePlan::outcomes
};

/// A task whose findings decide states. Findings of window w hold in window w + 2, because w + 1 is half over before
/// those of w are complete.
struct StateOutcome {
  std::string task;
  std::uint32_t clock = 0;  ///< index of its window length among those in use
  WindowLength length;
  std::shared_ptr<Outcomes> found;
};

/// Monitoring states of a run: named sets of tasks, and the rules that assign flows to them. The last rule that holds
/// for a flow decides.
struct StatePlan {
  static constexpr std::size_t kMostStates = 64, kMostRules = 32;

  std::vector<std::string> names = {"all"};
  std::vector<std::uint8_t> lighter = {0};  ///< state that each is reduced to under overload, or itself; no cycles
  std::uint8_t first = 0;                   ///< state of flows that no rule assigns
  std::vector<StateRule> rules;
  std::vector<StateOutcome> outcomes;

  bool one() const noexcept { return names.size() == 1; }
  bool has_lighter() const noexcept;          ///< true if any state has a lighter one
  std::size_t memory_bytes() const noexcept;  ///< memory of the outcomes
};

/// Packets of flows that are in a state, and those of them that its own measures, not a lighter state's, saw.
struct StatePackets {
  std::uint64_t all = 0, kept = 0;
};

/// Contents of a file of states, before its tasks are made.
struct StateFile {
  StatePlan plan;
  std::vector<TaskSpec> tasks;
  std::vector<std::string> reporters;  ///< task names, by index in StatePlan::outcomes

  /// Parses TOML text; `name` is the file's name in errors.
  static Result<StateFile> parse(const std::string& text, const std::string& name);
  static Result<StateFile> read(const std::string& path);

  /// Returns the task specs of each state.
  std::vector<std::vector<std::string>> tasks_of_states() const;

  /// Makes the plan for these tasks, which were made from `tasks` and maybe more. Fails if an outcome's task does not
  /// exist or reports no findings. Throws std::bad_alloc.
  Result<StatePlan> plan_for(const TaskSets& sets, std::uint64_t seed) const;
};

}  // namespace parshall
