// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/counters.hpp"
#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

/// Result of one call of CaptureParser::parse().
struct Parsed {
  std::size_t packets = 0;  ///< entries of `out` that were filled
  std::size_t bytes = 0;    ///< bytes of the input that were consumed
};

/// Extracts the packets from a capture's bytes, which may come in pieces of any size.
///
/// A piece begins where the bytes consumed from the previous one ended. The result depends on the bytes alone, not on
/// how they were split (beyond what a split hides), so several parsers of one stream agree.
class CaptureParser {
 public:
  virtual ~CaptureParser() = default;

  /// Consumes whole records from the front of `bytes` until `out` is full or a record is incomplete or damaged. Packets
  /// point into `bytes`.
  Parsed parse(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept {
    if (damage_) [[unlikely]]
      return {};
    const Parsed parsed = parse_records(bytes, out);
    packets_ += parsed.packets;
    offset_ += parsed.bytes;
    return parsed;
  }

  /// Ends the input, with `rest` not consumed. A record that begins there is truncated.
  void finish(std::span<const std::uint8_t> rest) noexcept {
    if (!damage_) note_cut(rest);
  }

  /// Returns the link type of all packets if the beginning of the capture states it.
  virtual std::optional<LinkType> only_link_type(std::span<const std::uint8_t> head) const noexcept = 0;

  /// Makes this parser report no losses. Of several parsers of one capture, only one reports them. Call it before the
  /// first parse().
  void ignore_losses() noexcept { tells_losses_ = false; }

  /// Returns how many packets the capture, so far, says were lost before it was written. Any thread.
  Counters losses() const noexcept {
    Counters counters;
    if (const std::uint64_t lost = after_lost_.load(std::memory_order_relaxed); lost != 0)
      counters.set(Counter::nic_missed, lost - 1);
    return counters;
  }

  /// Returns what is damaged, with the number of the packet and the byte; nullopt while the capture is intact.
  const std::optional<std::string>& damage() const noexcept { return damage_; }

 protected:
  virtual Parsed parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept = 0;
  virtual void note_cut(std::span<const std::uint8_t> rest) noexcept = 0;

  std::uint64_t offset() const noexcept { return offset_; }

  /// Notes that the capture reports `packets` more lost packets, which may be 0.
  void note_lost(std::uint64_t packets) noexcept {
    if (!tells_losses_) return;
    const std::uint64_t before = after_lost_.load(std::memory_order_relaxed);
    constexpr std::uint64_t kMostLost = std::uint64_t{1} << 60;  // keeps sums of counters from overflowing
    const std::uint64_t lost = std::max<std::uint64_t>(before, 1) - 1;
    after_lost_.store(std::min(lost + packets, kMostLost) + 1, std::memory_order_relaxed);
  }

  /// Notes damage. `before` says what the present parse_records() call consumed before it.
  void note_damage(std::string what, Parsed before) noexcept;

 private:
  std::uint64_t packets_ = 0;
  std::uint64_t offset_ = 0;
  bool tells_losses_ = true;
  std::atomic<std::uint64_t> after_lost_{0};  ///< lost packets + 1; 0: the capture does not say
  std::optional<std::string> damage_;
};

/// Number of leading bytes that identify a format with a magic number.
inline constexpr std::size_t kMagicBytes = 6;

/// Returns whether make_capture_parser() needs more than `head` of the input to recognise its format. It needs at most
/// 20 records of ERF, which has no magic number.
bool wants_longer_head(std::span<const std::uint8_t> head) noexcept;

/// Name of standard input in messages.
inline constexpr std::string_view kStandardInput = "standard input";

/// Suffix of a compressed input's name where a message is about its decompressed content.
inline constexpr std::string_view kDecompressed = " (decompressed)";

/// Returns the parser for a capture that begins with `head`. `head` is all of it, or as much as wants_longer_head()
/// requires. An Error says what was found instead. `name` is the file's name as the user gave it.
Result<std::unique_ptr<CaptureParser>> make_capture_parser(std::span<const std::uint8_t> head, const std::string& name);

/// Returns the most captured bytes that a packet may have before its record counts as damaged, as in libpcap and
/// Wireshark: 256 KiB, and 16 MiB (there 8 to 128) for the three link types that are known to carry more.
std::uint32_t max_captured_bytes(LinkType link_type) noexcept;

}  // namespace parshall
