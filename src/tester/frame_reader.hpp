// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "generate/checksums.hpp"
#include "generate/trailer.hpp"
#include "pipeline/capture/packet.hpp"
#include "tester/test_plan.hpp"

namespace parshall::tester {

enum class FrameKind : std::uint8_t {
  ours,           ///< no checksum is wrong, and it was to be sent
  corrupted,      ///< a checksum is wrong, or the headers lead no more to the trailer that is at its end
  contradictory,  ///< no checksum is wrong, but no such frame was to be sent: of a test before, or of another
  foreign,        ///< without a trailer: other traffic
  cut,            ///< captured in part, or a fragment: it may have a trailer, which is not here
};

constexpr bool has_trailer(FrameKind kind) noexcept { return kind < FrameKind::foreign; }

/// What a received frame is, and what it says of itself.
struct TestFrame {
  FrameKind kind = FrameKind::foreign;
  bool is_credible = false;  ///< the trailer names a frame that was to be sent: always of ours, of some corrupted ones
  Trailer trailer = {};      ///< with the time in full; meaningful unless foreign or cut
};

/// Tells the frames of a test from others, whatever a device did to their headers: MACs, tags, TTL, DSCP, addresses and
/// ports, tunnels. The trailer is the end of the TCP or UDP payload.
///
/// Cost:  some 10 ns for Ethernet, IPv4 without options, TCP or UDP and 64 bytes; any other frame takes the general
///        decoder, several times that.
/// Error: a checksum of 16 bits misses one in 65,536 corruptions of many bits, none of one bit; without a UDP checksum
///        only the IPv4 header's is looked at; behind a tunnel whose inner header is no more found, none. A frame
///        of other traffic passes for ours where its payload has the trailer's magic and, less the id, a stream of the
///        test by chance: with 1000 streams one in 3 * 10^11, less those whose sequence or time does not fit. Of
///        another test all frames pass or none: with 1000 streams each, one such test in four million.
class FrameReader {
 public:
  explicit FrameReader(const TestPlan& plan) noexcept : plan_(plan) {}

  TestFrame read(const RawPacket& packet) const noexcept;

 private:
  struct Place;

  static std::optional<Place> find_plain(const RawPacket& packet) noexcept;
  TestFrame read_any(const RawPacket& packet) const noexcept;
  TestFrame read_end(const RawPacket& packet) const noexcept;
  TestFrame judge(const RawPacket& packet, const Place& place) const noexcept;
  bool was_to_be_sent(const Trailer& trailer) const noexcept;
  TestFrame frame_of(FrameKind kind, const RawPacket& packet, const std::uint8_t* trailer) const noexcept;

  TestPlan plan_;
};

}  // namespace parshall::tester
