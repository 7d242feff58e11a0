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

#include "base/published_counters.hpp"
#include "engine/busy_clock.hpp"
#include "engine/worker_load.hpp"
#include "pipeline/capture/source.hpp"
#include "pipeline/flow/front_end.hpp"

namespace parshall {

/// Limits after which reading stops, for good or for a report. 0: no limit.
struct ReadLimits {
  std::uint64_t packets = 0;         ///< packets of one lane
  std::uint64_t packet_time_ns = 0;  ///< after the first packet's time
  std::uint64_t pause_every_ns = 0;  ///< packet time from the first packet on; for a source that can wait
};

/// Receiving side of one thread: a source, its front end, and counters that any thread may read.
class Lane {
 public:
  Lane(std::unique_ptr<PacketSource> source, FrontEnd front, std::size_t batch, ReadLimits limits);

  FrontEnd& front() noexcept { return front_; }
  PacketSource& source() noexcept { return *source_; }

  /// Returns the next packets, or none if none is waiting; counts them as polled.
  std::span<const RawPacket> poll() noexcept;

  /// Ends the intake of packets at the end of a run, if the source can do that. poll_waiting() then returns the packets
  /// that came before, until it returns none.
  bool end_intake() noexcept { return intake_ended_ = source_->end_intake(); }
  std::span<const RawPacket> poll_waiting() noexcept;

  /// Returns true if packets wait when the next stage has no room; otherwise they are lost.
  bool lossless() const noexcept { return intake_ended_ || source_->lossless(); }

  /// Marks the polled packets as done: time until the next poll() or work() does not count as work.
  void rest() noexcept;
  /// Counts time after rest() as work again until the next poll(): it is spent on packets of another lane.
  void work() noexcept;

  /// Returns true once poll() will return no more packets.
  bool done() const noexcept { return limit_reached_ || (rest_.empty() && (time_is_up_ || source_->exhausted())); }

  /// Returns true if it waits for go_on() before the first packet of another interval; all packets before are handed
  /// over. Any thread.
  bool paused() const noexcept {
    return pauses_.load(std::memory_order_acquire) != resumed_.load(std::memory_order_acquire);
  }
  /// Returns true once no more packets will be polled. Any thread.
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  void go_on() noexcept { resumed_.store(pauses_.load(std::memory_order_relaxed), std::memory_order_release); }

  /// Returns how many packets of the input are done, from its first on: polled here, or handled by others.
  std::uint64_t reached() noexcept { return source_->share() != nullptr ? source_->share()->reached() : polled_; }
  /// Stops reading at that packet, without a pause.
  void end_at(std::uint64_t packets) noexcept {
    limits_.pause_every_ns = 0;
    if (InputPart* const share = source_->share()) return share->end_before(packets);
    limits_.packets = packets;
    limit_reached_ = polled_ >= packets;
  }
  std::size_t batch() const noexcept { return batch_.size(); }  ///< most packets that poll() returns

  /// Counts packets lost to a full ring; visible at once to threads that see later packets.
  void note_ring_full(std::uint64_t packets) noexcept {
    ring_full_.store(ring_full_.load(std::memory_order_relaxed) + packets, std::memory_order_release);
  }
  std::uint64_t ring_full() const noexcept { return ring_full_.load(std::memory_order_acquire); }

  /// Polls that returned fewer packets than there was room for, up to the last one whose packets are done. Holds their
  /// number, and the time of the source at the last one, or 0 if it has no clock.
  struct CaughtUp {
    std::uint64_t polls = 0, now_ns = 0;
  };
  /// Turns this on; call it before the first poll.
  void tell_caught_up() noexcept { tells_caught_up_ = true; }
  /// Returns it to any thread.
  CaughtUp caught_up() const noexcept {
    const std::uint64_t polls = caught_up_polls_.load(std::memory_order_acquire);
    return {polls, caught_up_ns_.load(std::memory_order_acquire)};
  }

  /// Returns the latest time of the packets handed over so far, including this one.
  std::uint64_t note_time(std::uint64_t time_ns) noexcept { return latest_ns_ = std::max(latest_ns_, time_ns); }

  /// Returns the position of the link, as far as this lane knows.
  LinkPlace link() const noexcept {
    const LinkPlace link = front_.link();
    const InputPart* const share = source_->share();
    const InputPart::Place passed = share != nullptr ? share->passed() : InputPart::Place{};
    return {std::max(link.position, passed.packets),
            std::max({link.latest_ns, latest_ns_, idle_ns_, passed.latest_ns})};
  }

  /// Returns the load over the rounds up to the last poll(), which began another.
  WorkerLoad load() const noexcept;

  /// Publishes the counters to other threads; reads the device's own counters now and then.
  void publish(bool last) noexcept;
  /// Makes the next publish() read the device's counters, because it has not been called for long.
  void read_device_next() noexcept { publishes_ = kPublishesPerDeviceRead - 1; }

  /// Returns the counters of the last publish(). Any thread.
  Counters counters() const noexcept { return published_.read(); }
  double busy_share_since(BusyClock::Ticks& before) const noexcept;
  std::uint64_t busy_cycles() const noexcept { return published_cycles_[0].load(std::memory_order_relaxed); }
  /// Returns all cycles, busy or not.
  std::uint64_t all_cycles() const noexcept { return published_cycles_[1].load(std::memory_order_relaxed); }
  std::uint64_t polled() const noexcept {
    return published_.read(Counter::polled) + published_.read(Counter::elsewhere);
  }

 private:
  static constexpr std::uint32_t kPublishesPerDeviceRead = 4096;

  void end_round(std::uint64_t now) noexcept;
  std::span<const RawPacket> poll_source() noexcept;
  void publish_caught_up() noexcept;
  std::span<const RawPacket> in_time(std::span<const RawPacket> packets) noexcept;
  std::span<const RawPacket> up_to_pause(std::span<const RawPacket> packets) noexcept;

  std::unique_ptr<PacketSource> source_;
  FrontEnd front_;
  std::vector<RawPacket> batch_;
  ReadLimits limits_;
  std::optional<std::uint64_t> last_time_ns_;
  bool limit_reached_ = false, time_is_up_ = false;
  std::span<const RawPacket> rest_;  ///< rest of the source's last batch, after a pause
  std::uint64_t pause_ns_ = 0;       ///< packets of that time or later wait; 0: before the first packet
  bool pauses_next_ = false;
  std::atomic<std::uint64_t> pauses_{0}, resumed_{0};
  std::atomic<bool> ended_{false};
  bool intake_ended_ = false;
  std::uint64_t polled_ = 0, latest_ns_ = 0;
  std::atomic<std::uint64_t> ring_full_{0};
  bool tells_caught_up_ = false, caught_up_ = false;  ///< caught_up_: by the last poll
  std::uint64_t polled_at_ns_ = 0;
  std::atomic<std::uint64_t> caught_up_polls_{0}, caught_up_ns_{0};
  std::uint64_t idle_ns_ = 0;  ///< when no packet waited
  WorkerLoad load_;            ///< without packets
  bool busy_round_ = false;
  std::uint64_t round_began_ticks_, round_began_ = 0, round_polled_ = 0;  ///< the last two in time stamp ticks
  std::uint32_t publishes_ = 0;
  Counters counters_;  ///< values of the last publish()

  PublishedCounters<CountedBy::lane> published_;
  std::array<std::atomic<std::uint64_t>, 2> published_cycles_{};
};

}  // namespace parshall
