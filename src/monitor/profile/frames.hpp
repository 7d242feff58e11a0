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
#include "generate/traffic.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall::lab {

/// Packets in memory, ready before any clock starts: of a capture, or built-in traffic.
///
/// Shape: each packet's captured bytes begin at a cache line of their own.
class Frames {
 public:
  /// The first packets of a capture: at most `packets`, and `bytes` in memory. Fails where the file cannot be read or
  /// is empty; of a damaged one, what came before the damage.
  static Result<Frames> of_file(const std::string& path, std::size_t packets, std::size_t bytes);
  static Result<Frames> of_spec(const TrafficSpec& spec);

  std::size_t size() const noexcept { return trace_ ? trace_->packets() : packets_.size(); }

  /// Plays them over and over, time going on, from packet `begin` < size() on. While these frames live.
  std::unique_ptr<PacketSource> source(std::size_t begin) const;

  /// Five-tuples of the packets that belong to a flow.
  std::size_t distinct_flows() const;

  const std::string& warning() const noexcept { return warning_; }  ///< what its reader should be told; may be empty

 private:
  Frames() = default;
  void add(const RawPacket& packet);

  std::shared_ptr<const Trace> trace_;  ///< null: of a file
  HugeBuffer<std::uint8_t> bytes_;
  std::size_t used_ = 0;
  std::vector<RawPacket> packets_;
  std::string warning_;
};

}  // namespace parshall::lab
