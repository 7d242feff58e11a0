// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/tasks/aggregate.hpp"

#include <algorithm>
#include <array>

namespace parshall {

void KeyCounts::raise_to(const KeyCounts& other) noexcept {
  for (const Amount& amount : kAmounts) this->*amount.of = std::max(this->*amount.of, other.*amount.of);
}

void KeyCounts::add(const UnreadFlows& other) noexcept {
  packets += other.packets;
  ip_bytes += other.ip_bytes;
  wire_bytes += other.wire_bytes;
  flows += other.all_flows();
  new_flows += other.new_flows;
}

Aggregate::Aggregate(KeyPart part, std::size_t capacity, std::uint64_t seed, std::uint64_t states)
    : part_(std::move(part)), states_(states), table_(capacity, seed) {
  scratch_.reserve(capacity);
}

void Aggregate::add(std::span<const FlowWindow> flows) noexcept {
  constexpr std::size_t kAtOnce = 32;
  std::array<FlowKey, kAtOnce> keys;
  std::array<std::uint64_t, kAtOnce> hashes;
  for (; !flows.empty(); flows = flows.subspan(std::min(kAtOnce, flows.size()))) {
    const std::size_t count = std::min(kAtOnce, flows.size());
    for (std::size_t i = 0; i < count; ++i) {
      keys[i] = part_.of(flows[i].key);
      hashes[i] = table_.hash(keys[i]);
      table_.prefetch(hashes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) {
      KeyCounts* counts = table_.find_or_add(hashes[i], keys[i]);
      if (counts == nullptr) [[unlikely]] {
        make_room();
        counts = table_.find_or_add(hashes[i], keys[i]);
      }
      counts->add(flows[i], states_);
    }
  }
}

void Aggregate::make_room() noexcept {
  scratch_.clear();
  for (const Table::Entry& entry : table_.entries()) scratch_.push_back(entry.value.packets);
  const auto middle = scratch_.begin() + static_cast<std::ptrdiff_t>(scratch_.size() / 2);
  std::ranges::nth_element(scratch_, middle);
  const auto below = std::ranges::count_if(scratch_, [&](std::uint64_t packets) { return packets < *middle; });
  KeyCounts most;
  table_.drop(
      [&, limit = *middle, at_limit = middle - scratch_.begin() - below + 1](const Table::Entry& entry) mutable {
        if (entry.value.packets > limit || (entry.value.packets == limit && at_limit-- <= 0)) return false;
        most.raise_to(entry.value);
        dropped_.add(entry.value);
        ++dropped_keys_;
        return true;
      });
  most_missing_.add(most);
  ++drops_;
}

void Aggregate::clear() noexcept {
  table_.clear();
  most_missing_ = dropped_ = {};
  dropped_keys_ = drops_ = 0;
}

}  // namespace parshall
