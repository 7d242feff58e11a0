// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "pipeline/flow/spilled_counts.hpp"
#include "pipeline/flow/table.hpp"

namespace parshall {

/// Counts packets independently of where their flows are stored: carries, late packets, timeouts, ended records.
///
/// `Store` provides, by slot: writable counts, first_ns and last_ns; spilled counts to set and forget; and the record.
template <class Store>
class FlowCounter {
 public:
  /// Sets the filter that new flows have to pass, or null. It must outlive its use.
  void filter_by(FloodFilter* filter) noexcept { filter_ = filter; }
  std::uint64_t begun() const noexcept { return begun_; }

  /// Returns whether flows end for lack of packets.
  bool ends_quiet() const noexcept { return quiet_ns_ != kNever; }

  /// Sets how many packets of a flow count as its first ones; 0 for none.
  void first_packets(std::uint32_t packets) noexcept {
    first_below_ = packets == 0 ? 0 : std::uint64_t{packets + 1} << CountWord::kPacketShift;
  }

 protected:
  static constexpr std::uint64_t kNever = 1ull << 63;  ///< less than the (wrapped) difference of a late packet

  FlowCounter(Timeouts timeouts, FlowSink& sink, Store store)
      : idle_ns_(timeouts.idle_ns == 0 ? ~std::uint64_t{0} : timeouts.idle_ns),
        active_ns_(timeouts.active_ns),
        linger_ns_(timeouts.linger_ns == 0 ? ~std::uint64_t{0} : timeouts.linger_ns),
        quiet_ns_(std::min({idle_ns_, linger_ns_, kNever})),
        sink_(&sink),
        store_(std::move(store)) {}

  /// Ages the estimate of recently begun flows; called once per group. If many flows begin, prefetching for them pays.
  void age() noexcept { begun_of_late_ -= begun_of_late_ >> kAging; }
  bool begins_many() const noexcept { return begun_of_late_ >= kMany; }

  /// Returns a bound that the counters of a flow stay below while its latest packet is one of the first.
  std::uint64_t first_below() const noexcept { return first_below_; }

  /// Returns the gap to the flow's last packet from which count_rare() must check. It is 0 with an active timeout.
  std::uint64_t rare_from_ns() const noexcept { return active_ns_ != 0 ? 0 : quiet_ns_ + 1; }

  std::uint64_t quiet_ns() const noexcept { return quiet_ns_; }  ///< the shortest time after which a flow may be over

  /// Returns why a flow ends that had no packet since its last one; EndReason::none if it continues. For a closed flow
  /// the result does not depend on when it is checked.
  EndReason quiet_end(std::uint32_t slot, std::uint64_t now_ns) noexcept {
    const std::uint64_t last_ns = store_.last_ns(slot);
    if (now_ns <= last_ns || now_ns - last_ns <= quiet_ns_) return EndReason::none;
    if (now_ns - last_ns > linger_ns_ && sink_->is_closed(slot, store_.counts(slot).tcp_flags(), done_))
      return EndReason::end_of_flow;
    return now_ns - last_ns > idle_ns_ ? EndReason::idle_timeout : EndReason::none;
  }

  /// Returns whether a packet whose flow is not in the table begins one.
  bool may_begin(const PacketFacts& facts) noexcept {
    if (filter_ != nullptr && filter_->keeps_out(facts)) return false;
    ++begun_;
    begun_of_late_ += kBegun;
    return true;
  }

  SlotRef count(std::uint32_t slot, const PacketFacts& facts) noexcept {
    const CountWord sum = store_.counts(slot).plus(facts.counts);
    if (facts.time_ns - store_.last_ns(slot) >= rare_from_ns() || sum.overflowed()) [[unlikely]]
      return count_rare(slot, facts);
    store_.counts(slot) = sum;
    store_.last_ns(slot) = facts.time_ns;
    return SlotRef::known(slot, sum.bits() < first_below_);
  }

  /// Refers to a flow that has just begun. With a filter, earlier packets of it may have been kept out.
  SlotRef begun_in(std::uint32_t slot) const noexcept {
    return filter_ == nullptr ? SlotRef(slot, true) : SlotRef::late(slot);
  }

  /// Handles a carry, a late packet, lengths that do not fit the packed word, or a timeout.
  [[gnu::noinline]] SlotRef count_rare(std::uint32_t slot, const PacketFacts& facts) noexcept {
    const std::uint64_t first_ns = store_.first_ns(slot), last_ns = store_.last_ns(slot);
    const bool late = facts.time_ns < last_ns;
    const EndReason quiet = quiet_end(slot, facts.time_ns);
    const bool ended = quiet != EndReason::none;
    const bool active = active_ns_ != 0 && facts.time_ns > first_ns && facts.time_ns - first_ns > active_ns_;
    if (ended || active) {
      hand_over(slot, ended ? quiet : EndReason::active_timeout);
      start(slot, facts);
      return ended ? SlotRef(slot, true) : SlotRef::split(slot);
    }
    const CountWord sum = store_.counts(slot).plus(facts.counts);
    if (!late && !sum.overflowed()) {  // got here only because of the active timeout
      store_.counts(slot) = sum;
      store_.last_ns(slot) = facts.time_ns;
      return SlotRef::known(slot, sum.bits() < first_below_);
    }
    spill(slot, facts.counts);
    if (late)
      store_.first_ns(slot) = std::min(first_ns, facts.time_ns);
    else
      store_.last_ns(slot) = facts.time_ns;
    return {slot, false};
  }

  /// Sets the counters of an occupied slot to this one packet.
  void start(std::uint32_t slot, const PacketFacts& facts) noexcept {
    store_.first_ns(slot) = store_.last_ns(slot) = facts.time_ns;
    store_.forget_spilled(slot);
    store_.counts(slot) = CountWord();
    if (facts.counts.wide()) [[unlikely]]
      spill(slot, facts.counts);
    else
      store_.counts(slot) = facts.counts;
  }

  /// Hands the slot's record to the sink and leaves the slot as it is.
  void hand_over(std::uint32_t slot, EndReason reason) noexcept {
    FlowRecord ended = store_.record(slot);
    ended.end_reason = reason;
    sink_->flow_ended(ended, slot, done_);
  }

 private:
  void spill(std::uint32_t slot, CountWord packet) noexcept {
    CountWord& word = store_.counts(slot);
    SpilledCounts spilled = store_.spilled(slot);
    spilled.add(word);
    spilled.add(packet);
    store_.set_spilled(slot, spilled);
    word = CountWord((word.bits() | packet.bits()) & CountWord::kFlagMask);
  }

  std::uint64_t idle_ns_;
  std::uint64_t active_ns_;
  std::uint64_t linger_ns_;
  std::uint64_t quiet_ns_;  ///< the shorter of idle_ns_ and linger_ns_
  FloodFilter* filter_ = nullptr;
  std::uint64_t begun_ = 0;
  std::uint64_t first_below_ = 0;

  // If b flows begin with each group, begun_of_late_ tends to b * kBegun << kAging.
  static constexpr std::uint32_t kBegun = 1 << 10, kAging = 6;
  static constexpr std::uint32_t kMany = (kBegun << kAging) / 4;
  std::uint32_t begun_of_late_ = 0;

 protected:
  FlowSink* sink_;
  std::size_t done_ = 0;  ///< packets of the current update() whose slots are written
  Store store_;
};

}  // namespace parshall
