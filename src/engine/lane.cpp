// SPDX-License-Identifier: Apache-2.0
#include "engine/lane.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "base/clock.hpp"

namespace parshall {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

Lane::Lane(std::unique_ptr<PacketSource> source, FrontEnd front, std::size_t batch, ReadLimits limits)
    : source_(std::move(source)),
      front_(std::move(front)),
      batch_(batch),
      limits_(limits),
      round_began_ticks_(source_->ticks()) {
  set_device(counters_, source_->counters());
  published_.publish(counters_);
}

/// Polls. The time between two calls is one round, whose packets have been worked on.
std::span<const RawPacket> Lane::poll() noexcept {
  const std::uint64_t now = cpu_ticks();
  end_round(now);
  round_began_ = now;
  const std::span<const RawPacket> packets = poll_source();
  busy_round_ = !packets.empty();
  round_polled_ = cpu_ticks();
  return packets;
}

void Lane::end_round(std::uint64_t now) noexcept {
  const std::uint64_t ticks = source_->ticks(), taken = ticks - std::exchange(round_began_ticks_, ticks);
  load_.all_ticks += taken;
  if (!busy_round_) return;
  load_.busy_ticks += taken;
  ++load_.rounds;
  load_.poll_cycles += round_polled_ - round_began_;
  load_.round_cycles += now - round_began_;
}

void Lane::rest() noexcept {
  end_round(cpu_ticks());
  busy_round_ = false;
}

void Lane::work() noexcept {
  const std::uint64_t now = cpu_ticks();
  end_round(now);
  round_began_ = round_polled_ = now;
  busy_round_ = true;
}

std::span<const RawPacket> Lane::poll_source() noexcept {
  if (caught_up_) publish_caught_up();
  if (done()) return {};
  // Announced with the next poll, when the packets before have been worked on.
  if (std::exchange(pauses_next_, false))
    pauses_.store(pauses_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  if (limits_.pause_every_ns != 0 && paused()) return {};
  std::size_t most = batch_.size();
  if (limits_.packets != 0) most = std::min<std::uint64_t>(most, limits_.packets - polled_);
  std::span<const RawPacket> packets = std::exchange(rest_, {});
  if (packets.empty()) {
    packets = in_time(std::span(batch_).first(source_->poll({batch_.data(), most})));
    if (tells_caught_up_ && packets.size() < most) caught_up_ = true, polled_at_ns_ = source_->now_ns();
  }
  packets = up_to_pause(packets.first(std::min(most, packets.size())));
  if (const InputPart* const share = source_->share()) front_.tell_numbers(packets, share->numbers());
  polled_ += packets.size();
  if (limits_.packets != 0 && polled_ == limits_.packets) limit_reached_ = true;
  return packets;
}

void Lane::publish_caught_up() noexcept {
  caught_up_ = false;
  caught_up_ns_.store(polled_at_ns_, std::memory_order_release);  // after the losses before it
  caught_up_polls_.store(caught_up_polls_.load(kRelaxed) + 1, std::memory_order_release);
}

/// Returns the packets before ReadLimits::packet_time_ns is over.
std::span<const RawPacket> Lane::in_time(std::span<const RawPacket> packets) noexcept {
  if (packets.empty()) idle_ns_ = source_->now_ns();
  if (limits_.packet_time_ns == 0 || packets.empty()) return packets;
  if (!last_time_ns_) last_time_ns_ = packets.front().time_ns + limits_.packet_time_ns;
  const auto beyond =
      std::ranges::find_if(packets, [&](const RawPacket& packet) { return packet.time_ns > *last_time_ns_; });
  time_is_up_ = beyond != packets.end();
  return {packets.begin(), beyond};
}

/// Returns the packets before the next pause; the others wait. An interval without packets is joined with the one
/// before it.
std::span<const RawPacket> Lane::up_to_pause(std::span<const RawPacket> packets) noexcept {
  const std::uint64_t every = limits_.pause_every_ns;
  if (every == 0 || packets.empty()) return packets;
  constexpr std::uint64_t kNever = ~std::uint64_t{0};
  const auto after_interval_of = [&](std::uint64_t begin) { return begin > kNever - every ? kNever : begin + every; };
  if (pause_ns_ == 0) pause_ns_ = after_interval_of(packets.front().time_ns);
  const auto after = std::ranges::find_if(
      packets, [&](const RawPacket& packet) { return packet.time_ns >= pause_ns_ && pause_ns_ != kNever; });
  if (after == packets.end()) return packets;
  rest_ = {after, packets.end()};
  pause_ns_ = after_interval_of(pause_ns_ + (after->time_ns - pause_ns_) / every * every);
  pauses_next_ = true;
  return {packets.begin(), after};
}

/// Waits briefly, since the kernel may have counted a packet that it is still writing.
std::span<const RawPacket> Lane::poll_waiting() noexcept {
  constexpr std::chrono::microseconds kNap{100};
  for (int naps = 100; naps != 0; --naps) {
    const std::span<const RawPacket> packets = poll();
    if (!packets.empty() || done() || source_->counters()[Counter::nic_received] <= polled_) return packets;
    std::this_thread::sleep_for(kNap);
  }
  return {};
}

WorkerLoad Lane::load() const noexcept {
  const Counters device = source_->counters();
  WorkerLoad load = load_;
  load.polled = polled_;
  load.missed = device[Counter::nic_missed] + device[Counter::no_mbuf];
  return load;
}

void Lane::publish(bool last) noexcept {
  const FrontEndCounts& front = front_.counts();
  for (std::size_t v = 0; v < kVerdicts; ++v) counters_.set(counter_of(static_cast<Verdict>(v)), front.verdict[v]);
  counters_.set(Counter::counted, counters_[Counter::counted] - ring_full());
  counters_.set(Counter::polled, polled_ + front.later_msdus - front.elsewhere);
  counters_.set(Counter::elsewhere, front.elsewhere);
  counters_.set(Counter::ring_full, ring_full());
  counters_.set(Counter::filtered, front.filtered);
  counters_.set(Counter::later_msdus, front.later_msdus);
  if (last || ++publishes_ % kPublishesPerDeviceRead == 0) set_device(counters_, source_->counters());
  published_.publish(counters_);
  published_cycles_[0].store(load_.busy_ticks, kRelaxed);
  published_cycles_[1].store(load_.all_ticks, kRelaxed);
  if (last) ended_.store(true, std::memory_order_release);
}

double Lane::busy_share_since(BusyClock::Ticks& before) const noexcept {
  return BusyClock::share_since(before, {published_cycles_[0].load(kRelaxed), published_cycles_[1].load(kRelaxed)});
}

}  // namespace parshall
