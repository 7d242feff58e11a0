// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace parshall {

/// When a packet passed the tap UP, and how much later it passed DOWN by the clocks of both.
struct Passage {
  std::uint64_t up_ns;
  std::int64_t difference_ns;
};

/// How the clock of DOWN differs from that of UP.
struct Clocks {
  enum class Kind : std::uint8_t {
    same,         ///< both taps have one clock
    agree,        ///< no packet arrives before it was sent
    corrected,    ///< they differ; delays are corrected by what both directions show
    not_checked,  ///< all packets go one way, and none arrives before it was sent
    one_way,      ///< they differ, and all packets go one way: delays are those above the least one
    uneven,       ///< no offset and drift explain all packets: a clock was set, or times are coarser than delays
    unknown,      ///< no packet was seen by both
  };
  Kind kind = Kind::unknown;
  std::uint64_t at_ns = 0;               ///< time at UP for which the offset holds
  std::int64_t offset_ns = 0;            ///< DOWN's clock minus UP's
  double drift = 0;                      ///< change of the offset, ns per ns
  std::optional<std::int64_t> error_ns;  ///< largest error of the offset; unknown if packets go one way

  /// Returns the difference that would be seen at equal clocks.
  std::int64_t true_difference_ns(const Passage& passage) const noexcept;
};

/// Compares the clocks by packets in both directions. A packet cannot arrive before it was sent, so the least delay of
/// each direction bounds the offset; its error is half of the least round trip between the taps.
///
/// If the clocks agree, nothing is corrected. Else the drift is the slope of the line under the differences of one
/// direction that has the least distance to all of them; of both directions, the mean weighted by packets.
/// Source: Moon, Skelly and Towsley, "Estimation and removal of clock skew from network delay measurements", INFOCOM
///         1999.
Clocks compare_clocks(std::vector<Passage> there, std::vector<Passage> back);

}  // namespace parshall
