// SPDX-License-Identifier: Apache-2.0
#include "tester/device/link.hpp"

#include <sys/prctl.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/realtime.hpp"

namespace parshall::tester {
namespace {

using Frame = std::shared_ptr<const std::vector<std::uint8_t>>;

constexpr std::size_t kBatch = 32;
constexpr std::chrono::microseconds kNap{20};

bool send(FrameSink& to, const Frame& frame) noexcept {
  OutFrame out{.bytes = static_cast<std::uint32_t>(frame->size())};
  if (to.reserve({&out, 1}) == 0) return false;
  std::memcpy(out.data, frame->data(), frame->size());
  return to.send(1) == 1;
}

/// Returns frames that came but were dropped before any poll.
std::optional<std::uint64_t> missed_by(const Counters& device) noexcept {
  const auto no_room = device.known(Counter::nic_missed), no_buffer = device.known(Counter::no_mbuf);
  if (!no_room && !no_buffer) return std::nullopt;
  return no_room.value_or(0) + no_buffer.value_or(0);
}

}  // namespace

bool LinkSeeds::hand_over(std::uint64_t seed, const std::function<bool()>& stop) {
  seed_.store(seed, std::memory_order_relaxed);
  waits_.store(true, std::memory_order_release);
  while (waits_.load(std::memory_order_acquire) && !stop()) std::this_thread::sleep_for(kNap);
  return !waits_.load(std::memory_order_acquire);
}

std::optional<std::uint64_t> LinkSeeds::take() noexcept {
  if (!waits_.load(std::memory_order_acquire)) return std::nullopt;
  const std::uint64_t seed = seed_.load(std::memory_order_relaxed);
  waits_.store(false, std::memory_order_release);
  return seed;
}

LinkCounts run_link(PacketSource& from, FrameSink& to, const ImpairmentSettings& settings, LinkSeeds& seeds,
                    const std::function<bool()>& stop) {
  ::prctl(PR_SET_TIMERSLACK, 1);  // in ns; otherwise a nap takes 50 us longer
  Impairment<Frame> link(settings);
  LinkCounts counts;
  std::array<RawPacket, kBatch> packets;
  while (!stop()) {
    if (const auto seed = seeds.take()) link.reseed(*seed);
    const std::size_t count = from.poll(packets);
    counts.entered += count;
    for (const RawPacket& packet : std::span(packets).first(count)) {
      if (packet.captured_bytes < packet.wire_bytes || packet.wire_bytes > to.longest_frame()) {
        ++counts.too_long;
      } else {
        link.offer(packet.time_ns,
                   std::make_shared<std::vector<std::uint8_t>>(packet.data, packet.data + packet.captured_bytes));
      }
    }
    const std::uint64_t now_ns = realtime_ns();
    while (const auto frame = link.due(now_ns)) ++(send(to, *frame) ? counts.sent : counts.unsent);
    if (count == 0 && link.next_ns().value_or(~0ull) > now_ns) std::this_thread::sleep_for(kNap);
  }
  counts.missed = missed_by(from.counters());
  counts.still_waiting = link.queued();
  counts.impairment = link.counts();
  return counts;
}

}  // namespace parshall::tester
