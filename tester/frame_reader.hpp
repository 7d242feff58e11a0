// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <optional>

#include "pipeline/capture/packet.hpp"
#include "tester/test_plan.hpp"
#include "traffic/checksums.hpp"
#include "traffic/trailer.hpp"

namespace parshall::tester {

enum class FrameKind : std::uint8_t {
  ours,           ///< all checksums are right, and it belongs to the test
  corrupted,      ///< a checksum is wrong, or the headers no longer lead to the trailer at its end
  contradictory,  ///< all checksums are right, but it is of another test or trial
  foreign,        ///< without a trailer: other traffic
  cut,            ///< captured in part, or a fragment: its trailer may be missing
};

constexpr bool has_trailer(FrameKind kind) noexcept { return kind < FrameKind::foreign; }

/// A received frame, with its kind and its trailer.
struct TestFrame {
  FrameKind kind = FrameKind::foreign;
  bool is_credible = false;  ///< the trailer names a frame of the test: always for ours, sometimes for corrupted
  Trailer trailer = {};      ///< with the full time; valid unless foreign or cut
};

/// Recognizes the frames of a test, whatever a device did to their headers: MACs, tags, TTL, DSCP, addresses and ports,
/// tunnels. The trailer is at the end of the TCP or UDP payload.
///
/// Cost:   about 10 ns for Ethernet, IPv4 without options, TCP or UDP and 64 bytes; any other frame takes the general
///         decoder, several times that.
/// Error:  a 16-bit checksum misses one in 65,536 corruptions of many bits, and none of a single bit. Without a UDP
///         checksum only the IPv4 header's is checked; behind a tunnel whose inner header is not found, none is. Other
///         traffic is mistaken for the test's if its payload happens to have the trailer's magic and, with the id
///         removed, a stream of the test. With 1000 streams this is one frame in 3 * 10^11, fewer if sequence or time
///         do not fit. Frames of another test are accepted all or none: with 1000 streams each, those of one test in
///         four million.
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
