// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <vector>

#include "pipeline/measure/tasks/registry.hpp"
#include "pipeline/output/json/event_json.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

constexpr std::size_t kKeys = 1024, kMostSpecs = 4, kLongestSpec = 300, kFlows = 12;

std::vector<TaskSpec> specs_of(Input& in) {
  std::vector<TaskSpec> specs;
  while (!in.empty() && specs.size() < kMostSpecs) {
    const std::string line = in.text_until('\n');
    if (line.empty()) break;
    if (line.size() <= kLongestSpec) specs.push_back({.text = line});
  }
  return specs;
}

/// What flows did in a window, by the input. `measured`: of all of them.
std::vector<FlowWindow> flows_of(Input& in, const std::byte* measured, EventWindow& window) {
  std::vector<FlowWindow> flows(kFlows);
  for (FlowWindow& flow : flows) {
    flow.key.ip_version = (in.byte() & 1) != 0 ? 6 : 4;
    flow.key.protocol = in.byte();
    for (std::size_t i = 0; i < 2 * flow.key.address_bytes(); ++i) flow.key.address[i] = static_cast<std::uint8_t>(i);
    flow.key.address[flow.key.address_bytes() - 1] = in.byte();
    flow.key.dst_port_bytes = {in.byte(), in.byte()};
    flow.packets = 1 + in.number(2);
    flow.ip_bytes = flow.packets * (20 + in.byte());
    flow.wire_bytes = flow.ip_bytes + 14 * flow.packets;
    flow.first_ns = in.number(4);
    flow.last_ns = flow.first_ns + in.number(4);
    flow.starts = true;
    flow.measured = measured;
    WindowTotals& totals = window.totals;
    totals.packets += flow.packets;
    totals.ip_bytes += flow.ip_bytes;
    totals.wire_bytes += flow.wire_bytes;
    totals.first_ns = std::min(totals.first_ns, flow.first_ns);
    totals.last_ns = std::max(totals.last_ns, flow.last_ns);
  }
  return flows;
}

}  // namespace

/// Input: tasks as they are asked for, a line each; an empty one; what flows did in windows.
void fuzz_tasks(Bytes input) {
  Input in(input);
  const std::vector<TaskSpec> specs = specs_of(in);
  auto sets = TaskSets::make(specs, {.window = {}, .keys = kKeys, .seed = 1});
  if (!sets) return require(!sets.error().message.empty());
  std::size_t members = 0;
  for (TaskSet& set : sets->sets()) {
    members += set.members().size();
    require(set.window().amount > 0);
    const std::vector<std::uint64_t> measured(set.measures().bytes() / 8 + 1);
    for (std::uint64_t number = 0; number < 3; ++number) {
      EventWindow window{.length = set.window(), .number = number};
      set.flows(flows_of(in, reinterpret_cast<const std::byte*>(measured.data()), window));
      std::size_t events = 0, most = 0;
      for (const TaskSet::Member& member : set.members()) most += member.most;
      set.end(window, [&](Event&& event) {
        ++events;
        require(nlohmann::json::accept(event_json(event)));
      });
      require(events <= most);
    }
    for (const TaskSet::Member& member : set.members()) require(member.recall >= 0 && member.recall <= 1);
  }
  require(members == specs.size());
}

}  // namespace parshall::fuzz
