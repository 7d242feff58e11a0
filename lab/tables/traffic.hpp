// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::lab {

/// Packets as flow numbers, in order, to be played repeatedly.
struct Traffic {
  std::string name;  ///< name for reports
  std::size_t flows = 0;
  double zipf = 0;  ///< 0: uniform, or unknown
  std::vector<std::uint32_t> packets;
  std::string warning = {};  ///< warning for the user; may be empty
};

/// Draws flows at random with a popularity of 1 / rank^zipf; 0 is uniform.
Traffic random_traffic(std::size_t flows, double zipf, std::size_t packets, std::uint64_t seed);

/// Returns the flows of a capture, numbered in order of appearance, at most `most` packets. Their order and sizes are
/// the capture's; their keys are the lab's. Error: the file cannot be read or has no flow.
Result<Traffic> traffic_of_file(const std::string& path, std::size_t most);

/// Returns the flows of built-in traffic, in the syntax of `-g`.
Result<Traffic> traffic_of_spec(const std::string& spec);

}  // namespace parshall::lab
