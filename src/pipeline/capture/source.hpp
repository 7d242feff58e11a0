// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <x86intrin.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// What became of packets that were to go on.
struct ForwardCounts {
  std::uint64_t sent = 0;      ///< the device took them
  std::uint64_t too_long = 0;  ///< for the device, or cut when they came
  std::uint64_t refused = 0;   ///< its queue was full, or it was down
};

/// Where the packets of a source go on to. Asked by the thread that polls.
class Forwarder {
 public:
  virtual ~Forwarder() = default;

  /// The i-th packet of the last poll(), to be changed before it goes on: as many bytes as were captured.
  virtual std::uint8_t* frame(std::size_t i) noexcept = 0;

  /// Sends the first packets of the last poll(), in their order, once; their data are gone then. What cannot be sent is
  /// lost.
  virtual ForwardCounts send(std::size_t count) noexcept = 0;
};

/// What a source tells that has some flows of an input, whose others other sources have. Asked by the thread that
/// polls.
class InputShare {
 public:
  virtual ~InputShare() = default;

  /// Which packets of the input the last poll() returned, from 0 on.
  virtual std::span<const std::uint64_t> numbers() const noexcept = 0;

  /// The number behind its last packet's; 0 before any.
  virtual std::uint64_t reached() const noexcept = 0;

  struct Place {
    std::uint64_t packets = 0, latest_ns = 0;
  };
  /// So many packets of the input, up to that time, have none of its that is still to come: more than reached() where
  /// it has ended.
  virtual Place passed() const noexcept = 0;

  /// Hands over no packet from that one on.
  virtual void end_before(std::uint64_t number) noexcept = 0;
};

/// Of what packets come from, as it was when somebody last looked.
enum class InputState : std::uint8_t {
  up,
  down,  ///< nothing comes until it is up again
  gone,  ///< nothing comes any more
};

/// Packets come in batches; where from is decided once, at start-up. One source feeds one worker.
class PacketSource {
 public:
  virtual ~PacketSource() = default;

  /// Fills at most `out.size()` entries and returns how many; 0 when none is waiting.
  virtual std::size_t poll(std::span<RawPacket> out) noexcept = 0;

  /// What poll(2) calls readable once a packet waits, while the source holds none; nothing where the kernel cannot
  /// tell.
  virtual std::optional<int> descriptor() const noexcept { return std::nullopt; }

  /// True once no packet can come any more: of a live device, once it is gone.
  virtual bool exhausted() const noexcept { return false; }

  /// Whether the last poll gave what had come before, as of a capture that is played again.
  virtual bool repeats() const noexcept { return false; }

  /// That can still come with a whole IP header; nothing where nobody knows.
  virtual std::optional<std::uint64_t> most_ip_packets() const noexcept { return std::nullopt; }

  /// The reader wants no more: what came before can still be polled, and ends. False where the source cannot do that.
  virtual bool end_intake() noexcept { return false; }

  /// True when the source waits for its reader (a file): then a full ring means "wait", not "drop".
  virtual bool lossless() const noexcept { return true; }

  /// How much of a file it has delivered, from 0 to 1; nothing of a stream, or of what is no file. Any thread.
  virtual std::optional<double> share_read() const noexcept { return std::nullopt; }

  /// Whether the data of its packets stay where they are for as long as it does, not until the second poll() after.
  virtual bool keeps_packets() const noexcept { return false; }

  /// The time that a packet would have that came now; 0 where time is what packets say, as in a file.
  virtual std::uint64_t now_ns() noexcept { return 0; }

  /// What a worker's time is measured by, in any unit.
  virtual std::uint64_t ticks() noexcept { return __rdtsc(); }

  /// What the device says it delivered and did not, since the source was opened; what it cannot tell is absent. Any
  /// thread.
  virtual Counters counters() noexcept { return {}; }

  /// That all its packets are of, where that is known before the first; else none.
  virtual std::vector<LinkType> link_types() const { return {}; }

  /// Any thread.
  virtual InputState state() const noexcept { return InputState::up; }

  /// Null where packets go nowhere.
  virtual Forwarder* forwarder() noexcept { return nullptr; }

  /// Null where the source has all packets of its input, or nobody knows which.
  virtual InputShare* share() noexcept { return nullptr; }

  /// Where and how the input broke, once it did: everything before that point was delivered.
  virtual std::optional<Error> damage() const { return std::nullopt; }
};

}  // namespace parshall
