// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compare/tap.hpp"

namespace parshall {

/// Returns how much later a packet passed DOWN by the clocks of both; at most 36 years either way.
constexpr std::int64_t difference_of(std::uint64_t up_ns, std::uint64_t down_ns) noexcept {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;  // so that sums of a few fit
  return std::clamp(static_cast<std::int64_t>(down_ns - up_ns), -kMost, kMost);
}

/// A packet that both taps saw. If one saw more packets with its id than the other, the earliest are paired.
struct Pair {
  std::uint64_t up_ns, down_ns;
  std::uint64_t up_order, down_order;
  std::uint32_t flow;                       ///< at UP
  std::int16_t hops;                        ///< how much lower the TTL is at DOWN; 0 if not clear
  bool is_single_at_up, is_single_at_down;  ///< the tap saw its id once, so it is clear when it passed there

  std::int64_t difference_ns() const noexcept { return difference_of(up_ns, down_ns); }
};

/// A packet that one tap saw more often than the other.
struct Single {
  std::uint64_t time_ns;
  std::uint32_t flow;  ///< at UP if the flow was seen there, too
  bool has_twin;       ///< the other tap saw a packet with its id
  bool is_alike;       ///< its own tap saw its id several times
};

struct Pairing {
  std::vector<Pair> pairs;
  std::vector<Single> up_only, down_only;
};

/// For each flow at one tap, the flow that its packets are part of at the other one, by the earliest of them.
class FlowLinks {
 public:
  void note(const Sighting& here, std::uint32_t there);
  std::uint32_t operator[](std::uint32_t flow) const noexcept { return flow < links_.size() ? links_[flow].to : flow; }

  /// Renumbers the flows: `numbers` has the new number of each, or FlowNumbers::kGone.
  void renumber(std::span<const std::uint32_t> numbers);

 private:
  struct Link {
    std::uint32_t to;
    std::uint64_t since_ns = std::numeric_limits<std::uint64_t>::max();
  };
  void cover(std::size_t flows);
  std::vector<Link> links_;  ///< flows beyond its end have no packet at the other tap yet
};

/// Pairs the packets of two taps by their ids. The result does not depend on the order in which the taps were read.
///
/// Cost: some 100 ns a packet, and 48 bytes of memory each, beside those of the taps.
class Pairer {
 public:
  enum class Which : std::uint8_t {
    all,
    waited,  ///< packets that were there at the last call; the others stay, and wait for those with the same id
  };

  /// Takes packets from the taps.
  Pairing pair_up(Tap& up, Tap& down, Which which);

  /// Returns the flow that a flow at UP is part of at DOWN: the same one, unless addresses are translated.
  std::uint32_t at_down(std::uint32_t flow) const noexcept { return down_links_[flow]; }

  void renumber(std::span<const std::uint32_t> numbers);

 private:
  FlowLinks down_links_, up_links_;
};

}  // namespace parshall
