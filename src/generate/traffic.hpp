// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "generate/traffic_spec.hpp"
#include "pipeline/capture/packet.hpp"

namespace parshall {

class Sessions;

/// Time stamp of the first packet of built-in traffic: 2020-01-01T00:00:00Z, so that runs are alike.
inline constexpr std::uint64_t kTrafficStartNs = 1'577'836'800'000'000'000;

/// Frames in memory, ready before any clock starts.
///
/// What is in them, docs/traffic.md has.
/// Shape: each frame begins at a multiple of 64 bytes, and those of one size at equal distances.
class Trace {
 public:
  static Result<Trace> make(const TrafficSpec& spec);

  const std::uint8_t* frame(std::uint64_t i) const noexcept {
    return frames_.data() + (alike() ? i * stride_ : places_[i].line * kLine);
  }
  std::uint32_t frame_bytes(std::uint64_t i) const noexcept { return alike() ? longest_frame_ : places_[i].bytes; }
  std::uint32_t longest_frame() const noexcept { return longest_frame_; }
  std::uint64_t packets() const noexcept { return packets_; }
  bool alike() const noexcept { return places_.empty(); }  ///< all frames are equally long
  /// From one frame to the next where they are alike; 0 where there are none.
  std::size_t stride() const noexcept { return stride_; }
  double rate_pps() const noexcept { return spec_.rate_pps; }
  std::uint32_t flow_of(std::uint64_t i) const noexcept { return flow_of_[i]; }

  /// Packets of the round from the `first`-th on, of which there are so many; `next_ns()`: the time of each.
  template <class NextNs>
  void put_into(std::span<RawPacket> packets, std::uint64_t first, NextNs next_ns) const noexcept {
    if (alike()) {
      const std::size_t stride = stride_;
      const std::uint32_t bytes = longest_frame_;
      const std::uint8_t* data = frame(first);
      for (RawPacket& packet : packets) {
        packet = {.data = data, .time_ns = next_ns(), .captured_bytes = bytes, .wire_bytes = bytes};
        data += stride;
      }
      return;
    }
    const Place* place = places_.data() + first;
    for (RawPacket& packet : packets) {
      packet = {.data = frames_.data() + place->line * kLine,
                .time_ns = next_ns(),
                .captured_bytes = place->bytes,
                .wire_bytes = place->bytes};
      ++place;
    }
  }

  /// By how much a round moves each flow's sequence numbers on; none: rounds are alike.
  const std::vector<std::uint32_t>& advances() const noexcept { return advances_; }
  std::uint32_t link_bytes() const noexcept { return link_bytes_; }  ///< of each frame, before the IP header

  /// Of trains (FlowTrains) there are no frames here.
  const TrafficSpec& spec() const noexcept { return spec_; }

  /// Whether some packets are a flood's (SynFlood): they have no frame here.
  bool floods() const noexcept { return !flood_.empty(); }
  bool is_flood(std::uint64_t i) const noexcept { return flood_[i]; }

 private:
  static constexpr std::size_t kLine = 64;

  struct Place {
    std::uint32_t line, bytes;
  };

  /// Each frame's place; returns how many bytes all take.
  std::size_t place_alike();
  std::size_t place(std::span<const std::uint16_t> frame_bytes);
  void write_frames(Sessions* sessions);

  TrafficSpec spec_;
  HugeBuffer<std::uint8_t> frames_;
  std::vector<std::uint32_t> flow_of_;
  std::uint64_t packets_ = 0;
  std::vector<bool> flood_;
  std::vector<Place> places_;  ///< of each frame; none: they are alike
  std::vector<std::uint32_t> advances_;
  std::size_t stride_ = 0;
  std::uint32_t link_bytes_ = 0;
  std::uint32_t longest_frame_ = 0;
};

}  // namespace parshall
