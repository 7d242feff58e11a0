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

constexpr std::string_view kKeys[] = {"tested", "told", "right", "ports"},
                           kPortKeys[] = {"protocol", "port", "class", "count", "of"};
constexpr auto kAnyCount = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

/// A class by its number.
struct Usual {
  std::uint32_t class_number;
  std::uint64_t count, of;
};

/// Returns the usual class of each port. `flows` has each class of each port once for each capture, sorted; those of
/// captures in `left_out` are passed over.
template <class Flow>
std::map<PortKey, Usual> usual_classes(std::span<const Flow> flows, PortFlows::Needs needs,
                                       const std::vector<bool>& left_out) {
  std::map<PortKey, Usual> usual;
  for (std::size_t at = 0; at < flows.size();) {
    const PortKey key = flows[at].key;
    Usual best{};
    std::uint64_t of = 0;
    while (at < flows.size() && flows[at].key == key) {
      const std::uint32_t number = flows[at].class_number;
      std::uint64_t count = 0;
      for (; at < flows.size() && flows[at].key == key && flows[at].class_number == number; ++at)
        count += left_out[flows[at].capture] ? 0 : 1;
      of += count;
      if (count > best.count) best = {number, count, 0};
    }
    best.of = of;
    if (best.count >= std::max<std::size_t>(needs.captures, 1) &&
        static_cast<double>(best.count) >= needs.share * static_cast<double>(of))
      usual.emplace(key, best);
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
  if (captures_ == 0 || capture_ != capture) capture_ = capture, ++captures_;
  auto at = std::ranges::find(class_names_, class_name);
  if (at == class_names_.end()) at = class_names_.emplace(at, class_name);
  flows_.push_back({key, static_cast<std::uint32_t>(at - class_names_.begin()), captures_ - 1});
  is_short_.push_back(is_short);
}

PortClasses PortFlows::learn(Needs needs, std::uint32_t folds, std::uint64_t seed) const {
  std::vector<Flow> seen = flows_;
  std::ranges::sort(seen);
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  const auto learnt = [&](const std::vector<bool>& left_out) {
    return usual_classes(std::span<const Flow>(seen), needs, left_out);
  };
  PortClasses classes;
  std::set<std::uint32_t> names;
  for (const auto& [key, usual] : learnt(std::vector<bool>(captures_))) {
    names.insert(usual.class_number);
    if (names.size() > kMostClasses || classes.ports.size() == PortClasses::kMostPorts) break;
    classes.ports.push_back({key, class_names_[usual.class_number], usual.count, usual.of});
  }

  const std::vector<std::uint32_t> fold_of = folds_of_captures(captures_, folds, seed);
  for (std::uint32_t fold = 0; fold < folds; ++fold) {
    std::vector<bool> left_out(captures_);
    for (std::size_t capture = 0; capture < captures_; ++capture) left_out[capture] = fold_of[capture] == fold;
    const auto usual = learnt(left_out);
    for (std::size_t i = 0; i < flows_.size(); ++i) {
      if (!is_short_[i] || !left_out[flows_[i].capture]) continue;
      ++classes.tested;
      const auto told = usual.find(flows_[i].key);
      if (told == usual.end()) continue;
      ++classes.told;
      classes.right += told->second.class_number == flows_[i].class_number ? 1 : 0;
    }
  }
  return classes;
}

std::string to_toml(const PortClasses& classes) {
  if (classes.ports.empty()) return {};
  std::string toml = fmt::format(
      "\n"
      "# Flows with fewer packets have the usual class of their protocol and lower port: that of `count` of `of`\n"
      "# captures, or of flows on a link. tested: flows with so few packets, on captures that it was not trained on.\n"
      "[{}]\n"
      "tested = {}\n"
      "told = {}\n"
      "right = {}\n"
      "ports = [\n",
      kPortClassesKey, classes.tested, classes.told, classes.right);
  for (const PortClass& each : classes.ports)
    toml += fmt::format("  {{protocol = {}, port = {}, class = {}, count = {}, of = {}}},\n", each.key.protocol,
                        each.key.port, toml_string(each.class_name), each.count, each.of);
  return toml + "]\n";
}

PortClasses read_port_classes(ModelReader& reader) {
  PortClasses classes;
  std::set<std::string> names;
  if (!reader.file().contains(kPortClassesKey)) return classes;
  const toml::table* const from = reader.table(reader.file(), kPortClassesKey);
  if (from == nullptr) return classes;
  reader.check_keys(*from, kKeys);
  classes.tested = reader.count(*from, "tested", 0, kAnyCount);
  classes.told = reader.count(*from, "told", 0, classes.tested);
  classes.right = reader.count(*from, "right", 0, classes.told);
  reader.each(*from, "ports", [&](const toml::table& port) {
    reader.check_keys(port, kPortKeys);
    PortClass read{.key = {static_cast<std::uint8_t>(reader.count(port, "protocol", 0, 255)),
                           static_cast<std::uint16_t>(reader.count(port, "port", 0, 65535))},
                   .class_name = reader.text(port, "class"),
                   .count = reader.count(port, "count", 1, kAnyCount),
                   .of = 0};
    read.of = reader.count(port, "of", read.count, kAnyCount);
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
