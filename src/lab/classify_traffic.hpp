// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "generate/paced_source.hpp"
#include "lab/replay_trace.hpp"

namespace parshall::lab {

/// What comes to the interfaces of a classifying system, each loaded alike: flows that are new each time. No two queues
/// have a flow in common.
class ClassifyTraffic {
 public:
  static constexpr std::size_t kMostInterfaces = 2;

  /// Of an interface that is fully loaded: either packets a second, or all that a line of so many bits a second takes.
  struct Line {
    double mpps = 0;  ///< 0: by gbps
    double gbps = 10;
  };

  /// One receive queue of an interface.
  struct Place {
    std::size_t interface = 0, queue = 0, queues = 1;
  };

  /// `spec`: of trains (FlowTrains), each queue having trains of its own. `cap`: longer frames take as much of the line
  /// as one of so many bytes; 0: none does.
  static Result<ClassifyTraffic> of_trains(const std::string& spec, Line line);
  /// Flows come to a queue by their hash. Throws std::bad_alloc.
  static Result<ClassifyTraffic> of_file(const std::string& path, std::size_t most_packets, double gbps);

  const std::string& description() const noexcept { return description_; }
  const std::string& warning() const noexcept { return warning_; }

  /// From here on; 0: none. Not while there are sources.
  void cap_frames(std::uint32_t cap);
  std::uint32_t cap() const noexcept { return cap_; }

  double mpps() const noexcept;  ///< of one interface, fully loaded
  double gbps() const noexcept;  ///< likewise, with all that the line has between frames

  /// `load`: share of the full load, and more where that is asked for. While this traffic lives.
  std::unique_ptr<PacketSource> source(Place place, double load, std::size_t queue_packets,
                                       PacedSource::Clock clock = &PacedSource::steady_ns);

  /// CPU time of the calling thread that a source takes for a packet: the sender's work, and the copy that a device
  /// makes.
  double source_ns();

 private:
  ClassifyTraffic() = default;

  Line line_;
  std::shared_ptr<const Trace> trains_;  ///< or
  std::shared_ptr<const ReplayTrace> replayed_;
  std::map<std::pair<std::size_t, std::size_t>, std::shared_ptr<const ReplaySchedule>> schedules_;  ///< by queue
  std::uint32_t cap_ = 0;
  double bytes_per_packet_ = 0;  ///< of the line, on average
  std::string description_, warning_;
};

}  // namespace parshall::lab
