// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.hpp"
#include "base/counters.hpp"
#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Outcome of packets that were to be forwarded.
struct ForwardCounts {
  std::uint64_t sent = 0;      ///< accepted by the device
  std::uint64_t too_long = 0;  ///< longer than the device sends, or truncated on arrival
  std::uint64_t refused = 0;   ///< dropped because the queue was full or the device down
};

/// Forwards the packets of a source. Called by the thread that polls.
class Forwarder {
 public:
  virtual ~Forwarder() = default;

  /// Returns the i-th packet of the last poll(), which may be changed before it is forwarded. It has as many bytes as
  /// were captured.
  virtual std::uint8_t* frame(std::size_t i) noexcept = 0;

  /// Sends the first `count` packets of the last poll(), in order; at most once per poll. Their data are gone
  /// afterwards. Packets that cannot be sent are lost.
  virtual ForwardCounts send(std::size_t count) noexcept = 0;
};

/// Describes a source that delivers only part of an input's flows, while other sources deliver the rest. Called by the
/// thread that polls.
class InputPart {
 public:
  virtual ~InputPart() = default;

  /// Returns the numbers, from 0 on, that the packets of the last poll() have in the whole input.
  virtual std::span<const std::uint64_t> numbers() const noexcept = 0;

  /// Returns the number of its last packet plus one; 0 before any.
  virtual std::uint64_t reached() const noexcept = 0;

  struct Place {
    std::uint64_t packets = 0, latest_ns = 0;
  };
  /// Returns a watermark. Of the input's first `packets` packets, the latest of which is at `latest_ns`, this source
  /// has delivered all of its own. It lies beyond reached() once the source has ended.
  virtual Place passed() const noexcept = 0;

  /// Makes the source deliver no packet from `number` on.
  virtual void end_before(std::uint64_t number) noexcept = 0;
};

/// State of the input when it was last checked.
enum class InputState : std::uint8_t {
  up,
  down,  ///< no packets until it is up again
  gone,  ///< no more packets at all
};

/// Source of packets in batches. The kind of source is chosen once, at start-up. One source feeds one worker.
class PacketSource {
 public:
  virtual ~PacketSource() = default;

  /// Fills at most `out.size()` entries and returns how many; 0 if no packet is waiting.
  virtual std::size_t poll(std::span<RawPacket> out) noexcept = 0;

  /// Returns a descriptor that poll(2) calls readable once a packet waits, while the source buffers none. Returns
  /// nullopt if the kernel cannot tell.
  virtual std::optional<int> descriptor() const noexcept { return std::nullopt; }

  /// Returns true once no packet can come any more; for a live device, once it is gone.
  virtual bool exhausted() const noexcept { return false; }

  /// Returns whether the last poll delivered packets that had come before, as in a repeated replay of a capture.
  virtual bool repeats() const noexcept { return false; }

  /// Returns an upper bound for the packets with a whole IP header that can still come; nullopt if unknown.
  virtual std::optional<std::uint64_t> most_ip_packets() const noexcept { return std::nullopt; }

  /// Ends the intake: packets that arrived before can still be polled, then the source ends. Returns false if the
  /// source cannot do that.
  virtual bool end_intake() noexcept { return false; }

  /// Returns true if the source waits for its reader (a file). A full ring then means "wait", not "drop".
  virtual bool lossless() const noexcept { return true; }

  /// Returns the fraction of a file that was delivered, from 0 to 1; nullopt for a stream or a source that is not a
  /// file. Any thread.
  virtual std::optional<double> share_read() const noexcept { return std::nullopt; }

  /// Returns whether its packets' data stay valid as long as the source, not only until the second poll() after.
  virtual bool keeps_packets() const noexcept { return false; }

  /// Returns the time that a packet arriving now would have; 0 if only packets define time, as in a file.
  virtual std::uint64_t now_ns() noexcept { return 0; }

  /// Returns the clock, in any unit, that a worker's time is measured by.
  virtual std::uint64_t ticks() noexcept { return cpu_ticks(); }

  /// Returns what the device says it delivered and dropped since the source was opened; what it cannot tell is absent.
  /// Any thread.
  virtual Counters counters() noexcept { return {}; }

  /// Returns the link types of its packets if known before the first packet, else none.
  virtual std::vector<LinkType> link_types() const { return {}; }

  /// Returns the state of the input. Any thread.
  virtual InputState state() const noexcept { return InputState::up; }

  /// Returns null if packets are not forwarded.
  virtual Forwarder* forwarder() noexcept { return nullptr; }

  /// Returns null if the source delivers all packets of its input, or if their numbers are not known.
  virtual InputPart* share() noexcept { return nullptr; }

  /// Returns where and how the input broke, if it did. Everything before that point was delivered.
  virtual std::optional<Error> damage() const { return std::nullopt; }
};

}  // namespace parshall
