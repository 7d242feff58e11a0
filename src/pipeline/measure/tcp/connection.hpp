// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pipeline/decode/tcp.hpp"
#include "pipeline/measure/tcp/segment_pool.hpp"

namespace parshall {

/// Properties of a packet within its TCP connection, as bits that can be combined.
enum class TcpMark : std::uint16_t {
  retransmission = 1 << 0,           ///< any kind of it
  fast_retransmission = 1 << 1,      ///< soon after duplicate acknowledgements asked for it
  spurious_retransmission = 1 << 2,  ///< sends data that had been acknowledged
  out_of_order = 1 << 3,
  lost_segment = 1 << 4,  ///< a segment before this one was not seen
  ack_unseen = 1 << 5,    ///< acknowledges data that was not seen: the monitor, or its tap, lost it
  duplicate_ack = 1 << 6,
  keep_alive = 1 << 7,
  keep_alive_ack = 1 << 8,
  zero_window = 1 << 9,
  zero_window_probe = 1 << 10,
  zero_window_probe_ack = 1 << 11,
  window_update = 1 << 12,
  reused_ports = 1 << 13,  ///< a new connection with the ports of an earlier one
};

/// A set of marks.
class TcpMarks {
 public:
  void add(TcpMark mark) noexcept { bits_ = static_cast<std::uint16_t>(bits_ | static_cast<std::uint16_t>(mark)); }
  bool has(TcpMark mark) const noexcept { return (bits_ & static_cast<std::uint16_t>(mark)) != 0; }
  std::uint16_t bits() const noexcept { return bits_; }

 private:
  std::uint16_t bits_ = 0;
};

/// Data that one end of a connection has sent. Numbers are relative to its first, and 0 until it sent something.
struct TcpSender {
  std::uint32_t base = 0;            ///< number that counts as 0: the SYN's, or the one before the first seen
  std::uint32_t next_seq = 0;        ///< number after the highest sent
  std::uint32_t contiguous_end = 0;  ///< all before it was seen, or is taken as seen since its loss was reported
  std::uint32_t last_ack = 0;        ///< acknowledgement of the other end's numbers
  std::uint32_t gap_end = 0;         ///< all from here to next_seq was seen; 0: all that is not acknowledged was
  std::uint64_t next_seq_ns = 0;     ///< when next_seq was reached
  std::uint64_t last_ns = 0;         ///< time of its last packet
  std::uint64_t syn_ns = 0;          ///< time of its last SYN
  UnackedSegments unacked;
  std::uint16_t window = 0;
  std::uint8_t duplicate_acks = 0;  ///< saturating
  bool has_base : 1 = false;
  bool has_window : 1 = false;
  bool answered_syn : 1 = false;
  bool opening : 1 = false;                         ///< it sent a SYN, and no other packet since the SYN was answered
  bool kept_alive : 1 = false, probed : 1 = false;  ///< last packet's: TcpMark::keep_alive, zero_window_probe

  SegmentList segments() noexcept { return {unacked, next_seq, next_seq_ns}; }
};
static_assert(sizeof(TcpSender) == 64);

/// Round-trip times of a flow: Welford's running mean, and sum of squared differences from it.
struct RttHistory {
  std::uint32_t samples = 0;
  double mean_ns = 0, m2 = 0;

  /// Returns 0 for fewer than two samples.
  double stddev_ns() const noexcept { return samples > 1 ? std::sqrt(m2 / static_cast<double>(samples - 1)) : 0; }
  void add(std::uint64_t rtt_ns) noexcept {
    const double difference = static_cast<double>(rtt_ns) - mean_ns;
    samples += samples != std::numeric_limits<std::uint32_t>::max();
    mean_ns += difference / samples;
    m2 += difference * (static_cast<double>(rtt_ns) - mean_ns);
  }
};

/// State of a TCP connection, as analyse_tcp() sees it.
struct TcpConnection {
  std::array<TcpSender, 2> sender;
  std::uint64_t handshake_ns = 0;  ///< time from the SYN to the acknowledgement that ends the handshake; 0: not seen
};

}  // namespace parshall
