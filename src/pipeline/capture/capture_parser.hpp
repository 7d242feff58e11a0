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

/// What one call of CaptureParser::parse did.
struct Parsed {
  std::size_t packets = 0;  ///< entries of `out` that were filled
  std::size_t bytes = 0;    ///< bytes of the input that are done with
};

/// Takes the packets out of a capture's bytes, which may come in pieces of any size.
///
/// A piece begins where the bytes taken from the previous one ended. What is taken depends on the bytes
/// alone, not on where the pieces were cut (beyond what a cut hides), so several parsers of one stream agree.
class CaptureParser {
 public:
  virtual ~CaptureParser() = default;

  /// Takes whole records from the front of `bytes` until `out` is full, a record is incomplete or damaged.
  /// Packets point into `bytes`.
  Parsed parse(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept {
    if (damage_) [[unlikely]]
      return {};
    const Parsed parsed = parse_records(bytes, out);
    packets_ += parsed.packets;
    offset_ += parsed.bytes;
    return parsed;
  }

  /// The input ended with `rest` not taken: a record that begins there is cut.
  void finish(std::span<const std::uint8_t> rest) noexcept {
    if (!damage_) note_cut(rest);
  }

  /// That all packets are of, where the beginning of the capture says so.
  virtual std::optional<LinkType> only_link_type(std::span<const std::uint8_t> head) const noexcept = 0;

  /// Of several parsers of one capture, one tells what was lost. Before the first parse().
  void ignore_losses() noexcept { tells_losses_ = false; }

  /// Returns what the capture says so far of packets that were lost before it was written. Any thread.
  Counters losses() const noexcept {
    Counters counters;
    if (const std::uint64_t lost = after_lost_.load(std::memory_order_relaxed); lost != 0)
      counters.set(Counter::nic_missed, lost - 1);
    return counters;
  }

  /// What broke, at which packet and byte. Nothing while the capture is sound.
  const std::optional<std::string>& damage() const noexcept { return damage_; }

 protected:
  virtual Parsed parse_records(std::span<const std::uint8_t> bytes, std::span<RawPacket> out) noexcept = 0;
  virtual void note_cut(std::span<const std::uint8_t> rest) noexcept = 0;

  std::uint64_t offset() const noexcept { return offset_; }

  /// The capture says that so many more were lost, or that none were.
  void note_lost(std::uint64_t packets) noexcept {
    if (!tells_losses_) return;
    const std::uint64_t before = after_lost_.load(std::memory_order_relaxed);
    constexpr std::uint64_t kMostLost = std::uint64_t{1} << 60;  // sums of counters do not overflow
    const std::uint64_t lost = std::max<std::uint64_t>(before, 1) - 1;
    after_lost_.store(std::min(lost + packets, kMostLost) + 1, std::memory_order_relaxed);
  }

  /// `packets` and `bytes`: what the present parse_records() call took before the damage.
  void note_damage(std::string what, Parsed before) noexcept;

 private:
  std::uint64_t packets_ = 0;
  std::uint64_t offset_ = 0;
  bool tells_losses_ = true;
  std::atomic<std::uint64_t> after_lost_{0};  ///< lost packets + 1; 0: the capture does not say
  std::optional<std::string> damage_;
};

/// How many leading bytes tell a format that has a magic number.
inline constexpr std::size_t kMagicBytes = 6;

/// Whether an input that begins with `head` has to be read further before make_capture_parser() can tell what it is.
/// Asks for no more than 20 records of ERF, which has no magic number.
bool wants_longer_head(std::span<const std::uint8_t> head) noexcept;

/// What standard input is called in messages.
inline constexpr std::string_view kStandardInput = "standard input";

/// What the name of an input that is compressed ends in, where its content is meant.
inline constexpr std::string_view kDecompressed = " (decompressed)";

/// The parser for a capture that begins with `head` (all of it, or as much as wants_longer_head() asked for), or an
/// Error that names what was found instead. `name` is the file as the user calls it.
Result<std::unique_ptr<CaptureParser>> make_capture_parser(std::span<const std::uint8_t> head, const std::string& name);

/// Most captured bytes a packet may have before its record counts as damaged, as in libpcap and Wireshark:
/// 256 KiB, and 16 MiB (there 8 to 128) for the three link types that are known to carry more.
std::uint32_t max_captured_bytes(LinkType link_type) noexcept;

}  // namespace parshall
