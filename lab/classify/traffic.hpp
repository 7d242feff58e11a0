// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "lab/classify/replay_trace.hpp"
#include "traffic/paced_source.hpp"

namespace parshall::lab {

/// Traffic for the interfaces of a classifying system, all equally loaded: flows that are always new. No two queues
/// have a flow in common.
class ClassifyTraffic {
 public:
  static constexpr std::size_t kMostInterfaces = 2;

  /// Full load of an interface: a packet rate, or all that a line of this bit rate carries.
  struct Line {
    double mpps = 0;  ///< 0: determined by gbps
    double gbps = 10;
  };

  /// One receive queue of an interface.
  struct Place {
    std::size_t interface = 0, queue = 0, queues = 1;
  };

  /// Makes traffic of trains (FlowTrains); each queue has trains of its own.
  static Result<ClassifyTraffic> of_trains(const std::string& spec, Line line);
  /// Replays a capture; the hash of a flow determines its queue. Throws std::bad_alloc.
  static Result<ClassifyTraffic> of_file(const std::string& path, std::size_t most_packets, double gbps);

  const std::string& description() const noexcept { return description_; }
  const std::string& warning() const noexcept { return warning_; }

  /// Sets the cap for frames from now on; 0: none. No source may exist.
  void cap_frames(std::uint32_t cap);
  std::uint32_t cap() const noexcept { return cap_; }

  double mpps() const noexcept;  ///< packet rate of one interface at full load
  double gbps() const noexcept;  ///< the same, including the overhead between frames

  /// Returns a source; `load` is relative to the full load, and may exceed it. This object must outlive it.
  std::unique_ptr<PacketSource> source(Place place, double load, std::size_t queue_packets,
                                       PacedSource::Clock clock = &PacedSource::steady_ns);

  /// Returns the CPU time of the calling thread that a source takes per packet: the sender's work, and the copy that a
  /// device makes.
  double source_ns();

 private:
  ClassifyTraffic() = default;

  Line line_;
  std::shared_ptr<const Trace> trains_;  ///< one of these two is set
  std::shared_ptr<const ReplayTrace> replayed_;
  std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const ReplaySchedule>> schedules_;  ///< by queue
  std::uint32_t cap_ = 0;
  double bytes_per_packet_ = 0;  ///< mean bytes on the line
  std::string description_, warning_;
};

}  // namespace parshall::lab
