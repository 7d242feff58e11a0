// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/states/state_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/parse.hpp"
#include "base/parse_toml.hpp"
#include "base/read_ip.hpp"
#include "base/suggestion.hpp"
#include "base/text_file.hpp"
#include "base/toml_reader.hpp"

namespace parshall {
namespace {

constexpr std::string_view kFileKeys[] = {"default", "state", "rule"}, kStateKeys[] = {"name", "tasks", "lighter"},
                           kRuleKeys[] = {"state", "from", "filter", "prefix", "port", "share", "reported_by"};

/// Reads a file of states. An error says where it is wrong.
class Reader : TomlReader {
 public:
  explicit Reader(const std::string& name) : TomlReader(name) {}

  Result<StateFile> read(const toml::table& file) {
    check_keys(file, kFileKeys);
    file_.plan.names.clear();
    file_.plan.lighter.clear();
    each(file, "state", [this](const toml::table& state) { read_state(state); });
    each(file, "state", [this](const toml::table& state) { read_lighter(state); });
    if (file_.plan.names.empty()) complain(file, "there is no [[state]]");
    if (const auto* const first = text(file, "default"))
      file_.plan.first = state_of(*first, **first);
    else
      complain(file, "default is missing: it names the state of flows without a rule");
    each(file, "rule", [this](const toml::table& rule) { read_rule(rule); });
    if (problem()) return *problem();
    return std::move(file_);
  }

 private:
  const toml::value<std::string>* text(const toml::table& table, std::string_view name) {
    const toml::node* const node = table.get(name);
    if (node == nullptr) return nullptr;
    if (!node->is_string()) complain(*node, fmt::format("{} must be a text in quotes", name));
    return node->as_string();
  }

  void read_state(const toml::table& state) {
    check_keys(state, kStateKeys);
    StatePlan& plan = file_.plan;
    const auto* const name = text(state, "name");
    if (name == nullptr) return complain(state, "a [[state]] must have a name");
    if ((*name)->empty()) return complain(*name, "a state's name must not be empty");
    if (std::ranges::find(plan.names, **name) != plan.names.end())
      return complain(*name, fmt::format("two states have the name {}", **name));
    if (plan.names.size() == StatePlan::kMostStates)
      return complain(state, fmt::format("more than {} states", StatePlan::kMostStates));
    const std::uint64_t bit = std::uint64_t{1} << plan.names.size();
    plan.names.push_back(**name);
    for (const std::string& task : texts(state, "tasks")) {
      const auto known = std::ranges::find(file_.tasks, task, &TaskSpec::text);
      if (known == file_.tasks.end())
        file_.tasks.push_back({task, bit});
      else
        known->states |= bit;
    }
  }

  /// Reads the lighter state, once all names are known.
  void read_lighter(const toml::table& state) {
    if (problem()) return;
    StatePlan& plan = file_.plan;
    const auto own = static_cast<std::uint8_t>(plan.lighter.size());
    plan.lighter.push_back(own);
    const auto* const name = text(state, "lighter");
    if (name == nullptr) return;
    std::uint8_t lighter = state_of(*name, **name);
    if (problem()) return;
    plan.lighter[own] = lighter;
    // Checks the states read so far: the last member of a cycle closes it.
    for (std::size_t steps = 0; lighter < own && plan.lighter[lighter] != lighter && steps < plan.lighter.size();
         ++steps)
      lighter = plan.lighter[lighter];
    if (lighter == own) complain(*name, fmt::format("{} is its own lighter state", plan.names[own]));
  }

  std::uint8_t state_of(const toml::node& at, const std::string& name) {
    const auto found = std::ranges::find(file_.plan.names, name);
    if (found == file_.plan.names.end())
      complain(at, fmt::format("no state {}{}", name, suggestion(name, file_.plan.names)));
    return static_cast<std::uint8_t>(found - file_.plan.names.begin());
  }

