// SPDX-License-Identifier: Apache-2.0
#include "engine/marking.hpp"

#include <algorithm>

namespace parshall {
namespace {

/// Adds to a counter that only one thread writes.
void add_to(std::atomic<std::uint64_t>& count, std::uint64_t more) noexcept {
  count.store(count.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

void MarkingCounts::add(const MarkingCounts& other) {
  offered += other.offered;
  forwarded.sent += other.forwarded.sent;
  forwarded.too_long += other.forwarded.too_long;
  forwarded.refused += other.forwarded.refused;
  marked.resize(std::max(marked.size(), other.marked.size()));
  for (std::size_t i = 0; i < other.marked.size(); ++i) marked[i] += other.marked[i];
}

Marker::Marker(MarkingPlan plan, std::size_t batch)
    : plan_(std::move(plan)),
      classes_(batch),
      marked_(std::make_unique<std::atomic<std::uint64_t>[]>(std::max<std::size_t>(1, plan_.size()))) {}

void Marker::pass_on(Lane& lane, FlowStage& stage, std::span<const RawPacket> packets) noexcept {
  stage.run_classified(lane.front(), packets, std::span(classes_).first(packets.size()));
  Forwarder& forwarder = *lane.source().forwarder();
  mark(forwarder, packets);
  const ForwardCounts forwarded = forwarder.send(packets.size());
  add_to(sent_, forwarded.sent);
  add_to(too_long_, forwarded.too_long);
  add_to(refused_, forwarded.refused);
}

void Marker::mark(Forwarder& forwarder, std::span<const RawPacket> packets) noexcept {
  if (plan_.empty()) return;
  const std::size_t unknown = plan_.size() - 1;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (classes_[i] == kNotClassified) continue;
    const std::size_t at = std::min<std::size_t>(classes_[i], unknown);
    if (plan_[at] && write_dscp(forwarder.frame(i), packets[i].captured_bytes, packets[i].link_type, *plan_[at]))
      add_to(marked_[at], 1);
  }
}

MarkingCounts Marker::counts() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  MarkingCounts counts{.offered = 0,
                       .forwarded = {.sent = sent_.load(kRelaxed),
                                     .too_long = too_long_.load(kRelaxed),
                                     .refused = refused_.load(kRelaxed)},
                       .marked = std::vector<std::uint64_t>(plan_.size())};
  // The sum of the counts just read, since the worker goes on.
  counts.offered = counts.forwarded.sent + counts.forwarded.too_long + counts.forwarded.refused;
  for (std::size_t i = 0; i < plan_.size(); ++i) counts.marked[i] = marked_[i].load(kRelaxed);
  return counts;
}

}  // namespace parshall
