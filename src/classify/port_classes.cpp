// SPDX-License-Identifier: Apache-2.0
#include "classify/port_classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "base/random.hpp"
#include "classify/samples.hpp"
#include "classify/toml_text.hpp"

namespace parshall {
namespace {

constexpr std::string_view kKeys[] = {"tested", "classified", "correct", "ports"},
                           kPortKeys[] = {"protocol", "port", "class", "share", "of"};
constexpr auto kAnyCount = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// A class by its number.
struct Usual {
  std::uint32_t class_number = 0;
  double share = 0;
  std::uint64_t of = 0;
};

/// What captures say of one class of a port.
struct Votes {
  double shares = 0;
  std::size_t captures = 0;
};

/// Returns the usual class of each port. `flows` are sorted; those of captures in `left_out` are passed over.
template <class Flow>
std::map<PortKey, Usual> usual_classes(std::span<const Flow> flows, PortFlows::Needs needs,
                                       const std::vector<bool>& left_out) {
  std::map<PortKey, Usual> usual;
  const auto end_of = [](auto from, auto end, auto of) {
    return std::find_if(from, end, [&](const Flow& flow) { return of(flow) != of(*from); });
  };
  for (auto port = flows.begin(); port != flows.end();) {
    const auto port_end = end_of(port, flows.end(), [](const Flow& flow) { return flow.key; });
    std::map<std::uint32_t, Votes> votes;
    std::uint64_t captures = 0;
    for (auto capture = port; capture != port_end;) {
      const auto capture_end = end_of(capture, port_end, [](const Flow& flow) { return flow.capture; });
      captures += left_out[capture->capture] ? 0 : 1;
      for (auto same = capture; same != capture_end && !left_out[capture->capture];) {
        const auto same_end = end_of(same, capture_end, [](const Flow& flow) { return flow.class_number; });
        Votes& of_class = votes[same->class_number];
        of_class.shares += static_cast<double>(same_end - same) / static_cast<double>(capture_end - capture);
        ++of_class.captures;
        same = same_end;
      }
      capture = capture_end;
    }
    for (const auto& [number, of_class] : votes)
      if (const double share = of_class.shares / static_cast<double>(captures);
          of_class.captures >= needs.captures && share >= std::max(needs.share, usual[port->key].share))
        usual[port->key] = {number, share, captures};
    if (const auto at = usual.find(port->key); at != usual.end() && at->second.of == 0) usual.erase(at);
    port = port_end;
  }
  return usual;
}

/// Returns the fold of each capture: about the same number in each, the same for the same seed.
std::vector<std::uint32_t> folds_of_captures(std::size_t captures, std::uint32_t folds, std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
  for (std::uint32_t capture = 0; capture < captures; ++capture) order.emplace_back(random(), capture);
  std::ranges::sort(order);
  std::vector<std::uint32_t> fold_of(captures);
  for (std::size_t i = 0; i < captures; ++i) fold_of[order[i].second] = static_cast<std::uint32_t>(i % folds);
  return fold_of;
}

}  // namespace

void PortFlows::add(PortKey key, bool is_short, std::string_view class_name, std::string_view capture) {
  const std::size_t last_class = flows_.empty() ? 0 : flows_.back().class_number;
  const std::size_t last_capture = flows_.empty() ? 0 : flows_.back().capture;
  flows_.push_back({key, static_cast<std::uint32_t>(number_of(capture_names_, capture, last_capture)),
                    static_cast<std::uint32_t>(number_of(class_names_, class_name, last_class))});
  is_short_.push_back(is_short);
}

PortClasses PortFlows::learn(Needs needs, std::uint32_t folds, std::uint64_t seed) const {
  const std::size_t captures = capture_names_.size();
  std::vector<Flow> seen = flows_;
  std::ranges::sort(seen);
  const auto learnt = [&](const std::vector<bool>& left_out) {
    return usual_classes(std::span<const Flow>(seen), needs, left_out);
  };
  PortClasses classes;
  std::set<std::uint32_t> names;
  for (const auto& [key, usual] : learnt(std::vector<bool>(captures))) {
    names.insert(usual.class_number);
    if (names.size() > kMostClasses || classes.ports.size() == PortClasses::kMostPorts) break;
    classes.ports.push_back({key, class_names_[usual.class_number], usual.share, usual.of});
  }

  const std::vector<std::uint32_t> fold_of = folds_of_captures(captures, folds, seed);
  std::vector<std::vector<std::size_t>> short_flows(folds);
  for (std::size_t i = 0; i < flows_.size(); ++i)
    if (is_short_[i]) short_flows[fold_of[flows_[i].capture]].push_back(i);
  for (std::uint32_t fold = 0; fold < folds; ++fold) {
    std::vector<bool> left_out(captures);
    for (std::size_t capture = 0; capture < captures; ++capture) left_out[capture] = fold_of[capture] == fold;
    const auto usual = learnt(left_out);
    for (const std::size_t i : short_flows[fold]) {
      ++classes.tested;
      const auto told = usual.find(flows_[i].key);
      if (told == usual.end()) continue;
      ++classes.classified;
      classes.correct += told->second.class_number == flows_[i].class_number ? 1 : 0;
    }
  }
  return classes;
}

std::string to_toml(const PortClasses& classes) {
  if (classes.ports.empty()) return {};
  std::string toml = fmt::format(
      "\n"
      "# A flow with fewer packets has the usual class of its protocol and lower port. `share` says how many of\n"
      "# the port's flows are of this class: the mean of `of` captures, or on a link of `of` flows.\n"
      "# In cross-validation, `tested` flows had so few packets. `classified` of them got a class, and for\n"
      "# `correct` it was right.\n"
      "[{}]\n"
      "tested = {}\n"
      "classified = {}\n"
      "correct = {}\n"
      "ports = [\n",
      kPortClassesKey, classes.tested, classes.classified, classes.correct);
  for (const PortClass& each : classes.ports)
    toml += fmt::format("  {{protocol = {}, port = {}, class = {}, share = {}, of = {}}},\n", each.key.protocol,
                        each.key.port, toml_string(each.class_name), each.share, each.of);
  return toml + "]\n";
}

PortClasses read_port_classes(ModelReader& reader) {
  PortClasses classes;
  if (!reader.file().contains(kPortClassesKey)) return classes;
  const toml::table* const from = reader.table(reader.file(), kPortClassesKey);
  if (from == nullptr) return classes;
  reader.check_keys(*from, kKeys);
  classes.tested = reader.count(*from, "tested", 0, kAnyCount);
  classes.classified = reader.count(*from, "classified", 0, classes.tested);
  classes.correct = reader.count(*from, "correct", 0, classes.classified);
  std::set<std::string> names;
  reader.each(*from, "ports", [&](const toml::table& port) {
    reader.check_keys(port, kPortKeys);
    PortClass read{.key = {static_cast<std::uint8_t>(reader.count(port, "protocol", 0, 255)),
                           static_cast<std::uint16_t>(reader.count(port, "port", 0, 65535))},
                   .class_name = reader.text(port, "class"),
                   .share = reader.number(port, "share", {0, 1}),
                   .of = reader.count(port, "of", 1, PortClasses::kMostCount)};
    if (reader.problem()) return;
    if (const auto wrong = class_name_problem(read.class_name)) return reader.complain(port, wrong->message);
    if (!classes.ports.empty() && classes.ports.back().key >= read.key)
      return reader.complain(port, "ports must be in the order of protocol and port, each once");
    names.insert(read.class_name);
    classes.ports.push_back(std::move(read));
  });
  if (classes.ports.size() > PortClasses::kMostPorts || names.size() > kMostClasses)
    reader.complain(*from, fmt::format("there are {} ports of {} classes; {} and {} are possible", classes.ports.size(),
                                       names.size(), PortClasses::kMostPorts, kMostClasses));
  return classes;
}

}  // namespace parshall
