// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/states/flow_states.hpp"

#include <sched.h>

#include <array>
#include <cstring>

#include "base/random.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kOwnSeed = 0x3d9a'61f4'c05b'27e8;  // makes its hashes independent of a table's

/// Minimal IP packet of the flow, for filters to match.
struct BarePacket {
  std::array<std::uint8_t, 64> bytes{};
  RawPacket packet;

  explicit BarePacket(const FlowKey& flow) noexcept {
    const std::size_t header = flow.ip_version == 6 ? 40 : 20;
    if (flow.ip_version == 6) {
      bytes[0] = 0x60;
      bytes[5] = static_cast<std::uint8_t>(bytes.size() - header);
      bytes[6] = flow.protocol;
      std::memcpy(&bytes[8], flow.address.data(), 32);
    } else {
      bytes[0] = 0x45;
      bytes[3] = static_cast<std::uint8_t>(bytes.size());
      bytes[9] = flow.protocol;
      std::memcpy(&bytes[12], flow.address.data(), 8);
    }
    std::memcpy(&bytes[header], flow.src_port_bytes.data(), 2);
    std::memcpy(&bytes[header + 2], flow.dst_port_bytes.data(), 2);
    packet = {.data = bytes.data(),
              .captured_bytes = static_cast<std::uint32_t>(bytes.size()),
              .wire_bytes = static_cast<std::uint32_t>(bytes.size()),
              .link_type = LinkType::raw};
  }
};

}  // namespace

FlowStates::FlowStates(std::shared_ptr<const StatePlan> plan, bool can_wait, std::uint64_t seed)
    : plan_(std::move(plan)),
      can_wait_(can_wait),
      rules_(plan_->rules),
      reported_(plan_->outcomes.size()),
      hash_(KeyFields::five_tuple, Identity::exact, seed ^ kOwnSeed),
      shares_(plan_->names.size()) {
  for (const StateOutcome& outcome : plan_->outcomes)
    if (std::ranges::find(clocks_, outcome.clock, &Clock::clock) == clocks_.end())
      clocks_.push_back({outcome.clock, outcome.length});
}

std::uint32_t FlowStates::rules_for(const FlowKey& flow) noexcept {
  const BarePacket bare(flow);
  SplitMix64 drawn(hash_.hash(both_ways(flow).first));
  std::uint32_t rules = 0, bit = 1;
  for (StateRule& rule : rules_) {
    const double draw = drawn.uniform();
    const bool holds = (!rule.filter || rule.filter->matches(bare.packet)) &&
                       (!rule.prefix || rule.prefix->has(flow)) &&
                       (!rule.port || flow.src_port() == *rule.port || flow.dst_port() == *rule.port) &&
                       (!rule.share || draw < *rule.share);
    if (holds) rules |= bit;
    bit <<= 1;
  }
  return rules;
}

std::uint8_t FlowStates::state_of(const FlowKey& flow, std::uint32_t rules) const noexcept {
  std::uint8_t state = plan_->first;
  for (; rules != 0; rules &= rules - 1) {
    const StateRule& rule = rules_[static_cast<std::size_t>(std::countr_zero(rules))];
    if ((rule.from >> state & 1) == 0) continue;
    if (rule.outcome) {
      const Reported* const reported = reported_[*rule.outcome];
      if (reported == nullptr || !reported->has(flow)) continue;
    }
    state = rule.to;
  }
  return state;
}

void FlowStates::adopt(std::uint32_t clock, std::uint64_t window) noexcept {
  for (std::size_t i = 0; i < reported_.size(); ++i) {
    const StateOutcome& outcome = plan_->outcomes[i];
    if (outcome.clock != clock) continue;
    reported_[i] = nullptr;
    if (window < 2) continue;
    while (can_wait_.load(std::memory_order_relaxed) && !outcome.found->decided(window - 2)) ::sched_yield();
    if (outcome.found->decided(window - 2)) reported_[i] = outcome.found->of(window - 2);
  }
}

}  // namespace parshall
