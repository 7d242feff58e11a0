// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/decode/facts.hpp"

namespace parshall {

/// Delays of packets between two taps, in ns. Percentiles are of nearest rank.
struct Delays {
  std::uint64_t packets = 0;  ///< packets whose delay is clear
  std::int64_t least = 0, p50 = 0, p90 = 0, p99 = 0, most = 0;
  double mean = 0;
  std::uint64_t samples = 0;             ///< packets that the values beside the mean are of; 0: they are not known
  std::optional<double> mean_error = 0;  ///< how far off the mean may be with 95 % confidence; nullopt: unknown
  std::optional<double> variation;       ///< mean of |D(i) - D(i-1)| of a flow's packets as they arrived (RFC 3393)
};

/// Returns the percentile of sorted, not empty delays, by nearest rank.
std::int64_t percentile_of(std::span<const std::int64_t> sorted, unsigned percent);

/// Sums up delays.
Delays delays_of(std::vector<std::int64_t> delays, std::optional<double> variation);

/// Counts what happened to packets that one tap sent on, and the other should have received.
/// Accounts: sent = delivered + lost + outside_sent + unlike_sent, and received = delivered + duplicated + extra +
/// outside_received + unlike_received.
struct Passed {
  std::uint64_t sent = 0, received = 0, delivered = 0, lost = 0;
  std::uint64_t outside_sent = 0,
                outside_received = 0;  ///< the other tap may not have watched yet, or not any more
  std::uint64_t unlike_sent = 0,
                unlike_received = 0;  ///< of flows of which both taps saw packets, none of them the same
  std::uint64_t duplicated = 0;       ///< received more often than sent
  std::uint64_t extra = 0;            ///< received, but not seen before
  std::uint64_t reordered = 0;        ///< received after a packet of the flow that was sent later (RFC 4737)
  std::uint64_t alike = 0;            ///< sent packets with an id that was sent more than once; see PacketIds
  Delays delays;

  bool is_whole() const noexcept { return lost + unlike_sent + duplicated + extra + reordered == 0; }

  /// Adds the counts of other packets; the delays stay.
  void add_counts(const Passed& other) noexcept;
};

enum class Way : std::uint8_t { there, back };  ///< from UP to DOWN, or the other way

constexpr Way other(Way way) noexcept { return way == Way::there ? Way::back : Way::there; }
constexpr std::size_t index(Way way) noexcept { return static_cast<std::size_t>(way); }
/// Returns 1, 0 or -1.
constexpr int sign(std::int64_t value) noexcept { return int{value > 0} - int{value < 0}; }

/// Counts the packets of a flow by the taps that saw them.
struct FlowCount {
  struct OneTap {  ///< packets that the other tap did not see as often
    std::uint64_t plain = 0;
    std::uint64_t twins = 0;    ///< the other tap saw a packet with the same id
    std::uint64_t outside = 0;  ///< the other tap may not have watched then
    std::uint64_t alike = 0;    ///< paired or not: this tap saw the id several times

    std::uint64_t all() const noexcept { return plain + twins + outside; }
  };
  std::uint64_t pairs = 0;
  std::uint64_t reordered = 0;
  OneTap up, down;

  std::uint64_t all() const noexcept { return pairs + up.all() + down.all(); }

  /// Returns what these counts mean if the flow goes that way.
  Passed passed(Way way) const noexcept;
};

/// Follows a flow's packets in the order of their arrival.
struct Arrivals {
  std::uint64_t next = 0;  ///< NextExp of RFC 4737: number of the latest packet at the sender, plus one
  std::optional<std::int64_t> delay_ns;
  double steps = 0;  ///< sum of |D(i) - D(i-1)|
  std::uint64_t step_count = 0;

  /// Takes the next packet, by its number at the sender. Returns whether it was overtaken.
  bool take(std::uint64_t number, std::int64_t its_delay_ns) noexcept;

  std::optional<double> variation() const noexcept {
    return step_count == 0 ? std::nullopt : std::optional(steps / static_cast<double>(step_count));
  }
};

/// A flow, which is one direction of a connection.
struct ComparedFlow {
  FlowKey key;                     ///< at UP if it was seen there
  std::optional<FlowKey> at_down;  ///< if it is another key there: NAT
  Way way = Way::there;
  Passed passed;
  std::uint64_t first_ns = std::numeric_limits<std::uint64_t>::max(),
                last_ns = 0;  ///< when packets were sent, by the clock of the tap that they passed first

  void note_time(std::uint64_t ns) noexcept {
    first_ns = first_ns < ns ? first_ns : ns;
    last_ns = last_ns > ns ? last_ns : ns;
  }
};

}  // namespace parshall
