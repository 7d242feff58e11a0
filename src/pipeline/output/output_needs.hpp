// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace parshall {

/// What an output asks of the system to be opened and written, again and again where it is of a collector: for who
/// takes all else away. Plain data.
struct OutputNeeds {
  std::vector<std::string> files;       ///< written, and made where they are not there
  std::vector<std::string> folders;     ///< made where they are not there, with files and folders in them
  std::vector<std::string> reads;       ///< files, which another may take the place of
  std::vector<std::uint16_t> connects;  ///< TCP ports
  bool connects_anywhere = false;       ///< TCP ports are told by who is connected to
  bool uses_network = false;
  bool asks_for_names = false;  ///< of hosts, at any time
  bool listens = false;         ///< at ports of its own
  std::string runs_program;     ///< which one; empty: none
};

}  // namespace parshall
