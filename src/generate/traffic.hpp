// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "generate/traffic_spec.hpp"

namespace parshall {

/// Time stamp of the first packet of built-in traffic: 2020-01-01T00:00:00Z, so that runs are alike.
inline constexpr std::uint64_t kTrafficStartNs = 1'577'836'800'000'000'000;

/// Frames in memory, ready before any clock starts.
///
/// TCP segments of connections carry the rest of the frame as data, and acknowledge all that the other direction sent.
/// Shape: equally long frames, each in a slot of a multiple of 64 bytes. Flow f of `spec.seed` has a random five-tuple.
///        Uniform traffic is shuffled round robin: every flow has packets / flows packets, rounded either way.
class Trace {
 public:
  static Result<Trace> make(const TrafficSpec& spec);

  const std::uint8_t* frame(std::uint64_t i) const noexcept { return frames_.data() + i * stride_; }
  std::uint64_t packets() const noexcept { return packets_; }
  std::size_t stride() const noexcept { return stride_; }  ///< from one frame to the next; 0 where there are none
  std::uint32_t captured_bytes() const noexcept { return captured_bytes_; }
  double rate_pps() const noexcept { return spec_.rate_pps; }
  std::uint32_t flow_of(std::uint64_t i) const noexcept { return flow_of_[i]; }

  /// Of trains (FlowTrains) there are no frames here.
  const TrafficSpec& spec() const noexcept { return spec_; }

  /// Whether some packets are a flood's (SynFlood): they have no frame here.
  bool floods() const noexcept { return !flood_.empty(); }
  bool is_flood(std::uint64_t i) const noexcept { return flood_[i]; }

 private:
  void write_frames();

  TrafficSpec spec_;
  HugeBuffer<std::uint8_t> frames_;
  std::vector<std::uint32_t> flow_of_;
  std::uint64_t packets_ = 0;
  std::vector<bool> flood_;
  std::size_t stride_ = 64;
  std::uint32_t captured_bytes_ = 60;
};

}  // namespace parshall