  void read_rule(const toml::table& rule) {
    check_keys(rule, kRuleKeys);
    StateRule made;
    if (const auto* const state = text(rule, "state"))
      made.to = state_of(*state, **state);
    else
      complain(rule, "a [[rule]] must name the state of its flows");
    if (rule.contains("from")) {
      made.from = 0;
      for (const std::string& state : texts(rule, "from"))
        if (const std::uint8_t number = state_of(rule, state); !problem()) made.from |= std::uint64_t{1} << number;
    }
    if (made.from == 0) complain(rule, "from is empty: leave it out to match flows in any state");
    if (const auto* const filter = text(rule, "filter")) read_filter(*filter, made);
    if (const auto* const prefix = text(rule, "prefix")) {
      if (auto parsed = Prefix::parse(**prefix))
        made.prefix = *parsed;
      else
        complain(*prefix, parsed.error().message);
    }
    if (const toml::node* const port = rule.get("port")) {
      const auto number = port->is_integer() ? port->value<std::int64_t>() : std::nullopt;
      if (!number || *number < 0 || *number > 65535) complain(*port, "port must be a number from 0 to 65535");
      made.port = static_cast<std::uint16_t>(number.value_or(0));
    }
    if (const toml::node* const share = rule.get("share")) {
      made.share = share->is_number() ? share->value<double>() : std::nullopt;
      if (!made.share || !(*made.share >= 0 && *made.share <= 1))
        complain(*share, "share must be a number from 0 to 1: the fraction of the flows");
    }
    if (const auto* const task = text(rule, "reported_by")) {
      const auto known = std::ranges::find(file_.reporters, **task);
      made.outcome = static_cast<std::size_t>(known - file_.reporters.begin());
      if (known == file_.reporters.end()) file_.reporters.push_back(**task);
    }
    if (file_.plan.rules.size() == StatePlan::kMostRules)
      return complain(rule, fmt::format("more than {} rules", StatePlan::kMostRules));
    file_.plan.rules.push_back(std::move(made));
  }

  void read_filter(const toml::value<std::string>& filter, StateRule& rule) {
    auto compiled = BpfFilter::compile(*filter);
    if (compiled && !compiled->says_the_same_of_a_flow())
      complain(filter, fmt::format("filter '{}' uses more than a flow's addresses, protocol and ports", *filter));
    if (compiled)
      rule.filter = *std::move(compiled);
    else
      complain(filter, compiled.error().message);
  }

  StateFile file_;
};

}  // namespace

Result<Prefix> Prefix::parse(const std::string& text) {
  const std::size_t slash = text.find('/');
  const std::string address = text.substr(0, slash);
  Prefix prefix;
  prefix.ip_version = address.find(':') != std::string::npos ? 6 : 4;
  const std::uint64_t all = prefix.ip_version == 6 ? 128 : 32;
  const std::uint64_t bits = slash == std::string::npos ? all : parse_count(text.substr(slash + 1)).value_or(all + 1);
  if (!read_ip(prefix.ip_version == 6 ? AF_INET6 : AF_INET, address, prefix.address.data()) || bits > all)
    return Error{fmt::format("prefix {}: give addresses such as 10.0.0.0/8 or 2001:db8::/32", text)};
  prefix.bits = static_cast<std::uint8_t>(bits);
  return prefix;
}

bool Prefix::has(const FlowKey& flow) const noexcept {
  if (flow.ip_version != ip_version) return false;
  const auto agrees = [this](std::span<const std::uint8_t> other) {
    const std::size_t whole = bits / 8;
    if (std::memcmp(other.data(), address.data(), whole) != 0) return false;
    const unsigned rest = bits % 8;
    return rest == 0 || (other[whole] ^ address[whole]) >> (8 - rest) == 0;
  };
  return agrees(flow.src_address()) || agrees(flow.dst_address());
}

bool StatePlan::has_lighter() const noexcept {
  for (std::size_t state = 0; state < lighter.size(); ++state)
    if (lighter[state] != state) return true;
  return false;
}

std::size_t StatePlan::memory_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const StateOutcome& outcome : outcomes) bytes += outcome.found->memory_bytes();
  return bytes;
}

Result<StateFile> StateFile::parse(const std::string& text, const std::string& name) {
  const auto file = parse_toml(text, name);
  return file ? Reader(name).read(*file) : file.error();
}

Result<StateFile> StateFile::read(const std::string& path) {
  const auto text = read_text_file(path);
  return text ? parse(*text, path) : Error{"cannot read states from " + text.error().message};
}

std::vector<std::vector<std::string>> StateFile::tasks_of_states() const {
  std::vector<std::vector<std::string>> specs(plan.names.size());
  for (const TaskSpec& task : tasks)
    for (std::size_t state = 0; state < specs.size(); ++state)
      if ((task.states >> state & 1) != 0) specs[state].push_back(task.text);
  return specs;
}

Result<StatePlan> StateFile::plan_for(const TaskSets& sets, std::uint64_t seed) const {
  StatePlan made = plan;
  for (const std::string& task : reporters) {
    const TaskSet* in = nullptr;
    const TaskSet::Member* reporter = nullptr;
    for (const TaskSet& set : sets.sets())
      for (const TaskSet::Member& member : set.members())
        if (member.name == task) in = &set, reporter = &member;
    if (reporter == nullptr)
      return Error{fmt::format("a rule uses reports of {}, which is not a task of any state", task)};
    if (!reporter->finds_any)
      return Error{
          fmt::format("a rule uses reports of {}, which sums up all traffic and reports no flows or keys", task)};
    made.outcomes.push_back({task, static_cast<std::uint32_t>(in - sets.sets().data()), in->window(),
                             std::make_shared<Outcomes>(reporter->most, seed)});
  }
  return made;
}

}  // namespace parshall
