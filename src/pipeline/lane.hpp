// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/accounting.hpp"
#include "pipeline/capture/source.hpp"
#include "pipeline/flow/front_end.hpp"
#include "pipeline/worker_load.hpp"

namespace parshall {

/// When to stop reading. 0: never.
struct ReadLimits {
  std::uint64_t packets = 0;         ///< of one lane
  std::uint64_t packet_time_ns = 0;  ///< after the first packet's time
};

/// The receiving side of one thread: a source, its front end, and counters others may read at any time.
class Lane {
 public:
  Lane(std::unique_ptr<PacketSource> source, FrontEnd front, std::size_t batch, ReadLimits limits);

  FrontEnd& front() noexcept { return front_; }
  PacketSource& source() noexcept { return *source_; }

  /// The next packets, none when none is waiting; counted as polled.
  std::span<const RawPacket> poll() noexcept;

  /// What was polled has been worked on: the time until the next poll() is not its.
  void rest() noexcept;

  /// True when poll() will return nothing any more.
  bool done() const noexcept { return limit_reached_ || source_->exhausted(); }

  /// Read no further than this many packets in all.
  void limit_to(std::uint64_t packets) noexcept { limits_.packets = packets, limit_reached_ = polled_ >= packets; }
  std::uint64_t polled_now() const noexcept { return polled_; }
  std::size_t batch() const noexcept { return batch_.size(); }  ///< packets at most that poll() returns

  void note_ring_full(std::uint64_t packets) noexcept { ring_full_ += packets; }

  /// The latest time of the packets handed over so far, with this one.
  std::uint64_t note_time(std::uint64_t time_ns) noexcept { return latest_ns_ = std::max(latest_ns_, time_ns); }

  /// How far the link is, as far as this lane can know.
  LinkPlace link() const noexcept {
    const LinkPlace link = front_.link();
    return {link.position, std::max({link.latest_ns, latest_ns_, idle_ns_})};
  }

  /// Of the turns up to the last poll(), which began another.
  WorkerLoad load() const noexcept;

  /// Makes the counters visible to other threads; the device's own are asked now and then.
  void publish(bool last) noexcept;

  /// For any thread: as of the last publish().
  Accounting accounting() const noexcept;
  double busy_share_since(std::array<std::uint64_t, 2>& before) const noexcept;
  std::uint64_t busy_cycles() const noexcept { return published_cycles_[0].load(std::memory_order_relaxed); }
  std::uint64_t polled() const noexcept { return published_polled_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::size_t kDeviceCounters = 4;
  static constexpr std::uint32_t kPublishesPerDeviceRead = 4096;

  void publish_device() noexcept;
  void end_turn(std::uint64_t now) noexcept;
  std::span<const RawPacket> poll_source() noexcept;

  std::unique_ptr<PacketSource> source_;
  FrontEnd front_;
  std::vector<RawPacket> batch_;
  ReadLimits limits_;
  std::optional<std::uint64_t> last_time_ns_;
  bool limit_reached_ = false;
  std::uint64_t polled_ = 0, ring_full_ = 0, latest_ns_ = 0;
  std::uint64_t idle_ns_ = 0;  ///< when no packet waited
  WorkerLoad load_;            ///< but for packets
  bool busy_turn_ = false;
  std::uint64_t turn_began_ticks_, turn_began_ = 0, turn_polled_ = 0;  ///< the last two by the time stamp counter
  std::uint32_t publishes_ = 0;

  alignas(64) std::atomic<std::uint64_t> published_polled_{0};
  std::atomic<std::uint64_t> published_ring_full_{0}, published_filtered_{0}, published_elsewhere_{0};
  std::array<std::atomic<std::uint64_t>, kVerdicts> published_verdict_{};
  std::array<std::atomic<std::uint64_t>, 2> published_cycles_{};
  std::array<std::atomic<std::uint64_t>, kDeviceCounters> published_device_{};
  std::array<std::atomic<bool>, kDeviceCounters> device_has_{};
};

}  // namespace parshall
