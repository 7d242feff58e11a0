// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "generate/flow_frames.hpp"
#include "generate/flow_tuples.hpp"
#include "generate/traffic_spec.hpp"

namespace parshall {

/// Whole TCP connections. All packets of flows 2i and 2i + 1 in a trace are one, from its SYN, which flow 2i sends, to
/// the ACK of the last FIN; when the trace repeats, the same ends open another, whose numbers go on
/// (ConversationRounds).
///
/// Of its packets three open it and three close it. The others are data, of the flow whose turn it was, or an ACK: who
/// got two segments and has sent none since acknowledges them. A segment that is sent again is so at once. A connection
/// of fewer packets has as much of that as they suffice for, from its SYN on: fewer than six do not close it.
///
/// Shape: frames with data have the sizes of the spec, each its share; others are as short as Ethernet's may be.
/// Source: RFC 9293, figures 6 and 12; RFC 9293, section 3.8.6.3 (an ACK at least for every second segment).
class Sessions {
 public:
  /// `flow_of` of each packet: which of the two of a connection is changed. `others`: which packets are of no
  /// connection; none: all are. Throws std::bad_alloc.
  Sessions(const TrafficSpec& spec, std::span<std::uint32_t> flow_of, const std::vector<bool>& others);

  /// Bytes of the frame of each packet, without FCS. Throws std::bad_alloc.
  std::vector<std::uint16_t> frame_bytes(std::span<const std::uint32_t> flow_of) const;

  /// The trace's `at`-th packet, of flow `number`, in a frame that has room for so much data; in their order.
  Segment segment(std::uint64_t at, std::uint64_t number, std::uint32_t room) noexcept;

  /// By how much each flow's sequence numbers have gone on. Throws std::bad_alloc.
  std::vector<std::uint32_t> advances() const;

 private:
  enum class Kind : std::uint8_t { none, syn, syn_ack, ack, data, again, fin };

  struct End {
    std::uint32_t next = 0;  ///< its next sequence number
    std::uint32_t last = 0;  ///< payload of its last segment
    bool has_begun = false;
  };

  static constexpr bool has_option(Kind kind) noexcept { return kind == Kind::syn || kind == Kind::syn_ack; }
  std::uint32_t first_sequence(std::uint64_t number) const noexcept;

  TrafficSpec spec_;
  std::uint32_t mtu_;
  std::vector<Kind> kinds_;
  std::vector<End> ends_;
};

}  // namespace parshall
