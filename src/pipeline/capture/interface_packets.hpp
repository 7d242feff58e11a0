// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>

namespace parshall {

/// Count of the packets from one of several interfaces.
struct InterfacePackets {
  std::string name;
  std::uint64_t packets = 0;
  bool is_gone = false;  ///< deleted, or moved to another network namespace
};

}  // namespace parshall
