// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "traffic/flow_frames.hpp"
#include "traffic/flow_tuples.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {

/// Complete TCP connections. All packets of flows 2i and 2i + 1 in a trace form one, from its SYN, which flow 2i sends,
/// to the ACK of the last FIN. When the trace repeats, the same ends open another one, whose numbers continue
/// (ConversationRounds).
///
/// Three packets open a connection and three close it. The others are data of the flow whose turn it was, or an ACK: an
/// end that got two segments and has sent none since acknowledges them. A repeated segment directly follows the
/// original. A connection of fewer than six packets has as many as fit, from its SYN on, and is not closed.
///
/// Shape: frames with data have the spec's sizes, each with its share; others are as short as Ethernet allows.
/// Source: RFC 9293, figures 6 and 12; RFC 9293, section 3.8.6.3 (an ACK at least for every second segment).
class Sessions {
 public:
  /// Assigns roles. `flow_of` has the flow of each packet; it may be changed to the connection's other flow. `others`
  /// marks packets of no connection; empty if there are none. Throws std::bad_alloc.
  Sessions(const TrafficSpec& spec, std::span<std::uint32_t> flow_of, const std::vector<bool>& others);

  /// Returns the length of each packet's frame without FCS. Throws std::bad_alloc.
  std::vector<std::uint16_t> frame_bytes(std::span<const std::uint32_t> flow_of) const;

  /// Returns the trace's `at`-th packet, of flow `number`, in a frame with room for `room` bytes of data. Must be
  /// called in order.
  Segment segment(std::uint64_t at, std::uint64_t number, std::uint32_t room) noexcept;

  /// Returns how far each flow's sequence numbers advance in a round. Throws std::bad_alloc.
  std::vector<std::uint32_t> advances() const;

 private:
  enum class Kind : std::uint8_t { none, syn, syn_ack, ack, data, again, fin };

  struct End {
    std::uint32_t next = 0;  ///< its next sequence number
    std::uint32_t last = 0;  ///< payload length of its last segment
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
