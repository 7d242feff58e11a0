// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall {

enum class ProtocolMix : std::uint8_t {
  mix,  ///< 75 % of the flows TCP, 25 % UDP
  tcp,
  udp,
  connections,  ///< TCP; flows 2i and 2i + 1 are the two directions of one connection, whose numbers go on, with
                ///< three gaps a round, so that they go on from its end to its beginning too; without data where
                ///< one has no packets in a third of it
};

/// Built-in traffic, as `-g` spells it: "flows=65536,size=64,dist=zipf:1.1,protocol=mix,ipv6=0.1,seed=1".
struct TrafficSpec {
  std::uint64_t flows = 65536;
  std::uint32_t frame_bytes = 64;   ///< with the 4 bytes of FCS, which captures do not hold
  double zipf_exponent = 0;         ///< 0: every flow equally often
  double last_zipf_exponent = 0;    ///< from the first one to this, evenly over the packets; 0: the same
  std::uint32_t train_packets = 0;  ///< of each flow, which is never seen again (FlowTrains); 0: flows go on
  ProtocolMix protocol = ProtocolMix::mix;
  double ipv6_share = 0;    ///< of the flows
  double resend_share = 0;  ///< of the packets of connections, on average; flows differ, exponentially
  double flood_share = 0;   ///< of the packets: SYNs in the place of others, each of a flow of its own (SynFlood)
  std::uint64_t seed = 1;
  std::uint64_t packets = 0;     ///< in memory, before they repeat; 0: at least 2^20 and 4 per flow
  double rate_pps = 14'880'952;  ///< sets the packets' time stamps (10 GbE of 64-byte frames), not the pace
  double pace_pps = 0;           ///< packets come in real time, and are missed where nobody takes them; 0: they wait
  double swing_ms = 0;           ///< the pace swings from 0 to pace_pps and back in this time; 0: it does not
  std::uint64_t queue = 0;       ///< packets that wait where there is a pace, more are missed; 0: kPacedQueue

  static constexpr std::uint64_t kPacedQueue = 4096;
  enum class Pacing : std::uint8_t { refused, allowed };

  static Result<TrafficSpec> parse(std::string_view text, Pacing pacing = Pacing::refused);
};

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
  double rate_pps() const noexcept { return rate_pps_; }
  std::uint32_t flow_of(std::uint64_t i) const noexcept { return flow_of_[i]; }

  /// Of each flow, so many packets come, and of so many flows together: they have no frames here. 0: it is not so.
  std::uint32_t train_packets() const noexcept { return train_packets_; }
  std::uint64_t flows_together() const noexcept { return flows_together_; }

  /// Whether some packets are a flood's: they have no frame here.
  bool floods() const noexcept { return !flood_.empty(); }
  bool is_flood(std::uint64_t i) const noexcept { return flood_[i]; }
  std::uint64_t flood_seed() const noexcept { return flood_seed_; }

 private:
  HugeBuffer<std::uint8_t> frames_;
  std::vector<std::uint32_t> flow_of_;
  std::uint64_t packets_ = 0;
  std::vector<bool> flood_;
  std::uint64_t flood_seed_ = 0;
  std::uint32_t train_packets_ = 0;
  std::uint64_t flows_together_ = 0;
  std::size_t stride_ = 64;
  std::uint32_t captured_bytes_ = 60;
  double rate_pps_ = 0;
};

}  // namespace parshall
