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

/// Addresses that agree in their first bits.
struct Prefix {
  std::uint8_t ip_version = 4, bits = 0;
  std::array<std::uint8_t, 16> address{};

  static Result<Prefix> parse(const std::string& text);
  bool has(const FlowKey& flow) const noexcept;  ///< either of its addresses
};

/// Which flows go to a state: those of which all that is asked for holds.
struct StateRule {
  std::uint8_t to = 0;
  std::uint64_t from = ~std::uint64_t{0};  ///< bit i: flows that the rules before left in state i
  std::optional<BpfFilter> filter;         ///< sees the flow's addresses, protocol and ports
  std::optional<Prefix> prefix;
  std::optional<std::uint16_t> port;   ///< either
  std::optional<double> share;         ///< of the flows, by a hash, both directions alike
  std::optional<std::size_t> outcome;  ///< of StatePlan::outcomes
};

/// A task whose findings decide states: those of window w hold in window w + 2, since w + 1 is half over before all is
/// known of w.
struct StateOutcome {
  std::string task;
  std::uint32_t clock = 0;  ///< of the window lengths in use
  WindowLength length;
  std::shared_ptr<Outcomes> found;
};

/// The monitoring states of a run: named sets of tasks, and the rules that assign flows to them. The last rule that
/// holds for a flow decides.
struct StatePlan {
  static constexpr std::size_t kMostStates = 64, kMostRules = 32;

  std::vector<std::string> names = {"all"};
  std::vector<std::uint8_t> lighter = {0};  ///< that each gives way to where time is short; none: itself. No circles
  std::uint8_t first = 0;                   ///< of flows that no rule is for
  std::vector<StateRule> rules;
  std::vector<StateOutcome> outcomes;

  bool one() const noexcept { return names.size() == 1; }
  bool gives_way() const noexcept;            ///< whether any state does
  std::size_t memory_bytes() const noexcept;  ///< of the outcomes
};

/// Packets of flows that are in a state; of these, those that its measures saw, and no lighter state's.
struct StatePackets {
  std::uint64_t all = 0, kept = 0;
};

/// What a file of states says, before its tasks are made.
struct StateFile {
  StatePlan plan;
  std::vector<TaskSpec> tasks;
  std::vector<std::string> reporters;  ///< by StatePlan::outcomes

  /// Of TOML text; `name` is what errors call it.
  static Result<StateFile> parse(const std::string& text, const std::string& name);
  static Result<StateFile> read(const std::string& path);

  /// Their specs, by state.
  std::vector<std::vector<std::string>> tasks_of_states() const;

  /// The plan for these tasks, which were made of `tasks` and maybe more. Fails on outcomes of a task that there is
  /// not, or that finds nothing. Throws std::bad_alloc.
  Result<StatePlan> plan_for(const TaskSets& sets, std::uint64_t seed) const;
};

}  // namespace parshall
