// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/huge_buffer.hpp"
#include "base/result.hpp"
#include "pipeline/capture/source.hpp"
#include "traffic/traffic.hpp"

namespace parshall::lab {

/// Packets in memory, of a capture or built-in traffic, ready before any clock starts.
///
/// Shape:  each packet's captured bytes begin at a cache line of their own.
class Frames {
 public:
  /// Loads the first packets of a capture: at most `packets`, and `bytes` in memory. A damaged file gives the packets
  /// before the damage. Error: the file cannot be read or is empty.
  static Result<Frames> of_file(const std::string& path, std::size_t packets, std::size_t bytes);
  static Result<Frames> of_spec(const TrafficSpec& spec);

  std::size_t size() const noexcept { return trace_ ? trace_->packets() : packets_.size(); }

  /// Returns a source that repeats the packets, with advancing time, starting at packet `begin` < size(). The frames
  /// must outlive it.
  std::unique_ptr<PacketSource> source(std::size_t begin) const;

  /// Returns the distinct 5-tuples of packets that belong to a flow.
  std::size_t distinct_flows() const;

  const std::string& warning() const noexcept { return warning_; }  ///< warning for the user; may be empty

 private:
  Frames() = default;
  void add(const RawPacket& packet);

  std::shared_ptr<const Trace> trace_;  ///< null: packets of a file
  HugeBuffer<std::uint8_t> bytes_;
  std::size_t used_ = 0;
  std::vector<RawPacket> packets_;
  std::string warning_;
};

}  // namespace parshall::lab
