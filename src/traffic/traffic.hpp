// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/capture/packet.hpp"
#include "traffic/traffic_spec.hpp"

namespace parshall {

class Sessions;

/// Time stamp of the first packet of built-in traffic: 2020-01-01T00:00:00Z, so that runs are alike.
inline constexpr std::uint64_t kTrafficStartNs = 1'577'836'800'000'000'000;

/// Frames in memory, prepared before any clock starts. docs/traffic.md describes their contents.
///
/// Shape: each frame begins at a multiple of 64 bytes; frames of one size have equal distances. With partitions, the
///        frames of one follow each other.
class Trace {
  static constexpr std::size_t kLine = 64;

 public:
  /// Makes a trace, divided by flow into `shares` partitions unless that is 0. Both directions of a connection are in
  /// the same one. A flood, whose every packet is another flow, is in all. Trains cannot be divided.
  static Result<Trace> make(const TrafficSpec& spec, std::size_t shares = 0);

  /// Returns the round's packets in a partition, in order.
  std::span<const std::uint32_t> share(std::size_t i) const noexcept { return shares_[i]; }

  const std::uint8_t* frame(std::uint64_t i) const noexcept {
    return frames_.data() + (alike() ? i * stride_ : places_[i].line * kLine);
  }
  std::uint32_t frame_bytes(std::uint64_t i) const noexcept { return alike() ? longest_frame_ : places_[i].bytes; }
  std::uint32_t longest_frame() const noexcept { return longest_frame_; }
  std::uint64_t packets() const noexcept { return packets_; }
  bool alike() const noexcept { return places_.empty(); }  ///< true if all frames have the same length
  /// Returns the distance between frames if they are alike; 0 if there are no frames.
  std::size_t stride() const noexcept { return stride_; }
  double rate_pps() const noexcept { return spec_.rate_pps; }

  /// Returns the time between packets, in 1/kTimeUnit ns.
  static constexpr std::uint64_t kTimeUnit = 1 << 20;
  std::uint64_t time_step() const noexcept { return static_cast<std::uint64_t>(1e9 / rate_pps() * kTimeUnit); }
  std::uint32_t flow_of(std::uint64_t i) const noexcept { return flow_of_[i]; }

  /// Returns the distance from a frame to the next of its partition.
  static constexpr std::size_t room_for(std::uint32_t frame_bytes) noexcept {
    return (frame_bytes + kLine - 1) / kLine * kLine;
  }

  /// Fills in packets of the round from the `first`-th on; there must be enough. `next_ns()` returns the time of each.
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

  /// Returns how far a round advances each flow's sequence numbers; empty if rounds are alike.
  const std::vector<std::uint32_t>& advances() const noexcept { return advances_; }
  std::uint32_t link_bytes() const noexcept { return link_bytes_; }  ///< length of each frame's headers before IP

  /// Returns the spec. Trains (FlowTrains) have no frames here.
  const TrafficSpec& spec() const noexcept { return spec_; }

  /// Returns whether some packets are of a flood (SynFlood), which has no frames here.
  bool floods() const noexcept { return !flood_.empty(); }
  bool is_flood(std::uint64_t i) const noexcept { return flood_[i]; }

 private:
  struct Place {
    std::uint32_t line, bytes;
  };

  /// Places each frame. Returns the total number of bytes.
  std::size_t place_alike();
  void deal_flows(std::size_t shares);
  std::size_t place(std::span<const std::uint16_t> frame_bytes);
  void write_frames(Sessions* sessions);

  TrafficSpec spec_;
  HugeBuffer<std::uint8_t> frames_;
  std::vector<std::uint32_t> flow_of_;
  std::uint64_t packets_ = 0;
  std::vector<bool> flood_;
  std::vector<Place> places_;  ///< place of each frame; empty if they are alike
  std::vector<std::vector<std::uint32_t>> shares_;
  std::vector<std::uint32_t> advances_;
  std::size_t stride_ = 0;
  std::uint32_t link_bytes_ = 0;
  std::uint32_t longest_frame_ = 0;
};

}  // namespace parshall
