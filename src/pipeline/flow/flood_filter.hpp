// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/huge_buffer.hpp"
#include "base/prefetch.hpp"
#include "pipeline/decode/facts.hpp"
#include "pipeline/flow/kept_out.hpp"

namespace parshall {

/// Filter in front of a flow table. It keeps a flow out until its packets have shown a given number of bytes. Thus a
/// flood of packets that each begin a flow neither fills the table nor takes the time of inserting them.
///
/// Shape:  2^17 lines of 64 bytes, 8 entries of a 32-bit tag and 32 bits of bytes, newest first; allocated once.
/// Cost:   one cache line for a packet of a flow that is not in the table; none for others.
/// Full:   a new flow replaces the oldest in its line. To be admitted, a flow has to show its bytes before some 2^20
///         new flows have come. A flood cannot hold a place.
/// Error:  flows with the same line and tag share their bytes. Each new flow meets one of 8 tags with a chance of
///         2^-29; it is then admitted early, or counts for the other. An attacker cannot aim at this, because line and
///         tag come from the keyed hash.
/// Source: Moshref et al., Trumpet, SIGCOMM 2016; section VI.C of Tangari et al., MONA, IEEE/ACM ToN 2020.
class FloodFilter {
 public:
  static constexpr std::uint32_t kMostBytes = 1 << 20;

  /// `bytes`, at most kMostBytes, is how many bytes on the wire admit a flow. Throws std::bad_alloc.
  explicit FloodFilter(std::uint32_t bytes) : bytes_(bytes), lines_(kLines) {}

  static constexpr std::size_t memory_bytes() noexcept { return kLines * sizeof(Line); }
  void populate() noexcept { lines_.populate(); }

  void prefetch(std::uint64_t hash) const noexcept { prefetch_line(&lines_[line_of(hash)]); }

  /// Returns whether a packet's flow, which is not in the table, stays out of it. Counts the packet if so.
  bool keeps_out(const PacketFacts& facts) noexcept {
    Line& line = lines_[line_of(facts.hash)];
    const auto tag = static_cast<std::uint32_t>(facts.hash);
    std::uint32_t matches = 0;
    for (std::size_t i = 0; i < kEntries; ++i) matches |= std::uint32_t{line.tags[i] == tag} << i;
    const auto at = static_cast<std::size_t>(std::countr_zero(matches | kNone));
    const std::uint32_t before = at == kEntries ? 0 : line.bytes[at];
    const std::uint32_t now = std::min(before + std::min(facts.wire_bytes(), kMostBytes), kMostBytes);
    if (at == kEntries)
      line.push(tag, now);
    else
      line.bytes[at] = now;
    if (now >= bytes_) {
      waiting_flows_ -= before != 0 && before < bytes_;
      return false;
    }
    waiting_flows_ += before == 0;
    kept_.add(facts);
    return true;
  }

  const KeptOut& kept() const noexcept { return kept_; }

  /// Returns how many flows were kept out and not admitted since.
  std::uint64_t waiting_flows() const noexcept { return waiting_flows_; }

 private:
  static constexpr unsigned kLineBits = 17;
  static constexpr std::size_t kLines = std::size_t{1} << kLineBits, kEntries = 8;
  static constexpr std::uint32_t kNone = 1u << kEntries;

  /// Line of entries. An unused entry has tag 0 and no bytes.
  struct alignas(64) Line {
    std::array<std::uint32_t, kEntries> tags, bytes;

    void push(std::uint32_t tag, std::uint32_t shown) noexcept {
      std::copy_backward(tags.begin(), tags.end() - 1, tags.end());
      std::copy_backward(bytes.begin(), bytes.end() - 1, bytes.end());
      tags[0] = tag;
      bytes[0] = shown;
    }
  };
  static_assert(sizeof(Line) == 64);

  static std::size_t line_of(std::uint64_t hash) noexcept { return hash >> (64 - kLineBits); }

  std::uint32_t bytes_;
  HugeBuffer<Line> lines_;
  KeptOut kept_;
  std::uint64_t waiting_flows_ = 0;
};

}  // namespace parshall
