// SPDX-License-Identifier: Apache-2.0
#include "compare/tap_thread.hpp"

#include <poll.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/thread_name.hpp"

namespace parshall {

using namespace std::chrono_literals;

TapThread::TapThread(std::unique_ptr<PacketSource> source, const PacketIds& ids, std::optional<BpfFilter> filter,
                     std::uint64_t ring_packets)
    : source_(std::move(source)), ids_(ids), filter_(std::move(filter)), ring_packets_(ring_packets) {
  for (std::vector<SeenPacket>* one : {&held_, &taken_}) one->reserve(kMostHeld + kBatch);
  thread_ = std::thread([this] { run(); });
}

TapThread::~TapThread() {
  stops_.store(true, std::memory_order_relaxed);
  thread_.join();
}

void TapThread::take(Tap& to, FlowNumbers& flows) {
  {
    const std::lock_guard lock(mutex_);
    taken_.swap(held_);
    static_cast<TapCounts&>(to) = counts_;
  }
  for (const SeenPacket& packet : taken_) to.add(packet, flows);
  taken_.clear();
}

/// A mark is answered once a poll finds nothing, or as many packets were read as the device holds.
void TapThread::run() {
  name_this_thread("tap");
  std::array<RawPacket, kBatch> batch;
  std::uint64_t mark = 0, since_mark = 0;
  while (!stops_.load(std::memory_order_relaxed)) {
    if (const std::uint64_t asked = asked_.load(std::memory_order_acquire); asked != mark) mark = asked, since_mark = 0;
    const std::size_t polled = source_->poll(batch);
    keep(std::span(batch).first(polled));
    since_mark += polled;
    if (polled == 0 || since_mark > ring_packets_) answered_.store(mark, std::memory_order_release);
    if (polled != 0) continue;
    if (source_->exhausted()) break;
    wait();
  }
  ended_.store(true, std::memory_order_release);
}

void TapThread::keep(std::span<const RawPacket> packets) {
  if (packets.empty()) return;
  SeenPacket seen;
  std::unique_lock lock(mutex_);
  for (const RawPacket& packet : packets)
    if (counts_.take(packet, filter_ ? &*filter_ : nullptr, ids_, seen)) held_.push_back(seen);
  while (held_.size() >= kMostHeld && !stops_.load(std::memory_order_relaxed)) {
    lock.unlock();
    std::this_thread::sleep_for(1ms);
    lock.lock();
  }
}

void TapThread::wait() const noexcept {
  constexpr int kWaitMs = 10;
  if (const auto descriptor = source_->descriptor()) {
    pollfd file{.fd = *descriptor, .events = POLLIN, .revents = 0};
    ::poll(&file, 1, kWaitMs);
  } else {
    std::this_thread::sleep_for(1ms);
  }
}

}  // namespace parshall
