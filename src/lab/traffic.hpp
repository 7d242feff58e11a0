// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace parshall::lab {

/// Packets as flow numbers, in order: what is measured is played over and over.
struct Traffic {
  std::string name;  ///< for reports
  std::size_t flows = 0;
  double zipf = 0;  ///< 0: uniform, or not known
  std::vector<std::uint32_t> packets;
  std::string warning = {};  ///< what its reader should be told; may be empty
};

/// Flows of a popularity of 1 / rank^zipf, drawn at random; 0 is uniform.
Traffic random_traffic(std::size_t flows, double zipf, std::size_t packets, std::uint64_t seed);

/// The flows of a capture, numbered as they come: their order and their sizes are the capture's, their keys the lab's.
/// At most `most` packets. Fails where the file cannot be read or has no flow.
Result<Traffic> traffic_of_file(const std::string& path, std::size_t most);

/// The flows of built-in traffic, as `-g` spells it.
Result<Traffic> traffic_of_spec(const std::string& spec);

}  // namespace parshall::lab
